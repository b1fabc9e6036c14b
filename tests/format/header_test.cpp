// The header: what is written comes back, the newer undamaged copy counts, and other files are named.
#include "format/header_bytes.hpp"

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "format/forged_headers.hpp"
#include "format/journal.hpp"
#include "format/kinds.hpp"
#include "store/scratch.hpp"
#include "support/effort.hpp"
#include "support/expect_error.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace bloomery::test {
namespace {

using namespace detail;

using Start = std::array<std::byte, kBitsAt>;
constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

Header sample() {
  Header header;
  header.plan = Plan{Layout::blocked2, 512 * 77, 14, 123456789, 0.0001};
  header.hasher = Hasher(HashFamily::siphash, {.low = 0x1122334455667788, .high = 3});
  for (std::size_t i = 0; i < 16; ++i) {
    header.identity[i] = std::byte(i + 1);
    header.boot[i] = std::byte(200 - i);
    header.batch.id[i] = std::byte(100 + i);
  }
  header.batch.done = 45;
  header.batch.digest = 0x99AABBCCDDEEFF46;
  header.batch.open = true;
  header.state = State::journaled;
  header.generation = 5;
  header.inserted = 42;
  header.total = 43;
  header.epoch = 44;
  header.journal_bytes = 16384;
  return header;
}

Start start_of(const Header& first, const Header& second) {
  Start start;
  encode_header(first, std::span(start).first<kHeaderBytes>());
  encode_header(second, std::span(start).last<kHeaderBytes>());
  return start;
}

// A field of both copies set, under a checksum that is right again.
template <class T>
Start with_field(std::size_t at, T value) {
  Start start = start_of(sample(), sample());
  change_headers(start, [&](std::byte* page) { store_le(page + at, value); });
  return start;
}

TEST(Header, ComesBack) {
  const Header in = sample();
  const FoundHeader found = decode_headers(start_of(in, in), kPlenty, "f");
  const Header& out = found.header;
  EXPECT_EQ(found.undamaged, 2U);
  EXPECT_EQ(out.plan, in.plan);
  EXPECT_EQ(out.hasher.family(), in.hasher.family());
  EXPECT_EQ(out.hasher.seed(), in.hasher.seed());
  EXPECT_EQ(out.identity, in.identity);
  EXPECT_EQ(out.boot, in.boot);
  EXPECT_EQ(out.state, in.state);
  EXPECT_EQ(out.generation, in.generation);
  EXPECT_EQ(out.inserted, in.inserted);
  EXPECT_EQ(out.total, in.total);
  EXPECT_EQ(out.epoch, in.epoch);
  EXPECT_EQ(out.journal_bytes, in.journal_bytes);
  EXPECT_EQ(out.batch, in.batch);
}

// Keys, their order, and what was done with them: a batch that is repeated has the same.
TEST(Header, ABatchKnowsItsKeys) {
  const std::vector<Hash128> keys{
      {.high = 2, .low = 1}, {.high = 4, .low = 3}, {.high = 4, .low = 1}};
  const auto batch = [&](const std::vector<std::size_t>& which, bool removed) {
    Batch made;
    for (const std::size_t key : which) made.add(std::span(keys).subspan(key, 1), removed);
    return made;
  };
  Batch at_once;
  at_once.add(keys, false);
  EXPECT_EQ(at_once, batch({0, 1, 2}, false));
  EXPECT_EQ(at_once.done, 3U);
  for (const auto& other : {std::vector<std::size_t>{0, 2, 1}, {1, 0, 2}, {0, 1, 0}, {2, 1, 2}}) {
    EXPECT_NE(batch(other, false).digest, at_once.digest);
    EXPECT_EQ(batch(other, false).done, 3U);
  }
  EXPECT_NE(batch({0, 1, 2}, true).digest, at_once.digest);
  EXPECT_NE(batch_id("one"), batch_id("two"));
  EXPECT_NE(batch_id(""), Os::Id{});
}

TEST(Header, OfTheNewerUndamagedCopyCounts) {
  Header older = sample(), newer = sample();
  newer.generation = 6;
  newer.inserted = 100;
  for (const bool swapped : {false, true}) {
    Start start = swapped ? start_of(newer, older) : start_of(older, newer);
    const FoundHeader found = decode_headers(start, kPlenty, "f");
    EXPECT_EQ(found.header.inserted, 100U);
    EXPECT_EQ(found.copy, swapped ? 0U : 1U);
    EXPECT_EQ(found.undamaged, 2U);
    EXPECT_FALSE(found.both_current);
    EXPECT_EQ(found.first, found.copy);
    start[found.copy * kHeaderBytes + 1000] ^= std::byte{1};
    const FoundHeader other = decode_headers(start, kPlenty, "f");
    EXPECT_EQ(other.header.inserted, 42U);
    EXPECT_EQ(other.undamaged, 1U);
    EXPECT_FALSE(other.both_current);
    EXPECT_EQ(other.first, found.copy) << "the damaged one";
    start[other.copy * kHeaderBytes + 1000] ^= std::byte{1};
    EXPECT_EQ(code_of([&] { (void)decode_headers(start, kPlenty, "file.bloom"); }),
              ErrorCode::corrupt);
  }
}

// Then the copies are overwritten in turn.
TEST(Header, OfBothCopiesIsCurrentIfTheyAgree) {
  Header header = sample();
  for (const std::uint64_t generation : {5U, 6U}) {
    header.generation = generation;
    const FoundHeader found = decode_headers(start_of(header, header), kPlenty, "f");
    EXPECT_TRUE(found.both_current);
    EXPECT_EQ(found.undamaged, 2U);
    EXPECT_EQ(found.copy, 0U);
    EXPECT_EQ(found.first, (generation + 1) % 2);
  }
}

TEST(Header, OfOtherFilesIsNamed) {
  const auto refused = [](const Start& start) {
    return code_of([&] { (void)decode_headers(start, kPlenty, "file.bloom"); });
  };
  EXPECT_EQ(refused(Start{}), ErrorCode::not_a_filter);
  EXPECT_EQ(refused(with_field<std::uint16_t>(8, 2)), ErrorCode::newer_format);
  EXPECT_EQ(refused(with_field<std::uint16_t>(8, 0)), ErrorCode::corrupt);
  EXPECT_EQ(refused(with_field<std::uint16_t>(10, 0)), ErrorCode::wrong_kind);
  EXPECT_EQ(refused(with_field<std::uint16_t>(10, 6)), ErrorCode::wrong_kind);
  EXPECT_EQ(refused(with_field<std::uint16_t>(10, 2)), ErrorCode::corrupt);   // not for blocked2
  EXPECT_EQ(refused(with_field<std::uint8_t>(12, 3)), ErrorCode::corrupt);    // family
  EXPECT_EQ(refused(with_field<std::uint8_t>(13, 8)), ErrorCode::corrupt);    // layout
  EXPECT_EQ(refused(with_field<std::uint8_t>(14, 5)), ErrorCode::corrupt);    // state
  EXPECT_EQ(refused(with_field<std::uint32_t>(140, 1)), ErrorCode::corrupt);  // reserved
  EXPECT_EQ(refused(with_field<std::uint8_t>(15, 1)), ErrorCode::corrupt);
  EXPECT_EQ(refused(with_field<std::uint32_t>(60, 1)), ErrorCode::corrupt);
  // xxh3 with a seed of 128 bits
  EXPECT_EQ(refused(with_field<std::uint8_t>(12, 1)), ErrorCode::corrupt);
  // A later format that keeps its checksum elsewhere.
  Start later{};
  const Start ours = start_of(sample(), sample());
  std::copy_n(ours.begin(), 8, later.begin());
  store_le<std::uint16_t>(later.data() + 8, 7);
  EXPECT_EQ(refused(later), ErrorCode::newer_format);
  // A text-mode transfer.
  Start text = ours;
  text[4] = text[kHeaderBytes + 4] = std::byte{'\n'};
  EXPECT_EQ(refused(text), ErrorCode::not_a_filter);
}

TEST(Header, HasAJournalOfWholeSectorsInAStateWithOne) {
  constexpr auto kCorrupt = ErrorCode::corrupt;
  const struct {
    State state;
    std::uint64_t bytes;
    bool is_taken;
  } rows[] = {{State::journaled, 0, false},
              {State::journaled, kSectorBytes, true},
              {State::journaled, kSectorBytes + 1, false},
              {State::journaled, kMaxJournalBytes, true},
              {State::journaled, kMaxJournalBytes + kSectorBytes, false},
              {State::clean, 0, true},
              {State::clean, kSectorBytes, false}};
  for (const auto& [state, bytes, is_taken] : rows) {
    Header header = sample();
    header.state = state;
    header.journal_bytes = bytes;
    const auto decode = [&] { (void)decode_headers(start_of(header, header), kPlenty, "f"); };
    if (is_taken)
      EXPECT_NO_THROW(decode()) << bytes;
    else
      EXPECT_EQ(code_of(decode), kCorrupt) << bytes;
  }
}

// A filter file whose headers are both damaged is told from another file by what is left of either.
TEST(Header, IsKnownByEitherOfItsCopies) {
  const auto refused = [](std::span<const std::byte> start, ErrorCode code) {
    return error_of([&] { (void)decode_headers(start, kPlenty, "f"); }, code);
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  Start start = start_of(sample(), sample());
  start[100] ^= std::byte{1};
  start[kHeaderBytes + 100] ^= std::byte{1};
  std::fill_n(start.begin(), 8, std::byte{0});
  EXPECT_TRUE(is_filter_file(start));
  EXPECT_FALSE(is_filter_file(std::span(start).first(kHeaderBytes)));
  EXPECT_TRUE(has(refused(start, ErrorCode::corrupt), "both copies"));
  // Also if the first one looks like one of a later format, or like that of a dump.
  std::ranges::copy(magic(), start.begin());
  store_le<std::uint16_t>(start.data() + 8, 7);
  EXPECT_TRUE(has(refused(start, ErrorCode::corrupt), "both copies"));
  std::memcpy(start.data(), kDumpMagic.data(), kDumpMagic.size());
  EXPECT_TRUE(is_dump(start));
  EXPECT_TRUE(has(refused(start, ErrorCode::corrupt), "both copies"));
  // Without the second one it is a dump.
  std::fill_n(start.begin() + kHeaderBytes, 8, std::byte{0});
  EXPECT_TRUE(has(refused(start, ErrorCode::not_a_filter), "f: is a dump, which is only read"));
  EXPECT_TRUE(has(refused(std::span(start).first(8), ErrorCode::not_a_filter), "is a dump"));
  EXPECT_TRUE(has(refused(std::span(start).first(7), ErrorCode::not_a_filter), "create, save or"));
  EXPECT_FALSE(is_dump(std::span(start).first(7)));
  start[7] ^= std::byte{1};
  EXPECT_FALSE(is_dump(start));
  EXPECT_TRUE(has(refused(start, ErrorCode::not_a_filter), "is not a Bloomery filter"));
}

// Of the kinds whose sections have fields of their own.
struct Kinds {
  Header counting = sample(), scalable = sample(), window = sample();
};
Kinds kinds() {
  Kinds all;
  auto& [counting, scalable, window] = all;
  counting.plan = CountingPlan{{Layout::blocked64, 512 * 77, 14, 123456789, 0.0001}};
  const ScalablePlan growing = scalable_plan(100, 0.01, 3);
  scalable.plan = growing;
  scalable.sub_filters = {{growing.first, 100}, {sub_filter_plan(growing, 1), 7}};
  const WindowPlan seconds = window_plan(WindowUnit::seconds, 64, 1000, 0.01, 64);
  window.plan = seconds;
  window.window_state = {
      .now = 99, .inserted = window.inserted, .newest = 64, .inserted_in_slices = {}};
  window.window_state.inserted_in_slices[64] = 41;
  return all;
}

TEST(Header, OfEachKindComesBack) {
  const auto [counting, scalable, window] = kinds();
  for (Header in : {counting, scalable, window}) {
    for (const State state : {State::clean, State::journaled, State::noted}) {
      SCOPED_TRACE(to_string(in.kind()));
      in.state = state;
      in.journal_bytes = state == State::clean ? 0 : 512;
      const Header out = decode_headers(start_of(in, in), kPlenty, "f").header;
      EXPECT_EQ(out.plan, in.plan);
      EXPECT_EQ(out.state, state);
      EXPECT_EQ(out.inserted, in.inserted);
      EXPECT_EQ(out.sub_filters, in.sub_filters);
      EXPECT_EQ(out.window_state, in.window_state);
      const std::uint64_t needed =
          state == State::clean ? layout_of(in).clean_bytes : layout_of(in).journal_at + 512;
      EXPECT_EQ(decode_headers(start_of(in, in), needed, "f").header.inserted, 42U);
      EXPECT_EQ(code_of([&] { (void)decode_headers(start_of(in, in), needed - 1, "a file"); }),
                ErrorCode::corrupt);
    }
  }
  // Entries of 40 bytes, the first at 160.
  EXPECT_EQ(load_le64(start_of(scalable, scalable).data() + 200),
            scalable.sub_filters[1].plan.bits);
  EXPECT_EQ(layout_of(counting).bits_bytes, bits_plan(counting.plan).bits);
  EXPECT_EQ(layout_of(scalable).bits_bytes,
            scalable.sub_filters[0].plan.bytes() + scalable.sub_filters[1].plan.bytes());
  EXPECT_EQ(layout_of(window).bits_bytes, 65 * bits_plan(window.plan).bytes());
}

// Every bit is a field that comes back, or must be as it is: what this program does not know may change what the bits
// mean.
TEST(Header, HasNoByteThatIsIgnored) {
  const auto [counting, scalable, window] = kinds();
  Header plain = sample(), frozen = sample(), list = sample();
  frozen.plan = frozen_plan(1000, 0.01, 100);
  list.plan = frozen_plan(1000, 0.01, 100).list();
  std::size_t taken = 0;
  for (const Header& header : {plain, counting, scalable, window, frozen, list})
    // Beyond the fields a sanitizer sees the same code for every byte.
    for (std::size_t at = 0; at < kHeaderBytes - 8; at += hurried() && at >= 512 ? 5 : 1)
      for (const std::uint8_t change : {1, 128}) {
        Start start = start_of(header, header);
        const auto page = std::span(start).first<kHeaderBytes>();
        page[at] ^= std::byte{change};
        store_le64(page.data() + page.size() - 8, checksum(page.first(page.size() - 8)));
        std::ranges::copy(page, page.end());
        Start again = start;
        try {
          const Header decoded = decode_headers(start, kPlenty, "f").header;
          again = start_of(decoded, decoded);
          ++taken;
        } catch (const Error&) {
        }
        ASSERT_EQ(again, start) << to_string(header.kind()) << ", byte " << at;
      }
  EXPECT_GT(taken, 1'000U);
}

// The sub-filters would have more false positives than the filter states.
TEST(Header, OfAScalableFilterStatesARateThatItsFirstSubFilterLeavesRoomFor) {
  Header header = sample();
  ScalablePlan plan = scalable_plan(100, 0.01, 3);
  header.sub_filters = {{plan.first, 100}};
  for (const double fpr : {0.01, 0.009}) {
    plan.fpr = fpr;
    header.plan = plan;
    const auto decode = [&] { (void)decode_headers(start_of(header, header), kPlenty, "f"); };
    if (fpr == 0.01)
      decode();
    else
      EXPECT_EQ(code_of(decode), ErrorCode::corrupt);
  }
}

// Fields that no plan has, under a checksum that is right.
TEST(Header, OfAFrozenFilterStatesWhatAPlanCanHave) {
  const FrozenPlan made = frozen_plan(1000, 0.01, 100);
  const auto decode = [](const FrozenPlan& plan) {
    Header header = sample();
    header.plan = plan;
    (void)decode_headers(start_of(header, header), kPlenty, "f");
  };
  const auto expect_corrupt = [&](auto change) {
    FrozenPlan plan = made;
    change(plan);
    EXPECT_EQ(code_of([&] { decode(plan); }), ErrorCode::corrupt);
  };
  decode(made);
  decode(made.list());
  expect_corrupt([](FrozenPlan& plan) { plan.array.fpr = 0.0001; });
  expect_corrupt([](FrozenPlan& plan) { plan.array.hashes = 4; });
  expect_corrupt([](FrozenPlan& plan) { plan.fingerprint_bits = 0; });
  expect_corrupt([](FrozenPlan& plan) { plan.narrow_partitions = plan.partitions; });
  expect_corrupt([](FrozenPlan& plan) { plan.delta->layout = Layout::blocked64; });
}

TEST(Header, AsksForAllOfItsFile) {
  const Header in = sample();
  const FileLayout layout = layout_of(in);
  const std::uint64_t needed = layout.journal_at + in.journal_bytes;
  EXPECT_EQ(decode_headers(start_of(in, in), needed, "f").header.inserted, 42U);
  EXPECT_EQ(code_of([&] { (void)decode_headers(start_of(in, in), needed - 1, "file.bloom"); }),
            ErrorCode::corrupt);
}

}  // namespace
}  // namespace bloomery::test
