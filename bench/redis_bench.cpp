// Keys per second of a filter in a Redis string, over one connection to a server on loopback.
//
// RedisFilter is compared with other ways: a round trip per bit, as in the PHP classes; a command per
// bit, a whole batch in a pipeline (keys are then not set atomically); and a script that runs the
// BITFIELD of each key of a batch.
#include <bloomery/detail/layout.hpp>
#include <bloomery/redis_filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "contest.hpp"
#include "keys.hpp"
#include "redis/wire/connection.hpp"
#include "redis_servers.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

using detail::Commands;
using detail::Connection;
using Hashes = std::vector<Hash128>;

constexpr std::string_view kScript =
    "local k = tonumber(ARGV[1]) local c = {'BITFIELD', KEYS[1]} "
    "for j = 0, k - 1 do c[3 + 4 * j] = 'SET' c[4 + 4 * j] = 'u1' c[6 + 4 * j] = '1' end "
    "local fresh = 0 for i = 2, #ARGV, k do for j = 0, k - 1 do c[5 + 4 * j] = ARGV[i + j] end "
    "local old = redis.call(unpack(c)) "
    "for j = 1, k do if old[j] == 0 then fresh = fresh + 1 break end end end return fresh";

// The other ways, on the bits from offset 0 of a string of the same size.
class Other {
 public:
  Other(const RedisAddress& address, const Plan& plan)
      : connection_(address), positions_(plan), offsets_(plan.hashes) {
    connection_.ask({"SETRANGE", "other", std::to_string(plan.bytes()), "x"});
    script_ = connection_.ask({"SCRIPT", "LOAD", kScript})->str;
  }

  std::uint64_t trip_a_bit(const Hashes& hashes) {
    std::uint64_t fresh = 0;
    for (const Hash128 hash : hashes) {
      positions_(hash, offsets_);
      for (const std::uint64_t offset : offsets_) {
        commands_.clear();
        connection_.send(commands_.begin(4).word("SETBIT").word("other").number(offset).word("1"));
        fresh += connection_.receive()->integer == 0 ? 1 : 0;
      }
    }
    return fresh;
  }
  std::uint64_t command_a_bit(const Hashes& hashes) {
    return in_batches(hashes, [&](std::span<const Hash128> batch) {
      for (const Hash128 hash : batch) {
        positions_(hash, offsets_);
        for (const std::uint64_t offset : offsets_)
          commands_.begin(4).word("SETBIT").word("other").number(offset).word("1");
      }
      return batch.size() * offsets_.size();
    });
  }
  // This is how RedisFilter looks up fewer than eight keys.
  std::uint64_t look_up_bits(const Hashes& hashes) {
    return in_batches(hashes, [&](std::span<const Hash128> batch) {
      for (const Hash128 hash : batch) {
        positions_(hash, offsets_);
        commands_.begin(2 + 3 * offsets_.size()).word("BITFIELD_RO").word("other");
        for (const std::uint64_t offset : offsets_) commands_.word("GET").word("u1").number(offset);
      }
      return batch.size();
    });
  }
  std::uint64_t script(const Hashes& hashes) {
    return in_batches(hashes, [&](std::span<const Hash128> batch) {
      commands_.begin(5 + batch.size() * offsets_.size());
      commands_.word("EVALSHA").word(script_).word("1").word("other").number(offsets_.size());
      for (const Hash128 hash : batch) {
        positions_(hash, offsets_);
        for (const std::uint64_t offset : offsets_) commands_.number(offset);
      }
      return std::size_t{1};
    });
  }

 private:
  std::uint64_t in_batches(const Hashes& hashes, auto&& queue) {
    std::uint64_t sum = 0;
    for (std::size_t done = 0; done < hashes.size();) {
      const std::size_t size = std::min<std::size_t>(1024, hashes.size() - done);
      commands_.clear();
      const std::size_t replies = queue(std::span(hashes).subspan(done, size));
      connection_.send(commands_);
      for (std::size_t i = 0; i < replies; ++i)
        sum += static_cast<std::uint64_t>(connection_.receive()->integer);
      done += size;
    }
    return sum;
  }

  Connection connection_;
  detail::Positions positions_;
  std::vector<std::uint64_t> offsets_;
  Commands commands_;
  std::string script_;
};

Hashes some(std::uint64_t first, std::uint64_t count) {
  const Hasher hasher;
  Hashes hashes;
  for (const std::uint64_t key : random_keys(first, count)) hashes.push_back(hasher(key));
  return hashes;
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  using namespace bloomery::bench;
  std::uint64_t count = 200'000;
  unsigned repetitions = 7;
  std::string json;
  CLI::App app{"Keys a second of a filter in a Redis string"};
  app.add_option("--keys", count)->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  Report report("redis_bench");
  const Server server;
  const Plan plan = bloomery::plan(10'000'000, 0.01);
  RedisFilter filter = RedisFilter::create({server.address(), "filter"}, plan);
  Other other(server.address(), plan);
  const Hashes keys = some(0, count);
  const Hashes few = some(0, std::max<std::uint64_t>(1, count / 50));

  Contest contest;
  contest.add({"RedisFilter, insert", keys.size(), [&] { return filter.insert_hashes(keys); }});
  contest.add(
      {"RedisFilter, look up", keys.size(), [&] { return filter.may_contain_hashes(keys); }});
  contest.add(
      {"BITFIELD_RO per key, look up", keys.size(), [&] { return other.look_up_bits(keys); }});
  contest.add({"RedisFilter, insert, a call per key", few.size(), [&] {
                 std::uint64_t fresh = 0;
                 for (const Hash128& hash : few) fresh += filter.insert_hashes({&hash, 1});
                 return fresh;
               }});
  contest.add({"a script for each 1,024 keys", keys.size(), [&] { return other.script(keys); }});
  contest.add({"a command a bit, 1,024 keys together", keys.size(),
               [&] { return other.command_a_bit(keys); }});
  contest.add({"a round trip a bit", few.size(), [&] { return other.trip_a_bit(few); }});
  report.heading(fmt::format(
      "10 million keys at 1 % (k = {}), one connection over loopback TCP, {} keys a run",
      plan.hashes, count));
  Table table({"", "keys a second, median", "best"});
  for (const Timing& timing : contest.run(repetitions)) {
    table.row({timing.name, fmt::format("{:.0f}", 1e9 / timing.median()),
               fmt::format("{:.0f}", 1e9 / timing.fastest())});
    report.number("keys a second", timing.name, 1e9 / timing.median());
    if (timing.name.starts_with("RedisFilter") && !timing.name.ends_with("per key"))
      report.at_least(timing.name + ", keys a second", 1e9 / timing.median(), 100'000);
  }
  table.print();
  report.finish(json);
}
