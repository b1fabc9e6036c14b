// What commands share, and the commands by name.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "server/api.hpp"
#include "types/type.hpp"
#include "values/value.hpp"

namespace bloomery::server {

struct Arguments {
  Context* context;
  std::span<String*> words;  // the command's name first
  [[nodiscard]] String* key() const noexcept { return words[1]; }
  [[nodiscard]] std::span<String*> from(std::size_t first) const noexcept {
    return words.subspan(first);
  }
};

// Commands with too few or too many words throw it. Commands also throw ErrorReply and Error.
struct WrongArity {};

// The number in a word, which must be at least `least`; otherwise an ErrorReply with this message.
[[nodiscard]] inline long long number_in(const String* word, const char* message,
                                         long long least = LLONG_MIN) {
  long long number = 0;
  if (api.StringToLongLong(word, &number) != kOk || number < least) throw ErrorReply{message};
  return number;
}

// Whether the command comes from a master or an AOF. Its origin has already decided what depends on
// the clock or the limits of a server.
[[nodiscard]] bool is_replayed(const Arguments& arguments) noexcept;

// Whether the server's maxmemory has room for a new filter, or for the growth of one. Call it
// before the memory is taken. If the server evicts, all of maxmemory counts as room, since it makes
// room; for a larger filter it would evict everything else first. Replayed commands have no limit.
[[nodiscard]] bool fits(const Arguments& arguments, std::uint64_t bytes) noexcept;
void check_fits(const Arguments& arguments, std::uint64_t bytes);  // Error{no_memory}: no room

// The arrays that the header of a dump claims must take little memory, since a header is a few bytes that any client
// may send. Small arrays are written to when they are made, and of large arrays only the pages at their ends.
class ClaimedArrays {
 public:
  explicit ClaimedArrays(const Arguments& arguments) noexcept : arguments_(arguments) {}
  // Throws when the arrays would take too much at once. Replayed commands have no limit.
  void add(std::uint64_t bytes);

 private:
  const Arguments& arguments_;
  std::uint64_t bytes_ = 0;
};

// Throws if a filter of so many bytes is larger than bf.bloom-memory-usage-limit allows. Replayed
// commands have no limit.
void check_filter_limit(const Arguments& arguments, std::uint64_t bytes);
constexpr const char* kBeyondFilterLimit = "ERR operation exceeds bloom object memory limit";

// Limits the new memory of a filter that grows, as for new filters.
class GrowthLimit final : public MemoryLimit {
 public:
  // `value`: the filter that grows; null: its kind has no limit of its own.
  GrowthLimit(const Arguments& arguments, const Value* value) noexcept
      : arguments_(arguments), value_(value) {}
  [[nodiscard]] bool allows(std::uint64_t bytes) const noexcept override;
  [[nodiscard]] const char* reason() const noexcept { return reason_; }  // of the last refusal

 private:
  const Arguments& arguments_;
  const Value* value_;
  mutable const char* reason_ = "ERR problem inserting into filter";
};

// Tells watchers, caches and listeners of a change, after it was made.
void announce(const Arguments& arguments, const char* event) noexcept;
// Replicates that a filter with this header, as in a dump, was made.
void replicate_header(const Arguments& arguments, std::span<const std::byte> header) noexcept;
// For a change that the same command makes on replicas: replicates the command, and announces the change.
void changed(const Arguments& arguments, const char* event) noexcept;

// ---- dumps of Bloom and cuckoo filters (command_dump.cpp) ----------------------------------------

constexpr std::size_t kMaxChunk = std::size_t{16} << 20;
// Replies the iterator and the bytes, as SCANDUMP does. Null: there are no bytes.
void reply_chunk(const Arguments& arguments, std::uint64_t iterator,
                 std::optional<std::span<const std::byte>> bytes);
// Whether a chunk leaves every byte that is not zero as it is.
[[nodiscard]] bool only_adds(const std::byte* place, std::span<const std::byte> bytes) noexcept;

// ---- the commands, by the files that have them --------------------------------------------------

// command_items.cpp
void add(const Arguments& arguments);
void add_many(const Arguments& arguments);
void insert(const Arguments& arguments);
void exists(const Arguments& arguments);
void exists_many(const Arguments& arguments);
void remove(const Arguments& arguments);
void remove_many(const Arguments& arguments);
void count(const Arguments& arguments);

// command_whole.cpp
void reserve(const Arguments& arguments);
void clear(const Arguments& arguments);
void merge(const Arguments& arguments);
void advance(const Arguments& arguments);

// command_info.cpp
void card(const Arguments& arguments);
void info(const Arguments& arguments);
void debug(const Arguments& arguments);

// command_dump.cpp
void scan_dump(const Arguments& arguments);
void load_chunk(const Arguments& arguments);

// Creates all of them in the server, with their documentation. False: a name is taken.
[[nodiscard]] bool register_commands(Context* context);

}  // namespace bloomery::server
