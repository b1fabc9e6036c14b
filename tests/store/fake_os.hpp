// A machine in memory that can be made to fail, to stop, and to lose power.
//
// Each file has two contents: what programs see, and what is on the device. Writes and
// stores through shared mappings go to the first. fdatasync copies to the second what was
// written, msync what was stored, sync_written the bytes that it names; Linux may do more than
// that at each, POSIX says no more.
// Names are the same: a directory that programs see, and one on the device.
//
// fake_faults.hpp makes it fail or stop. From the moment at which it stopped one can go on as after
// a kill of the process (everything seen stays) or as after a loss of power, which picks, by a seed,
// for every sector of 512 bytes that was not synced, whether it reached the device.
#pragma once

#include "base/os.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/fake_disk.hpp"
#include "store/fake_faults.hpp"
#include "store/files.hpp"
#include "support/random.hpp"

namespace bloomery::test {

using detail::Files;

// A path on it.
inline constexpr const char* kFakePath = "/dir/f";

class FakeOs final : public Os, public FakeFaults {
 public:
  // The directories that there are.
  static constexpr std::array<std::string_view, 4> kDirectories = {"/dir", "dir", ".", "/"};

  // `room`: for the bytes of a file.
  explicit FakeOs(std::uint64_t room = 40 * 1024) : room_(room), capacity_(room) {
    boot_.fill(std::byte{1});
  }

  // Processes are counted from 1.
  void run_as(int process) { process_ = process; }
  [[nodiscard]] bool is_dead(int process) const { return dead_ == process; }
  // A file system that cannot exchange two names.
  void cannot_exchange() { exchanges_ = false; }
  // A system without /proc does not tell which boot of the machine it is.
  void tell_boot(bool tells) { tells_boot_ = tells; }
  // Another program gives a file another name, which replaces what had that.
  void move(const std::string& from, const std::string& to) {
    directory_.change_both(from, to, directory_.find(from));
  }
  [[nodiscard]] bool stopped() const { return stopped_ != nullptr; }
  [[nodiscard]] std::uint64_t failed_syncs() const { return failed_syncs_; }
  [[nodiscard]] std::size_t names() const { return directory_.names().size(); }
  [[nodiscard]] std::size_t open_files() const { return handles_.size(); }
  [[nodiscard]] std::size_t mappings() const { return mapped_.size(); }
  // Gives a file to others; the process is user 1 of group 1 and those that join() adds. `acl`: an access control list
  // gives it to them.
  void give(const std::string& path, std::uint32_t user, std::uint32_t group, std::uint32_t mode,
            bool acl = false) {
    Node& node = directory_.at(path);
    node.acl = acl;
    node.user = user;
    node.group = group;
    node.mode = mode;
  }
  void join(std::uint32_t group) { groups_.insert(group); }
  // The directory gives new files an access control list. One that names nobody becomes the mode of the file.
  void list_new_files(bool gives, bool names = true) {
    gives_ = gives;
    lists_ = gives && names;
  }
  void set_umask(std::uint32_t umask) { umask_ = umask; }
  // All files have this mode, and no other one can be set.
  void fix_modes(std::uint32_t mode) { fixed_ = mode; }
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }

  // The bytes of a file as programs see them, to look at or to damage (on the device too).
  [[nodiscard]] std::vector<std::byte> contents(const std::string& path) const {
    const Node& node = directory_.at(path);
    return {node.data.get(), node.data.get() + node.size};
  }
  void put(const std::string& path, const std::vector<std::byte>& bytes) {
    auto node = std::make_shared<Node>(next_inode_++, room_);
    std::copy(bytes.begin(), bytes.end(), node->data.get());
    node->size = bytes.size();
    node->harden(0, room_);
    node->hard_size = bytes.size();
    directory_.change_both("", path, std::move(node));
  }
  // All files as programs see them.
  [[nodiscard]] std::string files() const {
    std::string all;
    for (const auto& [name, node] : directory_.names()) {
      all += name + '\n' + std::to_string(node->mode) + ' ' + std::to_string(node->size) + '\n';
      all.append(reinterpret_cast<const char*>(node->data.get()), node->size);
    }
    return all;
  }
  // Another program writes into a file, as cp does.
  void copy_over(const std::string& path, const std::vector<std::byte>& bytes) {
    Node& node = directory_.at(path);
    std::memset(node.data.get(), 0, node.size);
    std::copy(bytes.begin(), bytes.end(), node.data.get());
    node.size = bytes.size();
    ++node.modified;
  }

