// Errors of the planner: the error of a field, and the numbers in its message.
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>
#include <string>

namespace bloomery {
enum class Kind : std::uint16_t;
struct FilterSpec;
}  // namespace bloomery

namespace bloomery::detail {

// `text` may name fields of the request in braces (PlanError).
[[noreturn]] void refuse(ErrorCode code, PlanField field, const std::string& text);
[[noreturn]] void refuse(PlanField field, const std::string& text);  // invalid_argument
// "a false-positive rate of 0.6 is out of range" and `then`, which says of what, "give one from `least` to 0.5".
[[noreturn]] void refuse_fpr(double fpr, const std::string& then, double least);

// A number that a kind does not use is an error, because it must not be ignored silently: a filter without its window
// would never forget. It is in spec.cpp.
void refuse_foreign(const FilterSpec& spec, Kind kind);

std::string number(double value, int digits = 4);  // "0.001", "1e-07"
// The digits, at least 4, with which two numbers that differ are written differently.
int digits_apart(double a, double b);
// The least value that a check lets through, as number() writes one that it does let through: not below.
double rounded_up(double value);
std::string grouped(std::uint64_t number);       // "1,000,000"
std::string fpr_of(double fpr, int digits = 4);  // "a false-positive rate of 0.001"
// "1 key", "1,000 keys"; for words whose plural is regular.
std::string counted(std::uint64_t number, const std::string& word);

}  // namespace bloomery::detail
