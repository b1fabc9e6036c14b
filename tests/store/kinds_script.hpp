// A working life of a file of a kind other than plain, and the book of what it may hold: the
// filter after some prefix of its operations that has all acknowledged ones.
#pragma once

#include "store/checked_once.hpp"
#include "store/fake_os.hpp"
#include "store/kinds.hpp"

#include <algorithm>
#include <optional>

namespace bloomery::test {

inline constexpr const char* kKindPath = "dir/kind.bloom";
// Of a file on a FakeOs: journals grow from 16 KiB.
inline constexpr std::uint64_t kKindRoom = 96 * 1024;

class KindLedger {
 public:
  explicit KindLedger(const FilterPlan& plan) : certain_(plan), seen_(plan) {}
  [[nodiscard]] KindLedger copy() const {
    KindLedger model(certain_.copy(), seen_.copy());
    model.created = created;
    model.since_ = since_;
    model.rests_ = rests_;
    return model;
  }
  bool created = false;
  std::uint64_t failed_calls = 0;

  // What the file in this process's memory became by a call that returned, or threw.
  // False: it is not the filter after a prefix of the call's operations.
  [[nodiscard]] bool note(const Operations& call, bool returned, const Image& now) {
    std::size_t done = 0;
    if (returned) {
      for (; done < call.size(); ++done) seen_.apply(call[done]);
    } else {
      for (; done < call.size() && seen_.image() != now; ++done) seen_.apply(call[done]);
    }
    if (seen_.image() != now) return false;
    since_.insert(since_.end(), call.begin(), call.begin() + static_cast<std::ptrdiff_t>(done));
    if (!returned)
      rests_.push_back(
          {since_.size(), {call.begin() + static_cast<std::ptrdiff_t>(done), call.end()}});
    return true;
  }
  // A call that the machine did not survive.
  void note_interrupted(const Operations& call) { rests_.push_back({since_.size(), call}); }
  // All that was seen is safe now.
  void acknowledge() {
    certain_ = seen_.copy();
    since_.clear();
    rests_.clear();
  }
  // Whether a file with that image keeps what was promised; from here on it is certain.
  [[nodiscard]] bool explains(const Image& image) {
    return explained(since_, image) || std::ranges::any_of(rests_, [&](const Rest& rest) {
             Operations tried(since_.begin(),
                              since_.begin() + static_cast<std::ptrdiff_t>(rest.after));
             tried.insert(tried.end(), rest.operations.begin(), rest.operations.end());
             return explained(tried, image);
           });
  }
  // The file was opened with that image. With a journal that makes it safe; without, it may be
  // the next one lost.
  [[nodiscard]] bool open_with(const Image& image, Durability durability) {
    if (!explains(image)) return false;
    seen_ = found_->copy();
    since_ = found_after_;
    rests_.clear();
    if (durability != Durability::none) acknowledge();
    return true;
  }
  [[nodiscard]] const KindModel& certain() const { return certain_; }
  // All that it says, for is_to_check().
  [[nodiscard]] std::string promised() const {
    std::string all = created ? "created" : "none";
    const auto add = [&](const Operations& operations) {
      for (const Operation& operation : operations) {
        all += static_cast<char>(operation.what);
        add_bytes(all, &operation.key, 1);
      }
      all += '\n';
    };
    const Image image = certain_.image();
    add_bytes(all, image.data(), image.size());
    add(since_);
    for (const Rest& rest : rests_) {
      add_bytes(all, &rest.after, 1);
      add(rest.operations);
    }
    return all;
  }

 private:
  KindLedger(KindModel certain, KindModel seen)
      : certain_(std::move(certain)), seen_(std::move(seen)) {}
  // Operations of a call that threw, and may yet be in the journal, after so many of since_.
  struct Rest {
    std::size_t after;
    Operations operations;
  };
  bool explained(const Operations& operations, const Image& image) {
    KindModel model = certain_.copy();
    std::size_t next = 0;
    while (model.image() != image) {
      if (next == operations.size()) return false;
      model.apply(operations[next++]);
    }
    found_ = std::move(model);
    found_after_ = {operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(next)};
    return true;
  }

  KindModel certain_;  // after every acknowledged operation
  KindModel seen_;     // what the file's memory is
  Operations since_;   // from the one to the other
  std::vector<Rest> rests_;
  std::optional<KindModel> found_;  // by explains, after which operations
  Operations found_after_;
};

// Three sessions. An Error ends the step it comes from.
inline KindLedger play(FakeOs& os, const KindCase& kind, Durability durability) {
  KindLedger ledger(kind.plan);
  RandomOperations random(kind, 7, 400);
  for (int session = 0; session < 3; ++session) {
    std::optional<FilterFile> file;
    // The same whatever happens, so that runs can be compared.
    std::vector<Operations> calls;
    for (int batch = 0; batch < 10; ++batch)
      // Once a session more than the journal has room for.
      calls.push_back(random(batch == 6 ? 1000 : batch % 3 == 0 ? 40 : 1 + batch % 3));
    try {
      if (!ledger.created)
        file = Files(os).create(kKindPath, kind.plan, {.durability = durability});
      else
        file = Files(os).open(kKindPath, {.access = Access::write, .durability = durability});
      if (os.stopped()) return ledger;
      ledger.created = true;
      if (!ledger.open_with(image_of(*file), durability)) ADD_FAILURE() << "session " << session;
    } catch (const Error&) {
      if (os.stopped()) return ledger;
      continue;
    }
    bool loading = false;
    const auto call = [&](const Operations& operations, const auto& work, bool always_safe) {
      bool returned = true;
      try {
        work();
      } catch (const Error&) {
        returned = false;
        ++ledger.failed_calls;
      }
      if (os.stopped()) {
        ledger.note_interrupted(operations);
        return false;
      }
      if (!ledger.note(operations, returned, image_of(*file))) ADD_FAILURE() << "not a prefix";
      if (returned && (always_safe || (durability != Durability::none && !loading)))
        ledger.acknowledge();
      return true;
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!call(
              calls[i], [&] { perform(*file, calls[i]); }, false))
        return ledger;
      if (i % 5 == 4 && !call(
                            {}, [&] { file->sync(); }, true))
        return ledger;
    }
    // A load, of more than the journal has room for, which is acknowledged by its end, by sync or by close. The first
    // one does not know how much comes.
    loading = file->begin_load(session == 0 ? 0 : 1090);
    for (int part = 0; part < 4; ++part) {
      const Operations load = random(part == 2 ? 1000 : 30);
      if (!call(
              load, [&] { perform(*file, load); }, false))
        return ledger;
    }
    if (session == 0 && !call(
                            {}, [&] { file->sync(); }, true))
      return ledger;
    if (session != 2 && std::exchange(loading, false) &&
        !call(
            {}, [&] { file->end_load(); }, true))
      return ledger;
    if (session == 1 && kind.counts()) {
      const Operations merge = {{Operation::merge}};
      if (!call(
              merge, [&] { perform(*file, merge); }, true))
        return ledger;
      if (!call(
              calls[0], [&] { perform(*file, calls[0]); }, false))
        return ledger;
    }
    if (!call(
            {}, [&] { file->close(); }, true))
      return ledger;
  }
  return ledger;
}

}  // namespace bloomery::test
