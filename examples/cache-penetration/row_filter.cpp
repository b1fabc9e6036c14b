// Keys go into both files while a new one is built; then the new one is renamed.
#include "row_filter.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

using bloomery::Access;
using bloomery::Durability;
using bloomery::FilterFile;
using Clock = std::chrono::steady_clock;

namespace {

// A rename survives a power loss once the directory is on the device.
void sync_directory(const std::filesystem::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (!synced) throw std::runtime_error("cannot sync " + directory.string());
}

}  // namespace

RowFilter::RowFilter(std::string path, std::uint64_t rows, double fpr)
    : path_(std::move(path)),
      plan_(bloomery::plan(rows, fpr)),
      current_(
          FilterFile::create(path_, plan_, {.durability = Durability::process, .replace = true})) {}

void RowFilter::add(Keys keys, const std::function<void()>& commit) {
  const std::shared_lock adding(adding_);
  {
    const std::scoped_lock files(files_);
    current_.insert_many(keys);
    if (next_) next_->insert_many(keys);
  }
  commit();
}

RowFilter::Rebuilt RowFilter::rebuild(const Scan& scan) {
  const auto start = Clock::now();
  {
    // All adders that used only the old one have committed; from now on they add to both.
    const std::unique_lock nobody_adds(adding_);
    next_ = FilterFile::rebuild(path_ + ".next", plan_);
  }
  const auto scanning = Clock::now();
  std::vector<std::string> batch;
  const auto flush = [&] {
    const std::scoped_lock files(files_);
    next_->insert_many(batch);
    batch.clear();
  };
  scan([&](std::string_view key) {
    batch.emplace_back(key);
    if (batch.size() == 4'096) flush();
  });
  flush();
  const auto swapping = Clock::now();
  {
    const std::unique_lock nobody_adds(adding_);
    swap_in_the_new_one();
  }
  const auto end = Clock::now();
  return {end - start, std::max(scanning - start, end - swapping)};
}

void RowFilter::swap_in_the_new_one() {
  const std::scoped_lock files(files_);
  next_->close();  // whole, and on the device
  next_.reset();
  std::filesystem::rename(path_ + ".next", path_);
  sync_directory(std::filesystem::absolute(path_).parent_path());
  current_ = FilterFile::open(path_, {.access = Access::write, .durability = Durability::process});
  ++generation_;
}

double RowFilter::estimated_keys() {
  const std::scoped_lock files(files_);
  return current_.view().estimated_items();
}

double RowFilter::current_fpr() {
  const std::scoped_lock files(files_);
  return current_.view().current_fpr();
}

RowFilter::Reader::Reader(const RowFilter& rows)
    : rows_(&rows), generation_(rows.generation_), file_(FilterFile::open(rows.path_)) {}

bool RowFilter::Reader::may_exist(std::string_view key) {
  if (const std::uint64_t now = rows_->generation_; now != generation_) {
    file_.reload();
    generation_ = now;
  }
  return file_.may_contain(key);
}
