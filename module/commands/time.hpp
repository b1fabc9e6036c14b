// The time of a window of seconds.
//
// The time is the server's clock, read on the server that runs a command first; replicas and AOFs get it by
// BF.ADVANCE. A window whose time was ahead of the clock would forget nothing until then, so no
// client can set one more than a slice ahead. A time may still be ahead, if the clock was set back or the window comes
// from a machine whose clock is wrong. Then the next item that is added sets it back.
//
// With the setting client_time the time is what clients say: for simulations and tests.
#pragma once

#include "commands/command.hpp"
#include "values/window.hpp"

namespace bloomery::server {

[[nodiscard]] std::uint64_t clock_seconds() noexcept;  // the server's clock, since 1970
// The same for filters that need it; 0 for others.
[[nodiscard]] std::uint64_t time_for(const Value& value) noexcept;

// Whether a time is ahead of the server's clock, in seconds since 1970, by more than a slice.
// Always false if the command is replayed: its master has decided.
[[nodiscard]] bool is_too_far_ahead(const Arguments& arguments, std::uint64_t slice_length,
                                    std::uint64_t time) noexcept;

// Call it before items are added: it sets a window of seconds to the server's clock, and replicates
// that. A replayed command comes after the BF.ADVANCE of its own time.
void bring_up_to_date(const Arguments& arguments, Window& window) noexcept;

}  // namespace bloomery::server
