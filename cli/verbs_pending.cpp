// The verbs over filter files, refused until the durable file is in the tree.
#include "verbs.hpp"

#include <bloomery/error.hpp>

namespace bloomery::cli {

namespace {
[[noreturn]] int refuse() {
  throw Error(ErrorCode::invalid_argument, "this build has no filter files yet");
}
}  // namespace

int run_create(const Options&) { refuse(); }
int run_add(const Options&) { refuse(); }
int run_check(const Options&) { refuse(); }
int run_info(const Options&) { refuse(); }
int run_merge(const Options&) { refuse(); }
int run_verify(const Options&) { refuse(); }
int run_salvage(const Options&) { refuse(); }

}  // namespace bloomery::cli
