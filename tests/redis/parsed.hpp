// The reply that a server sends as these bytes.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "redis/wire/connection.hpp"

namespace bloomery::test {

inline detail::Reply parsed(std::string_view raw) {
  const std::unique_ptr<redisReader, void (*)(redisReader*)> reader(redisReaderCreate(),
                                                                    redisReaderFree);
  redisReaderFeed(reader.get(), raw.data(), raw.size());
  void* reply = nullptr;
  if (redisReaderGetReply(reader.get(), &reply) != REDIS_OK || reply == nullptr)
    throw std::invalid_argument("not one reply: " + std::string(raw));
  return detail::Reply(static_cast<redisReply*>(reply));
}

inline std::string raw_text(std::string_view bytes) {
  return "$" + std::to_string(bytes.size()) + "\r\n" + std::string(bytes) + "\r\n";
}

inline std::string raw_array(const std::vector<std::string>& elements) {
  std::string raw = "*" + std::to_string(elements.size()) + "\r\n";
  for (const std::string& element : elements) raw += element;
  return raw;
}

}  // namespace bloomery::test
