// What to do about "exists", in words of the tool: the library knows no flags.
#pragma once

#include <fmt/format.h>
#include <bloomery/error.hpp>

#include <string>

namespace bloomery::cli {

// Does work that makes something at the path. With the flag given already (`forced`) the library
// says why it replaces nothing.
template <class Work>
auto naming_force(const std::string& path, bool forced, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::exists || forced) throw;
    throw Error(ErrorCode::exists,
                fmt::format("{} exists; name another, or replace it with --force", path));
  }
}

}  // namespace bloomery::cli
