// Windows of seconds and the server's clock.
#include "commands/time.hpp"

#include "commands/settings.hpp"

namespace bloomery::server {

std::uint64_t clock_seconds() noexcept {
  return static_cast<std::uint64_t>(api.Milliseconds()) / 1000;
}

std::uint64_t time_for(const Value& value) noexcept {
  return value.needs_time() ? clock_seconds() : 0;
}

bool is_too_far_ahead(const Arguments& arguments, std::uint64_t slice_length,
                      std::uint64_t time) noexcept {
  const std::uint64_t now = clock_seconds();
  return time > now && time - now > slice_length && !settings.client_time &&
         !is_replayed(arguments);
}

void bring_up_to_date(const Arguments& arguments, Window& window) noexcept {
  if (is_replayed(arguments)) return;
  const std::uint64_t now = time_for(window);
  const bool has_moved = is_too_far_ahead(arguments, window.slice_length(), window.now())
                             ? window.set_back(now)
                             : window.advance(now);
  if (!has_moved) return;
  window.end_loading();
  api.Replicate(arguments.context, "BF.ADVANCE", "sl", arguments.key(),
                static_cast<long long>(now));
}

}  // namespace bloomery::server
