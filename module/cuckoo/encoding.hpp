// Cuckoo filters in RDB files and DUMP payloads, as RedisBloom writes them.
//
// The bytes may be anything: the result is a whole filter or an Error, and no memory is taken for
// what has not come.
#pragma once

#include "cuckoo/filter.hpp"
#include "rdb.hpp"

namespace bloomery::server::cuckoo {

constexpr int kEncoding = 4;  // RedisBloom's encver; 0 to 4 are read

// Error{io | corrupt | newer_format | no_memory}.
[[nodiscard]] Filter::Pointer load(RdbSource& source, int encoding);
void save(const Filter& filter, RdbSink& sink);

}  // namespace bloomery::server::cuckoo