  // The same machine after the process was killed, now or when it stopped.
  [[nodiscard]] std::unique_ptr<FakeOs> after_kill() const {
    const FakeOs& from = stopped_ ? *stopped_ : *this;
    auto next = std::make_unique<FakeOs>(from.room_);
    next->boot_ = from.boot_;
    next->tells_boot_ = from.tells_boot_;
    next->next_inode_ = from.next_inode_;
    next->drawn_ = from.drawn_;
    next->directory_ = from.directory_.copy();
    return next;
  }

  // The same machine after power was lost, now or when it stopped. Seed 0: nothing that was
  // not synced is left; 1: all of it; others: anything in between. Sectors from
  // `whole_from` on in a file are old or new; below it they may be torn in themselves.
  [[nodiscard]] std::unique_ptr<FakeOs> after_power_loss(unsigned seed,
                                                         std::uint64_t whole_from) const {
    auto next = after_kill();
    // Another boot, whatever the seed.
    for (unsigned i = 0; i < 4; ++i)
      next->boot_[i] ^= static_cast<std::byte>((std::uint64_t{2} + seed) >> 8 * i);
    Random random(seed);
    next->directory_.lose_power(
        [&](std::uint64_t at) { return seed > 1 && at < whole_from && random() % 4 == 0; },
        [&] { return seed == 1 || (seed > 1 && random() % 2 == 0); });
    return next;
  }

  // ---- the seam ------------------------------------------------------------------------

