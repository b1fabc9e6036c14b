// The commands CF.*, with RedisBloom's words, replies and errors.
#pragma once

#include "commands/command.hpp"
#include "cuckoo/key.hpp"

namespace bloomery::server::cuckoo {

// command_items.cpp
void add(const Arguments& arguments);
void add_new(const Arguments& arguments);  // CF.ADDNX
void insert(const Arguments& arguments);
void insert_new(const Arguments& arguments);
void exists(const Arguments& arguments);
void exists_many(const Arguments& arguments);
void count(const Arguments& arguments);
void remove(const Arguments& arguments);

// command_whole.cpp
void reserve(const Arguments& arguments);
void compact(const Arguments& arguments);
void info(const Arguments& arguments);
void debug(const Arguments& arguments);
void scan_dump(const Arguments& arguments);
void load_chunk(const Arguments& arguments);

// Makes a filter in a key that is empty and opened for writing, and replicates that it was made.
// Error{no_memory}.
Filter& make_filter(const Arguments& arguments, OpenedKey& key, const Header& header);

// Creates all of them in the server, with their documentation. False: a name is taken.
[[nodiscard]] bool register_commands(Context* context);

}  // namespace bloomery::server::cuckoo
