// The verbs: each runs one request to its end and returns the exit code.
#pragma once

#include "flags/options.hpp"

namespace bloomery::cli {

constexpr int kExitFound = 0;    // or done
constexpr int kExitNothing = 1;  // no line was printed
constexpr int kExitError = 2;
constexpr int kExitSignal = 128;  // and the number of the signal

int run_plan(const Options& options);
int run_create(const Options& options);
int run_add(const Options& options);
int run_remove(const Options& options);
int run_check(const Options& options);
int run_dedup(const Options& options);
int run_info(const Options& options);
int run_merge(const Options& options);
int run_rebuild(const Options& options);
int run_verify(const Options& options);
int run_salvage(const Options& options);
int run_rotate(const Options& options);
int run_convert(const Options& options);

}  // namespace bloomery::cli
