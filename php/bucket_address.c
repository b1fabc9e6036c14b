/* The address of a bucket: from a configuration, or from an object of phpredis. */
#include "php_bloomery.h"

#include <ext/standard/url.h>
#include <zend_interfaces.h>
#include <zend_smart_str.h>

/* The values of a configuration or of a Redis object; "" if it has none. */
typedef struct {
  zval host, port, user, password, database, timeout;
  zend_string *bucket;
  HashTable *ssl; /* of PHP's SSL context options */
} Server;

/* PHP's SSL context options, and their names in an address. */
static const struct {
  const char *option, *parameter;
} kTls[] = {
    {"cafile", "cacert"}, {"local_cert", "cert"}, {"local_pk", "certkey"}, {"peer_name", "sni"}, {"verify_peer", "insecure"}};

static void append_encoded(smart_str *to, zend_string *text) {
  zend_string *encoded = php_raw_url_encode(ZSTR_VAL(text), ZSTR_LEN(text));
  smart_str_append(to, encoded);
  zend_string_release(encoded);
}

static void append_field(smart_str *to, zval *value) {
  zend_string *text = zval_get_string(value);
  append_encoded(to, text);
  zend_string_release(text);
}

static bool is_given(const zval *value) {
  return Z_TYPE_P(value) != IS_UNDEF && Z_TYPE_P(value) != IS_NULL && Z_TYPE_P(value) != IS_FALSE &&
         !(Z_TYPE_P(value) == IS_STRING && Z_STRLEN_P(value) == 0);
}

static bool has_tls(const zval *host) {
  return Z_TYPE_P(host) == IS_STRING &&
         (strncasecmp(Z_STRVAL_P(host), "tls://", 6) == 0 || strncasecmp(Z_STRVAL_P(host), "ssl://", 6) == 0);
}

/* Removes "tls://" or "ssl://" from the host, as phpredis does. */
static bool take_tls(Server *server) {
  zval *host = &server->host;
  if (!has_tls(host)) return false;
  zend_string *rest = zend_string_init(Z_STRVAL_P(host) + 6, Z_STRLEN_P(host) - 6, false);
  zval_ptr_dtor(host);
  ZVAL_STR(host, rest);
  return true;
}

static void append_tls(smart_str *to, HashTable *ssl) {
  zval *key = zend_hash_str_find_deref(ssl, ZEND_STRL("local_pk"));
  for (size_t i = 0; i < sizeof kTls / sizeof *kTls; ++i) {
    zval *value = zend_hash_str_find_deref(ssl, kTls[i].option, strlen(kTls[i].option));
    const bool checks = strcmp(kTls[i].option, "verify_peer") == 0;
    if (!value || (checks && zend_is_true(value))) continue;
    smart_str_append_printf(to, "&%s=", kTls[i].parameter);
    if (checks)
      smart_str_appends(to, "yes");
    else
      append_field(to, value);
    /* Without local_pk, PHP takes the key from the certificate's file. */
    if (!key && strcmp(kTls[i].option, "local_cert") == 0) {
      smart_str_appends(to, "&certkey=");
      append_field(to, value);
    }
  }
}

/* An IPv6 address, which has two colons, is in brackets; the host may have these already. With one colon it has a port,
 * unless that is given too: then the address is refused. */
