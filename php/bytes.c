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
  /* Those of a subclass, under the names that PHP's own classes give them. */
  zval members;
  ZVAL_ARR(&members, zend_proptable_to_symtable(zend_std_get_properties(&self->std), true));
  add_assoc_zval(return_value, "members", &members);
}

/* PHP's function checks no types, and the machine code that PHP makes relies on them. A wrong value is removed, with a
 * TypeError. */
static void load_members(zend_object *object, HashTable *members) {
  object_properties_load(object, members);
  for (int i = 0; i < object->ce->default_properties_count; ++i) {
    zval *value = &object->properties_table[i];
    zend_property_info *typed = zend_get_typed_property_info_for_slot(object, value);
    if (!typed || Z_ISUNDEF_P(value)) continue;
    if (Z_ISREF_P(value)) zend_unwrap_reference(value); /* its other users do not know the type */
    if (zend_verify_property_type(typed, value, true)) continue;
    zval_ptr_dtor(value);
    ZVAL_UNDEF(value);
  }
}

ZEND_METHOD(Bloomery_Filter, __unserialize) {
  HashTable *data;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(data)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_of(Z_OBJ_P(ZEND_THIS));
  const zval *bytes = zend_hash_str_find(data, ZEND_STRL("filter"));
  const zval *clock = zend_hash_str_find(data, ZEND_STRL("clock"));
  const zval *members = zend_hash_str_find(data, ZEND_STRL("members")); /* older payloads have none */
  if (self->filter || !bytes || Z_TYPE_P(bytes) != IS_STRING || (members && Z_TYPE_P(members) != IS_ARRAY)) {
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
    if (members) load_members(&self->std, Z_ARRVAL_P(members));
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
  zend_string *place = self ? bloomery_take_location(path) : NULL;
  if (!place) RETURN_THROWS();
  bloomery_error error;
  if (bloomery_save(self->filter, ZSTR_VAL(place), &error) != 0) bloomery_throw(&error);
  zend_string_release(place);
}
