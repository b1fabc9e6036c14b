// A hundred thousand users open the feed once a day, and are never shown an article twice within 30 days.
//
// usage: news-feed REDIS_SOCKET [USERS [DAYS]]     (a server with the module)
//
// This process also keeps exactly what each user was shown, and compares every answer with it. The exit
// status is 1 if an article was shown twice within the window, or if more than the stated 1 % of the
// articles that should have been shown were withheld.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "feed.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWindowDays = Feed::kWindow / Feed::kDay;
constexpr int kForgottenDays = kWindowDays + kWindowDays / static_cast<int>(Feed::kSlices);
constexpr std::size_t kCandidates = 20;

// The articles that a user was shown, one page per day; 0 is no article.
class Shown {
 public:
  // How many days ago the article was last shown; -1: never.
  [[nodiscard]] int days_ago(Article article, int today) const {
    const auto last = std::find(articles_.rbegin(), articles_.rend(), article);
    if (last == articles_.rend()) return -1;
    return today - static_cast<int>((articles_.rend() - last - 1) / Feed::kPage);
  }
  void add(const std::vector<Article>& page) {
    articles_.insert(articles_.end(), page.begin(), page.end());
    articles_.resize((articles_.size() + Feed::kPage - 1) / Feed::kPage * Feed::kPage);
    if (page.empty()) articles_.resize(articles_.size() + Feed::kPage);
  }
  [[nodiscard]] const std::vector<Article>& articles() const { return articles_; }

 private:
  std::vector<Article> articles_;
};

