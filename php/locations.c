/* Operations on whole filters, which are named by their locations: no object is made. */
#include "php_bloomery.h"

/* A call that answers yes or no of one location. */
static void of_location(INTERNAL_FUNCTION_PARAMETERS,
                        int (*call)(const char *, const bloomery_options *, bloomery_error *)) {
  zend_string *location;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(location)
  ZEND_PARSE_PARAMETERS_END();
  if (!bloomery_may_open(location)) RETURN_THROWS();
  bloomery_error error;
  const int yes = call(ZSTR_VAL(location), NULL, &error);
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
  if (!bloomery_may_open(source) || !bloomery_may_open(to)) RETURN_THROWS();
  const bloomery_options options = {.size = sizeof options, .flags = replace ? BLOOMERY_REPLACE : 0};
  bloomery_error error;
  if (bloomery_convert(ZSTR_VAL(source), ZSTR_VAL(to), &options, &error) < 0) bloomery_throw(&error);
}

/* Fills in the texts of an array's values; false and an exception. */
static bool take_locations(const char **to, HashTable *locations) {
  zval *location;
  ZEND_HASH_FOREACH_VAL(locations, location) {
    ZVAL_DEREF(location);
    if (Z_TYPE_P(location) != IS_STRING) {
      zend_argument_type_error(1, "must be an array of strings, %s given", zend_zval_type_name(location));
      return false;
    }
    if (!bloomery_may_open(Z_STR_P(location))) return false;
    *to++ = Z_STRVAL_P(location);
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
  if (!bloomery_may_open(to)) RETURN_THROWS();
  const size_t count = zend_hash_num_elements(sources);
  const char **locations = safe_emalloc(count, sizeof *locations, 1);
  bloomery_error error;
  if (take_locations(locations, sources) &&
      bloomery_merge_locations(locations, count, ZSTR_VAL(to), replace, &error) < 0)
    bloomery_throw(&error);
  efree(locations);
}
