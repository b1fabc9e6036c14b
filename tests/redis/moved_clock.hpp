// A clock that runs ahead, for what is done every minute.
#pragma once

#include <chrono>

namespace bloomery::test {

// Moves std::chrono::steady_clock of this process on.
void move_clock(std::chrono::seconds by) noexcept;

}  // namespace bloomery::test
