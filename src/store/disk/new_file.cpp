// Temporary names, and the renames that publish files.
#include "store/disk/new_file.hpp"

#include <bloomery/error.hpp>

#include "base/zeros.hpp"
#include "format/journal.hpp"
#include "store/disk/rights.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace bloomery::detail {

namespace {

std::string temporary_name(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;  // 0 without a directory
  return path.substr(0, name) + "." + path.substr(name) + ".new";
}

// Whether a file begins as our temporary files do: with the magic, or, if the power was lost before the magic was on
// the device, with reserved zeros only.
bool begins_as_ours(const File& file) {
  std::array<std::byte, kSectorBytes> start{};
  const std::uint64_t size = file.stat().size;
  const auto there = std::span(start).first(std::min<std::uint64_t>(size, start.size()));
  file.read(there, 0);
  return has_magic(there) || (size <= start.size() && is_zeros(there));
}

Error strangers(const std::string& path) {
  return {ErrorCode::not_a_filter, path +
                                       ": has the name that a new filter is written under, and is "
                                       "not a filter; move it away"};
}

void remove_leftover(Os& os, const std::string& path, const std::string& meant) {
  Os::Stat there;  // a link is not ours, and is not followed
  const int looked = uninterrupted([&] { return os.stat_link(path.c_str(), there); });
  if (looked == 0 && !there.regular) throw strangers(path);
  std::string name = path;  // allocated before a descriptor is open that could leak
  const int fd = uninterrupted([&] { return os.open(path.c_str(), Os::Open::write); });
  if (fd == -ENOENT) return;
  if (fd < 0) throw os_error(-fd, path, "remove");
  File file(os, std::move(name), fd);
  if (!file.try_lock())
    throw Error(ErrorCode::locked,
                meant + ": another process is making it; wait until it has finished");
  if (!still_at_path(file)) return;
  if (!file.stat().regular || !begins_as_ours(file)) throw strangers(path);
  checked_call(path, "remove", [&] { return os.unlink(path.c_str()); });
}

// `meant`: the name that the file will get.
File create_locked(Os& os, const std::string& path, const std::string& meant, std::uint32_t mode) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    std::string name = path;
    const int fd = uninterrupted([&] { return os.open(path.c_str(), Os::Open::create, mode); });
    if (fd == -EEXIST) {
      remove_leftover(os, path, meant);
      continue;
    }
    if (fd < 0) throw os_error(-fd, path, "create");
    File file(os, std::move(name), fd);
    // Another process that took this file for a leftover before it was locked may have removed it.
    if (file.try_lock() && still_at_path(file)) return file;
  }
  throw Error(ErrorCode::locked, meant + ": other processes keep making it; try again");
}

// Writes the magic before anything else. The magic distinguishes a leftover from a file that is not ours.
void write_magic(File& file) {
  std::array<std::byte, kSectorBytes> sector{};
  std::ranges::copy(magic(), sector.begin());
  file.write(sector, 0);
  file.sync();
}

Error exists_error(const std::string& path) {
  return {ErrorCode::exists, path + ": exists already; open it, or replace it explicitly"};
}

}  // namespace

Os::Id random_id(Os& os, const std::string& path) {
  Os::Id id;
  checked_call(path, "get random bytes for it", [&] { return os.random(id.data(), id.size()); });
  return id;
}

NewFile::NewFile(Os& os, std::string path, std::uint64_t bytes, const File& replaced,
                 std::span<const Os::Stat> inputs, std::span<const Os::Stat> keys)
    : os_(os),
      path_(std::move(path)),
      directory_(directory_of(path_)),
      temporary_(temporary_name(path_)),
      has_room_(bytes != 0),
      file_(create_locked(
          os, temporary_, path_,
          replaced.is_open() || !inputs.empty() ? 0600 : mode_to_create(os, directory_, keys))) {
  try {
    own_ = file_.stat();
    file_.set_path(path_);  // errors use this name
    if (replaced.is_open()) {
      const Os::Stat old = replaced.rights();
      replaced_modified_ = old.modified;
      take_rights(file_, &old, inputs, &replaced);
    } else if (!inputs.empty()) {
      take_rights(file_, nullptr, inputs);
    } else {
      take_rights_of_keys(file_, directory_, keys);
    }
    write_magic(file_);
    if (bytes != 0) file_.reserve(0, bytes);
  } catch (...) {
    os.unlink(temporary_.c_str());
    throw;
  }
}

NewFile::~NewFile() {
  if (!named_ && !origin_.is_inherited() && is_at_temporary()) os_.unlink(temporary_.c_str());
}

