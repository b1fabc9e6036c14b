/* The classes of the blog posts, with their names and their bits. */
#include "php_bloomery.h"

#include <ext/standard/url.h>
#include <zend_interfaces.h>
#include <zend_smart_str.h>

zend_class_entry *bloomery_legacy_redis;

static zend_object_handlers handlers;

typedef struct {
  bloomery_filter *filter; /* NULL: not made yet */
  zend_string *location;   /* the location of a bucket, with its password */
  zend_string *hashes;     /* their names, with commas */
  uint32_t count;          /* of the hashes */
  zend_object std;
} Legacy;

static Legacy *of(zend_object *object) { return (Legacy *)((char *)object - XtOffsetOf(Legacy, std)); }

zend_object *bloomery_create_legacy(zend_class_entry *type) {
  Legacy *self = zend_object_alloc(sizeof *self, type);
  self->filter = NULL;
  self->location = self->hashes = NULL;
  self->count = 0;
  zend_object_std_init(&self->std, type);
  object_properties_init(&self->std, type);
  self->std.handlers = &handlers;
  return &self->std;
}

static void free_legacy(zend_object *object) {
  Legacy *self = of(object);
  bloomery_free(self->filter);
  if (self->location) zend_string_release(self->location);
  if (self->hashes) zend_string_release(self->hashes);
  zend_object_std_dtor(object);
}

PHP_MINIT_FUNCTION(bloomery_legacy) {
  memcpy(&handlers, &std_object_handlers, sizeof handlers);
  handlers.offset = XtOffsetOf(Legacy, std);
  handlers.free_obj = free_legacy;
  handlers.clone_obj = NULL;
  handlers.compare = zend_objects_not_comparable;
  return SUCCESS;
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

typedef int (*Call)(bloomery_filter *, const void *, size_t, bloomery_error *);

/* The bucket, or NULL. A missing bucket is created if a key is to be added, as the PHP classes do. */
static bloomery_filter *opened_bucket(const Legacy *self, bool adds, bloomery_error *error) {
  const bloomery_options options = {.size = sizeof options, .php_hashes = ZSTR_VAL(self->hashes)};
  const bloomery_spec spec = {.size = sizeof spec};
  bloomery_filter *filter = bloomery_open(ZSTR_VAL(self->location), BLOOMERY_WRITE, &options, error);
  if (filter || !adds || error->code != BLOOMERY_MISSING) return filter;
  filter = bloomery_create(ZSTR_VAL(self->location), &spec, &options, error);
  if (filter || error->code != BLOOMERY_EXISTS) return filter;
  return bloomery_open(ZSTR_VAL(self->location), BLOOMERY_WRITE, &options, error); /* another client has made it */
}

/* bits: receives the old bits of a key that is added; NULL: the key is looked up. Clients empty a bucket by deleting
 * it, perhaps while this object has it open: then it is opened again. */
static int ask_bucket(Legacy *self, const zend_string *key, bool *bits, bloomery_error *error) {
  const bool adds = bits != NULL;
  for (int tries = 0;; ++tries) {
    if (!self->filter) self->filter = opened_bucket(self, adds, error);
    if (!self->filter) return error->code == BLOOMERY_MISSING && !adds ? 0 : -error->code;
    const int yes =
        adds ? bloomery_insert_bits(self->filter, ZSTR_VAL(key), ZSTR_LEN(key), bits, self->count, error)
             : bloomery_contains(self->filter, ZSTR_VAL(key), ZSTR_LEN(key), error);
    const bool gone = yes == -BLOOMERY_MISSING || yes == -BLOOMERY_CORRUPT;
    if (!gone || tries == 2) return yes;
    bloomery_free(self->filter);
    self->filter = NULL;
  }
}

/* The only argument of each method, which the caller releases, and the object with a filter; NULL and an exception. */
static zend_string *key_for(INTERNAL_FUNCTION_PARAMETERS, Legacy **self) {
  zend_string *text;
  zend_long integer;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    BLOOMERY_PARAM_KEY(text, integer)
  ZEND_PARSE_PARAMETERS_END_EX(return NULL);
  *self = of(Z_OBJ_P(ZEND_THIS));
  if ((*self)->filter || (*self)->location) return text ? zend_string_copy(text) : zend_long_to_str(integer);
  bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "the filter has not been made; call parent::__construct()");
  return NULL;
}

static void in_memory(INTERNAL_FUNCTION_PARAMETERS, Call call) {
  Legacy *self;
  zend_string *key = key_for(INTERNAL_FUNCTION_PARAM_PASSTHRU, &self);
  if (!key) RETURN_THROWS();
  bloomery_error error;
  const int yes = call(self->filter, ZSTR_VAL(key), ZSTR_LEN(key), &error);
  zend_string_release(key);
  if (yes < 0) return bloomery_throw(&error);
  RETURN_BOOL(yes);
}

ZEND_METHOD(Bloomery_Legacy_BloomFilter, addKey) { in_memory(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_insert); }
ZEND_METHOD(Bloomery_Legacy_BloomFilter, existKey) { in_memory(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_contains); }

