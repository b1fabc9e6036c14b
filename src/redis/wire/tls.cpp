// The calls to OpenSSL, and the meaning of its errors.
#include "redis/wire/tls.hpp"

#include <bloomery/error.hpp>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstring>
#include <utility>

namespace bloomery::detail {
namespace {

// The oldest error of this thread; it is the cause of the others. None stays: what else uses OpenSSL in this thread
// would take it for its own.
unsigned long take_error() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  return error;
}

std::string reason_of(unsigned long error) {
  if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
  const char* const text = ERR_reason_error_string(error);
  return text != nullptr ? text : "unknown";
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

const char* remedy_of(long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "renew it, or correct the clock of this machine";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "name the server as its certificate does, with sni=NAME";
    default:
      return "name its authority with cacert=FILE";
  }
}

}  // namespace

void Tls::Free::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }
void Tls::Free::operator()(ssl_st* session) const noexcept { SSL_free(session); }

Tls::Tls(const RedisTls& options, const std::string& host, std::string name)
    : name_(std::move(name)), has_certificate_(!options.certificate_file.empty()) {
  ERR_clear_error();
  const auto require = [this](bool done) {
    if (!done)
      throw Error(ErrorCode::unavailable, name_ + ": TLS cannot begin: " + reason_of(take_error()));
  };
  const auto require_file = [this](bool done, const std::string& file, const char* what) {
    if (!done)
      throw Error(ErrorCode::invalid_argument,
                  name_ + ": '" + file + "' has no " + what +
                      " in PEM that can be read: " + reason_of(take_error()));
  };
  context_.reset(SSL_CTX_new(TLS_client_method()));
  require(context_ != nullptr);
  require(SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION) == 1);
  SSL_CTX_set_options(context_.get(), SSL_OP_NO_RENEGOTIATION);
  // Otherwise OpenSSL asks at the terminal, or takes the pass phrase from the lines of standard input.
  SSL_CTX_set_default_passwd_cb(context_.get(), [](char*, int, int, void*) { return -1; });
  if (has_certificate_) {
    const std::string& key = options.key_file.empty() ? options.certificate_file : options.key_file;
    require_file(
        SSL_CTX_use_certificate_chain_file(context_.get(), options.certificate_file.c_str()) == 1,
        options.certificate_file, "certificate");
    require_file(SSL_CTX_use_PrivateKey_file(context_.get(), key.c_str(), SSL_FILETYPE_PEM) == 1,
                 key, "key of the certificate, without a pass phrase,");
  } else {
    const auto asked = [](SSL*, void* lacks) {
      *static_cast<bool*>(lacks) = true;
      return 1;
    };
    SSL_CTX_set_cert_cb(context_.get(), asked, &lacks_certificate_);
  }
  if (options.verify) {
    if (options.ca_file.empty())
      require(SSL_CTX_set_default_verify_paths(context_.get()) == 1);
    else
      require_file(SSL_CTX_load_verify_file(context_.get(), options.ca_file.c_str()) == 1,
                   options.ca_file, "certificate of an authority");
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  }
  session_.reset(SSL_new(context_.get()));
  require(session_ != nullptr);
  in_ = BIO_new(BIO_s_mem());
  out_ = BIO_new(BIO_s_mem());
  SSL_set_bio(session_.get(), in_, out_);
  require(in_ != nullptr && out_ != nullptr);
  const std::string& meant = options.server_name.empty() ? host : options.server_name;
  if (is_address(meant)) {  // an address has no place in SNI (RFC 6066, 3)
    require(X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session_.get()), meant.c_str()) == 1);
  } else {
    require(SSL_set_tlsext_host_name(session_.get(), meant.c_str()) == 1);
    require(SSL_set1_host(session_.get(), meant.c_str()) == 1);
  }
  SSL_set_connect_state(session_.get());
}

void Tls::feed(std::span<const char> bytes) {
  if (BIO_write(in_, bytes.data(), static_cast<int>(bytes.size())) !=
      static_cast<int>(bytes.size()))
    throw Error(ErrorCode::no_memory, name_ + ": no memory for what the server sends");
}

bool Tls::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  if (result == 1) return true;
  if (SSL_get_error(session_.get(), result) != SSL_ERROR_WANT_READ) fail(result);
  return false;
}

std::size_t Tls::read(std::span<char> into) {
  ERR_clear_error();
  std::size_t size = 0;
  const int result = SSL_read_ex(session_.get(), into.data(), into.size(), &size);
  if (result == 1) {
    lacks_certificate_ = false;
    return size;
  }
  if (SSL_get_error(session_.get(), result) != SSL_ERROR_WANT_READ) fail(result);
  return 0;
}

bool Tls::has_unread() noexcept {
  ERR_clear_error();
  char first = 0;
  std::size_t size = 0;
  const int result = SSL_peek_ex(session_.get(), &first, 1, &size);
  const bool waits = result != 1 && SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_READ;
  ERR_clear_error();
  return !waits;
}

void Tls::write(std::string_view text) {
  ERR_clear_error();
  std::size_t size = 0;
  const int result = SSL_write_ex(session_.get(), text.data(), text.size(), &size);
  if (result != 1 || size != text.size()) fail(result);
}

std::string_view Tls::take_outgoing() {
  outgoing_.resize(BIO_ctrl_pending(out_));
  if (!outgoing_.empty()) BIO_read(out_, outgoing_.data(), static_cast<int>(outgoing_.size()));
  return outgoing_;
}

void Tls::refuse_client(const std::string& reason) const {
  throw Error(ErrorCode::denied,
              name_ + ": the server refuses this client: " + reason +
                  (has_certificate_
                       ? "; if that is about the certificate in cert=FILE, renew it, or name one "
                         "of an authority that the server trusts"
                       : "; if it asks for a certificate, name yours with cert=FILE and "
                         "certkey=FILE"));
}

void Tls::fail(int result) {
  const int kind = SSL_get_error(session_.get(), result);
  if (kind == SSL_ERROR_ZERO_RETURN)
    throw Error(ErrorCode::unavailable,
                name_ + ": the server hung up; the next call connects again");
  const unsigned long error = take_error();
  if (const long verdict = SSL_get_verify_result(session_.get());
      ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED)
    throw Error(ErrorCode::denied, name_ + ": the server's certificate is not accepted: " +
                                       X509_verify_cert_error_string(verdict) + "; " +
                                       remedy_of(verdict));
  if (ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER)
    throw Error(
        ErrorCode::unavailable,
        name_ +
            ": the server does not answer with TLS; write redis:// if it is a Redis server, or "
            "name its port for TLS");
  if (ERR_GET_REASON(error) == SSL_R_UNSUPPORTED_PROTOCOL ||
      ERR_GET_REASON(error) == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION)
    throw Error(ErrorCode::unavailable,
                name_ +
                    ": the server has no TLS 1.2 or later; update it, or allow it these "
                    "versions (tls-protocols)");
  const int alert = ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET;
  if (alert > 0 && alert < 256) refuse_client(reason_of(error));
  throw Error(ErrorCode::unavailable, name_ + ": TLS fails: " + reason_of(error));
}

}  // namespace bloomery::detail
