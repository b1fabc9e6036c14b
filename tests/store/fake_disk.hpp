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
  void let_go(int fd) {
    if (alone == fd) alone = 0;
    sharing.erase(fd);
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
        written(from.written) {}
  std::uint64_t room;
  Room data, hard;
  std::uint64_t size = 0, hard_size = 0, inode;
  std::uint64_t modified = 0;  // counts the writes
  std::uint32_t mode = 0644, user = 1, group = 1;
  Locks locks;
  bool decided = false;                                          // while power is being lost
  std::vector<std::pair<std::uint64_t, std::uint64_t>> written;  // and not synced: at, count
  void harden(std::uint64_t at, std::uint64_t count) {
    std::memcpy(hard.get() + at, data.get() + at, count);
  }
  [[nodiscard]] Os::Stat stat() const {
    return {1, inode, size, mode, user, group, true, size, modified};
  }
};

using Names = std::map<std::string, std::shared_ptr<Node>>;

struct NameChange {
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

// The same file under all of its names, and in what was not synced.
inline std::shared_ptr<Node> copy(const std::shared_ptr<Node>& node,
                                  std::map<const Node*, std::shared_ptr<Node>>& copies) {
  if (!node) return nullptr;
  auto& clone = copies[node.get()];
  if (!clone) clone = std::make_shared<Node>(*node);
  return clone;
}

inline Names copy(const Names& names, std::map<const Node*, std::shared_ptr<Node>>& copies) {
  Names out;
  for (const auto& [name, node] : names) out[name] = copy(node, copies);
  return out;
}

// A loss of power: for each sector that was not synced, or for parts of those that is_torn(at) says, kept()
// decides whether the device has it.
template <class IsTorn, class Kept>
void decide_sectors(const Names& names, IsTorn is_torn, Kept kept) {
  for (const auto& [name, node] : names) {
    if (node->decided) continue;
    node->decided = true;
    const bool new_size = kept();
    for (std::uint64_t at = 0; at < node->room; at += kSector) {
      if (std::memcmp(node->data.get() + at, node->hard.get() + at, kSector) == 0) continue;
      const std::uint64_t step = is_torn(at) ? 8 : kSector;
      for (std::uint64_t i = at; i < at + kSector; i += step)
        if (!kept()) std::memcpy(node->data.get() + i, node->hard.get() + i, step);
    }
    if (!new_size) node->size = node->hard_size;
    std::memset(node->data.get() + node->size, 0, node->room - node->size);
    node->harden(0, node->room);
    node->hard_size = node->size;
  }
  for (const auto& [name, node] : names) node->decided = false;
}

}  // namespace bloomery::test::fake_disk
