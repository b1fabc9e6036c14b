// The fields are those of INFO: https://redis.io/docs/latest/commands/info/
#include "redis/wire/history.hpp"

#include <algorithm>
#include <cstddef>

namespace bloomery::detail {
namespace {

constexpr std::size_t kNameBytes = 40;  // of a history; numbers are shorter

void take_field(std::string& to, std::string_view section, std::string_view field) {
  const std::size_t at = section.find(field);
  if (at == section.npos) return;
  const std::string_view rest = section.substr(at + field.size());
  to = rest.substr(0, std::min(rest.find('\r'), kNameBytes));
}

}  // namespace

void History::take(std::string_view section) {
  take_field(name, section, "\nmaster_replid:");
  take_field(former, section, "\nmaster_replid2:");
  take_field(received, section, "\ntotal_net_repl_input_bytes:");
  take_field(process, section, "\nrun_id:");
  take_field(role, section, "\nrole:");
}

bool History::is_known() const noexcept {
  return !name.empty() && !process.empty() && !role.empty();
}

bool History::is_that_of(const History& now) const {
  return now.process == process && now.name == name && now.role == role;
}

bool History::may_be_lost(const History& now) const {
  return now.process != process || now.role != role ||
         (now.name != name &&
          (now.former != std::string(kNameBytes, '0') || now.received != received));
}

}  // namespace bloomery::detail
