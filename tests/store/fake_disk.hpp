// The disk of a machine in memory (fake_os.hpp): files of two contents, what programs see and what is on
// the device, and names that change.
#pragma once

#include "base/os.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bloomery::test::fake_disk {

inline constexpr std::uint64_t kSector = 512;

struct FreeAligned {
  void operator()(std::byte* p) const { std::free(p); }
};
using Room = std::unique_ptr<std::byte[], FreeAligned>;

inline Room new_room(std::uint64_t room, const std::byte* copied = nullptr) {
  auto* p = static_cast<std::byte*>(std::aligned_alloc(4096, room));
  if (copied != nullptr)
    std::memcpy(p, copied, room);
  else
    std::memset(p, 0, room);
  return Room(p);
}

// The random bytes of each machine: golden files have the first of them.
inline std::byte random_byte(std::size_t number) {
  static const auto bytes = [] {
    std::mt19937 random(1);
    std::array<std::byte, 4096> drawn{};
    for (std::byte& each : drawn) each = std::byte(random());
    return drawn;
  }();
  return bytes[number % bytes.size()];
}

// Who has the locks of a file, by handles; 0: nobody.
struct Locks {
  int alone = 0, gate = 0;
  std::set<int> sharing;
  [[nodiscard]] bool are_of_others(int fd) const {
    return (alone != 0 && alone != fd) || sharing.size() > sharing.count(fd);
  }
  bool take(int fd) {
    if (are_of_others(fd)) return false;
    sharing.clear();
    alone = fd;
    return true;
  }
  bool share(int fd) {
    if (alone != 0 && alone != fd) return false;
    alone = 0;
    sharing.insert(fd);
    return true;
  }
  void let_go(int fd) {
    if (alone == fd) alone = 0;
    sharing.erase(fd);
  }
  bool take_gate(int fd) {
    if (gate != 0) return false;
    gate = fd;
    return true;
  }
  void leave_gate(int fd) {
    if (gate == fd) gate = 0;
  }
};

struct Node {
  Node(std::uint64_t number, std::uint64_t bytes)
      : room(bytes), data(new_room(bytes)), hard(new_room(bytes)), inode(number) {}
  // The same file where no process has it open.
  Node(const Node& from)
      : room(from.room),
        data(new_room(room, from.data.get())),
        hard(new_room(room, from.hard.get())),
        size(from.size),
        hard_size(from.hard_size),
        inode(from.inode),
        mode(from.mode),
        user(from.user),
        group(from.group),
        acl(from.acl),
        written(from.written) {}
  std::uint64_t room;
  Room data, hard;
  std::uint64_t size = 0, hard_size = 0, inode;
  std::uint64_t modified = 0;  // counts the writes
  std::uint32_t mode = 0644, user = 1, group = 1;
  bool acl = false;  // it has an access control list
  Locks locks;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> written;  // and not synced: at, count
  void harden(std::uint64_t at, std::uint64_t count) {
    std::memcpy(hard.get() + at, data.get() + at, count);
  }
  void sync() {
    for (const auto& [at, count] : written) harden(at, count);
    written.clear();
    hard_size = size;
  }
  template <class IsTorn, class Kept>
  void lose_power(IsTorn is_torn, Kept kept) {
    const bool new_size = kept();
    for (std::uint64_t at = 0; at < room; at += kSector) {
      if (std::memcmp(data.get() + at, hard.get() + at, kSector) == 0) continue;
      const std::uint64_t step = is_torn(at) ? 8 : kSector;
      for (std::uint64_t i = at; i < at + kSector; i += step)
        if (!kept()) std::memcpy(data.get() + i, hard.get() + i, step);
    }
    if (!new_size) size = hard_size;
    std::memset(data.get() + size, 0, room - size);
    harden(0, room);
    hard_size = size;
  }
  [[nodiscard]] Os::Stat stat() const {
    return {1, inode, size, mode, user, group, true, size, modified};
  }
};

// The names of files: those that programs see, and those on the device, which a sync makes the same.
class Directory {
 public:
  using Names = std::map<std::string, std::shared_ptr<Node>>;

  // What programs see. Of a name that is not there: null.
  [[nodiscard]] const Names& names() const { return seen_; }
  [[nodiscard]] std::shared_ptr<Node> find(const std::string& name) const {
    const auto found = seen_.find(name);
    return found == seen_.end() ? nullptr : found->second;
  }
  [[nodiscard]] Node& at(const std::string& name) const { return *seen_.at(name); }

  // Takes a name from a file, and gives it one, which may be another file's; either may be empty.
  void change(std::string from, std::string to, std::shared_ptr<Node> node) {
    keep({std::move(from), std::move(to), std::move(node), nullptr});
  }
  void exchange(const std::string& one, const std::string& other) {
    keep({one, other, find(one), find(other)});
  }
  void sync() {
    hard_ = seen_;
    unsynced_.clear();
  }
  // A change that is on the device at once, alone.
  void change_both(const std::string& from, const std::string& to, std::shared_ptr<Node> node) {
    const Change change{from, to, std::move(node), nullptr};
    change.apply(seen_);
    change.apply(hard_);
  }

  // The same files under all of their names, where no process has them open.
  [[nodiscard]] Directory copy() const {
    std::map<const Node*, std::shared_ptr<Node>> copies;
    const auto copied = [&](const std::shared_ptr<Node>& node) -> std::shared_ptr<Node> {
      if (!node) return nullptr;
      auto& clone = copies[node.get()];
      if (!clone) clone = std::make_shared<Node>(*node);
      return clone;
    };
    Directory out;
    for (const auto& [name, node] : seen_) out.seen_[name] = copied(node);
    for (const auto& [name, node] : hard_) out.hard_[name] = copied(node);
    for (const auto& [from, to, node, exchanged] : unsynced_)
      out.unsynced_.push_back({from, to, copied(node), copied(exchanged)});
    return out;
  }

  // A loss of power: for each change of a name and each sector that was not synced, or for parts of those that
  // is_torn(at) says, kept() decides whether the device has it.
  template <class IsTorn, class Kept>
  void lose_power(IsTorn is_torn, Kept kept) {
    for (const Change& change : unsynced_)
      if (kept()) change.apply(hard_);
    unsynced_.clear();
    seen_ = hard_;
    std::set<const Node*> decided;  // one may have several names
    for (const auto& [name, node] : seen_)
      if (decided.insert(node.get()).second) node->lose_power(is_torn, kept);
  }

 private:
  struct Change {
    std::string from, to;  // empty: none
    std::shared_ptr<Node> node;
    std::shared_ptr<Node> exchanged;  // gets the name `from`
    void apply(Names& names) const {
      if (exchanged)
        names[from] = exchanged;
      else if (!from.empty())
        names.erase(from);
      if (!to.empty()) names[to] = node;
    }
  };
  void keep(Change change) {
    change.apply(seen_);
    unsynced_.push_back(std::move(change));
  }

  Names seen_, hard_;
  std::vector<Change> unsynced_;
};

}  // namespace bloomery::test::fake_disk
