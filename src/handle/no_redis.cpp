// For a library that was built without hiredis: it recognizes addresses and reports that it cannot reach them.
#include "handle/places.hpp"
#include "handle/plain_bits.hpp"

namespace bloomery {

namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::invalid_argument,
              "this bloomery was built without its Redis client; build it with hiredis and "
              "-DBLOOMERY_REDIS=ON");
}

}  // namespace

std::string RedisUrl::text() const { refuse(); }
bool is_redis_pattern(std::string_view) noexcept { return false; }

namespace detail {

RedisUrl redis_url(const std::string&) { refuse(); }
RedisUrl redis_pattern(const std::string&) { refuse(); }
void for_each_of_module(const RedisUrl&, const UseStats&, const UseRefusal&) { refuse(); }
AnyImpl redis_filter(const RedisUrl&, Opening, const FilterSpec&, const AnyOptions&) { refuse(); }
AnyImpl redis_rebuild(const RedisUrl&, const FilterPlan&, const Hasher&) { refuse(); }
AnyFilter::Rotation redis_rotate(const RedisUrl&, const AnyOptions&) { refuse(); }
PhpFilter load_php_bucket(const RedisUrl&, const PhpScheme&) { refuse(); }
void store_php_bucket(const RedisUrl&, const PhpFilter&) { refuse(); }
void merge_module_shards(const RedisUrl&, std::span<const RedisUrl>, bool) { refuse(); }
NextChunk module_dump(const RedisUrl&) { refuse(); }
void load_into_module(const RedisUrl&, bool, const NextChunk&) { refuse(); }
void restore_into_module(const RedisUrl&, bool, std::string_view) { refuse(); }
void refuse_module_shards(const RedisUrl&) { refuse(); }
std::unique_ptr<PlainSource> redis_source(const RedisUrl&) { refuse(); }
std::unique_ptr<PlainSink> redis_sink(const RedisUrl&, const PlainParameters&, bool) { refuse(); }

}  // namespace detail

}  // namespace bloomery