  int open(const char* path, Open how, std::uint32_t mode = 0666) override {
    if (const int error = begin()) return error;
    if (how == Open::nameless) return new_handle(std::make_shared<Node>(next_inode_++, room_));
    std::shared_ptr<Node> node = directory_.find(path);
    if (how == Open::create) {
      if (node) return -EEXIST;
      node = std::make_shared<Node>(next_inode_++, room_);
      node->mode = fixed_.value_or(mode & ~umask_);
      node->acl = lists_;
      directory_.change("", path, node);
    }
    return node ? new_handle(std::move(node)) : -ENOENT;
  }
  int close(int fd) override {
    const int error = begin();
    let_go(fd);
    handles_.erase(fd);  // closed, whatever it says
    return error;
  }
  ssize_t pread(int fd, void* to, std::size_t size, std::uint64_t offset) override {
    if (const int error = begin()) return error;
    const Node& node = *handles_.at(fd);
    if (offset >= node.size) return 0;
    size = shortened(std::min<std::uint64_t>(size, node.size - offset));
    std::memcpy(to, node.data.get() + offset, size);
    return static_cast<ssize_t>(size);
  }
  ssize_t pwrite(int fd, const void* from, std::size_t size, std::uint64_t offset) override {
    if (const int error = begin()) return error;
    Node& node = *handles_.at(fd);
    size = shortened(size);
    if (offset + size > std::min(room_, capacity_)) return -ENOSPC;
    std::memcpy(node.data.get() + offset, from, size);
    node.written.emplace_back(offset, size);
    node.size = std::max(node.size, offset + size);
    ++node.modified;
    return static_cast<ssize_t>(size);
  }
  int fdatasync(int fd) override {
    if (const int error = begin()) {
      ++failed_syncs_;
      return error;
    }
    handles_.at(fd)->sync();
    return 0;
  }
  // These bytes and nothing else, though Linux may do more.
  int sync_written(int fd, const void* from, std::size_t size, std::uint64_t offset) override {
    if (const int error = begin(Call::sync_written)) return error;
    Node& node = *handles_.at(fd);
    std::memcpy(node.data.get() + offset, from, size);
    ++node.modified;
    node.harden(offset, size);
    node.hard_size = std::max(node.hard_size, offset + size);
    return 0;
  }
  int truncate(int fd, std::uint64_t size) override {
    if (const int error = begin()) return error;
    Node& node = *handles_.at(fd);
    if (size > room_) return -ENOSPC;
    if (size < node.size) {
      std::memset(node.data.get() + size, 0, node.size - size);
      node.written.emplace_back(size, node.size - size);
    }
    node.size = size;
    ++node.modified;
    return 0;
  }
  int allocate(int fd, std::uint64_t offset, std::uint64_t size) override {
    if (const int error = begin()) return error;
    Node& node = *handles_.at(fd);
    if (offset + size > std::min(room_, capacity_)) return -ENOSPC;
    node.size = std::max(node.size, offset + size);
    return 0;
  }
  int next_data(int fd, std::uint64_t offset, std::uint64_t& from, std::uint64_t& to) override {
    if (const int error = begin()) return error;
    const Node& node = *handles_.at(fd);
    if (offset >= node.size) return -ENXIO;
    from = offset;
    to = node.size;
    return 0;
  }
  int stat(int fd, Stat& out) override {
    if (const int error = begin()) return error;
    out = handles_.at(fd)->stat();
    return 0;
  }
  int stat_path(const char* path, Stat& out) override {
    if (const int error = begin()) return error;
    const auto node = directory_.find(path);
    if (!node) return -ENOENT;
    out = node->stat();
    return 0;
  }
  int chmod(int fd, std::uint32_t mode) override {
    if (const int error = begin()) return error;
    if (fixed_) return -EPERM;
    handles_.at(fd)->mode = mode;
    return 0;
  }
  int has_acl(int fd) override {
    if (const int error = begin()) return error;
    return handles_.at(fd)->acl ? 1 : 0;
  }
  int has_acl(const char* path) override {
    if (const int error = begin()) return error;
    const auto node = directory_.find(path);
    return !node ? -ENOENT : node->acl ? 1 : 0;
  }
  int gives_acl(const char*) override {
    if (const int error = begin()) return error;
    return gives_ ? 1 : 0;
  }
  std::uint32_t umask() override { return umask_; }
  int take_acl(int fd, int from) override {
    if (const int error = begin()) return error;
    Node& node = *handles_.at(fd);
    node.acl = from >= 0;
    if (from < 0) return 0;
    node.mode = handles_.at(from)->mode;
    return handles_.at(from)->acl ? 0 : -ENODATA;
  }
  // As for a user without rights: groups may be changed if it is in them.
  int chown(int fd, std::uint32_t user, std::uint32_t group) override {
    if (const int error = begin()) return error;
    Node& node = *handles_.at(fd);
    if (user != kSame && user != node.user) return -EPERM;
    if (group != node.group && groups_.count(group) == 0) return -EPERM;
    node.group = group;
    return 0;
  }
  int map(int fd, std::size_t size, Map how, void*& out) override {
    if (const int error = begin()) return error;
    auto node = handles_.at(fd);
    if (how == Map::private_write) {
      node = std::make_shared<Node>(0, room_);
      std::memcpy(node->data.get(), handles_.at(fd)->data.get(), size);
    }
    out = node->data.get();
    mapped_.emplace(out, std::move(node));
    return 0;
  }
  int unmap(void* address, std::size_t) override {
    const int error = begin();
    const auto found = mapped_.find(address);
    if (found != mapped_.end()) mapped_.erase(found);
    return error;
  }
  int flush(void* address, std::size_t size) override {
    if (const int error = begin()) return error;
    mapped_.find(address)->second->harden(0, size);
    return 0;
  }
  int rename(const char* from, const char* to) override {
    if (const int error = begin()) return error;
    return change_name(from, to);
  }
  int rename_new(const char* from, const char* to) override {
    if (const int error = begin()) return error;
    return directory_.find(to) ? -EEXIST : change_name(from, to);
  }
  int exchange(const char* one, const char* other) override {
    if (const int error = begin()) return error;
    if (!exchanges_) return -EOPNOTSUPP;
    if (!directory_.find(one) || !directory_.find(other)) return -ENOENT;
    directory_.exchange(one, other);
    return 0;
  }
  int unlink(const char* path) override {
    if (const int error = begin()) return error;
    if (!directory_.find(path)) return -ENOENT;
    directory_.change(path, "", nullptr);
    return 0;
  }
  int sync_directory(const char*) override {
    if (const int error = begin()) return error;
    directory_.sync();
    return 0;
  }
  int resolve(const char* path, std::string& out) override {
    if (const int error = begin()) return error;
    if (!directory_.find(path) && std::ranges::count(kDirectories, path) == 0) return -ENOENT;
    out = path;
    return 0;
  }
  int path_of(int fd, std::string& out) override {
    if (const int error = begin()) return error;
    for (const auto& [name, node] : directory_.names())
      if (node == handles_.at(fd)) {
        out = name;
        return 0;
      }
    return -ENOENT;
  }
  int try_lock(int fd) override {
    if (const int error = begin()) return error;
    return handles_.at(fd)->locks.take(fd) ? 0 : -EAGAIN;
  }
  int try_share(int fd) override {
    if (const int error = begin()) return error;
    return handles_.at(fd)->locks.share(fd) ? 0 : -EAGAIN;
  }
  int unlock(int fd) override {
    const int error = begin();
    handles_.at(fd)->locks.let_go(fd);
    return error;
  }
  int locked(int fd) override {
    if (const int error = begin()) return error;
    return handles_.at(fd)->locks.are_of_others(fd) ? 1 : 0;
  }
  // One process runs at a time, so nobody could wait for it.
  int hold_gate(int fd) override {
    if (const int error = begin()) return error;
    return handles_.at(fd)->locks.take_gate(fd) ? 0 : -EDEADLK;
  }
  int leave_gate(int fd) override {
    const int error = begin();
    handles_.at(fd)->locks.leave_gate(fd);
    return error;
  }
  int boot_id(Id& out) override {
    if (const int error = begin()) return error;
    if (!tells_boot_) return -ENOENT;
    out = boot_;
    return 0;
  }
  int random(void* to, std::size_t size) override {
    if (const int error = begin()) return error;
    for (std::size_t i = 0; i < size; ++i)
      static_cast<std::byte*>(to)[i] = fake_disk::random_byte(drawn_++);
    return 0;
  }