ZEND_METHOD(Bloomery_Legacy_BloomFilterRedis, add) {
  Legacy *self;
  zend_string *key = key_for(INTERNAL_FUNCTION_PARAM_PASSTHRU, &self);
  if (!key) RETURN_THROWS();
  bool *bits = safe_emalloc(self->count, sizeof *bits, 0);
  bloomery_error error;
  const int count = ask_bucket(self, key, bits, &error);
  zend_string_release(key);
  if (count < 0) {
    bloomery_throw(&error);
  } else {
    array_init_size(return_value, (uint32_t)count);
    for (int i = 0; i < count; ++i) add_next_index_long(return_value, bits[i]);
  }
  efree(bits);
}

ZEND_METHOD(Bloomery_Legacy_BloomFilterRedis, exists) {
  Legacy *self;
  zend_string *key = key_for(INTERNAL_FUNCTION_PARAM_PASSTHRU, &self);
  if (!key) RETURN_THROWS();
  bloomery_error error;
  const int yes = ask_bucket(self, key, NULL, &error);
  zend_string_release(key);
  if (yes < 0) return bloomery_throw(&error);
  RETURN_BOOL(yes);
}

static bool is_new(const Legacy *self) {
  if (!self->filter && !self->location) return true;
  bloomery_refuse(BLOOMERY_EXISTS, "the filter has been made already; make another one");
  return false;
}

ZEND_METHOD(Bloomery_Legacy_BloomFilter, __construct) {
  zend_long bits, items;
  ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_LONG(bits)
    Z_PARAM_LONG(items)
  ZEND_PARSE_PARAMETERS_END();
  Legacy *self = of(Z_OBJ_P(ZEND_THIS));
  bloomery_options options = {.size = sizeof options};
  if (!is_new(self) || !bloomery_take_count(&options.php_bits, "m", bits) ||
      !bloomery_take_count(&options.php_items, "n", items))
    RETURN_THROWS();
  bloomery_error error;
  self->filter = bloomery_new(NULL, &options, &error);
  if (!self->filter) bloomery_throw(&error);
}

/* ---- the address of a bucket ------------------------------------------------------------------------------------ */

