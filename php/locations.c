/* Operations on whole filters, which are named by their locations: no object is made. */
#include "php_bloomery.h"

/* A call that answers yes or no of one location. */
static void of_location(INTERNAL_FUNCTION_PARAMETERS,
                        int (*call)(const char *, const bloomery_options *, bloomery_error *)) {
  zend_string *location;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(location)
  ZEND_PARSE_PARAMETERS_END();
  zend_string *place = bloomery_take_location(location);
  if (!place) RETURN_THROWS();
  bloomery_error error;
  const int yes = call(ZSTR_VAL(place), NULL, &error);
  zend_string_release(place);
  if (yes < 0) return bloomery_throw(&error);
  RETURN_BOOL(yes);
}

ZEND_METHOD(Bloomery_Filter, rotate) { of_location(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_rotate); }
ZEND_METHOD(Bloomery_Filter, verify) { of_location(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_verify); }

ZEND_METHOD(Bloomery_Filter, convert) {
  zend_string *source, *to;
  bool replace = false;
  ZEND_PARSE_PARAMETERS_START(2, 3)
    Z_PARAM_STR(source)
    Z_PARAM_STR(to)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(replace)
  ZEND_PARSE_PARAMETERS_END();
  zend_string *from = bloomery_take_location(source), *out = from ? bloomery_take_location(to) : NULL;
  const bloomery_options options = {.size = sizeof options, .flags = replace ? BLOOMERY_REPLACE : 0};
  bloomery_error error;
  if (out && bloomery_convert(ZSTR_VAL(from), ZSTR_VAL(out), &options, &error) < 0) bloomery_throw(&error);
  if (out) zend_string_release(out);
  if (from) zend_string_release(from);
}

/* Adds the locations of an array to a list with room for them; false and an exception. */
static bool take_locations(zend_string **list, size_t *count, HashTable *locations) {
  zval *location;
  ZEND_HASH_FOREACH_VAL(locations, location) {
    ZVAL_DEREF(location);
    if (Z_TYPE_P(location) != IS_STRING) {
      zend_argument_type_error(1, "must be an array of strings, %s given", zend_zval_type_name(location));
      return false;
    }
    if (!(list[*count] = bloomery_take_location(Z_STR_P(location)))) return false;
    ++*count;
  }
  ZEND_HASH_FOREACH_END();
  return true;
}

ZEND_METHOD(Bloomery_Filter, mergeLocations) {
  HashTable *sources;
  zend_string *to;
  bool replace = false;
  ZEND_PARSE_PARAMETERS_START(2, 3)
    Z_PARAM_ARRAY_HT(sources)
    Z_PARAM_STR(to)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(replace)
  ZEND_PARSE_PARAMETERS_END();
  zend_string *out = bloomery_take_location(to);
  if (!out) RETURN_THROWS();
  const size_t size = zend_hash_num_elements(sources);
  zend_string **list = safe_emalloc(size, sizeof *list, 1);
  const char **locations = safe_emalloc(size, sizeof *locations, 1);
  size_t count = 0;
  const bool ready = take_locations(list, &count, sources);
  for (size_t i = 0; i < count; ++i) locations[i] = ZSTR_VAL(list[i]);
  bloomery_error error;
  if (ready && bloomery_merge_locations(locations, count, ZSTR_VAL(out), replace, &error) < 0) bloomery_throw(&error);
  for (size_t i = 0; i < count; ++i) zend_string_release(list[i]);
  efree(locations);
  efree(list);
  zend_string_release(out);
}
