// Errors of the planner: the error of a field, and the numbers in its message.
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>
#include <string>

namespace bloomery::detail {

// `text` may name fields of the request in braces (PlanError).
[[noreturn]] void refuse(ErrorCode code, PlanField field, const std::string& text);
[[noreturn]] void refuse(PlanField field, const std::string& text);  // invalid_argument

std::string number(double value);  // "0.001", "1e-07"
// The least value that a check lets through, as a number that it does let through: rounded up.
std::string least(double value);
std::string grouped(std::uint64_t number);  // "1,000,000"
std::string fpr_of(double fpr);             // "a false-positive rate of 0.001"
// "1 key", "1,000 keys"; for words whose plural is regular.
std::string counted(std::uint64_t number, const std::string& word);

}  // namespace bloomery::detail
