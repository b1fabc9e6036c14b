// Contents: each kind behind the one interface is the filter itself, in memory and as bytes, and
// refuses in words what it cannot do.
#include "format/empty_contents.hpp"

#include "store/kinds.hpp"
#include "support/expect_error.hpp"

#include <algorithm>
#include <limits>

namespace bloomery::test {
namespace {

using namespace detail;

class ContentsOfEveryKind : public testing::TestWithParam<KindCase> {};
INSTANTIATE_TEST_SUITE_P(, ContentsOfEveryKind, testing::ValuesIn(all_kind_cases()), kNameOfOne);

// There is a case for each kind, so that all tests of files and contents try a new one too.
TEST(AllKindCases, HaveEveryKind) {
  for (const Kind kind : kKinds)
    EXPECT_TRUE(kind == Kind::frozen ||  // takes no operations: store/frozen_file_test.cpp
                std::ranges::any_of(all_kind_cases(),
                                    [&](const KindCase& one) { return kind_of(one.plan) == kind; }))
        << to_string(kind);
}

TEST_P(ContentsOfEveryKind, DoWhatTheFilterDoes) {
  KindModel model(GetParam().plan, kHasher);
  const auto contents = empty(GetParam().plan);
  const Operations operations = RandomOperations(GetParam(), 3, 300)(3000);
  std::size_t next = 0;  // of the operations
  for (const Call& call : calls_of(kHasher, operations)) {
    const std::size_t count = call.hashes.size();
    const std::unique_ptr<bool[]> answers(new bool[count + 1]);
    const std::span<bool> room(answers.get(), count);
    switch (call.first.what) {
      case Operation::insert:
        contents->prepare(call.hashes);
        if (count == 1)
          answers[0] = contents->insert(call.hashes.front());
        else
          contents->insert(call.hashes, room);
        break;
      case Operation::remove:
        contents->remove(call.hashes, room);
        break;
      case Operation::advance:
        contents->advance(call.first.key);
        model.apply(operations[next++]);
        break;
      case Operation::merge:
        break;
    }
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(answers[i], model.apply(operations[next++]));
  }
  for (std::uint64_t key = 0; key < 400; ++key) {
    const Hash128 hash = kHasher(key);
    ASSERT_EQ(contents->may_contain(hash), model.may_contain(key));
    ASSERT_EQ(contents->may_contain({&hash, 1}, {}) == 1, model.may_contain(key));
  }
  // All that makes a file is the same.
  const auto bytes = encode_contents(*contents);
  const auto again = decode_contents(bytes);
  EXPECT_EQ(encode_contents(*again), bytes);
  EXPECT_EQ(again->kind(), contents->kind());
  EXPECT_EQ(again->inserted(), contents->inserted());
  const Stats stats = contents->stats(Precision::exact), same = again->stats(Precision::exact);
  EXPECT_EQ(same.fill, stats.fill);
  EXPECT_EQ(same.current_fpr, stats.current_fpr);
  EXPECT_EQ(same.estimated_items, stats.estimated_items);
  EXPECT_EQ(same.over_capacity, stats.over_capacity);
  again->set_inserted(0);  // as encode() does of filters that do not count
  if (contents->as<ScalableFilter>() == nullptr && contents->as<WindowFilter>() == nullptr) {
    EXPECT_EQ(encode_contents(*again), model.encode());
  } else {
    EXPECT_EQ(bytes, model.encode());
  }
}

TEST_P(ContentsOfEveryKind, ForgetAllKeysWhenTheyAreCleared) {
  const auto contents = empty(GetParam().plan);
  const auto fresh = encode_contents(*contents);
  contents->insert(hashes_of(kHasher, 0, 100), {});
  contents->clear();
  EXPECT_EQ(contents->may_contain(hashes_of(kHasher, 0, 100), {}), 0U);
  EXPECT_EQ(contents->stats(Precision::exact).fill, 0);
  if (contents->as<WindowFilter>() != nullptr) return;  // it counts forgotten keys, too
  EXPECT_EQ(contents->inserted(), 0U);
  EXPECT_EQ(encode_contents(*contents), fresh);
}

TEST_P(ContentsOfEveryKind, KnowThePlanThatTheyWereCreatedFrom) {
  const Header header = header_of(GetParam().plan, kHasher);
  EXPECT_EQ(header.plan, GetParam().plan);
  require_created_from(GetParam().plan, kHasher, header, "f");
  Header described;
  empty(GetParam().plan)->describe(described);
  EXPECT_EQ(described.plan, GetParam().plan);
}

TEST_P(ContentsOfEveryKind, RefuseWhatOnlyOthersCanDo) {
  const auto contents = empty(GetParam().plan);
  const auto refused = [&](Ability ability) {
    try {
      contents->require(ability, "here.bloom");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::wrong_kind);
      const std::string starts =
          "here.bloom: is a " + std::string(to_string(contents->kind())) + " filter; ";
      EXPECT_TRUE(std::string(error.what()).starts_with(starts)) << error.what();
      return true;
    }
    return false;
  };
  const Kind kind = contents->kind();
  EXPECT_EQ(refused(Ability::remove), kind != Kind::counting);
  EXPECT_EQ(refused(Ability::advance), kind != Kind::window);
  EXPECT_EQ(refused(Ability::merge), kind == Kind::scalable || kind == Kind::window);
  for (const Ability ability : {Ability::remove, Ability::advance, Ability::merge})
    EXPECT_EQ(contents->can(ability), !refused(ability));
  const auto keys = hashes_of(kHasher, 0, 10);
  contents->insert(keys, {});
  EXPECT_EQ(contents->remove(keys, {}), kind == Kind::counting ? 10U : 0U);
  EXPECT_EQ(contents->frozen(), nullptr);
  EXPECT_EQ(contents->delta(), nullptr);
  EXPECT_EQ(contents->built_as(), nullptr);
  EXPECT_FALSE(contents->is_collecting());
}

TEST_P(ContentsOfEveryKind, TakeOnlyTheKeysOfFiltersLikeThemselves) {
  const auto contents = empty(GetParam().plan);
  for (const KindCase& other : all_kind_cases()) {
    const auto from = empty(other.plan);
    const auto stranger = empty(other.plan, Hasher());
    const bool merges = contents->can(Ability::merge);
    if (other.plan == GetParam().plan && merges) {
      from->insert(kHasher(std::uint64_t{7}));
      contents->require_mergeable(*from, "f");
      contents->merge(*from);
      EXPECT_TRUE(contents->may_contain(kHasher(std::uint64_t{7})));
      EXPECT_EQ(contents->inserted(), 1U);
      EXPECT_EQ(code_of([&] { contents->require_mergeable(*stranger, "f"); }), ErrorCode::mismatch);
      continue;
    }
    EXPECT_EQ(
        code_of([&] { contents->require_mergeable(*from, "f"); }),
        from->kind() == contents->kind() && merges ? ErrorCode::mismatch : ErrorCode::wrong_kind);
  }
}

// The bits of another filter one after the other, as a file has them, are the other filter.
TEST_P(ContentsOfEveryKind, TakeAnotherInPartsAsAWhole) {
  const auto make = [&](std::uint64_t first) {
    auto made = empty(GetParam().plan);
    made->insert(hashes_of(kHasher, first, 100), {});
    return made;
  };
  const auto whole = make(0), parts = make(0), other = make(50);
  if (!whole->can(Ability::merge)) return;
  whole->merge(*other);
  const auto bytes = other->pieces().front();
  for (std::size_t at = 0; at < bytes.size(); at += 192)
    parts->merge_bytes(at, bytes.subspan(at, std::min<std::size_t>(192, bytes.size() - at)));
  parts->set_inserted(whole->inserted());
  EXPECT_EQ(encode_contents(*parts), encode_contents(*whole));
}

TEST(Contents, CountNoMoreKeysThanAFilterCanHave) {
  EXPECT_EQ(count_of(0), 0U);
  EXPECT_EQ(count_of(41.6), 42U);
  EXPECT_EQ(count_of(static_cast<double>(kMaxCapacity) - 1), kMaxCapacity - 1);
  EXPECT_EQ(count_of(1.5 * static_cast<double>(kMaxCapacity)), kMaxCapacity);
  EXPECT_EQ(count_of(std::numeric_limits<double>::infinity()), kMaxCapacity);
}

// Only counters have a plain filter within them.
TEST(Contents, SayWhyTheyCannotBeMerged) {
  const Plan one = plan(1000, 0.01);
  const FilterPlan plain = one, counting = counting_plan({.capacity = 1000, .fpr = 0.01}),
                   scalable = scalable_plan(1000, 0.01),
                   window = window_plan(WindowUnit::seconds, 80, 1000, 0.01);
  const auto why = [](const FilterPlan& into, const FilterPlan& from) {
    return error_of([&] { empty(into)->require_mergeable(*empty(from), "f"); },
                    ErrorCode::wrong_kind);
  };
  EXPECT_EQ(why(plain, counting),
            "f: is a plain filter; no counting filter can be merged into it; in C++ merge its "
            "to_plain()");
  EXPECT_EQ(why(plain, scalable), "f: is a plain filter; no scalable filter can be merged into it");
  EXPECT_EQ(why(plain, window), "f: is a plain filter; no window filter can be merged into it");
  EXPECT_EQ(why(counting, plain),
            "f: is a counting filter; bits without counts cannot be added to it; merge a counting "
            "filter");
  for (const FilterPlan& into : {scalable, window})
    EXPECT_EQ(why(into, into),
              error_of([&] { empty(into)->require(Ability::merge, "f"); }, ErrorCode::wrong_kind));
}

// Keys that the filter has need no room: a batch of them is taken also by a filter that cannot grow any more.
TEST(ScalableContents, AskForNoRoomForTheirOwnKeys) {
  const auto contents = empty(scalable_plan(10, 0.01, 1, 0.25));
  std::vector<Hash128> known;
  EXPECT_EQ(code_of([&] {
              for (std::uint64_t key = 0; key < 10'000; ++key) {
                const Hash128 hash = kHasher(key);
                contents->prepare({&hash, 1});
                contents->insert(hash);
                known.push_back(hash);
              }
            }),
            ErrorCode::too_large);
  EXPECT_GT(known.size(), 100U);
  const std::uint64_t full = contents->inserted();
  EXPECT_NO_THROW(contents->prepare(known));
  EXPECT_EQ(contents->insert(known, {}), 0U);
  EXPECT_EQ(contents->inserted(), full);
  // New ones among them are refused before the first is inserted.
  for (std::uint64_t key = 20'000; key < 21'000; ++key) known.push_back(kHasher(key));
  EXPECT_EQ(code_of([&] { contents->prepare(known); }), ErrorCode::too_large);
}

// The keys of both are those that are left, and they are counted from the bits.
TEST(PlainContents, IntersectKeepsTheKeysOfBoth) {
  const Plan plan = bloomery::plan(10'000, 1e-6);
  const auto one = empty(plan), other = empty(plan);
  for (std::uint64_t key = 0; key < 6'000; ++key) {
    if (key < 4'000) one->insert(kHasher(key));
    if (key >= 1'000) other->insert(kHasher(key));
  }
  static_cast<PlainContents&>(*one).intersect(*other->as<FilterView>());
  for (std::uint64_t key = 1'000; key < 4'000; ++key)
    ASSERT_TRUE(one->may_contain(kHasher(key))) << key;
  EXPECT_FALSE(one->may_contain(kHasher(0)) && one->may_contain(kHasher(5'000)));
  // Keys of one filter alone leave the bits that they share with keys of the other.
  EXPECT_GT(one->inserted(), 2'900U);
  EXPECT_LT(one->inserted(), 3'800U);
}

// What a filter was created with, and a request that differs in one thing: named in the error.
TEST(RequireCreatedFrom, NamesTheFirstDifference) {
  struct Difference {
    FilterPlan there, asked;
    const char* named;
  };
  const Plan plain = plan(1000, 0.01);
  const auto with = [](auto plan, auto change) {
    change(plan);
    return plan;
  };
  const ScalablePlan scalable = scalable_plan(1000, 0.01);
  const WindowPlan window = window_plan(WindowUnit::seconds, 80, 1000, 0.01);
  for (const Difference& one : std::initializer_list<Difference>{
           {plain, CountingPlan{plan(1000, 0.01, Layout::blocked128)}, "kind plain, not counting"},
           {plain, with(plain, [](Plan& p) { p.capacity = 7; }), "capacity 1000, not 7"},
           {plain, with(plain, [](Plan& p) { p.fpr = 0.5; }), "fpr 0.01, not 0.5"},
           {plain, with(plain, [](Plan& p) { p.layout = Layout::standard; }),
            "layout blocked, not standard"},
           {plain, with(plain, [](Plan& p) { p.bits += 512; }), "bits"},
           {plain, with(plain, [](Plan& p) { ++p.hashes; }), "hashes"},
           {scalable, scalable_plan(1000, 0.01, 3), "growth 2, not 3"},
           {scalable, scalable_plan(1000, 0.02), "fpr 0.01, not 0.02"},
           {scalable, scalable_plan(1000, 0.01, 2, 0.5), "tightening 0.85, not 0.5"},
           {scalable, scalable_plan(2000, 0.01), "capacity 1000, not 2000"},
           {window, window_plan(WindowUnit::insertions, 80, 80, 0.01),
            "a window of seconds, not insertions"},
           {window, window_plan(WindowUnit::seconds, 160, 1000, 0.01), "a window of 80, not 160"},
           {window, window_plan(WindowUnit::seconds, 80, 1000, 0.01, 4), "slices 8, not 4"},
           {window, window_plan(WindowUnit::seconds, 80, 2000, 0.01), "capacity 1000, not 2000"},
       }) {
    const std::string text = error_of(
        [&] { require_created_from(one.asked, kHasher, header_of(one.there, kHasher), "dir/f"); },
        ErrorCode::mismatch);
    EXPECT_TRUE(text.starts_with("dir/f: ")) << text;
    EXPECT_NE(text.find(one.named), std::string::npos) << text << " has no " << one.named;
  }
  const Header header = header_of(plain, kHasher);
  EXPECT_EQ(code_of([&] { require_created_from(plain, Hasher(), header, "f"); }),
            ErrorCode::mismatch);
  EXPECT_EQ(code_of([&] {
              require_created_from(plain, Hasher(HashFamily::siphash, {.low = 5}), header, "f");
            }),
            ErrorCode::mismatch);
}

// How many keys a frozen filter was planned for does not matter: its size is that of its keys.
TEST(RequireCreatedFrom, ComparesARateAndADeltaOfFrozenFilters) {
  Header header;
  header.plan = frozen_plan(1000, 0.01, 100);
  require_created_from(frozen_plan(1000, 0.01, 100), header.hasher, header, "f");
  require_created_from(frozen_plan(77'000, 0.01, 100), header.hasher, header, "f");
  const std::pair<FilterPlan, const char*> cases[] = {
      {frozen_plan(1000, 0.02, 100), "fpr 0.01, not 0.02"},
      {frozen_plan(1000, 0.01, 200), "a delta for 100, not 200"},
      {frozen_plan(1000, 0.01), "a delta for 100, not 0;"},
      {plan(1000, 0.01), "kind frozen, not plain"}};
  for (const auto& [asked, named] : cases)
    expect_error(ErrorCode::mismatch, {named}, [&header, &asked = asked] {
      require_created_from(asked, header.hasher, header, "f");
    });
  header.plan = plan(1000, 0.01);
  expect_error(ErrorCode::mismatch, {"kind plain, not frozen"}, [&] {
    require_created_from(frozen_plan(1000, 0.01, 100), header.hasher, header, "f");
  });
}

}  // namespace
}  // namespace bloomery::test
