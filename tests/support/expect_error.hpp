// Checks an error: its code, and words that its text must contain.
#pragma once

#include <bloomery/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

namespace bloomery::test {

// The text of the Error that `action` throws.
inline std::string error_of(auto&& action, ErrorCode code) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline void expect_error(ErrorCode code, std::initializer_list<std::string> words,
                         const std::function<void()>& call) {
  const std::string text = error_of(call, code);
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << "\"" << word << "\" is missing in: " << text;
}

}  // namespace bloomery::test
