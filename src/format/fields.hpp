// The fields of a page. They are listed once, for the code that writes, reads and compares them.
//
// visit_fields(thing, field) calls field(at, name, value) for each field of a thing. If two things differ, the first
// field that differs in this order is named.
#pragma once

#include <bloomery/kind.hpp>

#include "base/endian.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bloomery::detail {

// The type Of, const or not.
template <class T, class Of>
concept Some = std::same_as<std::remove_const_t<T>, Of>;

template <class Field>
void visit_fields(Some<Plan> auto& plan, Field field) {
  field(40, "capacity", plan.capacity);
  field(48, "fpr", plan.fpr);
  field(13, "layout", plan.layout);
  field(32, "bits", plan.bits);
  field(56, "hashes", plan.hashes);
}

// Values as they are in a file: little-endian, with a width that does not depend on the machine.
template <class T>
[[nodiscard]] constexpr auto stored(T value) noexcept {
  if constexpr (std::same_as<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else if constexpr (std::same_as<T, WindowUnit>)
    return static_cast<std::uint32_t>(value);
  else if constexpr (std::is_enum_v<T>)
    return static_cast<std::underlying_type_t<T>>(value);
  else
    return value;
}

class FieldWriter {
 public:
  explicit FieldWriter(std::byte* page) noexcept : page_(page) {}
  template <class T>
  void operator()(std::size_t at, const char*, const T& value) const noexcept {
    store_le(page_ + at, stored(value));
  }

 private:
  std::byte* page_;
};

// A number that is no value of its enum becomes 0, which is no value of any enum here.
class FieldReader {
 public:
  explicit FieldReader(const std::byte* page) noexcept : page_(page) {}
  template <class T>
  void operator()(std::size_t at, const char*, T& value) const noexcept {
    const auto found = load_le<decltype(stored(value))>(page_ + at);
    if constexpr (std::same_as<T, double>)
      value = std::bit_cast<double>(found);
    else if constexpr (std::is_enum_v<T>)
      value = std::in_range<std::underlying_type_t<T>>(found) ? static_cast<T>(found) : T{};
    else
      value = found;
  }

 private:
  const std::byte* page_;
};

// The names and values of fields as text, and the number behind the text of a rate.
struct FieldText {
  const char* name;
  std::string text;
  double rate = 0;  // or a ratio; 0: it is neither
};
using FieldTexts = std::vector<FieldText>;
class FieldLister {
 public:
  explicit FieldLister(FieldTexts& texts) noexcept : texts_(&texts) {}
  template <class T>
  void operator()(std::size_t, const char* name, const T& value) const {
    if constexpr (std::is_enum_v<T>) {
      texts_->push_back({name, std::string(to_string(value))});
    } else {
      std::array<char, 32> digits;
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
      texts_->push_back({name, std::string(digits.data(), end)});
      if constexpr (std::same_as<T, double>) texts_->back().rate = value;
    }
  }

 private:
  FieldTexts* texts_;
};

}  // namespace bloomery::detail
