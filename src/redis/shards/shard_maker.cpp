// Claim, make, commit: each step is one command about one key, which the server executes atomically.
#include "redis/shards/shard_maker.hpp"

#include <bloomery/error.hpp>

#include <algorithm>

namespace bloomery::detail {

const std::string_view kRemoveString =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) ~= ARGV[1] then return 0 end "
    "return redis.call('UNLINK', KEYS[1])";
constexpr std::size_t kRemoveStringBytes = 128;  // of the string that is compared

namespace {

constexpr std::string_view kClaimMagic(
    "\x89"
    "BLC\r\n\x1A\n",
    8);
constexpr std::string_view kClaimMilliseconds = "60000";
// At most as long as StagedKeys keeps the keys that it has set aside.
constexpr std::string_view kNoteSeconds = "86400";
constexpr std::string_view kRenew =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
    "return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

// KEYS: the claim, the note. ARGV: the value of the claim, the note, its time to live. A maker that fails must be able
// to remove its claim before it puts keys back, so a user without the right to UNLINK gets the error before any key
// moves.
constexpr std::string_view kLeaveNote =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
    "redis.call('UNLINK', KEYS[2]) redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3]) return 1";

// The number of shards between two renewals of the claim: zeroing 256 MiB each takes a few seconds at most.
constexpr std::size_t kAtOnce = 16;

class Maker {
 public:
  Maker(Cluster& cluster, const ShardsToMake& shards)
      : cluster_(cluster), shards_(shards), claim_(claim_of(shards.identity)) {}

  void make() {
    claim();
    try {
      shards_.after_claim();
      leave_note();
      for (std::size_t first = 0; first < shards_.keys.size(); first += kAtOnce) {
        make_some(first, std::min(first + kAtOnce, shards_.keys.size()));
        keep({"EVAL", std::string(kRenew), "1", shards_.claimed, claim_,
              std::string(kClaimMilliseconds)});
      }
      if (shards_.unmoved != nullptr) shards_.unmoved->require_history();
      keep(shards_.commit(claim_), shards_.unmoved == nullptr);
    } catch (const Error& error) {
      if (!is_made()) {
        if (shards_.unmoved != nullptr) shards_.unmoved->explain(error);
        throw;
      }
    } catch (...) {
      if (!is_made()) throw;
    }
    shards_.after_commit();
    if (!shards_.note.empty()) remove_note(cluster_, shards_.first, shards_.note);
  }

 private:
  using Words = ShardsToMake::Words;

  // Checks the reply to a step of making.
  static void require_made(const Reply& reply, const std::string& name) {
    require_type(reply, REDIS_REPLY_INTEGER, name);
    if (reply->integer == -1) throw dropped_key(name);
  }

  void claim(bool is_first_try = true) {
    const std::string& key = shards_.claimed;
    const Reply set = cluster_.ask(key, claim_words(key, claim_));
    if (set->type != REDIS_REPLY_NIL) {
      require_type(set, REDIS_REPLY_STATUS, cluster_.name_of(key));
      return;
    }
    const Reply found = cluster_.ask(key, {"GETRANGE", key, "0", "7"});
    require_type(found, REDIS_REPLY_STRING, cluster_.name_of(key));
    if (is_claim(text_of(*found))) throw being_made(cluster_.name_of(key));
    // Another maker has dropped its claim since.
    if (found->len == 0 && is_first_try) return claim(false);
    throw Error(ErrorCode::exists,
                cluster_.name_of(key) + " exists already; open the filter, or choose another name");
  }

  void leave_note() {
    if (shards_.note.empty()) return;
    keep({"EVAL", std::string(kLeaveNote), "2", shards_.claimed, note_beside(shards_.first), claim_,
          shards_.note, std::string(kNoteSeconds)});
  }

  void make_some(std::size_t first, std::size_t end) {
    std::vector<Request> requests;
    for (std::size_t i = first; i < end; ++i)
      requests.emplace_back(shards_.keys[i], shards_.make(i));
    cluster_.run_all(requests, [&](std::size_t request, std::size_t, const Reply& reply) {
      const std::string name = cluster_.name_of(shards_.keys[first + request]);
      require_made(reply, name);
      if (reply->integer == -2)
        throw Error(
            ErrorCode::exists,
            name +
                " is longer than the new one, and clients that still have it open would write "
                "beyond the end; choose another name, or at least as many bits");
      if (reply->integer != 1)
        throw Error(ErrorCode::exists,
                    name +
                        " holds something, and is not an empty shard; remove it, or choose another "
                        "name");
    });
  }

