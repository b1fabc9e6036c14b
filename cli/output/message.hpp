// Makes foreign text fit for a terminal and a log: no control byte, and no password.
//
// Messages quote file names, values of flags and answers of servers. Every message passes through here as
// a whole when it is printed, so that no place that makes one can forget it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bloomery::cli {

// The text with \n, \r, \t, and \xNN for every other byte that a terminal would obey, that is not UTF-8, or that makes
// the text look like a different one (control characters of Unicode, line ends, changes of direction).
[[nodiscard]] std::string printable(std::string_view text);

// The same for JSON in UTF-8, whose strings may have such characters: they become \uNNNN, and line ends stay.
[[nodiscard]] std::string printable_json(std::string_view json);

// The text with *** for the user and the password of every address in it, whatever its scheme, and for
// the password of every user:password@ without one.
[[nodiscard]] std::string without_secrets(std::string_view text);

// Remembers what stands before an @ in the arguments, which may have any bytes, spaces too;
// without_secrets hides that from then on. Forgets the arguments of the previous call.
void hide_secrets_of(std::span<const std::string> arguments);

// One line for stderr, with the tool's name in front.
[[nodiscard]] std::string message_line(std::string_view text);

}  // namespace bloomery::cli
