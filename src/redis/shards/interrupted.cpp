// Every byte of a note is checked when it is read: any client may have written it.
#include "redis/shards/interrupted.hpp"

#include <array>
#include <optional>
#include <vector>

#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view kMagic(
    "\x89"
    "BLN\r\n\x1A\n",
    8);
constexpr std::size_t kNumberBytes = 16;
constexpr std::size_t kCommittedAt = kMagic.size() + kNumberBytes;
constexpr std::size_t kNoteBytes = kCommittedAt + 128;  // a header of strings, or a record
constexpr std::string_view kDigits = "0123456789abcdef";

bool is_note(std::string_view bytes) noexcept {
  return bytes.size() == kNoteBytes && bytes.starts_with(kMagic) &&
         bytes.substr(kMagic.size(), kNumberBytes).find_first_not_of(kDigits) ==
             std::string_view::npos;
}

// The first bytes of a string; nullopt if there is no string.
std::optional<std::string> get(Cluster& cluster, const std::string& key, std::size_t bytes) {
  const Reply found = cluster.ask(key, {"GETRANGE", key, "0", std::to_string(bytes - 1)});
  require_type(found, REDIS_REPLY_STRING, cluster.name_of(key));
  if (found->len == 0) return std::nullopt;
  return std::string(text_of(*found));
}

// True: the maker of the filter with this identity still holds its claim.
bool has_claim(Cluster& cluster, const std::string& first, const std::array<char, 8>& identity) {
  const std::string claim = claim_of(identity);
  return get(cluster, first, claim.size()) == claim ||
         get(cluster, claim_beside(first), claim.size()) == claim;
}

void undo_all(Cluster& cluster, const NotedKeys& noted, bool put_back) {
  const std::vector<std::string>& places = noted.keys.places();
  std::vector<Request> requests;
  for (std::size_t i = 0; i < places.size(); ++i)
    requests.emplace_back(places[i], noted.keys.remove(i, noted.arguments(i), put_back));
  cluster.run_all(requests, [&](std::size_t i, std::size_t, const Reply& reply) {
    require_type(reply, REDIS_REPLY_INTEGER, cluster.name_of(places[i]));
  });
}

// False: another client holds a claim.
bool claim(Cluster& cluster, const std::string& first, const std::string& claim) {
  const std::optional<std::string> found = get(cluster, first, claim.size());
  if (found && is_claim(*found)) return false;
  const std::string key = claim_beside(first);
  const Reply set = cluster.ask(key, claim_words(key, claim));
  return set->type == REDIS_REPLY_STATUS;
}

}  // namespace

std::string encode_note(std::string_view number, std::string_view committed) {
  return std::string(kMagic).append(number).append(committed);
}

bool undo_noted(Cluster& cluster, const std::string& first, const KeysOfNote& keys_of) {
  const std::string key = note_beside(first);
  const std::optional<std::string> found = get(cluster, key, kNoteBytes + 1);
  if (!found) return false;
  const std::string& note = *found;
  if (!is_note(note))
    throw Error(ErrorCode::corrupt,
                cluster.name_of(key) + " is not what a maker of shards leaves there; remove it");
  const std::string_view committed = std::string_view(note).substr(kCommittedAt);
  const NotedKeys noted =
      keys_of(std::string_view(note).substr(kMagic.size(), kNumberBytes), committed);
  if (has_claim(cluster, first, noted.identity)) throw being_made(cluster.name_of(first));
  const std::optional<std::string> stands = get(cluster, first, committed.size());
  const bool is_whole = stands == committed;
  if (is_whole)
    noted.keys.drop_replaced(cluster);
  else
    undo_all(cluster, noted, stands && !is_claim(*stands));
  remove_note(cluster, first, note);
  return !is_whole;
}

bool undo_interrupted(Cluster& cluster, const std::string& first,
                      const KeysOfNote& keys_of) noexcept {
  try {
    cluster.drop();
    if (!get(cluster, note_beside(first), 1)) return false;
    const std::string key = claim_beside(first), ours = claim_of(new_identity());
    if (!claim(cluster, first, ours)) return false;
    bool undone = false;
    try {
      undone = undo_noted(cluster, first, keys_of);
    } catch (const Error&) {
      // Another client may be able to undo it; the claim must not stop that client from trying.
    }
    (void)cluster.ask(key, {"EVAL", kRemoveString, "1", key, ours});
    return undone;
  } catch (...) {
    return false;  // the caller has its own error to report
  }
}

Error was_undone(const std::string& name) {
  return {
      ErrorCode::unavailable,
      name +
          ": a program was killed while it replaced the filter, and its changes are undone now; "
          "try again"};
}

}  // namespace bloomery::detail