// Every second candidate was shown to the user before, if there are enough; the others are random.
std::vector<Article> candidates(const Shown& shown, std::mt19937_64& random) {
  std::vector<Article> result;
  const auto add = [&](Article article) {
    const bool good =
        article != 0 && std::find(result.begin(), result.end(), article) == result.end();
    if (good) result.push_back(article);
    return good;
  };
  while (result.size() < kCandidates) {
    const bool again = result.size() % 2 == 0 && !shown.articles().empty() &&
                       add(shown.articles()[random() % shown.articles().size()]);
    if (!again) add(1 + static_cast<Article>(random() % 4'000'000'000));
  }
  return result;
}

struct Counts {
  std::uint64_t visits = 0;
  std::uint64_t shown = 0;
  std::uint64_t twice = 0;     // shown again within the window: must be none
  std::uint64_t old = 0;       // offered again after the window and a slice
  std::uint64_t old_seen = 0;  // ... and taken for seen
  std::uint64_t fresh = 0;     // offered for the first time
  std::uint64_t fresh_seen = 0;
  double seconds = 0;  // in the feed
};

void compare(const Visit& visit, const Shown& shown, int today, Counts& counts) {
  for (std::size_t i = 0; i < visit.candidates.size(); ++i) {
    const int days = shown.days_ago(visit.candidates[i], today);
    if (days < 0) {
      ++counts.fresh;
      counts.fresh_seen += visit.seen[i];
    } else if (days >= kForgottenDays) {
      ++counts.old;
      counts.old_seen += visit.seen[i];
    } else if (days < kWindowDays) {
      counts.twice += !visit.seen[i];
    }
  }
  ++counts.visits;
  counts.shown += visit.page.size();
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void print(int day, const Counts& counts) {
  std::printf(
      "%3d %12llu %12llu %10llu %14llu %11.2f %% %11.2f %% %12.0f %12.0f\n", day,
      static_cast<unsigned long long>(counts.visits), static_cast<unsigned long long>(counts.shown),
      static_cast<unsigned long long>(counts.twice), static_cast<unsigned long long>(counts.old),
      percent(counts.old_seen, counts.old), percent(counts.fresh_seen, counts.fresh),
      static_cast<double>(counts.visits) / counts.seconds,
      static_cast<double>(counts.visits * kCandidates + counts.shown) / counts.seconds);
}

std::uint64_t memory(Redis& redis) {
  const Redis::Reply reply = redis.ask({"INFO", "memory"});
  constexpr std::string_view kName = "used_memory:";
  const std::string_view text(reply->str, reply->len);
  return std::strtoull(text.data() + text.find(kName) + kName.size(), nullptr, 10);
}

// The memory for exact answers: one sorted set per user, article by day. Up to this many articles are in
// Redis' packed form, which is searched linearly.
double exact_bytes_a_user(Redis& redis, const std::vector<Shown>& shown, int packed) {
  redis.ask({"CONFIG", "SET", "zset-max-listpack-entries", std::to_string(packed)});
  const std::size_t users = std::min<std::size_t>(shown.size(), 1'000);
  const std::uint64_t before = memory(redis);
  for (std::size_t user = 0; user < users; ++user) {
    const std::vector<Article>& articles = shown[user].articles();
    const std::size_t first =
        articles.size() - std::min<std::size_t>(articles.size(), kWindowDays * Feed::kPage);
    std::vector<std::string> words{"ZADD",
                                   "exact:" + std::to_string(packed) + ':' + std::to_string(user)};
    for (std::size_t i = first; i < articles.size(); ++i) {
      words.push_back(std::to_string(i / Feed::kPage));
      words.push_back(std::to_string(articles[i]));
    }
    redis.send(words);
  }
  redis.receive_all();
  return static_cast<double>(memory(redis) - before) / static_cast<double>(users);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: news-feed REDIS_SOCKET [USERS [DAYS]]\n");
    return 2;
  }
  const auto users =
      static_cast<std::uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100'000);
  const int days = argc > 3 ? std::atoi(argv[3]) : 45;
  Redis redis(argv[1]);
  Feed feed(argv[1]);

  const std::uint64_t before = memory(redis);
  const auto start = Clock::now();
  feed.reserve(users);
  const std::chrono::duration<double> reserved = Clock::now() - start;
  const double bytes = static_cast<double>(memory(redis) - before) / users;
  std::printf("%u filters made in %.1f s; of 20 candidates the first 5 unseen are shown\n\n", users,
              reserved.count());
  std::printf("%3s %12s %12s %10s %14s %13s %13s %12s %12s\n", "", "", "articles", "twice in",
              "offered after", "of them", "of new ones", "visits", "articles");
  std::printf("%3s %12s %12s %10s %11d days %13s %13s %12s %12s\n", "day", "visits", "shown",
              "30 days", kForgottenDays, "withheld", "withheld", "a second", "a second");

  std::mt19937_64 random(1);
  std::vector<Shown> shown(users);
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  constexpr std::uint32_t kAtOnce = 500;
  Counts all;
  for (int day = 0; day < days; ++day) {
    for (std::uint32_t first = 0; first < users; first += kAtOnce) {
      const std::uint32_t count = std::min(kAtOnce, users - first);
      std::vector<std::vector<Article>> offered(count);
      std::vector<Visit> visits(count);
      for (std::uint32_t i = 0; i < count; ++i) {
        offered[i] = candidates(shown[first + i], random);
        visits[i] = {first + i, offered[i], {}, {}};
      }
      const auto served = Clock::now();
      feed.serve(visits, now + static_cast<std::uint64_t>(day) * Feed::kDay);
      all.seconds += std::chrono::duration<double>(Clock::now() - served).count();
      for (const Visit& visit : visits) {
        compare(visit, shown[visit.user], day, all);
        shown[visit.user].add(visit.page);
      }
    }
    if (day % 5 == 4 || day + 1 == days) print(day + 1, all);
  }
  std::printf("\nmemory a user, in bytes: %.0f; a sorted set of the same: %.0f, or packed %.0f\n",
              bytes, exact_bytes_a_user(redis, shown, 128),
              exact_bytes_a_user(redis, shown, 1'000));

  // At most the stated 1 % of each, plus six standard deviations.
  const auto at_most = [](std::uint64_t seen, std::uint64_t of) {
    const double expected = 0.01 * static_cast<double>(of);
    return static_cast<double>(seen) <= expected + 6 * std::sqrt(expected);
  };
  const bool right =
      all.twice == 0 && at_most(all.old_seen, all.old) && at_most(all.fresh_seen, all.fresh);
  std::printf("%s\n", right
                          ? "nothing was shown twice within the window, and what is older came back"
                          : "NOT as stated");
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "news-feed: %s\n", error.what());
  return 2;
}
