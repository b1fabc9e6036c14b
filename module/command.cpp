// The parts that commands share.
#include "command.hpp"

#include <strings.h>

#include "statistics.hpp"

namespace bloomery::server {

bool is_word(const String* word, std::string_view expected) noexcept {
  const std::string_view text = text_of(word);
  return text.size() == expected.size() &&
         strncasecmp(text.data(), expected.data(), expected.size()) == 0;
}

Chain& OpenedKey::put(ValuePointer<Chain> chain) noexcept {
  count_in(*chain);
  Type* const type = type_of(*chain);
  chain_ = chain.release();
  api.ModuleTypeSetValue(key_, type, chain_);
  return *chain_;
}

void announce(const Arguments& arguments, const char* event) noexcept {
  api.SignalModifiedKey(arguments.context, arguments.key());
  api.NotifyKeyspaceEvent(arguments.context, kNotifyModule, event, arguments.key());
}

}  // namespace bloomery::server
