// Checks an error: its code, and words that its text must contain.
#pragma once

#include <bloomery/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

namespace bloomery::test {

inline void expect_error(ErrorCode code, std::initializer_list<std::string> words,
                         const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "\"" << word << "\" is missing in: " << error.what();
  }
}

}  // namespace bloomery::test
