// Errors of the planner, and the names that fields have in their messages.
#include "plan/refuse.hpp"

#include <array>
#include <cstdio>

namespace bloomery {

namespace {

struct Name {
  PlanField field;
  std::string_view placeholder;
  std::string_view text;
};
constexpr Name kNames[] = {{PlanField::kind, "{kind}", "kind"},
                           {PlanField::capacity, "{capacity}", "capacity"},
                           {PlanField::fpr, "{fpr}", "false-positive rate"},
                           {PlanField::bits, "{bits}", "bits"},
                           {PlanField::hashes, "{hashes}", "hashes"},
                           {PlanField::layout, "{layout}", "layout"},
                           {PlanField::counter_bits, "{counter_bits}", "bits of a counter"},
                           {PlanField::growth, "{growth}", "growth"},
                           {PlanField::tightening, "{tightening}", "tightening"},
                           {PlanField::window, "{window}", "window"},
                           {PlanField::slices, "{slices}", "slices"},
                           {PlanField::delta, "{delta}", "delta"}};

// With the library's names, or with those of a program.
std::string filled_in(std::string text, std::string_view (*name_of)(PlanField) = nullptr) {
  for (const Name& name : kNames)
    for (std::size_t at; (at = text.find(name.placeholder)) != std::string::npos;)
      text.replace(at, name.placeholder.size(),
                   name_of == nullptr ? name.text : name_of(name.field));
  return text;
}

// In the locale of the program, which may write 0,01.
std::string printed(double value, int digits) {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

}  // namespace

PlanError::PlanError(ErrorCode code, PlanField field, const std::string& text,
                     const std::string& name)
    : Error(code, name + filled_in(text)), field_(field), name_(name), text_(text) {}

std::string PlanError::message(std::string_view (*name_of)(PlanField)) const {
  return name_ + filled_in(text_, name_of);
}

namespace detail {

void refuse(ErrorCode code, PlanField field, const std::string& text) {
  throw PlanError(code, field, text);
}

void refuse(PlanField field, const std::string& text) {
  refuse(ErrorCode::invalid_argument, field, text);
}

void refuse_fpr(double fpr, const std::string& then, double least) {
  const int digits = digits_apart(fpr, fpr > kMaxFpr ? kMaxFpr : least);
  refuse(PlanField::fpr, fpr_of(fpr, digits) + " is out of range" + then + " give one from " +
                             number(least) + " to " + number(kMaxFpr));
}

// A message is the same in every locale: the decimal separator may have several bytes.
std::string number(double value, int digits) {
  std::string text;
  for (const char c : printed(value, digits)) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '+' || c == '-';
    if (is_plain)
      text += c;
    else if (!text.ends_with('.'))
      text += '.';
  }
  return text;
}

int digits_apart(double a, double b) {
  int digits = 4;
  while (digits < 17 && number(a, digits) == number(b, digits)) ++digits;
  return digits;
}

double rounded_up(double value) {
  const double near = std::stod(printed(value, 4));
  return near < value ? std::stod(printed(value * 1.001, 4)) : near;
}

std::string fpr_of(double fpr, int digits) {
  return "a false-positive rate of " + number(fpr, digits);
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string counted(std::uint64_t number, const std::string& word) {
  return grouped(number) + " " + word + (number == 1 ? "" : word.ends_with("sh") ? "es" : "s");
}

}  // namespace detail

}  // namespace bloomery
