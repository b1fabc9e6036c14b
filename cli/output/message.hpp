// What strangers wrote, as text that a terminal and a log may show: no control byte, and no password.
//
// Messages quote file names, values of flags and answers of servers. Every message goes through here as a
// whole, where it is printed, so that none is forgotten where it is made.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bloomery::cli {

// The text with \n, \r, \t, and \xNN for every other byte that a terminal would obey, that is no UTF-8, or
// that makes text look like another one (control characters of Unicode, line ends, changes of direction).
[[nodiscard]] std::string printable(std::string_view text);

// The text with *** for the user and the password of every address in it, whatever its scheme, and for
// the password of every user:password@ without one.
[[nodiscard]] std::string without_secrets(std::string_view text);

// Takes note of what stands before an @ in the arguments, which may have any bytes, spaces too;
// without_secrets hides it from then on. It forgets those of the call before.
void hide_secrets_of(std::span<const std::string> arguments);

// One line for stderr, with the tool's name in front.
[[nodiscard]] std::string message_line(std::string_view text);

}  // namespace bloomery::cli
