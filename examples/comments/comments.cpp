// Repeated comments: the Redis bucket of a PHP class, used from C++ too, watched, and rotated.
//
// usage: comments REDIS_SOCKET BUCKET_PHP [COMMENTS]     COMMENTS: of each generation
//
// The exit status is 1 if PHP and C++ did not see each other's comments, if a comment of the last two
// generations was not found, even during a rotation, or if an older one was not forgotten.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <bloomery/bloomery.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include "generations.hpp"

namespace {

// Comment number n. Half of them are by people: similar, each a little different. The others are by a
// machine, which changes only some digits. Those with odd numbers in them are never posted.
std::string comment(std::uint64_t number, bool posted) {
  const std::uint64_t item = number * 2 + (posted ? 0 : 1);
  if (number % 2 == 1)
    return "order " + std::to_string(item) + " has arrived, thanks, great seller";
  static constexpr std::array<std::string_view, 8> kWords = {
      "great", "thanks", "the seller", "not as shown", "arrived", "again", "cheap", "recommended"};
  std::uint64_t random = (item + 1) * 0x9E37'79B9'7F4A'7C15;
  random = (random ^ (random >> 31)) * 0x94D0'49BB'1331'11EB;
  std::string text;
  for (int i = 0; i < 5; ++i) text.append(kWords[(random >> (8 * i)) % 8]).append(" ");
  return text.append("order ").append(std::to_string(item));
}

struct Comments {
  Comments() = default;
  Comments(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t number = first; number < last; ++number)
      texts.push_back(comment(number, true));
    views.assign(texts.begin(), texts.end());
  }
  std::vector<std::string> texts;
  std::vector<std::string_view> views;
};

// Comments that were never posted, for every fifth number below `count`.
Comments strangers(std::uint64_t count) {
  Comments comments;
  for (std::uint64_t number = 0; number < count; number += 5)
    comments.texts.push_back(comment(number, false));
  comments.views.assign(comments.texts.begin(), comments.texts.end());
  return comments;
}

// Runs the PHP class on comments, which it reads from a file; returns its output.
std::string php(const std::string& script, const std::string& socket, const char* verb,
                const Comments& comments) {
  const std::string input = std::string("comments-to-") + verb;
  std::ofstream file(input);
  for (const std::string& text : comments.texts) file << text << '\n';
  file.close();
  const std::string command = "php '" + script + "' '" + socket + "' " + verb + " < " + input;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start php");
  std::array<char, 64> said{};
  const std::size_t size = std::fread(said.data(), 1, said.size() - 1, pipe);
  if (pclose(pipe) != 0)
    throw std::runtime_error("php failed; are php-cli and php-redis installed?");
  return {said.data(), size};
}

