// A writer for kill_test: inserts keys until it is killed, and says on its standard output,
// as 8 bytes, up to which key all are acknowledged.
//
//   writer_process FILE none|process|sync|shared FIRST_KEY
//
// On a file of another kind than plain it does numbered_operation() from FIRST_KEY on.
//
// Or one that rebuilds the file again and again, each time with other keys: the n-th with those from
// kGeneration * n; it says up to which n the file is.
//
//   writer_process FILE rebuild LAST_N
//
// Or one that says KEY + 1, waits until FILE.go is there, opens the file or creates it, inserts KEY,
// closes the file, says KEY + 2, and waits to be killed.
//
//   writer_process FILE join KEY
#include <unistd.h>
#include <bloomery/bloomery.hpp>

#include "store/operations.hpp"

#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

bool say(std::uint64_t number) {
  return ::write(STDOUT_FILENO, &number, sizeof number) == sizeof number;
}

int rebuild_again_and_again(const char* path, std::uint64_t n) {
  constexpr std::uint64_t kGeneration = 1000;
  const bloomery::Plan plan = bloomery::FilterFile::open(path).view().plan();
  for (;;) {
    ++n;
    auto file = bloomery::FilterFile::rebuild(path, plan);
    for (std::uint64_t key = 0; key < kGeneration; ++key) file.insert(n * kGeneration + key);
    file.close();
    if (!say(n)) return 1;
  }
}

int join(const std::string& path, std::uint64_t key) {
  if (!say(key + 1)) return 1;
  while (::access((path + ".go").c_str(), F_OK) != 0) continue;
  for (;;) {
    try {
      auto file = bloomery::FilterFile::open_or_create(path, bloomery::plan(1000, 0.001));
      file.insert(key);
      file.close();
      if (!say(key + 2)) return 1;
      for (;;) ::pause();
    } catch (const bloomery::Error& error) {
      if (error.code() != bloomery::ErrorCode::locked) throw;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bloomery;
  if (argc != 4) return 2;
  try {
    const std::string level = argv[2];
    if (level == "rebuild") return rebuild_again_and_again(argv[1], std::stoull(argv[3]));
    if (level == "join") return join(argv[1], std::stoull(argv[3]));
    const bool shared = level == "shared";
    const Durability durability = level == "none"                ? Durability::none
                                  : level == "process" || shared ? Durability::process
                                                                 : Durability::sync;
    const OpenOptions options{.access = Access::write, .durability = durability, .shared = shared};
    auto file = FilterFile::open(argv[1], options);
    std::uint64_t next = std::stoull(argv[3]);
    std::mt19937_64 random(next);
    test::Operations operations;
    for (;;) {
      operations.clear();
      for (std::uint64_t count = 1 + random() % 100; count > 0; --count, ++next)
        operations.push_back(file.kind() == Kind::plain
                                 ? test::Operation{test::Operation::insert, next}
                                 : test::numbered_operation(file.kind(), next));
      test::perform(file, operations);
      const std::uint64_t dice = random() % 64;
      if (durability == Durability::none || dice < 2) file.sync();
      if (dice == 63) {
        file.close();
        file = FilterFile::open(argv[1], options);
      }
      if (!say(next)) return 1;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
