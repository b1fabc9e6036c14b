// Certificates for servers and clients of tests, made by openssl once for a process.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "store/scratch.hpp"

namespace bloomery::test {

// An authority, and what it has signed: a server for localhost and 127.0.0.1, also one whose time is over and one for
// all names of a domain, and a client; and a stranger with the client's key whom it has not signed.
class Certificates {
 public:
  Certificates() {
    std::ofstream(file("make.sh")) << R"(set -e
cd "$1"
key="-newkey ec -pkeyopt ec_paramgen_curve:P-256"
make() { openssl req $key -nodes -keyout "$1.key" -subj "/CN=$1" "${@:2}" 2>/dev/null; }
make ca -x509 -days 2 -out ca.pem
for name in server client; do
  make "$name" -out "$name.csr"
  openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out "$name.pem" \
    -extfile <(echo subjectAltName=DNS:localhost,IP:127.0.0.1) 2>/dev/null
done
cat client.pem client.key > both.pem
openssl pkey -in client.key -aes128 -passout pass:topsecret -out locked.key
sign() { openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial "$@" 2>/dev/null; }
sign -days -1 -out expired.pem -extfile <(echo subjectAltName=DNS:localhost)
sign -days 2 -out wildcard.pem -extfile <(echo "subjectAltName=DNS:*.example.test")
openssl x509 -req -in client.csr -signkey client.key -days 2 -out stranger.pem 2>/dev/null
)";
    const std::string command = "bash '" + file("make.sh") + "' '" + (scratch_ / ".") + "'";
    if (std::system(command.c_str()) != 0) std::abort();
  }
  [[nodiscard]] std::string file(const std::string& name) const { return scratch_ / name; }
  // As redis-server takes them.
  [[nodiscard]] std::vector<std::string> options(std::uint16_t port, bool of_clients,
                                                 const char* server = "server.pem") const {
    return {"--tls-port",         std::to_string(port),     "--tls-cert-file",    file(server),
            "--tls-key-file",     file("server.key"),       "--tls-ca-cert-file", file("ca.pem"),
            "--tls-auth-clients", of_clients ? "yes" : "no"};
  }

 private:
  Scratch scratch_;
};

inline const Certificates& certificates() {
  static const Certificates made;
  return made;
}

}  // namespace bloomery::test
