// Temporary names, and the renames that publish them.
#include "store/new_file.hpp"

#include <bloomery/error.hpp>

#include <array>
#include <cerrno>

namespace bloomery::detail {

namespace {

std::string temporary_name(const std::string& path) {
  const std::size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".new";
}

void remove_leftover(Os& os, const std::string& path) {
  const int fd = uninterrupted([&] { return os.open(path.c_str(), Os::Open::write); });
  if (fd == -ENOENT) return;
  if (fd < 0) throw os_error(-fd, path, "remove");
  File file(os, path, fd);
  if (!file.try_lock())
    throw Error(ErrorCode::locked, path +
                                       ": another process is writing it; wait until it has "
                                       "finished");
  if (!still_at_path(file)) return;
  const int result = uninterrupted([&] { return os.unlink(path.c_str()); });
  if (result < 0) throw os_error(-result, path, "remove");
}

File create_locked(Os& os, const std::string& path) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const int fd = uninterrupted([&] { return os.open(path.c_str(), Os::Open::create); });
    if (fd == -EEXIST) {
      remove_leftover(os, path);
      continue;
    }
    if (fd < 0) throw os_error(-fd, path, "create");
    File file(os, path, fd);
    // Whoever took it for a leftover before it was locked has removed it, or is about to.
    if (file.try_lock() && still_at_path(file)) return file;
  }
  throw Error(ErrorCode::locked, path + ": other processes keep writing it; try again");
}

Error exists_error(const std::string& path) {
  return {ErrorCode::exists, path + ": exists already; open it, or replace it (--force)"};
}

}  // namespace

Os::Id random_id(Os& os, const std::string& path) {
  Os::Id id;
  const int result = uninterrupted([&] { return os.random(id.data(), id.size()); });
  if (result < 0) throw os_error(-result, path, "get random bytes for it");
  return id;
}

NewFile::NewFile(Os& os, std::string path, std::uint64_t bytes, std::optional<std::uint32_t> mode)
    : path_(std::move(path)),
      temporary_(temporary_name(path_)),
      file_(create_locked(os, temporary_)) {
  // Who reads an error knows that name.
  file_.set_path(path_);
  try {
    if (mode) file_.set_mode(*mode);
    file_.reserve(0, bytes);
  } catch (...) {
    os.unlink(temporary_.c_str());
    throw;
  }
}

NewFile::~NewFile() {
  if (!temporary_.empty()) file_.os().unlink(temporary_.c_str());
}

File lock_replaced(Os& os, const std::string& path, bool replace) {
  Os::Stat there;
  const int found = uninterrupted([&] { return os.stat_path(path.c_str(), there); });
  if (found == -ENOENT) return {};
  if (found < 0) throw os_error(-found, path, "look at it");
  if (!replace) throw exists_error(path);
  return lock_for_replacing(os, path);
}

File NewFile::publish_new() {
  file_.sync();
  Os& os = file_.os();
  const int result =
      uninterrupted([&] { return os.rename_new(temporary_.c_str(), path_.c_str()); });
  if (result == -EEXIST) throw exists_error(path_);
  if (result < 0) throw os_error(-result, path_, "create");
  temporary_.clear();
  return std::move(file_);
}

File NewFile::publish_over() {
  file_.sync();
  const int result =
      uninterrupted([&] { return file_.os().rename(temporary_.c_str(), path_.c_str()); });
  if (result < 0) throw os_error(-result, path_, "replace");
  temporary_.clear();
  return std::move(file_);
}

void make_name_last(const File& file) {
  const std::string directory = directory_of(file.path());
  const int result = uninterrupted([&] { return file.os().sync_directory(directory.c_str()); });
  if (result < 0) throw os_error(-result, file.path(), "make its name last");
}

File publish(NewFile& fresh, const File& replaced) {
  File file = replaced.is_open() ? fresh.publish_over() : fresh.publish_new();
  try {
    make_name_last(file);
  } catch (...) {
    // A new name that may not last is taken back.
    if (!replaced.is_open()) file.os().unlink(file.path().c_str());
    throw;
  }
  return file;
}

void write_first_header(File& file, const Header& header) {
  std::array<std::byte, kHeaderBytes> page;
  encode_header(header, page);
  file.write(page, 0);
  file.write(page, kHeaderBytes);
}

}  // namespace bloomery::detail
