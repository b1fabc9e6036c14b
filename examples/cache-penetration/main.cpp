// Cache penetration: requests for keys that do not exist pass every cache and reach the database, unless a
// filter in front knows which keys exist.
//
// usage: cache-penetration POSTGRES_SOCKET_DIRECTORY REDIS_SOCKET [ROWS [SECONDS]]
//
// The exit status is 0 only if every answer was right, the filter kept its rate, and no existing row was
// answered "not there".
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "database.hpp"
#include "experiments.hpp"

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(
        stderr,
        "usage: cache-penetration POSTGRES_SOCKET_DIRECTORY REDIS_SOCKET [ROWS [SECONDS]]\n");
    return 2;
  }
  const Setup setup{.postgres = argv[1],
                    .redis = argv[2],
                    .rows = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000,
                    .seconds = argc > 4 ? std::strtod(argv[4], nullptr) : 5};
  Database database(setup.postgres);
  database.add(0, setup.rows);
  database.vacuum();
  // With room for the rows that come between two rebuilds.
  RowFilter filter("offers.bloom", setup.rows * 5 / 4, 0.001);
  const auto built = filter.rebuild([&](auto use) { database.each_key(use); });
  std::printf("filter of all rows: %.1f MB, built from the table in %.2f s\n",
              static_cast<double>(filter.bytes()) / 1e6, built.took.count());
  const bool attack = attack_experiment(setup, filter);
  const bool swap = swap_experiment(setup, filter);
  std::printf("\n%s\n", attack && swap
                            ? "every answer was right, and no existing row was answered \"no\""
                            : "NOT as it must be");
  return attack && swap ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cache-penetration: %s\n", error.what());
  return 2;
}