/* The values of a configuration or of a Redis object; "" if it has none. */
typedef struct {
  zval host, port, user, password, database;
  zend_string *bucket;
  HashTable *ssl; /* of PHP's SSL context options; not owned */
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

/* Removes "tls://" or "ssl://" from the host, as phpredis does. */
static bool take_tls(Server *server) {
  zval *host = &server->host;
  if (Z_TYPE_P(host) != IS_STRING ||
      (strncasecmp(Z_STRVAL_P(host), "tls://", 6) != 0 && strncasecmp(Z_STRVAL_P(host), "ssl://", 6) != 0))
    return false;
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

/* An IPv6 address, which has two colons, is in brackets; the host may have these already. */
static void append_host(smart_str *to, zval *host) {
  zend_string *text = zval_get_string(host);
  const bool has_brackets = ZSTR_VAL(text)[0] == '[';
  const char *const begin = ZSTR_VAL(text) + has_brackets, *const end = ZSTR_VAL(text) + ZSTR_LEN(text);
  const size_t size = strspn(begin, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:.%-_");
  const char *const colon = memchr(begin, ':', size);
  if (colon && memchr(colon + 1, ':', (size_t)(begin + size - colon - 1)) &&
      begin + size + has_brackets == end && (!has_brackets || end[-1] == ']')) {
    smart_str_appendc(to, '[');
    smart_str_appendl(to, begin, size);
    smart_str_appendc(to, ']');
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
  if (is_given(&server->password)) {
    if (is_given(&server->user)) append_field(&address, &server->user);
    smart_str_appendc(&address, ':');
    append_field(&address, &server->password);
    smart_str_appendc(&address, '@');
  }
  if (socket) {
    smart_str_appendc(&address, '/');
    zend_string *path = zend_string_init(Z_STRVAL(server->host) + 1, Z_STRLEN(server->host) - 1, false);
    append_encoded(&address, path);
    zend_string_release(path);
  } else {
    if (is_given(&server->host))
      append_host(&address, &server->host);
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
  if (server->ssl) append_tls(&address, server->ssl);
  smart_str_0(&address);
  return address.s;
}

/* An address of a server and the key of a bucket. */
static zend_string *with_key(zend_string *address, zend_string *bucket) {
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
  if (Z_TYPE_P(ssl) != IS_ARRAY || Z_TYPE(server->host) != IS_STRING ||
      (strncasecmp(Z_STRVAL(server->host), "tls://", 6) != 0 && strncasecmp(Z_STRVAL(server->host), "ssl://", 6) != 0)) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "ssl is an array of context options, for a host that begins with tls://");
    return;
  }
  zend_string *name;
  ZEND_HASH_FOREACH_STR_KEY(Z_ARRVAL_P(ssl), name) {
    size_t i = 0;
    while (i < sizeof kTls / sizeof *kTls && !(name && zend_string_equals_cstr(name, kTls[i].option, strlen(kTls[i].option)))) ++i;
    if (i == sizeof kTls / sizeof *kTls) {
      bloomery_refuse(BLOOMERY_INVALID_ARGUMENT,
                      "the ssl option '%s' is not known; those that are: cafile, local_cert, local_pk, peer_name, verify_peer",
                      name ? ZSTR_VAL(name) : "");
      return;
    }
  }
  ZEND_HASH_FOREACH_END();
  server->ssl = Z_ARRVAL_P(ssl);
}

static void take_config(Server *server, HashTable *config) {
  static const struct {
    const char *name;
    size_t at;
  } fields[] = {{"host", offsetof(Server, host)},         {"port", offsetof(Server, port)},
                {"user", offsetof(Server, user)},         {"password", offsetof(Server, password)},
                {"auth", offsetof(Server, password)},     {"database", offsetof(Server, database)},
                {"db", offsetof(Server, database)}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
    zval *value = zend_hash_str_find_deref(config, fields[i].name, strlen(fields[i].name));
    zval *to = (zval *)((char *)server + fields[i].at);
    if (value && Z_TYPE_P(to) == IS_UNDEF && (Z_TYPE_P(value) == IS_STRING || Z_TYPE_P(value) == IS_LONG))
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
  zend_string_release(server->bucket);
}

/* ['BKDRHash', 'JSHash'] as "BKDR,JS"; NULL and an exception. */
static zend_string *hashes_of(zval *names) {
  smart_str list = {0};
  zval *name;
  ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(names), name) {
    ZVAL_DEREF(name);
    if (Z_TYPE_P(name) != IS_STRING) {
      bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "$hashFunction has names of functions, such as 'BKDRHash'");
      smart_str_free(&list);
      return NULL;
    }
    size_t size = Z_STRLEN_P(name);
    if (size > 4 && zend_binary_strcasecmp(Z_STRVAL_P(name) + size - 4, 4, "Hash", 4) == 0) size -= 4;
    if (list.s) smart_str_appendc(&list, ',');
    smart_str_appendl(&list, Z_STRVAL_P(name), size);
  }
  ZEND_HASH_FOREACH_END();
  smart_str_0(&list);
  return list.s;
}

ZEND_METHOD(Bloomery_Legacy_BloomFilterRedis, __construct) {
  zval *config = NULL, *id = NULL;
  ZEND_PARSE_PARAMETERS_START(0, 2)
    Z_PARAM_OPTIONAL
    Z_PARAM_ZVAL(config)
    Z_PARAM_ZVAL(id)
  ZEND_PARSE_PARAMETERS_END();
  if (config && Z_TYPE_P(config) != IS_ARRAY && Z_TYPE_P(config) != IS_OBJECT && Z_TYPE_P(config) != IS_STRING) {
    zend_argument_type_error(1, "must be an array, a connected Redis or an address, %s given", zend_zval_type_name(config));
    RETURN_THROWS();
  }
  Legacy *self = of(Z_OBJ_P(ZEND_THIS));
  if (!is_new(self)) RETURN_THROWS();
  zval room;
  zval *bucket = zend_read_property(bloomery_legacy_redis, &self->std, ZEND_STRL("bucket"), true, &room);
  zval *names = zend_read_property(bloomery_legacy_redis, &self->std, ZEND_STRL("hashFunction"), true, &room);
  ZVAL_DEREF(bucket);
  ZVAL_DEREF(names);
  if (Z_TYPE_P(bucket) != IS_STRING || Z_STRLEN_P(bucket) == 0 || Z_TYPE_P(names) != IS_ARRAY ||
      zend_hash_num_elements(Z_ARRVAL_P(names)) == 0) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT,
                    "%s needs $bucket, the name of a key, and $hashFunction, names such as 'BKDRHash'",
                    ZSTR_VAL(self->std.ce->name));
    RETURN_THROWS();
  }
  Server server = {.bucket = zend_string_copy(Z_STR_P(bucket))};
  zend_string *hashes = hashes_of(names);
  if (config && Z_TYPE_P(config) == IS_ARRAY) take_config(&server, Z_ARRVAL_P(config));
  if (hashes && config && Z_TYPE_P(config) == IS_OBJECT) take_phpredis(&server, Z_OBJ_P(config));
  if (config && Z_TYPE_P(config) == IS_STRING && !bloomery_is_address(Z_STR_P(config)))
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "config is an array, a connected Redis or an address as redis://10.0.0.7");
  if (EG(exception)) {
    if (hashes) zend_string_release(hashes);
    drop_server(&server);
    RETURN_THROWS();
  }
  zend_string *location =
      config && Z_TYPE_P(config) == IS_STRING ? with_key(Z_STR_P(config), server.bucket) : address_of(&server);
  drop_server(&server);
  if (!bloomery_may_open(location)) { /* the object must not open it later, if a subclass catches the exception */
    zend_string_release(location);
    zend_string_release(hashes);
    RETURN_THROWS();
  }
  self->location = location;
  self->hashes = hashes;
  self->count = zend_hash_num_elements(Z_ARRVAL_P(names));
  /* The class of the blog posts connects here. */
  bloomery_error error;
  self->filter = opened_bucket(self, false, &error);
  if (!self->filter && error.code != BLOOMERY_MISSING) bloomery_throw(&error);
}
