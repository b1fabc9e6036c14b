// The common part of filters on servers.
#pragma once

#include <string>
#include <utility>

#include "base/file.hpp"
#include "handle/places.hpp"

namespace bloomery::detail {

[[noreturn]] inline void refuse(ErrorCode code, const RedisUrl& url, const std::string& what) {
  throw Error(code, url.text() + ": " + what);
}
// Error{wrong_kind}: a module does not give out the plain bits of its filters (redis_plain.cpp).
void require_strings(const RedisUrl& url);

// The common part of places whose filter class takes many keys at once.
template <class Filter>
class OnServer : public AnyFilter::Impl {
 public:
  OnServer(const RedisUrl& url, Filter filter) : Impl(url.text()), filter_(std::move(filter)) {}
  [[nodiscard]] bool on_server() const noexcept final { return true; }
  [[nodiscard]] std::size_t acknowledged() const noexcept final {
    return asked_ ? filter_.acknowledged() : 0;
  }
  // By a place that takes only keys it is refused.
  std::size_t apply(AnyFilter::Operation operation, std::span<const Hash128> hashes,
                    std::span<bool> answers) override {
    asked_ = false;
    return Impl::apply(operation, hashes, answers);
  }

 protected:
  using Operation = AnyFilter::Operation;
  // Runs one of the three functions: `insert` and `contain` with keys or hashes, `remove` if keys can be removed.
  template <class Insert, class Contain, class Remove>
  std::size_t run(Operation operation, Insert insert, Contain contain, Remove remove) {
    asked_ = false;
    return at_edge(name(), [&]() -> std::size_t {
      if (operation == Operation::insert_absent) refuse_insert_absent();
      if (operation == Operation::remove) require_removal();
      asked_ = true;
      return operation == Operation::insert    ? insert()
             : operation == Operation::contain ? contain()
                                               : remove();
    });
  }
  static std::size_t no_removal() { return 0; }  // require_removal() has thrown
  Filter filter_;

 private:
  bool asked_ = false;  // whether the last call has reached the filter, which resets its count
};

// A filter of a module (redis_module.cpp).
[[nodiscard]] AnyImpl module_filter(const RedisUrl& url, Opening how, const FilterSpec& spec,
                                    const AnyOptions& options);

}  // namespace bloomery::detail