  // Runs a step that requires that this maker still holds the claim.
  void keep(const Words& words, bool wherever_its_slot_is = true) {
    std::vector<Request> requests(1, Request(shards_.claimed, words));
    const auto take = [&](std::size_t, std::size_t, const Reply& reply) {
      const std::string name = cluster_.name_of(shards_.first);
      require_made(reply, name);
      if (reply->integer != 1)
        throw Error(ErrorCode::unavailable,
                    name +
                        ": making the shards took longer than a minute, or another began, or the "
                        "filter was removed or evicted in the meantime; try again");
    };
    if (!wherever_its_slot_is) {
      cluster_.start(requests);
      cluster_.finish(requests, take);
      if (requests[0].open()) shards_.unmoved->require();
    }
    cluster_.run_all(requests, take);
  }

  // After an error, which may concern only a lost answer: returns whether the filter is there all the same. The new
  // shards are removed only after this maker has seen that its claim is gone and that there is no filter: then no
  // commit in flight can still make the filter, and no client has opened it.
  [[nodiscard]] bool is_made() noexcept {
    try {
      const std::string& claimed = shards_.claimed;
      const std::string& key = shards_.first;
      const Reply dropped = cluster_.ask(claimed, {"EVAL", kRemoveString, "1", claimed, claim_});
      require_type(dropped, REDIS_REPLY_INTEGER, cluster_.name_of(claimed));
      const std::string last = std::to_string(shards_.committed.size() - 1);
      const Reply found = cluster_.ask(key, {"GETRANGE", key, "0", last});
      require_type(found, REDIS_REPLY_STRING, cluster_.name_of(key));
      const std::string_view start = text_of(*found);
      if (dropped->integer != 1 && start == shards_.committed) return true;
      remove(!start.empty() && !is_claim(start));
    } catch (...) {
      // The state is unknown, so nothing is removed: there is the whole filter, or a claim that expires and empty
      // shards, which the next maker takes over.
    }
    return false;
  }

  void remove(bool put_back) {
    std::vector<Request> requests;
    for (std::size_t i = 0; i < shards_.keys.size(); ++i)
      requests.emplace_back(shards_.keys[i], shards_.remove(i, put_back));
    bool all = true;
    cluster_.run(requests, [&](std::size_t, std::size_t, const Reply& reply) {
      all = all && reply->type == REDIS_REPLY_INTEGER;
    });
    for (const Request& request : requests) all = all && !request.fault();
    if (all && !shards_.note.empty()) remove_note(cluster_, shards_.first, shards_.note);
  }

  Cluster& cluster_;
  const ShardsToMake& shards_;
  std::string claim_;
};

}  // namespace

void make_shards(Cluster& cluster, const ShardsToMake& shards) { Maker(cluster, shards).make(); }

std::string claim_of(const std::array<char, 8>& identity) {
  return std::string(kClaimMagic).append(identity.data(), identity.size());
}

ShardsToMake::Words claim_words(const std::string& key, const std::string& claim) {
  return {"SET", key, claim, "NX", "PX", std::string(kClaimMilliseconds)};
}

std::string claim_beside(std::string_view first) { return name_beside(first, "replacing"); }
std::string note_beside(std::string_view first) { return name_beside(first, "interrupted"); }

void remove_note(Cluster& cluster, const std::string& first, const std::string& note) noexcept {
  try {
    const std::string key = note_beside(first);
    (void)cluster.ask(
        key, {"EVAL", std::string(kRemoveString), "1", key, note.substr(0, kRemoveStringBytes)});
  } catch (...) {
    // The note expires in a day. Until then it is still correct.
  }
}

bool is_claim(std::string_view start) noexcept { return start.starts_with(kClaimMagic); }

Error dropped_key(const std::string& name) {
  return {ErrorCode::no_space,
          name +
              ": the server dropped the new key before it was whole; raise its "
              "maxmemory, or write faster"};
}

Error being_made(const std::string& name) {
  return {ErrorCode::locked, name +
                                 ": the filter is being made, or its maker died less than a "
                                 "minute ago; try again in a minute"};
}

}  // namespace bloomery::detail