 private:
  using Node = fake_disk::Node;

  int change_name(const char* from, const char* to) {
    auto node = directory_.find(from);
    if (!node) return -ENOENT;
    directory_.change(from, to, std::move(node));
    return 0;
  }

  int new_handle(std::shared_ptr<Node> node) {
    handles_[next_handle_] = std::move(node);
    owners_[next_handle_] = process_;
    return next_handle_++;
  }
  void let_go(int fd) {
    handles_.at(fd)->locks.let_go(fd);
    handles_.at(fd)->locks.leave_gate(fd);
  }

  int begin(Call call = Call::other) {
    if (stopped_) return -EIO;
    if (dead_ != 0 && dead_ == process_) return -EIO;
    const Outcome outcome = next_call(call);
    if (outcome.end == End::of_process) {
      dead_ = process_;
      for (const auto& [fd, node] : handles_)
        if (owners_[fd] == process_) let_go(fd);
    }
    if (outcome.end == End::of_machine) stopped_ = after_kill();
    return outcome.error;
  }

  std::set<std::uint32_t> groups_{1};
  bool gives_ = false, lists_ = false;
  std::uint32_t umask_ = 0022;
  std::optional<std::uint32_t> fixed_;
  fake_disk::Directory directory_;
  std::map<int, std::shared_ptr<Node>> handles_;
  std::map<int, int> owners_;  // of handles: processes
  int process_ = 1, dead_ = 0;
  std::multimap<void*, std::shared_ptr<Node>> mapped_;
  int next_handle_ = 3;
  std::uint64_t next_inode_ = 1;
  std::uint64_t room_;
  std::uint64_t capacity_;
  std::uint64_t failed_syncs_ = 0;
  bool exchanges_ = true, tells_boot_ = true;
  Id boot_{};
  std::size_t drawn_ = 0;            // random bytes
  std::unique_ptr<FakeOs> stopped_;  // the machine at the moment it stopped
};

}  // namespace bloomery::test
