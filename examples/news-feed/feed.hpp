// A feed that shows no user the same article twice within 30 days: one window filter per user.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis.hpp"

using Article = std::uint32_t;

struct Visit {
  std::uint32_t user = 0;
  std::span<const Article> candidates;  // the best first
  std::vector<bool> seen;               // the answer: which of them this user probably saw
  std::vector<Article> page;            // the answer: what is shown now
};

class Feed {
 public:
  static constexpr std::uint64_t kDay = 86'400;
  static constexpr std::uint64_t kWindow = 30 * kDay;
  static constexpr std::uint64_t kSlices = 5;  // forgotten 30 to 36 days after it was shown
  static constexpr std::size_t kPage = 5;      // articles

  explicit Feed(const std::string& socket) : redis_(socket) {}

  // One filter per user, who sees at most one page per day.
  void reserve(std::uint32_t users) {
    for (std::uint32_t user = 0; user < users; ++user) {
      redis_.send({"BF.RESERVE", key(user), "0.01", std::to_string(kPage * kWindow / kDay),
                   "WINDOW", std::to_string(kWindow), "SECONDS", "SLICES",
                   std::to_string(kSlices)});
      if (redis_.waiting() == 1'000) redis_.receive_all();
    }
    redis_.receive_all();
  }

  // Many visits in two round trips: first what was seen, then what is shown. In production the server's
  // clock is used, and BF.ADVANCE is not needed; here time is simulated, and run.sh sets client_time.
  void serve(std::span<Visit> visits, std::uint64_t now) {
    for (const Visit& visit : visits) {
      redis_.send({"BF.ADVANCE", key(visit.user), std::to_string(now)});
      send_with_articles("BF.MEXISTS", visit.user, visit.candidates);
    }
    for (Visit& visit : visits) {
      redis_.receive();
      const Redis::Reply reply = redis_.receive();
      visit.seen.clear();
      visit.page.clear();
      for (std::size_t i = 0; i < visit.candidates.size(); ++i) {
        visit.seen.push_back(reply->element[i]->integer != 0);
        if (!visit.seen[i] && visit.page.size() < kPage) visit.page.push_back(visit.candidates[i]);
      }
    }
    for (const Visit& visit : visits)
      if (!visit.page.empty()) send_with_articles("BF.MADD", visit.user, visit.page);
    redis_.receive_all();
  }

 private:
  static std::string key(std::uint32_t user) { return "shown:" + std::to_string(user); }
  void send_with_articles(std::string_view command, std::uint32_t user,
                          std::span<const Article> articles) {
    std::vector<std::string> words{std::string(command), key(user)};
    for (const Article article : articles) words.push_back(std::to_string(article));
    redis_.send(words);
  }
  Redis redis_;
};
