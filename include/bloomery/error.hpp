// The one exception type of the library. It is thrown at the edges and never on a hot path.
//
// A message names the thing (a file, a field, a number) and the remedy. `code()` is for
// programs: it is stable, the text is not.
//
// In the comments of the library `Error{a | b}` means that a call throws bloomery::Error with the code a
// or b, and `{a}: reason` gives one of several codes and its cause. A call without such a comment throws
// nothing of its own.
#pragma once

#include <bloomery/version.hpp>

#include <stdexcept>
#include <string>

namespace bloomery {

enum class ErrorCode {
  invalid_argument,  // a number or an option that no filter can have
  too_large,         // possible in principle, refused here (2^40 bits is the limit)
  no_memory,         // the system has no memory for the bits
  mismatch,          // two filters, or a filter and a request, with different parameters
  not_a_filter,      // the bytes are something else
  newer_format,      // written by a later version
  exists,            // something is already at that place
  wrong_kind,        // the kind or the place of the filter does not have this operation
  corrupt,           // a checksum or a field contradicts the bytes
  unclean,           // the writer died and what it promised cannot be restored
  locked,            // another process writes this file, or makes this filter on a server
  read_only,         // a change was asked of a filter opened for reading, or closed
  io,                // the system refused a call; the text carries its reason
  no_space,          // no room on the device
  poisoned,          // a write failed before; what is on the device is not known
  unavailable,       // a server cannot be reached, or does not answer now
  denied,            // a server does not let this user do it
  missing,           // the filter is not there, or no longer there
  inherited,         // the writer is that of the process from which this one was forked
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace bloomery
