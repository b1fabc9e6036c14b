// What every command needs: the key, the filter in it, and a wall that no exception passes.
#pragma once

#include <bloomery/error.hpp>

#include <cstddef>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api.hpp"
#include "type.hpp"
#include "value.hpp"

namespace bloomery::server {

constexpr const char* kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
constexpr const char* kNotFound = "ERR not found";
constexpr const char* kNoMemory = "ERR Insufficient memory to create filter";

struct Arguments {
  Context* context;
  std::span<String*> words;  // the command's name first
  [[nodiscard]] String* key() const noexcept { return words[1]; }
  [[nodiscard]] std::span<String*> from(std::size_t first) const noexcept {
    return words.subspan(first);
  }
};

[[nodiscard]] inline std::string_view text_of(const String* word) noexcept {
  std::size_t size = 0;
  const char* bytes = api.StringPtrLen(word, &size);
  return {bytes, size};
}
// Without regard to case.
[[nodiscard]] bool is_word(const String* word, std::string_view expected) noexcept;

class OpenedKey {
 public:
  OpenedKey(Context* context, String* name, int mode) noexcept
      : key_(api.OpenKey(context, name, mode)),
        value_(is_ours(api.ModuleTypeGetType(key_))
                   ? static_cast<Value*>(api.ModuleTypeGetValue(key_))
                   : nullptr) {}
  ~OpenedKey() {
    if (key_ != nullptr) api.CloseKey(key_);
  }
  OpenedKey(const OpenedKey&) = delete;
  OpenedKey& operator=(const OpenedKey&) = delete;

  // Null: there is none, or something else.
  [[nodiscard]] Value* value() const noexcept { return value_; }
  [[nodiscard]] bool is_missing() const noexcept { return api.KeyType(key_) == kKeyIsEmpty; }
  // What to answer where a filter is needed and value() is null.
  [[nodiscard]] const char* complaint() const noexcept {
    return is_missing() ? kNotFound : kWrongType;
  }
  // The key must have been opened for writing.
  Value& put(AnyValue value) noexcept;

 private:
  Key* key_;
  Value* value_;
};

// The server's maxmemory, for what is new: a larger filter would have everything else evicted
// before it is refused. None for what a master sent or an AOF holds. Asking takes some time; below
// kAskAbove nobody needs to.
constexpr std::uint64_t kAskAbove = std::uint64_t{1} << 20;
[[nodiscard]] std::uint64_t memory_limit(const Arguments& arguments) noexcept;
// Error{no_memory}: a new filter of so many bytes is larger.
void check_fits(const Arguments& arguments, std::uint64_t bytes);

// The server's clock in seconds, where the filter is a window of time; 0 where no time counts.
[[nodiscard]] std::uint64_t time_for(const Value& value) noexcept;
// Before items are added to a window of time: turns it to the server's clock and replicates that.
// What a master sent or an AOF holds brings its own time.
void bring_up_to_date(const Arguments& arguments, Value& value) noexcept;

// After a change: watchers, caches and listeners hear of it.
void announce(const Arguments& arguments, const char* event) noexcept;

// A command as the server calls it. Whatever goes wrong inside is an error reply.
template <void (*kRun)(const Arguments&)>
int guarded(Context* context, String** words, int count) noexcept {
  try {
    kRun({context, {words, static_cast<std::size_t>(count)}});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::no_memory)
      api.ReplyWithError(context, kNoMemory);
    else
      api.ReplyWithError(context, ("ERR " + std::string(error.what())).c_str());
  } catch (const std::bad_alloc&) {
    api.ReplyWithError(context, kNoMemory);
  } catch (...) {
    api.ReplyWithError(context, "ERR the command failed");
  }
  return kOk;
}

// The commands, by the files that have them.
void reserve(const Arguments& arguments);
void add(const Arguments& arguments);
void add_many(const Arguments& arguments);
void insert(const Arguments& arguments);

void exists(const Arguments& arguments);
void exists_many(const Arguments& arguments);
void card(const Arguments& arguments);
void info(const Arguments& arguments);
void debug(const Arguments& arguments);

void scan_dump(const Arguments& arguments);
void load_chunk(const Arguments& arguments);

void clear(const Arguments& arguments);
void merge(const Arguments& arguments);

void remove(const Arguments& arguments);
void remove_many(const Arguments& arguments);
void count(const Arguments& arguments);
void advance(const Arguments& arguments);

// Creates every command, with its documentation. False: a name is taken.
[[nodiscard]] bool register_commands(Context* context);

}  // namespace bloomery::server
