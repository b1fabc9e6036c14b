// Files of the kinds other than plain as format 1 first wrote them: every later version opens them, on every
// machine, and the same operations make the same bytes.
//
// tests/store/golden/ has them, written once by WriteKindGolden below. Never write them again: a
// change that fails here is a change of the format, and needs a new version of it.
#include "store/fake_os.hpp"
#include "store/kinds.hpp"

namespace bloomery::test {
namespace {

const std::string kGoldenKinds = BLOOMERY_GOLDEN;

struct GoldenKind {
  KindCase kind;
  bool closed;  // or killed, with a journal to replay
  [[nodiscard]] std::string path() const {
    return kGoldenKinds + kind.name + (closed ? "-1.bloom" : "-journaled-1.bloom");
  }
};

std::vector<GoldenKind> golden_kinds() {
  const std::vector<KindCase> kinds = {
      {"counting4", CountingPlan{{Layout::blocked128, 512 * 5, 4, 300, 0.01}}},
      {"counting8", CountingPlan{{Layout::blocked64, 512 * 3, 4, 150, 0.01}}},
      {"scalable", {ScalablePlan{{Layout::blocked2, 512 * 2, 8, 50, 0.001}, 3, 0.85, 0.01}}},
      {"insertions",
       {WindowPlan{
           {Layout::blocked, 512, 7, 25, 0.01 / 5}, 4, WindowUnit::insertions, 100, 100, 0.01}}},
      {"seconds",
       {WindowPlan{
           {Layout::blocked2, 512, 8, 20, 0.01 / 4}, 3, WindowUnit::seconds, 90, 60, 0.01}}},
  };
  std::vector<GoldenKind> all;
  for (const KindCase& kind : kinds)
    for (const bool closed : {true, false}) all.push_back({kind, closed});
  return all;
}

const Hasher kHasher(HashFamily::xxh3, {.low = 0x0123456789ABCDEF});

Operations operations_of(const GoldenKind& one, bool journaled) {
  Operations operations;
  for (std::uint64_t n = journaled ? 200 : 0; n < (journaled ? 330U : 200U); ++n)
    operations.push_back(numbered_operation(kind_of(one.kind.plan), n));
  return operations;
}

std::vector<std::byte> written(const GoldenKind& one) {
  FakeOs os;
  auto file = Files(os).create("dir/f", one.kind.plan, {.hasher = kHasher});
  perform(file, operations_of(one, false));
  file.close();
  if (one.closed) return os.contents("dir/f");
  file = Files(os).open("dir/f", {.access = Access::write});
  perform(file, operations_of(one, true));
  return os.after_kill()->contents("dir/f");
}

KindModel model_of(const GoldenKind& one) {
  KindModel model(one.kind.plan, kHasher);
  model.apply(operations_of(one, false));
  if (!one.closed) model.apply(operations_of(one, true));
  return model;
}

TEST(WriteKindGolden, DISABLED_Once) {
  for (const GoldenKind& one : golden_kinds()) write_bytes(one.path(), written(one));
}

TEST(GoldenKinds, AreWhatTheSameOperationsWrite) {
  for (const GoldenKind& one : golden_kinds()) {
    SCOPED_TRACE(one.path());
    EXPECT_EQ(written(one), read_bytes(one.path()));
  }
}

TEST(GoldenKinds, AreReadAndCarriedOn) {
  Scratch scratch(fast_place());
  const std::string path = scratch / "f";
  for (const GoldenKind& one : golden_kinds()) {
    SCOPED_TRACE(one.path());
    write_bytes(path, read_bytes(one.path()));
    EXPECT_EQ(image_of(FilterFile::open(path)), model_of(one).image());
    EXPECT_EQ(verify(path).state == VerifyReport::State::clean, one.closed);
    for (const Durability durability : kDurabilities) {
      write_bytes(path, read_bytes(one.path()));
      KindModel model = model_of(one);
      auto file = FilterFile::open(path, {.access = Access::write, .durability = durability});
      EXPECT_EQ(image_of(file), model.image());
      file.insert(std::uint64_t{1} << 40);
      model.apply({Operation::insert, std::uint64_t{1} << 40});
      file.close();
      EXPECT_EQ(image_of(FilterFile::open(path)), model.image());
      EXPECT_TRUE(verify(path).ok());
    }
  }
}

}  // namespace
}  // namespace bloomery::test
