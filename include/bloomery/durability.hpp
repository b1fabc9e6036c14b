// Which changes of a filter in a file survive a crash, and what that costs.
//
//   level    kill -9 of the writer   power loss           a call that has returned costs
//   none     no (see sync)           no (see sync)        memory; sync and close replace the file
//   process  yes                     the file is refused  plain: memory, the file is mapped;
//                                                         other kinds: a journal write
//   sync     yes                     yes                  a journal write and a wait for the device
//
// Once sync() or close() has returned, everything before it survives, at every level. With `process`
// the next change puts the file at risk again: after a power loss before the next sync(), the file is
// refused with Error{unclean}. A call that throws promises nothing. If a crash interrupts a call, some of its
// keys may be found. In a plain filter these may be any of its keys; with `sync` they are the first keys or
// all keys, once a writer has opened the file again. In the other kinds they are the first keys.
//
// A file of its own because the journals and sessions that filter_file.hpp stands on include it.
#pragma once

#include <cstdint>

namespace bloomery {

enum class Durability : std::uint8_t { none, process, sync };

}  // namespace bloomery
