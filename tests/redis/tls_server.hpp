// A server that speaks TLS with all, and one that speaks with those who have a certificate.
#pragma once

#include <bloomery/redis_url.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "redis/certificates.hpp"
#include "redis/listener.hpp"
#include "redis/nodes.hpp"
#include "redis/server.hpp"

namespace bloomery::test {

class TlsServer : public testing::Test {
 protected:
  static RedisAddress address(const RedisTls& tls, bool of_clients = false) {
    static const std::uint16_t ports[] = {free_port(), free_port()};
    static Server for_all(certificates().options(ports[0], false));
    static Server for_known(certificates().options(ports[1], true));
    return {.host = "localhost", .port = ports[of_clients ? 1 : 0], .tls = tls};
  }
  static void expect_refusal(ErrorCode code, const std::string& words, const RedisTls& tls,
                             bool of_clients = false) {
    expect_error(code, {words},
                 [&] { detail::Connection(address(tls, of_clients)).ask({"PING"}); });
  }
  const RedisTls trusted_{.ca_file = certificates().file("ca.pem")};
};

}  // namespace bloomery::test