static void append_host(smart_str *to, zval *host, bool has_port) {
  zend_string *text = zval_get_string(host);
  const bool has_brackets = ZSTR_VAL(text)[0] == '[';
  const char *const begin = ZSTR_VAL(text) + has_brackets, *const end = ZSTR_VAL(text) + ZSTR_LEN(text);
  const size_t size = strspn(begin, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:.%-_");
  const char *const colon = memchr(begin, ':', size);
  const bool is_whole = begin + size + has_brackets == end && (!has_brackets || end[-1] == ']');
  if (colon && is_whole && memchr(colon + 1, ':', (size_t)(begin + size - colon - 1))) {
    smart_str_appendc(to, '[');
    smart_str_appendl(to, begin, size);
    smart_str_appendc(to, ']');
  } else if (colon && is_whole && !has_brackets && !memchr(begin, '%', size) && !has_port) {
    smart_str_append(to, text);
  } else {
    append_encoded(to, text);
  }
  zend_string_release(text);
}

static zend_string *address_of(Server *server) {
  smart_str address = {0};
  const bool tls = take_tls(server);
  const bool socket = is_given(&server->host) && Z_TYPE(server->host) == IS_STRING && *Z_STRVAL(server->host) == '/';
  smart_str_appends(&address, socket ? "redis+unix://" : tls ? "rediss://" : "redis://");
  const bool has_password = is_given(&server->password);
  if (is_given(&server->user)) append_field(&address, &server->user);
  if (has_password) {
    smart_str_appendc(&address, ':');
    append_field(&address, &server->password);
  }
  if (has_password || is_given(&server->user)) smart_str_appendc(&address, '@');
  if (socket) {
    smart_str_appendc(&address, '/');
    zend_string *path = zend_string_init(Z_STRVAL(server->host) + 1, Z_STRLEN(server->host) - 1, false);
    append_encoded(&address, path);
    zend_string_release(path);
  } else {
    if (is_given(&server->host))
      append_host(&address, &server->host, is_given(&server->port));
    else
      smart_str_appends(&address, "127.0.0.1");
    if (is_given(&server->port)) {
      smart_str_appendc(&address, ':');
      append_field(&address, &server->port);
    }
  }
  if (is_given(&server->database)) {
    smart_str_appends(&address, socket ? "?db=" : "/");
    append_field(&address, &server->database);
  }
  smart_str_appends(&address, socket && is_given(&server->database) ? "&key=" : "?key=");
  append_encoded(&address, server->bucket);
  if (is_given(&server->timeout)) {
    smart_str_appends(&address, "&timeout=");
    append_field(&address, &server->timeout);
  }
  if (server->ssl) append_tls(&address, server->ssl);
  smart_str_0(&address);
  return address.s;
}

/* An address of a server and the key of a bucket. */
static zend_string *with_key(zend_string *address, zend_string *bucket) {
  if (strstr(ZSTR_VAL(address), "?key=") || strstr(ZSTR_VAL(address), "&key=")) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "the address of config names a key; leave it out: $bucket is the key");
    return NULL;
  }
  smart_str whole = {0};
  smart_str_append(&whole, address);
  smart_str_appends(&whole, strchr(ZSTR_VAL(address), '?') ? "&key=" : "?key=");
  append_encoded(&whole, bucket);
  smart_str_0(&whole);
  return whole.s;
}

/* An option without effect is refused, since the caller could rely on it. */
static void take_ssl(Server *server, HashTable *config) {
  zval *ssl = zend_hash_str_find_deref(config, ZEND_STRL("ssl"));
  if (!ssl) return;
  if (Z_TYPE_P(ssl) != IS_ARRAY || !has_tls(&server->host)) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "ssl is an array of context options, for a host that begins with tls://");
    return;
  }
  zend_string *name;
  ZEND_HASH_FOREACH_STR_KEY(Z_ARRVAL_P(ssl), name) {
    size_t i = 0;
    while (i < sizeof kTls / sizeof *kTls && !(name && zend_string_equals_cstr(name, kTls[i].option, strlen(kTls[i].option)))) ++i;
    if (i == sizeof kTls / sizeof *kTls) {
      bloomery_refuse_text(
          BLOOMERY_INVALID_ARGUMENT,
          "the ssl option '%s' is not known; those that are: cafile, local_cert, local_pk, peer_name, verify_peer",
          name ? ZSTR_VAL(name) : "");
      return;
    }
  }
  ZEND_HASH_FOREACH_END();
  server->ssl = Z_ARRVAL_P(ssl);
  GC_TRY_ADDREF(server->ssl); /* a value's __toString() may let the array go */
}

/* A name or value without effect would lead to another server or bucket. */
static void take_config(Server *server, HashTable *config) {
  static const struct {
    const char *name;
    size_t at;
  } fields[] = {{"host", offsetof(Server, host)},         {"port", offsetof(Server, port)},
                {"user", offsetof(Server, user)},         {"password", offsetof(Server, password)},
                {"auth", offsetof(Server, password)},     {"database", offsetof(Server, database)},
                {"db", offsetof(Server, database)},       {"timeout", offsetof(Server, timeout)}};
  zend_string *name;
  ZEND_HASH_FOREACH_STR_KEY(config, name) {
    bool known = name && zend_string_equals_literal(name, "ssl");
    for (size_t i = 0; name && i < sizeof fields / sizeof *fields; ++i)
      known = known || zend_string_equals_cstr(name, fields[i].name, strlen(fields[i].name));
    if (!known) {
      bloomery_refuse_text(BLOOMERY_INVALID_ARGUMENT,
                           "config has no '%s'; it has host, port, user, password, database, timeout, ssl",
                           name ? ZSTR_VAL(name) : "0");
      return;
    }
  }
  ZEND_HASH_FOREACH_END();
  for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
    zval *value = zend_hash_str_find_deref(config, fields[i].name, strlen(fields[i].name));
    zval *to = (zval *)((char *)server + fields[i].at);
    if (!value || Z_TYPE_P(value) == IS_NULL) continue;
    if (Z_TYPE_P(to) != IS_UNDEF) {
      bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "'%s' of config is there under another name too; give one of the two",
                      fields[i].name);
      return;
    }
    const bool has_fraction = to == &server->timeout && Z_TYPE_P(value) == IS_DOUBLE;
    if (Z_TYPE_P(value) != IS_STRING && Z_TYPE_P(value) != IS_LONG && !has_fraction) {
      bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "'%s' of config is a string or an integer", fields[i].name);
      return;
    }
    ZVAL_COPY(to, value);
  }
  take_ssl(server, config);
}

