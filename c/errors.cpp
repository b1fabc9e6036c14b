// Errors and versions of the C interface, and its detection of fork().
#include "handle.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>

namespace bloomery::c {

constinit std::atomic<std::uint64_t> forks{0};

namespace {

// The names of ErrorCode, indexed by the numbers of bloomery_code.
constexpr std::array<std::string_view, BLOOMERY_INTERNAL + 1> kNames = {
    "ok",           "invalid_argument", "too_large", "no_memory",  "mismatch",
    "not_a_filter", "newer_format",     "exists",    "wrong_kind", "corrupt",
    "unclean",      "locked",           "read_only", "io",         "no_space",
    "poisoned",     "unavailable",      "denied",    "missing",    "inherited",
    "internal"};

// The numbers of bloomery_code never change, and 20 is BLOOMERY_INTERNAL: a code after `inherited` needs another rule.
// tests/c/errors_test.cpp compares all of them.
constexpr std::int32_t code_of(ErrorCode code) noexcept {
  return static_cast<std::int32_t>(code) + 1;
}
static_assert(code_of(ErrorCode::inherited) == BLOOMERY_INHERITED);

// Room of a caller for a text, and the bytes of the text: those that do not fit are left out.
struct Room {
  char* text;
  std::size_t room;
  std::size_t size = 0;

  void add(std::string_view part) noexcept {
    if (size < room) std::memcpy(text + size, part.data(), std::min(part.size(), room - size));
    size += part.size();
  }
  // Without what looks like the user and the password of an address.
  void add_hidden(std::string_view part) noexcept {
    const auto secret = AnyFilter::secret_of(part);
    if (!secret) return add(part);
    const auto before = static_cast<std::size_t>(secret->data() - part.data());
    add(part.substr(0, before));
    add("***");
    add(part.substr(before + secret->size()));
  }
};

std::int32_t written(bloomery_error* error, std::int32_t code, std::string_view text) noexcept {
  if (error == nullptr) return code;
  error->code = code;
  // A path or a name may be an address in a wrong place.
  Room out{error->text, sizeof error->text};
  for (;;) {
    const std::string_view word = text.substr(0, text.find(' '));
    out.add_hidden(word);
    text.remove_prefix(word.size());
    if (text.empty()) break;
    out.add(" ");
    text.remove_prefix(1);
  }
  std::size_t size = std::min(out.size, sizeof error->text - 1);
  // If a text is cut, it ends before the UTF-8 character that does not fit.
  if (size < out.size)
    while (size > 0 && (static_cast<unsigned char>(error->text[size]) & 0xC0) == 0x80) --size;
  error->text[size] = 0;
  return code;
}

void count_fork() noexcept { forks.fetch_add(1, std::memory_order_relaxed); }
// Counting begins when the library is loaded, before there is any handle.
[[maybe_unused]] const int kCounting = pthread_atfork(nullptr, nullptr, count_fork);

}  // namespace

std::int32_t report(bloomery_error* error) noexcept {
  try {
    throw;
  } catch (const Error& failure) {
    return written(error, code_of(failure.code()), failure.what());
  } catch (const std::bad_alloc&) {
    return written(error, BLOOMERY_NO_MEMORY, "the system has no memory for it");
  } catch (const std::exception& failure) {
    return written(error, BLOOMERY_INTERNAL, failure.what());
  } catch (...) {
    return written(error, BLOOMERY_INTERNAL, "an exception of an unknown type");
  }
}

void refuse_no_filter() {
  throw Error(ErrorCode::invalid_argument,
              "the filter is NULL; look at the error of the call that should have made it");
}

}  // namespace bloomery::c

void bloomery_filter::refuse_inherited() const {
  throw bloomery::Error(bloomery::ErrorCode::inherited,
                        filter.name() +
                            ": was opened before this process was forked, and belongs to the "
                            "parent; open it in this process, after the fork");
}

const char* bloomery_error_name(int32_t code) {
  const auto& names = bloomery::c::kNames;
  return code >= 0 && static_cast<std::size_t>(code) < names.size()
             ? names[static_cast<std::size_t>(code)].data()
             : "unknown";
}

size_t bloomery_hide_password(const char* text, char* out, size_t room) {
  bloomery::c::Room written{out, room};
  written.add_hidden(text == nullptr ? "" : text);
  if (room != 0) out[std::min(written.size, room - 1)] = 0;
  return written.size;
}

const char* bloomery_version(void) { return BLOOMERY_VERSION; }

uint32_t bloomery_version_number(void) {
  return BLOOMERY_VERSION_MAJOR << 16 | BLOOMERY_VERSION_MINOR << 8 | BLOOMERY_VERSION_PATCH;
}
