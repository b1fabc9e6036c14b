// Chains without a server: bulk is one by one, refusals leave everything whole.
#include "chain.hpp"

#include <gtest/gtest.h>
#include <bloomery/error.hpp>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "counted_memory.hpp"

namespace {

using namespace bloomery::server;
using bloomery::Hash128;
using bloomery::test::CountedMemory;

constexpr Family kFamilies[] = {Family::redisbloom, Family::bloomery};

std::vector<std::byte> whole(const Value& value) {
  std::vector<std::byte> bytes = value.header();
  const std::size_t head = bytes.size();
  for (auto part = value.part_at(0, 1000); !part.empty();
       part = value.part_at(bytes.size() - head, 1000))
    bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

std::vector<Hash128> hashes_of(const Chain& chain, int first, int count) {
  std::vector<Hash128> hashes;
  for (int i = first; i < first + count; ++i) hashes.push_back(chain.hash(std::to_string(i)));
  return hashes;
}

struct Answers {
  std::unique_ptr<bool[]> values;
  std::span<bool> span;
  explicit Answers(std::size_t count) : values(new bool[count]), span(values.get(), count) {}
};

// Batches of every size, with repeats, over chains that grow within a batch and between them.
TEST(Chain, ManyAtOnceIsOneByOne) {
  CountedMemory memory;
  std::mt19937 draw(1);
  for (const Family family : kFamilies) {
    for (const auto& [fpr, capacity, growth] :
         {std::tuple{0.1, 3U, 1U}, {0.01, 10U, 2U}, {1e-5, 500U, 4U}, {0.01, 100000U, 2U}}) {
      const Chain::Request request{family, fpr, capacity, growth, true};
      const auto bulk = Chain::make(request);
      const auto single = Chain::make(request);
      const int universe = 4000;
      for (const std::size_t size : {1U, 2U, 17U, 511U, 512U, 513U, 1500U}) {
        std::vector<Hash128> hashes;
        for (std::size_t i = 0; i < size; ++i)
          hashes.push_back(bulk->hash(std::to_string(draw() % universe)));
        Answers answers(size);
        const auto added = bulk->insert(hashes, answers.span);
        EXPECT_EQ(added.stop, Stop::none);
        EXPECT_EQ(added.answered, size);
        for (std::size_t i = 0; i < size; ++i) {
          bool fresh = false;
          (void)single->insert(std::span(hashes).subspan(i, 1), std::span(&fresh, 1));
          ASSERT_EQ(answers.span[i], fresh) << i << " of " << size;
        }
        ASSERT_EQ(whole(*bulk), whole(*single));
        bulk->may_contain(hashes, answers.span);
        for (std::size_t i = 0; i < size; ++i) ASSERT_TRUE(answers.span[i]);
      }
      const auto absent = hashes_of(*bulk, universe, 2000);
      Answers found(absent.size());
      bulk->may_contain(absent, found.span);
      for (std::size_t i = 0; i < absent.size(); ++i)
        ASSERT_EQ(found.span[i], bulk->may_contain(absent[i]));
    }
  }
}

TEST(Chain, AFilterThatDoesNotGrowAnswersUpToTheFirstItemItRefuses) {
  CountedMemory memory;
  for (const Family family : kFamilies) {
    const auto chain = Chain::make({family, 1e-6, 100, 2, false});
    auto hashes = hashes_of(*chain, 0, 150);
    hashes.insert(hashes.begin() + 110, hashes[3]);
    Answers answers(hashes.size());
    const auto added = chain->insert(hashes, answers.span);
    EXPECT_EQ(added.stop, Stop::full);
    EXPECT_EQ(added.answered, 100U);
    EXPECT_TRUE(chain->full());
    // What it has it still answers for.
    const auto again = chain->insert(std::span(hashes).first(100), answers.span.first(100));
    EXPECT_EQ(again.stop, Stop::none);
    EXPECT_EQ(chain->size(), 100U);
    EXPECT_EQ(chain->sub_filters().size(), 1U);
  }
}

TEST(Chain, WhereThereIsNoMemoryToGrowWhatIsThereStaysWhole) {
  for (const Family family : kFamilies) {
    CountedMemory memory;
    const auto chain = Chain::make({family, 0.01, 100, 2, true});
    const auto hashes = hashes_of(*chain, 0, 400);
    Answers answers(400);
    for (const std::size_t left : {0U, 1U}) {
      CountedMemory::allocations_left = left;
      const auto added = chain->insert(hashes, answers.span);
      EXPECT_EQ(added.stop, Stop::no_room);
      EXPECT_GE(added.answered, 100U);
      EXPECT_EQ(chain->size(), 100U);
    }
    CountedMemory::allocations_left = SIZE_MAX;
    EXPECT_EQ(chain->insert(hashes, answers.span, 8).stop, Stop::no_room);
    EXPECT_EQ(chain->insert(hashes, answers.span).stop, Stop::none);
    for (const Hash128 hash : hashes) EXPECT_TRUE(chain->may_contain(hash));
  }
}

TEST(Chain, NothingIsLostWhenItCannotBeMadeOrCopied) {
  for (const Family family : kFamilies) {
    CountedMemory memory;
    const Chain::Request request{family, 0.01, 10, 2, true};
    const auto chain = Chain::make(request);
    const auto hashes = hashes_of(*chain, 0, 100);
    Answers answers(100);
    (void)chain->insert(hashes, answers.span);
    const std::size_t held = CountedMemory::held;
    for (std::size_t left = 0; left < 9; ++left) {
      CountedMemory::allocations_left = left;
      if (left < 3) {
        EXPECT_THROW((void)Chain::make(request), bloomery::Error);
      }
      EXPECT_THROW((void)chain->copy(), bloomery::Error) << left;
      EXPECT_EQ(CountedMemory::held, held);
    }
    CountedMemory::allocations_left = SIZE_MAX;
    EXPECT_EQ(whole(*chain->copy()), whole(*chain));
    EXPECT_EQ(CountedMemory::held, held);
  }
}

TEST(Chain, MergingKeepsEveryItemOfBoth) {
  CountedMemory memory;
  for (const Family family : kFamilies) {
    const Chain::Request request{family, 0.01, 50, 2, true};
    const auto a = Chain::make(request);
    const auto b = Chain::make(request);
    Answers answers(900);
    const auto of_a = hashes_of(*a, 0, 60), of_b = hashes_of(*b, 1000, 900);
    (void)a->insert(of_a, answers.span.first(60));
    (void)b->insert(of_b, answers.span);
    EXPECT_TRUE(a->has_sub_filters_of(*b));
    const auto sum = a->size() + b->size();
    a->make_room_for(*b);
    a->merge(*b);
    EXPECT_EQ(a->size(), sum);
    for (const Hash128 hash : of_a) EXPECT_TRUE(a->may_contain(hash));
    for (const Hash128 hash : of_b) EXPECT_TRUE(a->may_contain(hash));
    const auto other = Chain::make({family, 0.02, 50, 2, true});
    EXPECT_FALSE(a->has_sub_filters_of(*other));
    a->clear();
    EXPECT_EQ(whole(*a), whole(*Chain::make(request)));
  }
}

// The layouts of the library, each at the rates where it is the default.
TEST(Chain, EveryLayoutIsUsed) {
  CountedMemory memory;
  const auto layout = [](double fpr) {
    return Chain::make({Family::bloomery, fpr, 100, 2, false})->sub_filters()[0].layout();
  };
  EXPECT_EQ(layout(0.01), bloomery::Layout::blocked);
  EXPECT_EQ(layout(1e-6), bloomery::Layout::blocked2);
  EXPECT_EQ(layout(1e-12), bloomery::Layout::standard);
  // Fprs that the library has not: its nearest lower, or its lowest.
  EXPECT_EQ(Chain::make({Family::bloomery, 0.9, 100, 2, false})->sub_filters()[0].sizes.error, 0.5);
  EXPECT_EQ(Chain::make({Family::bloomery, 1e-15, 100, 2, true})->sub_filters()[0].sizes.error,
            1e-15);
}

}  // namespace