/* phpredis tells to which server it is connected. */
static void take_phpredis(Server *server, zend_object *redis) {
  if (!zend_string_equals_literal_ci(redis->ce->name, "Redis")) {
    zend_class_entry *parent = redis->ce->parent;
    while (parent && !zend_string_equals_literal_ci(parent->name, "Redis")) parent = parent->parent;
    if (!parent) {
      bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "config is an array or a connected Redis, and not a %s",
                      ZSTR_VAL(redis->ce->name));
      return;
    }
  }
  zval auth, name, bucket;
  ZVAL_UNDEF(&auth);
  ZVAL_UNDEF(&bucket);
  zend_call_method_with_0_params(redis, redis->ce, NULL, "gethost", &server->host);
  if (!EG(exception)) zend_call_method_with_0_params(redis, redis->ce, NULL, "getport", &server->port);
  if (!EG(exception)) zend_call_method_with_0_params(redis, redis->ce, NULL, "getdbnum", &server->database);
  if (!EG(exception)) zend_call_method_with_0_params(redis, redis->ce, NULL, "getreadtimeout", &server->timeout);
  if (Z_TYPE(server->timeout) != IS_DOUBLE || !(Z_DVAL(server->timeout) > 0)) { /* it waits without an end */
    zval_ptr_dtor(&server->timeout);
    ZVAL_UNDEF(&server->timeout);
  } else { /* an address takes these */
    ZVAL_DOUBLE(&server->timeout, MAX(0.001, MIN(Z_DVAL(server->timeout), 3600)));
  }
  if (!EG(exception)) zend_call_method_with_0_params(redis, redis->ce, NULL, "getauth", &auth);
  if (!EG(exception)) {
    ZVAL_STR(&name, server->bucket);
    zend_call_method_with_1_params(redis, redis->ce, NULL, "_prefix", &bucket, &name);
  }
  if (EG(exception)) {
    zval_ptr_dtor(&auth);
    zval_ptr_dtor(&bucket);
    return;
  }
  if (Z_TYPE(bucket) == IS_STRING) {
    zend_string_release(server->bucket);
    server->bucket = Z_STR(bucket);
  } else {
    zval_ptr_dtor(&bucket);
  }
  if (Z_TYPE(auth) == IS_ARRAY) {
    const uint32_t count = zend_hash_num_elements(Z_ARRVAL(auth));
    zval *user = count == 2 ? zend_hash_index_find(Z_ARRVAL(auth), 0) : NULL;
    zval *password = zend_hash_index_find(Z_ARRVAL(auth), count - 1);
    if (user) ZVAL_COPY(&server->user, user);
    if (password) ZVAL_COPY(&server->password, password);
  } else if (Z_TYPE(auth) == IS_STRING) {
    ZVAL_COPY(&server->password, &auth);
  }
  zval_ptr_dtor(&auth);
  if (!is_given(&server->host))
    bloomery_refuse(BLOOMERY_UNAVAILABLE, "the Redis object is not connected; connect it first");
}

static void drop_server(Server *server) {
  zval_ptr_dtor(&server->host);
  zval_ptr_dtor(&server->port);
  zval_ptr_dtor(&server->user);
  zval_ptr_dtor(&server->password);
  zval_ptr_dtor(&server->database);
  zval_ptr_dtor(&server->timeout);
  zend_string_release(server->bucket);
  if (server->ssl) zend_array_release(server->ssl);
}

zend_string *bloomery_bucket_address(zval *config, zend_string *bucket) {
  if (config && Z_TYPE_P(config) == IS_STRING) {
    if (bloomery_is_address(Z_STR_P(config))) return with_key(Z_STR_P(config), bucket);
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "config is an array, a connected Redis or an address as redis://10.0.0.7");
    return NULL;
  }
  Server server = {.bucket = zend_string_copy(bucket)};
  if (config && Z_TYPE_P(config) == IS_ARRAY) take_config(&server, Z_ARRVAL_P(config));
  if (config && Z_TYPE_P(config) == IS_OBJECT) take_phpredis(&server, Z_OBJ_P(config));
  zend_string *address = EG(exception) ? NULL : address_of(&server);
  drop_server(&server);
  if (!address || !EG(exception)) return address;
  zend_string_release(address); /* a __toString() threw */
  return NULL;
}
