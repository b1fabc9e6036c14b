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
  static constexpr std::array<std::string_view, 3> kDirectories = {"/dir", "dir", "."};

  // `room`: for the bytes of a file.
  explicit FakeOs(std::uint64_t room = 40 * 1024) : room_(room), capacity_(room) {
    boot_.fill(std::byte{1});
  }

  // Processes are counted from 1.
  void run_as(int process) { process_ = process; }
  [[nodiscard]] bool is_dead(int process) const { return dead_ == process; }
  // A file system that cannot exchange two names.
  void cannot_exchange() { exchanges_ = false; }
  // Another program gives a file another name, which replaces what had that.
  void move(const std::string& from, const std::string& to) {
    seen_[to] = hard_[to] = seen_.at(from);
    seen_.erase(from);
    hard_.erase(from);
  }
  [[nodiscard]] bool stopped() const { return stopped_ != nullptr; }
  [[nodiscard]] std::uint64_t failed_syncs() const { return failed_syncs_; }
  [[nodiscard]] std::size_t names() const { return seen_.size(); }
  [[nodiscard]] std::size_t open_files() const { return handles_.size(); }
  [[nodiscard]] std::size_t mappings() const { return mapped_.size(); }
  // Gives a file to others; the process is user 1 of group 1 and those that join() adds.
  void give(const std::string& path, std::uint32_t user, std::uint32_t group, std::uint32_t mode) {
    Node& node = *seen_.at(path);
    node.user = user;
    node.group = group;
    node.mode = mode;
  }
  void join(std::uint32_t group) { groups_.insert(group); }
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }

  // The bytes of a file as programs see them, to look at or to damage (on the device too).
  [[nodiscard]] std::vector<std::byte> contents(const std::string& path) const {
    const Node& node = *seen_.at(path);
    return {node.data.get(), node.data.get() + node.size};
  }
  void put(const std::string& path, const std::vector<std::byte>& bytes) {
    auto node = std::make_shared<Node>(next_inode_++, room_);
    std::copy(bytes.begin(), bytes.end(), node->data.get());
    node->size = bytes.size();
    node->harden(0, room_);
    node->hard_size = bytes.size();
    seen_[path] = hard_[path] = node;
  }
  // All files as programs see them.
  [[nodiscard]] std::string files() const {
    std::string all;
    for (const auto& [name, node] : seen_) {
      all += name + '\n' + std::to_string(node->mode) + ' ' + std::to_string(node->size) + '\n';
      all.append(reinterpret_cast<const char*>(node->data.get()), node->size);
    }
    return all;
  }
  // Another program writes into a file, as cp does.
  void copy_over(const std::string& path, const std::vector<std::byte>& bytes) {
    Node& node = *seen_.at(path);
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
    next->next_inode_ = from.next_inode_;
    next->drawn_ = from.drawn_;
    std::map<const Node*, std::shared_ptr<Node>> copies;
    next->seen_ = fake_disk::copy(from.seen_, copies);
    next->hard_ = fake_disk::copy(from.hard_, copies);
    for (const fake_disk::NameChange& change : from.unsynced_)
      next->unsynced_.push_back({change.from, change.to, fake_disk::copy(change.node, copies),
                                 fake_disk::copy(change.exchanged, copies)});
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
    const auto kept = [&] { return seed == 1 || (seed > 1 && random() % 2 == 0); };
    for (const fake_disk::NameChange& change : next->unsynced_)
      if (kept()) change.apply(next->hard_);
    next->unsynced_.clear();
    next->seen_ = next->hard_;
    fake_disk::decide_sectors(
        next->seen_,
        [&](std::uint64_t at) { return seed > 1 && at < whole_from && random() % 4 == 0; }, kept);
    return next;
  }

  // ---- the seam ------------------------------------------------------------------------

  int open(const char* path, Open how) override {
    if (const int error = begin()) return error;
    if (how == Open::nameless) return new_handle(std::make_shared<Node>(next_inode_++, room_));
    const auto found = seen_.find(path);
    if (how == Open::create || how == Open::create_private) {
      if (found != seen_.end()) return -EEXIST;
      change_name("", path, std::make_shared<Node>(next_inode_++, room_));
      seen_[path]->mode = how == Open::create ? 0644 : 0600;
    } else if (found == seen_.end()) {
      return -ENOENT;
    }
    return new_handle(seen_[path]);
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
    Node& node = *handles_.at(fd);
    for (const auto& [at, count] : node.written) node.harden(at, count);
    node.written.clear();
    node.hard_size = node.size;
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
    const auto found = seen_.find(path);
    if (found == seen_.end()) return -ENOENT;
    out = found->second->stat();
    return 0;
  }
  int chmod(int fd, std::uint32_t mode) override {
    if (const int error = begin()) return error;
    handles_.at(fd)->mode = mode;
    return 0;
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
    if (seen_.count(from) == 0) return -ENOENT;
    change_name(from, to, seen_[from]);
    return 0;
  }
  int rename_new(const char* from, const char* to) override {
    if (const int error = begin()) return error;
    if (seen_.count(to) != 0) return -EEXIST;
    if (seen_.count(from) == 0) return -ENOENT;
    change_name(from, to, seen_[from]);
    return 0;
  }
  int exchange(const char* one, const char* other) override {
    if (const int error = begin()) return error;
    if (!exchanges_) return -EOPNOTSUPP;
    if (seen_.count(one) == 0 || seen_.count(other) == 0) return -ENOENT;
    unsynced_.push_back({one, other, seen_[one], seen_[other]});
    unsynced_.back().apply(seen_);
    return 0;
  }
  int unlink(const char* path) override {
    if (const int error = begin()) return error;
    if (seen_.count(path) == 0) return -ENOENT;
    change_name(path, "", nullptr);
    return 0;
  }
  int sync_directory(const char*) override {
    if (const int error = begin()) return error;
    hard_ = seen_;
    unsynced_.clear();
    return 0;
  }
  int resolve(const char* path, std::string& out) override {
    if (const int error = begin()) return error;
    if (seen_.count(path) == 0 && std::ranges::count(kDirectories, path) == 0) return -ENOENT;
    out = path;
    return 0;
  }
  int path_of(int fd, std::string& out) override {
    if (const int error = begin()) return error;
    for (const auto& [name, node] : seen_)
      if (node == handles_.at(fd)) {
        out = name;
        return 0;
      }
    return -ENOENT;
  }
  int try_lock(int fd) override {
    if (const int error = begin()) return error;
    fake_disk::Locks& locks = handles_.at(fd)->locks;
    if (locks.are_of_others(fd)) return -EAGAIN;
    locks.sharing.clear();
    locks.alone = fd;
    return 0;
  }
  int try_share(int fd) override {
    if (const int error = begin()) return error;
    fake_disk::Locks& locks = handles_.at(fd)->locks;
    if (locks.alone != 0 && locks.alone != fd) return -EAGAIN;
    locks.alone = 0;
    locks.sharing.insert(fd);
    return 0;
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
    int& gate = handles_.at(fd)->locks.gate;
    if (gate != 0) return -EDEADLK;
    gate = fd;
    return 0;
  }
  int leave_gate(int fd) override {
    const int error = begin();
    handles_.at(fd)->locks.leave_gate(fd);
    return error;
  }
  int boot_id(Id& out) override {
    if (const int error = begin()) return error;
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

  void change_name(std::string from, std::string to, std::shared_ptr<Node> node) {
    unsynced_.push_back({std::move(from), std::move(to), std::move(node), nullptr});
    unsynced_.back().apply(seen_);
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
  fake_disk::Names seen_, hard_;
  std::vector<fake_disk::NameChange> unsynced_;
  std::map<int, std::shared_ptr<Node>> handles_;
  std::map<int, int> owners_;  // of handles: processes
  int process_ = 1, dead_ = 0;
  std::multimap<void*, std::shared_ptr<Node>> mapped_;
  int next_handle_ = 3;
  std::uint64_t next_inode_ = 1;
  std::uint64_t room_;
  std::uint64_t capacity_;
  std::uint64_t failed_syncs_ = 0;
  bool exchanges_ = true;
  Id boot_{};
  std::size_t drawn_ = 0;            // random bytes
  std::unique_ptr<FakeOs> stopped_;  // the machine at the moment it stopped
};

}  // namespace bloomery::test
