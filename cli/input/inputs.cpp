// Looking at inputs before any of them is read.
#include "input/inputs.hpp"

#include "compressed/decompressor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <string_view>

namespace bloomery::cli {

namespace {

// A path that leads to it, also to a standard input that has no name any more.
std::string openable(const Input& input) { return input.path == "-" ? "/dev/stdin" : input.path; }

struct stat status_of(const Input& input) {
  struct stat status {};
  const int result =
      input.path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(input.path.c_str(), &status);
  if (result != 0) throw_system(fmt::format("cannot read {}", input.name()), errno, input.path);
  return status;
}

// The bytes of a regular file from the place where reading will begin. Files of /proc have size 0, but contain bytes.
std::optional<std::uint64_t> bytes_to_read(const Input& input, const struct stat& status) {
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (input.path != "-") return size;
  const off_t at = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  return size - std::min(size, static_cast<std::uint64_t>(at));
}

// What the sampled places of one file tell about its lines.
struct Sample {
  std::uint64_t bytes = 0;  // of the file
  std::uint64_t lines = 0;
};

constexpr std::size_t kPlaces = 64, kPlaceBytes = std::size_t{64} << 10;

std::uint64_t count_lines(const char* text, std::size_t size, char end) {
  return static_cast<std::uint64_t>(std::count(text, text + size, end));
}

// The places of uncompressed text are spread over the file.
Sample sample_of_text(int fd, off_t begin, std::uint64_t size, char end) {
  std::vector<char> place(kPlaceBytes);
  Sample sample;
  const std::uint64_t step = std::max<std::uint64_t>(size / kPlaces, kPlaceBytes);
  for (std::uint64_t at = 0; at < size; at += step) {
    const ssize_t got = ::pread(fd, place.data(), place.size(), begin + static_cast<off_t>(at));
    if (got <= 0) break;  // the file was cut, or reading will report the error
    sample.bytes += static_cast<std::uint64_t>(got);
    sample.lines += count_lines(place.data(), static_cast<std::size_t>(got), end);
  }
  return sample;
}

// Compressed text can be read only from its beginning: as much as all places of a text together.
Sample sample_of_compressed(int fd, off_t begin, Format format, char end) {
  std::vector<char> compressed(kPlaceBytes), text(kPlaceBytes);
  Decompressor decompressor(format, {});
  Sample sample;
  std::string_view left;
  bool last = false;
  for (std::uint64_t made = 0; made < kPlaces * kPlaceBytes;) {
    if (left.empty() && decompressor.drained()) {
      const ssize_t got = ::pread(fd, compressed.data(), compressed.size(),
                                  begin + static_cast<off_t>(decompressor.taken()));
      last = got <= 0;
      left = {compressed.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    }
    std::size_t got = 0;
    try {
      got = decompressor.decode(left, text, last);
    } catch (const Error&) {
      break;  // reading will report it
    }
    if (got == 0 && last) break;
    made += got;
    sample.lines += count_lines(text.data(), got, end);
  }
  sample.bytes = decompressor.taken();
  return sample;
}

// Where reading a file begins.
off_t begin_of(const Input& input) {
  return input.path == "-" ? ::lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
}

Sniffed sniff_at(int fd, off_t begin) {
  std::array<char, kMostMagic> start{};
  const ssize_t got = ::pread(fd, start.data(), start.size(), begin);
  return sniff({start.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
}

Sample sample_of(const Input& input, std::uint64_t size, const ReadRule& rule) {
  const FileDescriptor fd = open_input(input);
  const off_t begin = begin_of(input);
  const Sniffed sniffed = rule.raw ? Sniffed{} : sniff_at(fd.get(), begin);
  if (!sniffed.format) return sample_of_text(fd.get(), begin, size, rule.end);
  Sample sample = sample_of_compressed(fd.get(), begin, *sniffed.format, rule.end);
  // Lines that differ do not compress below a byte each. Those of a bomb do, and must not take memory.
  sample.lines = std::min(sample.lines, sample.bytes);
  return sample;
}

bool is_output(const struct stat& status) {
  struct stat out {};
  return ::fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode) && status.st_dev == out.st_dev &&
         status.st_ino == out.st_ino;
}

mode_t rights_of_others(const struct stat& status, const std::string& path, gid_t group) {
  if (!S_ISREG(status.st_mode)) return 0077;
  if (has_access_list(path)) return 0;
  if (status.st_gid == group) return status.st_mode & 0077;
  // Users of one file's group count as others for the other file.
  const mode_t both = status.st_mode & status.st_mode >> 3 & 0007;
  return both << 3 | both;
}

}  // namespace

void refuse_filter(const Input& input) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is a filter, not text; inputs are read line by line (this one too "
                          "with --raw): the one filter of a verb is FILE, that of dedup --filter",
                          input.name()));
}

std::vector<Input> find_inputs(const std::vector<std::string>& paths, bool raw) {
  std::vector<Input> inputs;
  inputs.reserve(paths.size() + 1);
  for (const auto& path : paths) inputs.push_back({path, std::nullopt});
  if (inputs.empty()) inputs.push_back({"-", std::nullopt});
  for (Input& input : inputs) {
    const struct stat status = status_of(input);
    if (S_ISDIR(status.st_mode))
      throw Error(ErrorCode::io,
                  fmt::format("{} is a directory; name files{}", input.name(),
                              input.path == "-" ? "" : fmt::format(", as in {}/*", input.path)));
    if (input.path != "-" && ::access(input.path.c_str(), R_OK) != 0)
      throw_system(fmt::format("cannot read {}", input.name()), errno, input.path);
    input.bytes = bytes_to_read(input, status);
    if (!raw && S_ISREG(status.st_mode) &&
        sniff_at(open_input(input).get(), begin_of(input)).filter)
      refuse_filter(input);
  }
  return inputs;
}

void refuse_own_output(const std::vector<Input>& inputs) {
  for (const Input& input : inputs)
    if (is_output(status_of(input)))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} is the output as well; write to another file and rename it",
                              input.name()));
}

