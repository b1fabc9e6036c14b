// A user's first program with the Redis client; there is no server where it is tried.
#include <bloomery/bloomery.hpp>
#include <bloomery/redis_filter.hpp>

#include <cstdio>

int main() {
  try {
    bloomery::RedisFilter::open({{.socket = "/nowhere"}, "filter"});
  } catch (const bloomery::Error& error) {
    std::puts(error.what());
    return error.code() == bloomery::ErrorCode::unavailable ? 0 : 1;
  }
  return 1;
}
