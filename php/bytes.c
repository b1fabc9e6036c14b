/* Filters as bytes: in strings, in serialized objects and in files. */
#include "php_bloomery.h"

ZEND_METHOD(Bloomery_Filter, decode) {
  zend_string *bytes;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(bytes)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_error error;
  bloomery_filter *filter = bloomery_decode(ZSTR_VAL(bytes), ZSTR_LEN(bytes), &error);
  if (!filter) return bloomery_throw(&error);
  bloomery_wrap(return_value, filter, NULL, zend_get_called_scope(execute_data), true);
}

static zend_string *encoded(bloomery_object *self) {
  bloomery_error error;
  const int64_t size = bloomery_encoded_size(self->filter, &error);
  zend_string *bytes = size < 0 ? NULL : zend_string_alloc((size_t)size, 0);
  if (bytes && bloomery_encode(self->filter, ZSTR_VAL(bytes), (size_t)size, &error) == size) {
    ZSTR_VAL(bytes)[size] = 0;
    return bytes;
  }
  if (bytes) zend_string_release(bytes);
  bloomery_throw(&error);
  return NULL;
}

ZEND_METHOD(Bloomery_Filter, encode) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  zend_string *bytes = self ? encoded(self) : NULL;
  if (!bytes) RETURN_THROWS();
  RETURN_STR(bytes);
}

ZEND_METHOD(Bloomery_Filter, __serialize) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  zend_string *bytes = self ? encoded(self) : NULL;
  if (!bytes) RETURN_THROWS();
  array_init(return_value);
  add_assoc_str(return_value, "filter", bytes);
  add_assoc_bool(return_value, "clock", self->timed);
}

ZEND_METHOD(Bloomery_Filter, __unserialize) {
  HashTable *data;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(data)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_of(Z_OBJ_P(ZEND_THIS));
  const zval *bytes = zend_hash_str_find(data, ZEND_STRL("filter"));
  const zval *clock = zend_hash_str_find(data, ZEND_STRL("clock"));
  if (self->filter || !bytes || Z_TYPE_P(bytes) != IS_STRING) {
    bloomery_refuse(BLOOMERY_NOT_A_FILTER, "the serialized bytes are not a filter");
    RETURN_THROWS();
  }
  bloomery_error error;
  bloomery_filter *filter = bloomery_decode(Z_STRVAL_P(bytes), Z_STRLEN_P(bytes), &error);
  if (!filter) return bloomery_throw(&error);
  bloomery_nature nature;
  if (bloomery_nature_of(filter, &nature) && bloomery_base_of(self->std.ce) == bloomery_class_of(nature.kind)) {
    self->filter = filter;
    self->timed = clock && Z_TYPE_P(clock) == IS_TRUE && nature.by_seconds;
    return;
  }
  bloomery_free(filter);
  if (!EG(exception))
    bloomery_refuse(BLOOMERY_WRONG_KIND, "the serialized bytes are a filter of another class than %s",
                    ZSTR_VAL(self->std.ce->name));
}

ZEND_METHOD(Bloomery_Filter, save) {
  zend_string *path;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(path)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  if (!self || !bloomery_may_open(path)) RETURN_THROWS();
  bloomery_error error;
  if (bloomery_save(self->filter, ZSTR_VAL(path), &error) != 0) bloomery_throw(&error);
}