bool NewFile::is_at_temporary() const noexcept {
  Os::Stat there;
  const int looked = uninterrupted([&] { return os_.stat_link(temporary_.c_str(), there); });
  return looked == 0 && is_same_file(there, own_);
}

File lock_replaced(Os& os, const std::string& path, bool replace) {
  Os::Stat there;
  const int found = uninterrupted([&] { return os.stat_path(path.c_str(), there); });
  if (found == -ENOENT) return {};
  if (found < 0) throw os_error(-found, path, "look at it");
  if (!replace) throw exists_error(path);
  return lock_for_replacing(os, path);
}

// When the writer began, the path had no file, or one that is gone by now.
Error NewFile::came_meanwhile() const {
  Os::Stat there;
  const auto is_there = [&](auto look) {
    return uninterrupted([&] { return (os_.*look)(path_.c_str(), there); }) == 0;
  };
  if (is_there(&Os::stat_link) && !is_there(&Os::stat_path))
    return {ErrorCode::io,
            path_ + ": is a link to a file that does not exist; remove the link, or make the file"};
  return {ErrorCode::exists,
          path_ + ": another file got this name meanwhile, and is left as it is; try again"};
}

void NewFile::name() {
  const int result =
      is_at_temporary()
          ? uninterrupted([&] { return os_.rename_new(temporary_.c_str(), path_.c_str()); })
          : -ENOENT;
  if (result == -EEXIST) throw came_meanwhile();
  if (result < 0) throw os_error(-result, path_, "create");
  named_ = true;
}

// A rename would also replace a file that another process has just put there, or has just written into. So the two
// names are exchanged, which loses nothing, and afterwards the file that had the path is checked. It is checked before
// too, so the second check matters only for a change between the two checks.
bool NewFile::take_place_of(const File& replaced) {
  if (named_) return true;
  const Os::Stat right = replaced.stat();
  if (!is_at_temporary() || !replaced.is_at(path_) || right.modified != replaced_modified_)
    return false;
  const auto exchange = [&] {
    return uninterrupted([&] { return os_.exchange(temporary_.c_str(), path_.c_str()); });
  };
  int result = exchange();
  if (result == -EOPNOTSUPP) {
    result = uninterrupted([&] { return os_.rename(temporary_.c_str(), path_.c_str()); });
    if (result < 0) throw os_error(-result, path_, "replace");
    named_ = true;
    return true;
  }
  if (result == -ENOENT) return false;
  if (result < 0) throw os_error(-result, path_, "replace");
  named_ = true;  // the temporary name has a file that must not be removed
  Os::Stat there;
  const int looked = uninterrupted([&] { return os_.stat_link(temporary_.c_str(), there); });
  if (looked == 0 && is_same_file(there, right) && there.modified == replaced_modified_) {
    os_.unlink(temporary_.c_str());  // if it remains, the next new file removes it
    return true;
  }
  // Exchange again and sync: a device that kept only the first exchange would lose later writes to the other file.
  result = exchange();
  if (result == -ENOENT)  // nothing is at the path any more
    result = uninterrupted([&] { return os_.rename_new(temporary_.c_str(), path_.c_str()); });
  if (result == 0) result = uninterrupted([&] { return os_.sync_directory(directory_.c_str()); });
  if (result < 0)
    throw os_error(-result, temporary_, "give back what was at " + path_ + " meanwhile");
  named_ = false;
  if (looked < 0) throw os_error(-looked, path_, "look at it");
  return false;
}

void NewFile::make_name_last() {
  checked_call(path_, "make its name last", [&] { return os_.sync_directory(directory_.c_str()); });
}

void NewFile::publish(const File& replaced) {
  // If the directory cannot be synced, this reports it while the old file is still there.
  if (replaced.is_open()) {
    // For example, `cp` restored a copy into the file: the lock stops other writers, but not `cp`.
    if (replaced.stat().modified != replaced_modified_)
      throw Error(ErrorCode::exists, path_ +
                                         ": has been written to while its replacement was made, "
                                         "and is left as it is; try again");
    make_name_last();
  }
  const bool in_place = replaced.is_open() && take_place_of(replaced);
  if (!in_place && !named_) name();
  try {
    make_name_last();
  } catch (...) {
    // The device may lose the new name, so the rename is undone.
    if (!in_place)
      named_ =
          uninterrupted([&] { return os_.rename_new(path_.c_str(), temporary_.c_str()); }) != 0;
    throw;
  }
}

void write_first_header(File& file, const Header& header) {
  std::array<std::byte, kHeaderBytes> page;
  encode_header(header, page);
  file.write(page, 0);
  file.write(page, kHeaderBytes);
}

}  // namespace bloomery::detail
