// A list of access control as the system keeps it, in an extended attribute: user 65534 may read, the group and others
// may not. The mode of its file is 0640, for the bits of the group are the most that the list gives.
#pragma once

#include <string_view>

namespace bloomery::test {

inline constexpr const char* kAccessListName = "system.posix_acl_access";
// Of a directory: each new file in it gets the list.
inline constexpr const char* kDefaultListName = "system.posix_acl_default";
inline constexpr std::string_view kAccessList(
    "\2\0\0\0"
    "\1\0\6\0\xff\xff\xff\xff"     // the user
    "\2\0\4\0\xfe\xff\0\0"         // user 65534
    "\4\0\0\0\xff\xff\xff\xff"     // the group
    "\x10\0\4\0\xff\xff\xff\xff"   // the mask
    "\x20\0\0\0\xff\xff\xff\xff",  // others
    44);

}  // namespace bloomery::test
