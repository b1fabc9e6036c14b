/* The classes of the blog posts, with their names and their bits. */
#include "php_bloomery.h"

#include <zend_smart_str.h>

zend_class_entry *bloomery_legacy_redis;

static zend_object_handlers handlers;

typedef struct {
  bloomery_filter *filter; /* NULL: not made yet */
  zend_string *location;   /* the location of a bucket, with its password */
  zend_string *hashes;     /* their names, with commas */
  uint32_t count;          /* of the hashes */
  bool rotating;           /* keys are also looked up in the bucket that the last rotation has put aside */
  zend_object std;
} Legacy;

static Legacy *of(zend_object *object) { return (Legacy *)((char *)object - XtOffsetOf(Legacy, std)); }

zend_object *bloomery_create_legacy(zend_class_entry *type) {
  Legacy *self = zend_object_alloc(sizeof *self, type);
  self->filter = NULL;
  self->location = self->hashes = NULL;
  self->count = 0;
  self->rotating = false;
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
  const bloomery_options options = {.size = sizeof options,
                                    .flags = self->rotating ? BLOOMERY_ROTATING : 0,
                                    .php_hashes = ZSTR_VAL(self->hashes)};
  const bloomery_spec spec = {.size = sizeof spec};
  bloomery_filter *filter = bloomery_open(ZSTR_VAL(self->location), BLOOMERY_WRITE, &options, error);
  if (filter || !adds || error->code != BLOOMERY_MISSING) return filter;
  filter = bloomery_create(ZSTR_VAL(self->location), &spec, &options, error);
  if (filter || error->code != BLOOMERY_EXISTS) return filter;
  return bloomery_open(ZSTR_VAL(self->location), BLOOMERY_WRITE, &options, error); /* another client has made it */
}

/* bits: receives the old bits of a key that is added; NULL: the key is looked up. Clients empty or rotate a bucket,
 * perhaps while this object has it open: then it is opened again. */
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

ZEND_METHOD(Bloomery_Legacy_BloomFilterRedis, rotate) {
  ZEND_PARSE_PARAMETERS_NONE();
  Legacy *self = of(Z_OBJ_P(ZEND_THIS));
  if (!self->location || !self->rotating) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT,
                    self->location ? "%s has one bucket; with $rotating = true it also looks into the older one"
                                   : "%s has not been made; call parent::__construct()",
                    ZSTR_VAL(self->std.ce->name));
    RETURN_THROWS();
  }
  const bloomery_options options = {.size = sizeof options, .php_hashes = ZSTR_VAL(self->hashes)};
  bloomery_error error;
  const int done = bloomery_rotate(ZSTR_VAL(self->location), &options, &error);
  if (done < 0 && error.code != BLOOMERY_MISSING) return bloomery_throw(&error);
  RETURN_BOOL(done > 0);
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

/* ---- a bucket ---------------------------------------------------------------------------------------------------- */

/* ['BKDRHash', 'JSHash'] as "BKDR,JS"; NULL and an exception. */
static zend_string *hashes_of(zval *names) {
  smart_str list = {0};
  zval *name;
  ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(names), name) {
    ZVAL_DEREF(name);
    /* A comma and a byte 0 would end the name in the list that the library is given. */
    if (Z_TYPE_P(name) != IS_STRING || strcspn(Z_STRVAL_P(name), ",") != Z_STRLEN_P(name)) {
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

/* A copy, since the code of a user (__get, the methods of a Redis object) may change the property meanwhile. */
static void copy_property(zval *to, Legacy *self, const char *name, size_t size) {
  zval room;
  ZVAL_NULL(to);
  if (EG(exception)) return;
  zval *value = zend_read_property(bloomery_legacy_redis, &self->std, name, size, true, &room);
  ZVAL_COPY_DEREF(to, value);
  if (value == &room) zval_ptr_dtor(&room);
}

/* False and an exception. */
static bool take_bucket(Legacy *self, zval *config, const zval *bucket, zval *names, const zval *rotating) {
  if (Z_TYPE_P(rotating) != IS_TRUE && Z_TYPE_P(rotating) != IS_FALSE && Z_TYPE_P(rotating) != IS_NULL) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "$rotating is true or false");
    return false;
  }
  const bool named = Z_TYPE_P(bucket) == IS_STRING && Z_STRLEN_P(bucket) != 0;
  if (!named || Z_TYPE_P(names) != IS_ARRAY || zend_hash_num_elements(Z_ARRVAL_P(names)) == 0) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT,
                    named ? "%s::$hashFunction is no list of names; set it to names of functions, such as ['BKDRHash']"
                          : "%s::$bucket is no name or an empty one; set it to the name of the bucket's key",
                    ZSTR_VAL(self->std.ce->name));
    return false;
  }
  zend_string *hashes = hashes_of(names);
  if (!hashes) return false;
  zend_string *location = bloomery_bucket_address(config, Z_STR_P(bucket));
  /* The object must not open it later, if a subclass catches the exception. The code of a user may have constructed
   * this object. */
  if (!location || !bloomery_may_open(location) || !is_new(self)) {
    if (location) zend_string_release(location);
    zend_string_release(hashes);
    return false;
  }
  self->location = location;
  self->hashes = hashes;
  self->rotating = Z_TYPE_P(rotating) == IS_TRUE;
  self->count = zend_hash_num_elements(Z_ARRVAL_P(names));
  return true;
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
  zval bucket, names, rotating;
  copy_property(&bucket, self, ZEND_STRL("bucket"));
  copy_property(&names, self, ZEND_STRL("hashFunction"));
  copy_property(&rotating, self, ZEND_STRL("rotating"));
  const bool done = !EG(exception) && take_bucket(self, config, &bucket, &names, &rotating);
  zval_ptr_dtor(&bucket);
  zval_ptr_dtor(&names);
  zval_ptr_dtor(&rotating);
  if (!done) RETURN_THROWS();
  /* The class of the blog posts connects here. */
  bloomery_error error;
  self->filter = opened_bucket(self, false, &error);
  if (!self->filter && error.code != BLOOMERY_MISSING) bloomery_throw(&error);
}
