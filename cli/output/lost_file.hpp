// A file that is cut while it is mapped: one line that names it, instead of a death by SIGBUS.
#pragma once

namespace bloomery::cli {

// From here on an access to a part of a mapped file that is no longer there, or whose disk fails, ends the
// tool with a line on stderr and this code. Any other SIGBUS kills, as without this.
void explain_lost_files(int exit_code);

}  // namespace bloomery::cli
