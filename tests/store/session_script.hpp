// A working life of a filter file in one function, and the book of what it was promised.
#pragma once

#include <bloomery/bloomery.hpp>

#include "store/checked_once.hpp"
#include "store/fake_os.hpp"
#include "store/scratch.hpp"

#include <cstring>
#include <optional>

namespace bloomery::test {

// Keys are counted from 0; those of the merged filter from kMergedKeys.
constexpr std::uint64_t kMergedKeys = 1'000'000;

struct Ledger {
  bool created = false;
  std::vector<std::uint64_t> acknowledged;  // keys whose insert or merge has returned
  std::size_t safe = 0;                     // how many of them before the last sync or close
  std::uint64_t next_key = 0;               // keys from here on were never tried
  std::optional<Filter> tried;              // all other keys, once the life has ended
};

inline constexpr const char* kPath = "/dir/seen.bloom";

inline Filter merged_filter(const Plan& plan) {
  Filter other(plan);
  for (std::uint64_t key = kMergedKeys; key < kMergedKeys + 20; ++key) other.insert(key);
  return other;
}

inline void add(FilterFile& file, std::uint64_t first, std::uint64_t count) {
  file.insert_hashes(hashes_of(file.hasher(), first, count));
}
inline std::uint64_t found_in(const FilterFile& file, std::uint64_t first, std::uint64_t count) {
  return file.may_contain_hashes(hashes_of(file.hasher(), first, count));
}

// First through the journal, then past it. Acknowledged by its end, by sync or by close.
constexpr std::uint64_t kLoadedKeys = 1040;
inline void load(FilterFile& file, std::uint64_t first, int how) {
  const bool begun = file.begin_load();
  for (const auto& [at, count] : {std::pair{0, 40}, {40, 500}, {540, 500}})
    add(file, first + at, count);
  if (how == 1) file.sync();
  if (how == 2) file.close();
  if (how == 0 && begun) file.end_load();
}

// Three sessions, as far as the machine comes. An Error ends the step it comes from.
inline Ledger play(FakeOs& os, const Plan& plan, Durability durability) {
  Ledger ledger;
  const auto done = [&](const auto& step) {
    try {
      step();
    } catch (const Error&) {
      return false;
    }
    return !os.stopped();
  };
  Filter other = merged_filter(plan);
  for (int session = 0; session < 3 && !os.stopped(); ++session) {
    std::optional<FilterFile> file;
    const bool open = done([&] {
      if (!ledger.created)
        file = Files(os).create(kPath, plan, {.durability = durability});
      else
        file = Files(os).open(kPath, {.access = Access::write, .durability = durability});
    });
    ledger.created |= open;
    if (!open) continue;
    for (int batch = 0; batch < 14 && !os.stopped(); ++batch) {
      // Once a session more keys at once than the journal of a small filter has room for, and twice as many as
      // that together fill it.
      const std::uint64_t count = batch == 9                 ? 1000
                                  : batch == 4 || batch == 7 ? 500
                                  : batch % 3 == 0           ? 40
                                                             : 1 + batch % 3;
      const auto hashes = hashes_of(file->view().hasher(), ledger.next_key, count);
      if (done([&] { file->insert_hashes(hashes); }))
        for (std::uint64_t i = 0; i < count; ++i)
          ledger.acknowledged.push_back(ledger.next_key + i);
      ledger.next_key += count;
      if (batch % 5 == 4 && done([&] { file->sync(); })) ledger.safe = ledger.acknowledged.size();
    }
    if (os.stopped()) break;
    if (session == 1 && done([&] { file->merge(other); })) {
      for (std::uint64_t i = 0; i < 20; ++i) ledger.acknowledged.push_back(kMergedKeys + i);
      ledger.safe = ledger.acknowledged.size();
    }
    if (session == 2 && done([&] { file->insert(ledger.next_key); }))
      ledger.acknowledged.push_back(ledger.next_key);
    ledger.next_key += session == 2;
    const bool loaded = done([&] { load(*file, ledger.next_key, session); });
    if (loaded)
      for (std::uint64_t i = 0; i < kLoadedKeys; ++i)
        ledger.acknowledged.push_back(ledger.next_key + i);
    ledger.next_key += kLoadedKeys;
    if (session == 2 ? loaded : done([&] { file->close(); }))
      ledger.safe = ledger.acknowledged.size();
    // What only a process's memory had is gone with it.
    if (durability == Durability::none) ledger.acknowledged.resize(ledger.safe);
  }
  other.insert_hashes(hashes_of(other.hasher(), 0, ledger.next_key));
  ledger.tried = std::move(other);
  return ledger;
}

// is_to_check() of a file at that level.
inline bool is_to_check(const FakeOs& os, const Ledger& ledger, const Plan& plan,
                        Durability durability, bool power) {
  std::string promised = std::string(to_string(plan.layout)) + name_of(durability);
  promised += power ? " power" : " kill";
  promised += ledger.created ? " created" : " none";
  const std::uint64_t numbers[] = {ledger.safe, ledger.next_key};
  add_bytes(promised, numbers, 2);
  add_bytes(promised, ledger.acknowledged.data(), ledger.acknowledged.size());
  return is_to_check(os, promised);
}

// How many of the first `count` acknowledged keys are missing.
inline std::uint64_t lost(const FilterView& view, const Ledger& ledger, std::size_t count) {
  return count - view.may_contain_many(std::span(ledger.acknowledged).first(count));
}

// Whether each one in `view` comes from a key that was tried.
inline bool nothing_else(const FilterView& view, const Ledger& ledger) {
  Filter both = ledger.tried->copy();
  both.merge(view);
  return std::memcmp(both.bytes().data(), ledger.tried->bytes().data(), both.bytes().size()) == 0;
}

}  // namespace bloomery::test
