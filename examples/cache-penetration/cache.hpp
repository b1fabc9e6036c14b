// The cache, in Redis: bodies by key. One thread uses one connection.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

class Cache {
 public:
  explicit Cache(const std::string& socket);

  [[nodiscard]] std::optional<std::string> get(const std::string& key);
  void set(const std::string& key, const std::string& body, int seconds);
  void clear();
  // The memory that Redis uses, in bytes.
  [[nodiscard]] std::uint64_t memory();

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
  };
  using Reply = std::unique_ptr<redisReply, Free>;
  Reply ask(std::initializer_list<std::string_view> words);
  std::unique_ptr<redisContext, Free> context_;
};