void refuse_output_into(const std::string& filter) {
  struct stat status {};
  if (::stat(filter.c_str(), &status) == 0 && is_output(status))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is the output as well; write to another file", filter));
}

void refuse_filter_as_output(const std::optional<std::string>& path) {
  struct stat status {};
  if (!path || ::stat(path->c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const FileDescriptor file(::open(path->c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() >= 0 && sniff_at(file.get(), 0).filter)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is a filter, and -o would replace it by lines; write to another "
                            "file, or remove it first",
                            *path));
}

mode_t rights_of_others(const std::vector<Input>& inputs, gid_t group) {
  mode_t allowed = 0077;
  for (const Input& input : inputs)
    allowed &= rights_of_others(status_of(input), openable(input), group);
  return allowed;
}

mode_t rights_of_others(const std::vector<Input>& inputs, const std::string& filter, gid_t group) {
  struct stat status {};
  const bool is_file = ::stat(filter.c_str(), &status) == 0;
  return rights_of_others(inputs, group) &
         (is_file ? rights_of_others(status, filter, group) : 0077);
}

std::vector<std::string> sources_of(const std::vector<Input>& inputs) {
  std::vector<std::string> sources;
  for (const Input& input : inputs)  // a pipe denies nothing, also where it has no path
    if (S_ISREG(status_of(input).st_mode)) sources.push_back(openable(input));
  return sources;
}

FileDescriptor open_input(const Input& input) {
  if (input.path == "-") return FileDescriptor(STDIN_FILENO);
  const int fd = ::open(input.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_system(fmt::format("cannot read {}", input.name()), errno, input.path);
  return FileDescriptor(fd);
}

std::optional<std::uint64_t> total_bytes(const std::vector<Input>& inputs) {
  std::uint64_t total = 0;
  for (const Input& input : inputs) {
    if (!input.bytes) return std::nullopt;
    total += *input.bytes;
  }
  return total;
}

std::optional<std::uint64_t> estimate_lines(const std::vector<Input>& inputs,
                                            const ReadRule& rule) {
  double lines = 0;
  for (const Input& input : inputs) {
    if (!input.bytes) return std::nullopt;
    if (*input.bytes == 0) continue;
    const Sample sample = sample_of(input, *input.bytes, rule);
    if (sample.bytes == 0) return std::nullopt;
    // A sample sees whole files up to 4 MiB of text. Beyond it a twentieth is added for lines that
    // the places missed, and in any case a thousand, which cost nothing.
    const double scale = static_cast<double>(*input.bytes) / static_cast<double>(sample.bytes);
    lines += std::ceil(static_cast<double>(sample.lines) * scale * (scale > 1 ? 1.05 : 1)) + 1000;
  }
  return static_cast<std::uint64_t>(std::max(lines, 1.0));
}

}  // namespace bloomery::cli
