// hiredis, one command at a time.
#include "cache.hpp"

#include <cstdlib>
#include <stdexcept>
#include <vector>

Cache::Cache(const std::string& socket) : context_(redisConnectUnix(socket.c_str())) {
  if (!context_ || context_->err != 0)
    throw std::runtime_error(socket + ": " + (context_ ? context_->errstr : "no memory"));
}

Cache::Reply Cache::ask(std::initializer_list<std::string_view> words) {
  std::vector<const char*> starts;
  std::vector<std::size_t> lengths;
  for (const std::string_view word : words) {
    starts.push_back(word.data());
    lengths.push_back(word.size());
  }
  Reply reply(static_cast<redisReply*>(redisCommandArgv(
      context_.get(), static_cast<int>(words.size()), starts.data(), lengths.data())));
  if (!reply) throw std::runtime_error(std::string("redis: ") + context_->errstr);
  if (reply->type == REDIS_REPLY_ERROR)
    throw std::runtime_error(std::string("redis: ") + reply->str);
  return reply;
}

std::optional<std::string> Cache::get(const std::string& key) {
  const Reply reply = ask({"GET", key});
  if (reply->type == REDIS_REPLY_NIL) return std::nullopt;
  return std::string(reply->str, reply->len);
}

void Cache::set(const std::string& key, const std::string& body, int seconds) {
  ask({"SET", key, body, "EX", std::to_string(seconds)});
}

void Cache::clear() { ask({"FLUSHALL"}); }

std::uint64_t Cache::memory() {
  const Reply reply = ask({"INFO", "memory"});
  constexpr std::string_view kName = "used_memory:";
  const std::string_view text(reply->str, reply->len);
  return std::strtoull(text.data() + text.find(kName) + kName.size(), nullptr, 10);
}
