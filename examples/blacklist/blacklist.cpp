// A blacklist of a hundred million addresses in 200 MB, as in many introductions to Bloom filters.
//
// usage: blacklist [ADDRESSES]
//
// Each address has 16 bits and 8 hashes; a frozen filter of the textbook's rate has fewer. Every address must be
// found, and of those that are not on the list as many as theory predicts; otherwise the exit status is 1.
#include <bloomery/bloomery.hpp>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Addresses number first, first + 1, ...: distinct for distinct numbers.
class Addresses {
 public:
  static constexpr std::uint64_t kAtOnce = 50'000;

  const std::vector<std::string_view>& make(std::uint64_t first, std::uint64_t count) {
    views_.clear();
    char* out = text_.data();
    for (std::uint64_t i = first; i < first + count; ++i) {
      char* const start = out;
      // Odd, so that no two numbers have the same product.
      out = std::to_chars(out, out + 16, i * 0x9E37'79B9'7F4A'7C15, 36).ptr;
      constexpr std::string_view kDomain = "@mail";
      out = std::copy(kDomain.begin(), kDomain.end(), out);
      out = std::to_chars(out, out + 8, i % 4999).ptr;
      constexpr std::string_view kEnd = ".example";
      out = std::copy(kEnd.begin(), kEnd.end(), out);
      views_.emplace_back(start, out);
    }
    return views_;
  }

 private:
  std::vector<char> text_ = std::vector<char>(kAtOnce * 64);
  std::vector<std::string_view> views_;
};

// Calls `use` with the addresses number first to first + count - 1, in parts; returns the seconds that
// it took, without the time to make the addresses.
template <class Use>
double with_addresses(std::uint64_t first, std::uint64_t count, Use use) {
  Addresses addresses;
  double seconds = 0;
  for (std::uint64_t done = 0; done < count; done += Addresses::kAtOnce) {
    const auto& part = addresses.make(first + done, std::min(Addresses::kAtOnce, count - done));
    const auto start = Clock::now();
    use(part);
    seconds += seconds_since(start);
  }
  return seconds;
}

// A filter of all addresses: its name, its bytes, and its false-positive rate in theory.
struct Made {
  std::string_view name;
  std::uint64_t bytes;
  double fpr;
  double seconds;  // to build it
};

template <class Filter>
bool look_up(const Filter& blacklist, std::uint64_t count, const Made& made) {
  std::uint64_t found = 0;
  const double there =
      with_addresses(0, count, [&](auto& part) { found += blacklist.may_contain_many(part); });

  // Addresses that are not on the list.
  const std::uint64_t asked = std::max<std::uint64_t>(2'000'000, count / 5);
  std::uint64_t wrong = 0;
  const double absent =
      with_addresses(count, asked, [&](auto& part) { wrong += blacklist.may_contain_many(part); });
  std::uint64_t wrong_again = 0;
  const double one_by_one = with_addresses(count, asked, [&](auto& part) {
    for (const std::string_view address : part) wrong_again += blacklist.may_contain(address);
  });

  const auto millions = [](std::uint64_t lookups, double seconds) {
    return static_cast<double>(lookups) / seconds / 1e6;
  };
  const double measured = static_cast<double>(wrong) / static_cast<double>(asked);
  std::printf("%-8s %8.1f MB %8.2f s %9.1f M %9.1f M %11.1f M %11.4f %% %9.4f %%\n",
              std::string(made.name).c_str(), static_cast<double>(made.bytes) / 1e6, made.seconds,
              millions(count, there), millions(asked, absent), millions(asked, one_by_one),
              measured * 100, made.fpr * 100);

  // Six standard deviations of the count, and the 5 % by which `blocked` can be below its formula.
  const double expected = made.fpr * static_cast<double>(asked);
  const double slack = 6 * std::sqrt(expected);
  const auto count_wrong = static_cast<double>(wrong);
  return found == count && wrong == wrong_again && count_wrong < expected + slack &&
         count_wrong > expected * 0.95 - slack;
}

bool try_layout(bloomery::Layout layout, std::uint64_t count) {
  const bloomery::Plan plan = bloomery::solve({count, {}, count * 16, 8, layout});
  bloomery::Filter blacklist(plan);
  const double build = with_addresses(0, count, [&](auto& part) { blacklist.insert_many(part); });
  return look_up(blacklist, count, {to_string(layout), plan.bytes(), plan.fpr, build});
}

// Built once, from all of them: the list is known, and changes when it is built again.
bool try_frozen(std::uint64_t count) {
  bloomery::FrozenBuilder builder(bloomery::textbook_fpr(16, 8));
  double seconds = with_addresses(0, count, [&](auto& part) { builder.insert_many(part); });
  const auto start = Clock::now();
  const bloomery::FrozenFilter blacklist = builder.build();
  seconds += seconds_since(start);
  return look_up(blacklist, count,
                 {"frozen", blacklist.plan().bytes(), blacklist.plan().fingerprint_fpr(), seconds});
}

}  // namespace

int main(int argc, char** argv) try {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000'000;
  std::printf("%llu addresses, 16 bits and 8 hashes each; textbook: %.4f %%\n\n",
              static_cast<unsigned long long>(count), bloomery::textbook_fpr(16, 8) * 100);
  std::printf("%-8s %11s %10s %33s %13s %13s %11s\n", "", "", "", "look-ups a second", "",
              "wrongly", "");
  std::printf("%-8s %11s %10s %11s %11s %13s %13s %11s\n", "layout", "memory", "build", "listed",
              "absent", "one by one", "found", "theory");
  const bool line = try_layout(bloomery::Layout::blocked, count);
  const bool standard = try_layout(bloomery::Layout::standard, count);
  const bool frozen = try_frozen(count);
  std::printf("\n%s\n", line && standard && frozen
                            ? "every address was found, and no more strangers than stated"
                            : "NOT as stated");
  return line && standard && frozen ? 0 : 1;
} catch (const bloomery::Error& error) {
  std::fprintf(stderr, "blacklist: %s\n", error.what());
  return 2;
}
