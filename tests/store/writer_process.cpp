// A writer for kill_test: inserts keys until it is killed, and says on its standard output,
// as 8 bytes, up to which key all are acknowledged.
//
//   writer_process FILE none|process|sync|shared FIRST_KEY [KEYS_OF_A_LOAD]
//
// On a file of another kind than plain or frozen it does numbered_operation() from FIRST_KEY on. With KEYS_OF_A_LOAD it
// makes loads of so many keys, each of several calls, and says what is acknowledged when a load has ended.
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

std::uint64_t perform_next(bloomery::FilterFile& file, std::uint64_t next, std::uint64_t count) {
  const bloomery::Kind kind = file.kind();
  const bool has_only_inserts = kind == bloomery::Kind::plain || kind == bloomery::Kind::frozen;
  bloomery::test::Operations operations;
  for (; count > 0; --count, ++next)
    operations.push_back(has_only_inserts ? bloomery::test::Operation{.key = next}
                                          : bloomery::test::numbered_operation(kind, next));
  bloomery::test::perform(file, operations);
  return next;
}

int write_in_batches(const char* path, const bloomery::OpenOptions& options, std::uint64_t next) {
  auto file = bloomery::FilterFile::open(path, options);
  std::mt19937_64 random(next);
  for (;;) {
    next = perform_next(file, next, 1 + random() % 100);
    const std::uint64_t dice = random() % 64;
    if (options.durability == bloomery::Durability::none || dice < 2) file.sync();
    if (dice == 63) {
      file.close();
      file = bloomery::FilterFile::open(path, options);
    }
    if (!say(next)) return 1;
  }
}

int write_in_loads(const char* path, const bloomery::OpenOptions& options, std::uint64_t next,
                   std::uint64_t keys) {
  auto file = bloomery::FilterFile::open(path, options);
  std::mt19937_64 random(next);
  for (;;) {
    if (!file.begin_load()) return 2;
    // Of eight calls the first ones go to the journal; of two the first one goes past it.
    const std::uint64_t calls = random() % 3 == 0 ? 8 : 2;
    for (std::uint64_t i = 0; i < calls; ++i) next = perform_next(file, next, keys / calls);
    const std::uint64_t way = random() % 3;
    if (way == 0) file.sync();
    if (way == 1) {
      file.close();
      file = bloomery::FilterFile::open(path, options);
    } else {
      file.end_load();
    }
    if (!say(next)) return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bloomery;
  if (argc != 4 && argc != 5) return 2;
  try {
    const std::string level = argv[2];
    const std::uint64_t first = std::stoull(argv[3]);
    if (level == "rebuild") return rebuild_again_and_again(argv[1], first);
    if (level == "join") return join(argv[1], first);
    const bool shared = level == "shared";
    const Durability durability = level == "none"                ? Durability::none
                                  : level == "process" || shared ? Durability::process
                                                                 : Durability::sync;
    const OpenOptions options{.access = Access::write, .durability = durability, .shared = shared};
    return argc == 5 ? write_in_loads(argv[1], options, first, std::stoull(argv[4]))
                     : write_in_batches(argv[1], options, first);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
