// Dumps as filters: the bits of one array are read, and a dump in a file is opened for reading with them in memory.
// Only the module knows what other dumps hold, so these are only verified.
#include "handle/dump_bits.hpp"
#include "handle/dump_file.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/zeros.hpp"

namespace bloomery::detail {

DumpBits::DumpBits(NextChunk next, std::string name, std::uint64_t most)
    : next_(std::move(next)), name_(std::move(name)) {
  const ModuleChunk header = next_();
  if (header.iterator == 0) throw refused(ErrorCode::corrupt, "it is empty");
  try {
    contents_ = contents_in_module_header(header.bytes);
  } catch (const Error& error) {
    throw refused(error.code(), error.what());
  }
  bytes_ = totals(contents_.plan).bytes;
  if (bytes_ > most) throw refused(ErrorCode::corrupt, "it ends before its bits do");
}

Error DumpBits::refused(ErrorCode code, const char* what) const {
  return Error(code, fill_in("{}: {}{}", name_, what,
                             code == ErrorCode::corrupt ? "; take the dump again" : ""));
}

void DumpBits::read(const Take& take) {
  std::uint64_t at = 0;
  for (ModuleChunk chunk = next_(); chunk.iterator != 0; chunk = next_()) {
    if (chunk.bytes.size() > bytes_ - at || chunk.iterator != 1 + at + chunk.bytes.size())
      throw refused(ErrorCode::corrupt, "it continues where its header says that it ends");
    take(at, std::as_bytes(std::span(chunk.bytes)));
    at += chunk.bytes.size();
  }
  if (at != bytes_) throw refused(ErrorCode::corrupt, "it ends before its bits do");
}

namespace {

class DumpFilter final : public AnyFilter::Impl {
 public:
  DumpFilter(const std::string& path, AnyImpl bits) : Impl(path), bits_(std::move(bits)) {
    only_reads();
  }
  [[nodiscard]] const Hasher* hasher() const noexcept override { return bits_->hasher(); }
  std::size_t apply(AnyFilter::Operation operation, std::span<const Hash128> hashes,
                    std::span<bool> answers) override {
    return bits_->apply(operation, hashes, answers);
  }
  using Impl::apply;
  [[nodiscard]] FilterSpec spec() const override { return bits_->spec(); }
  [[nodiscard]] std::optional<FilterPlan> plan() const override { return bits_->plan(); }
  [[nodiscard]] FilterStats stats(Precision precision) override { return bits_->stats(precision); }
  [[nodiscard]] std::vector<AnyFilter::Array> arrays() const override { return bits_->arrays(); }
  [[nodiscard]] VerifyReport verify() override { return verify_dump(name()); }
  [[nodiscard]] const FilterView* plain() const noexcept override { return bits_->plain(); }

 private:
  AnyImpl bits_;
};

}  // namespace

AnyImpl dump_filter(const std::string& path) {
  // The checksum is at the end. Without it a damaged header would be taken for that of another kind of filter.
  (void)verify_dump(path);
  const auto reader = std::make_shared<DumpReader>(path);
  DumpBits dump([reader] { return reader->next(); }, path, reader->file_bytes());
  // Zeros that are not written take no memory: a small file of holes may claim a large filter.
  const auto load = [&](std::span<std::byte> bits) {
    constexpr std::size_t kPage = 4096;
    dump.read([&](std::uint64_t at, std::span<const std::byte> part) {
      for (; !part.empty(); part = part.subspan(std::min(kPage, part.size())), at += kPage) {
        const auto page = part.first(std::min(kPage, part.size()));
        if (!is_zeros(page)) std::ranges::copy(page, bits.subspan(at).begin());
      }
    });
  };
  try {
    return std::make_unique<DumpFilter>(
        path, at_edge(path, [&] { return memory_filter(dump.contents(), load); }));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt || std::string_view(error.what()).starts_with(path))
      throw;
    throw dump.refused(error.code(), error.what());
  }
}

VerifyReport verify_dump(const std::string& path) {
  DumpReader reader(path);
  VerifyReport report;
  while (reader.next().iterator != 0) ++report.chunks;
  return report;
}

}  // namespace bloomery::detail
