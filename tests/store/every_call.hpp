// Some work on a machine in memory (fake_os.hpp) that stops, or fails, at each of its calls.
#pragma once

#include <bloomery/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include "store/fake_os.hpp"
#include "support/effort.hpp"

namespace bloomery::test {

// check(after, seed): the machine as after a kill (-1), and as after losses of power with seeds below `seeds`.
template <class Work, class Check>
void stop_at_every_call(const FakeOs& before, int seeds, std::uint64_t whole_from, Work work,
                        Check check) {
  for (std::uint64_t call = 1;; ++call) {
    const auto os = before.after_kill();
    os->stop_before(call);
    try {
      work(*os);
    } catch (const Error& error) {
      ASSERT_TRUE(os->stopped()) << error.what();
    }
    if (!os->stopped()) break;
    for (int seed = -1; seed < seeds; ++seed) {
      SCOPED_TRACE("call " + std::to_string(call) + ", seed " + std::to_string(seed));
      const auto after = seed < 0 ? os->after_kill()
                                  : os->after_power_loss(static_cast<unsigned>(seed), whole_from);
      check(*after, seed);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// check(after): the machine as after a kill. Returns how often the work failed.
template <class Work, class Check>
std::size_t fail_at_every_call(const FakeOs& before, Work work, Check check) {
  const auto sane = before.after_kill();
  work(*sane);
  std::size_t failed = 0;
  for (const int error : {ENOSPC, EIO})
    for (std::uint64_t call = 1; call <= sane->calls() && !testing::Test::HasFailure(); ++call) {
      if (hurried() && (call % 2 == 0) == (error == EIO))
        continue;  // each call still fails, in one of both ways
      SCOPED_TRACE("call " + std::to_string(call) + ", error " + std::to_string(error));
      const auto os = before.after_kill();
      os->inject({.at = call, .error = error});
      try {
        work(*os);
      } catch (const Error&) {
        ++failed;
      }
      check(*os->after_kill());
    }
  return failed;
}

}  // namespace bloomery::test
