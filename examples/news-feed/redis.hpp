// A connection to Redis on which many commands are sent before their replies are read.
#pragma once

#include <hiredis/hiredis.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

class Redis {
 public:
  struct Free {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
  };
  using Reply = std::unique_ptr<redisReply, Free>;

  explicit Redis(const std::string& socket) : context_(redisConnectUnix(socket.c_str())) {
    if (!context_ || context_->err != 0)
      throw std::runtime_error(socket + ": " + (context_ ? context_->errstr : "no memory"));
  }

  void send(std::span<const std::string> words) {
    starts_.clear();
    lengths_.clear();
    for (const std::string& word : words) {
      starts_.push_back(word.data());
      lengths_.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), starts_.data(),
                           lengths_.data());
    ++waiting_;
  }
  void send(std::initializer_list<std::string> words) {
    send(std::span(words.begin(), words.size()));
  }
  // How many replies are not read yet.
  [[nodiscard]] std::size_t waiting() const { return waiting_; }

  // The next reply; an error is thrown.
  Reply receive() {
    void* reply = nullptr;
    if (redisGetReply(context_.get(), &reply) != REDIS_OK)
      throw std::runtime_error(std::string("redis: ") + context_->errstr);
    --waiting_;
    Reply owned(static_cast<redisReply*>(reply));
    if (owned->type == REDIS_REPLY_ERROR)
      throw std::runtime_error(std::string("redis: ") + owned->str);
    return owned;
  }
  void receive_all() {
    while (waiting_ > 0) receive();
  }
  Reply ask(std::initializer_list<std::string> words) {
    send(words);
    return receive();
  }

 private:
  std::unique_ptr<redisContext, Free> context_;
  std::vector<const char*> starts_;
  std::vector<std::size_t> lengths_;
  std::size_t waiting_ = 0;
};
