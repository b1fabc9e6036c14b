// The names of the kinds.
#include <bloomery/kind.hpp>

namespace bloomery {

std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::plain:
      return "plain";
    case Kind::counting:
      return "counting";
    case Kind::scalable:
      return "scalable";
    case Kind::window:
      return "window";
  }
  return "unknown";
}

}  // namespace bloomery
