// Any journal and any header of a file of a kind other than plain: the file is refused, or a writer can
// continue the filter and read it again.
#include <bloomery/bloomery.hpp>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "format/header_bytes.hpp"
#include "format/journal.hpp"
#include "format/kinds.hpp"
#include "patches.hpp"
#include "store/fake_os.hpp"
#include "store/images.hpp"
#include "store/operations.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace {

using namespace bloomery;
using namespace bloomery::detail;

constexpr const char* kPath = "dir/f";

FilterPlan plan_of(unsigned choice) {
  if (choice == 0) return CountingPlan{{Layout::blocked128, 512 * 2, 6, 100, 0.01}};
  if (choice == 1) return ScalablePlan{{Layout::blocked, 512, 6, 30, 0.001}, 2, 0.5, 0.01};
  return WindowPlan{{Layout::blocked, 512, 6, 10, 0.01 / 4}, 3, WindowUnit::seconds, 30, 30, 0.01};
}

// A file that a killed `sync` writer left, with some records in its journal.
std::vector<std::byte> killed(unsigned choice) {
  test::FakeOs os;
  auto file = Files(os).create(kPath, plan_of(choice));
  test::Operations operations;
  for (std::uint64_t n = 0; n < 120; ++n)
    operations.push_back(test::numbered_operation(file.kind(), n));
  test::perform(file, operations);
  return os.after_kill()->contents(kPath);
}

void repair(std::vector<std::byte>& file, std::uint64_t journal_at) {
  Os::Id identity;
  for (const std::size_t copy : {std::size_t{0}, std::size_t{kHeaderBytes}}) {
    const auto page = std::span(file).subspan(copy, kHeaderBytes);
    store_le64(page.data() + kHeaderBytes - 8, checksum(page.first(kHeaderBytes - 8)));
  }
  std::copy_n(file.begin() + 64, identity.size(), identity.begin());
  for (std::uint64_t at = journal_at; at < journal_at + 8 * kSectorBytes; at += kSectorBytes) {
    const auto sector = std::span(file).subspan(at, kSectorBytes);
    if (std::ranges::all_of(sector, [](std::byte b) { return b == std::byte{0}; })) continue;
    store_le64(sector.data(), checksum(sector.subspan(8), load_le64(identity.data()) ^
                                                              load_le64(identity.data() + 8)));
  }
}

test::Image image_of(const FilterFile& file) {
  return file.kind() == Kind::plain ? test::Image{} : test::image_of(file);
}

void try_file(const std::vector<std::byte>& bytes) {
  test::FakeOs os;
  os.put(kPath, bytes);
  try {
    (void)Files(os).verify(kPath);
    Files(os).salvage(kPath, "dir/g");
  } catch (const Error&) {
  }
  std::optional<test::Image> read;
  try {
    read = image_of(Files(os).open(kPath));
  } catch (const Error&) {
  }
  try {
    auto file = Files(os).open(kPath, {.access = Access::write});
    if (read && *read != image_of(file)) std::abort();
    file.insert(std::uint64_t{1} << 40);
    if (!file.may_contain(std::uint64_t{1} << 40)) std::abort();
    const test::Image last = image_of(file);
    file.close();
    if (image_of(Files(os).open(kPath)) != last) std::abort();
    if (!Files(os).verify(kPath).ok()) std::abort();
  } catch (const Error&) {
  }
}

}  // namespace

// The first byte chooses the kind, and whether checksums are corrected; the others are changes to the
// header or the journal of the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::vector<std::byte> files[] = {killed(0), killed(1), killed(2)};
  std::vector<std::byte> file = files[data[0] % 3];
  const FoundHeader found = decode_headers(std::span(file).first(kBitsAt), file.size(), "the seed");
  const std::uint64_t journal_at = layout_of(found.header).journal_at;
  const std::span input(data + 1, size - 1);
  if ((data[0] & 0x40) != 0) {
    std::vector<std::byte> page(file.begin(), file.begin() + kHeaderBytes);
    fuzz::patch(page, input);
    for (const std::size_t copy : {std::size_t{0}, std::size_t{kHeaderBytes}})
      std::ranges::copy(page, file.begin() + static_cast<std::ptrdiff_t>(copy));
  } else {
    std::vector<std::byte> journal(file.begin() + static_cast<std::ptrdiff_t>(journal_at),
                                   file.end());
    fuzz::patch(journal, input);
    std::ranges::copy(journal, file.begin() + static_cast<std::ptrdiff_t>(journal_at));
  }
  if ((data[0] & 0x80) != 0) repair(file, journal_at);
  try_file(file);
  return 0;
}