void print(const char* step, std::uint64_t comments, double megabytes, const bloomery::Stats& stats,
           double measured) {
  std::printf("%-42s %10llu %9.1f MB %9.3f %% %11.2g %% %10.3f %%\n", step,
              static_cast<unsigned long long>(comments), megabytes, stats.fill * 100,
              stats.current_fpr * 100, measured);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: comments REDIS_SOCKET BUCKET_PHP [COMMENTS]\n");
    return 2;
  }
  const std::string socket = argv[1], script = argv[2];
  const std::uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000;
  const std::uint64_t of_php = count / 50;
  const Comments nobodys = strangers(2 * count);
  const auto wrongly_seen = [&](auto count_seen) {
    return 100 * static_cast<double>(count_seen(nobodys.views)) /
           static_cast<double>(nobodys.views.size());
  };
  constexpr double kBucket = 536.9;  // 2^32 bits, once a high one is set
  bool right = true;
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) std::printf("NOT so: %s\n", what);
    right &= holds;
  };

  std::printf("%-42s %10s %12s %11s %13s %12s\n", "", "comments", "memory", "ones", "rate by fill",
              "measured");
  const Comments theirs(0, of_php), ours(of_php, count);
  php(script, socket, "add", theirs);
  Generations bucket(socket);
  const auto seen = [&](auto& comments) { return bucket.seen(comments); };
  print("PHP has written", of_php, kBucket, bucket.stats(), wrongly_seen(seen));

  expect(bucket.seen(theirs.views) == of_php, "C++ sees every comment of PHP");
  bucket.add(ours.views);
  const Comments sample(count - of_php, count);
  expect(php(script, socket, "count", sample) == std::to_string(of_php) + "\n",
         "PHP sees every comment of C++");
  print("C++ carries on", count, kBucket, bucket.stats(), wrongly_seen(seen));

  // PHP writes and a thread looks up while the bucket is rotated.
  const Comments meanwhile(count, count + of_php);
  std::atomic<std::uint64_t> asked_meanwhile = 0, denied = 0;
  {
    std::jthread writer([&] { php(script, socket, "add", meanwhile); });
    std::jthread asker([&](const std::stop_token& stop) {
      Generations same(socket);
      while (!stop.stop_requested()) {
        denied += sample.views.size() - same.seen(sample.views);
        asked_meanwhile += sample.views.size();
      }
    });
    while (asked_meanwhile == 0) std::this_thread::yield();
    bucket.rotate();
    writer.join();
  }
  expect(denied == 0, "no comment is denied while the bucket is rotated");
  expect(bucket.seen(meanwhile.views) == of_php, "what PHP wrote meanwhile is there");
  expect(php(script, socket, "count", sample) == std::to_string(of_php) + "\n",
         "PHP sees the older generation");
  // (Some comments were written before the rotation and belong to the first generation.)
  const Comments first(0, count), second(count + of_php, 2 * count);
  bucket.add(second.views);
  expect(bucket.seen(first.views) == count && bucket.seen(second.views) == second.views.size(),
         "both generations are there");
  print("rotated, and a second generation written", 2 * count, 2 * kBucket, bucket.stats(),
        wrongly_seen(seen));

  bucket.rotate();
  expect(bucket.seen(second.views) == second.views.size(), "the second generation is there");
  const double remembered =
      100 * static_cast<double>(bucket.seen(first.views)) / static_cast<double>(count);
  expect(remembered < 10, "the first generation is forgotten");
  print("rotated again: the first is forgotten", count, kBucket, bucket.stats(),
        wrongly_seen(seen));

  // The next step: a filter made for this purpose.
  constexpr double kFpr = 0.0001;
  auto modern =
      bloomery::RotatingRedisFilter::create({{.socket = socket}, "comments"}, count, kFpr);
  modern.insert_many(first.views);
  modern.rotate();
  modern.insert_many(second.views);
  const auto seen_by_it = [&](auto& comments) { return modern.may_contain_many(comments); };
  const double measured = wrongly_seen(seen_by_it);
  // Six standard deviations of the count, and a little more if the count is small.
  const double expected = kFpr * static_cast<double>(nobodys.views.size());
  expect(seen_by_it(first.views) == count && seen_by_it(second.views) == second.views.size() &&
             measured / 100 * static_cast<double>(nobodys.views.size()) <
                 expected + 6 * std::sqrt(expected) + 6,
         "the new filter is as planned");
  bloomery::Stats both = modern.stats().newer;
  both.current_fpr = modern.stats().current_fpr;
  print("both generations in a RotatingRedisFilter", 2 * count,
        2 * static_cast<double>(modern.plan().bytes()) / 1e6, both, measured);

  std::printf(
      "\nof the forgotten comments %.3f %% are still taken for posted\n%llu were asked for "
      "around a rotation, %llu denied\n",
      remembered, static_cast<unsigned long long>(asked_meanwhile),
      static_cast<unsigned long long>(denied));
  if (right) std::printf("PHP and C++ saw all of each other's comments\n");
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "comments: %s\n", error.what());
  return 2;
}
