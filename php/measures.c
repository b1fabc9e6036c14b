/* The numbers of filters: their statistics, and plans before they are made. */
#include "php_bloomery.h"

bool bloomery_read_stats(bloomery_filter *filter, bool exact, bloomery_stats *stats) {
  bloomery_error error;
  stats->size = sizeof *stats;
  if (bloomery_get_stats(filter, exact, stats, &error) == 0) return true;
  bloomery_throw(&error);
  return false;
}

ZEND_METHOD(Bloomery_Filter, count) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  bloomery_stats stats;
  if (!self || !bloomery_read_stats(self->filter, true, &stats)) RETURN_THROWS();
  if (stats.unknown & BLOOMERY_NO_FILL) {
    bloomery_refuse(BLOOMERY_WRONG_KIND,
                    "%s: its server does not tell how many keys are in it, only stats()['inserted']",
                    bloomery_name(self->filter));
    RETURN_THROWS();
  }
  const double items = stats.estimated_items;
  RETURN_LONG(items < (double)ZEND_LONG_MAX ? (zend_long)(items + 0.5) : ZEND_LONG_MAX);
}

/* null: the place of the filter does not tell the value. */
static void add_real(zval *to, const char *name, double value, bool known) {
  known ? add_assoc_double(to, name, value) : add_assoc_null(to, name);
}
static void add_whole(zval *to, const char *name, uint64_t value, bool known) {
  known ? add_assoc_long(to, name, (zend_long)value) : add_assoc_null(to, name);
}
static void add_word(zval *to, const char *name, const char *word) {
  *word ? add_assoc_string(to, name, word) : add_assoc_null(to, name);
}

/* The plan that a class's filter would have. NULL: no number, no options. */
static bool take_plan(bloomery_request *request, const zend_class_entry *called, const zend_long *capacity,
                      const double *fpr, const HashTable *options) {
  bloomery_ask(request);
  return bloomery_take_sizes(request, capacity, fpr) && (!options || bloomery_take_options(request, options, true)) &&
         bloomery_take_class(request, called, NULL);
}

ZEND_METHOD(Bloomery_Filter, predictedFpr) {
  double keys, fpr = 0;
  zend_long capacity = 0;
  bool no_capacity = true, no_fpr = true;
  HashTable *options = NULL;
  ZEND_PARSE_PARAMETERS_START(1, 4)
    Z_PARAM_DOUBLE(keys)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(capacity, no_capacity)
    Z_PARAM_DOUBLE_OR_NULL(fpr, no_fpr)
    Z_PARAM_ARRAY_HT(options)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_request request;
  if (!take_plan(&request, zend_get_called_scope(execute_data), no_capacity ? NULL : &capacity, no_fpr ? NULL : &fpr,
                 options))
    RETURN_THROWS();
  bloomery_error error;
  const double predicted = bloomery_predict(&request.spec, keys, &error);
  if (predicted < 0) return bloomery_throw(&error);
  RETURN_DOUBLE(predicted);
}

ZEND_METHOD(Bloomery_Filter, plan) {
  zend_long capacity = 0;
  double fpr = 0;
  bool no_capacity = true, no_fpr = true;
  HashTable *options = NULL;
  ZEND_PARSE_PARAMETERS_START(0, 3)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(capacity, no_capacity)
    Z_PARAM_DOUBLE_OR_NULL(fpr, no_fpr)
    Z_PARAM_ARRAY_HT(options)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_request request;
  if (!take_plan(&request, zend_get_called_scope(execute_data), no_capacity ? NULL : &capacity, no_fpr ? NULL : &fpr,
                 options))
    RETURN_THROWS();
  bloomery_plan plan = {.size = sizeof plan};
  bloomery_error error;
  if (bloomery_solve(&request.spec, &plan, &error) != 0) return bloomery_throw(&error);
  array_init(return_value);
  add_word(return_value, "kind", bloomery_word(bloomery_kinds, plan.kind));
  add_assoc_long(return_value, "capacity", (zend_long)plan.capacity);
  add_assoc_double(return_value, "fpr", plan.fpr);
  add_assoc_long(return_value, "bytes", (zend_long)plan.bytes);
  add_assoc_long(return_value, "hashes", (zend_long)plan.hashes);
  add_word(return_value, "layout", bloomery_word(bloomery_layouts, plan.layout));
  add_assoc_double(return_value, "bits_per_key", plan.bits_per_key);
}

ZEND_METHOD(Bloomery_Filter, stats) {
  bool exact = false;
  ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(exact)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  bloomery_stats stats;
  if (!self || !bloomery_read_stats(self->filter, exact, &stats)) RETURN_THROWS();
  array_init(return_value);
  add_word(return_value, "kind", bloomery_word(bloomery_kinds, stats.kind));
  add_assoc_long(return_value, "capacity", (zend_long)stats.capacity);
  add_real(return_value, "fpr", stats.fpr, stats.fpr != 0);
  add_assoc_long(return_value, "bytes", (zend_long)stats.bytes);
  add_whole(return_value, "hashes", stats.hashes, stats.hashes != 0);
  add_word(return_value, "layout", bloomery_word(bloomery_layouts, stats.layout));
  const bool has_fill = (stats.unknown & BLOOMERY_NO_FILL) == 0;
  add_whole(return_value, "inserted", stats.inserted, (stats.unknown & BLOOMERY_NO_INSERTED) == 0);
  add_real(return_value, "fill", stats.fill, has_fill);
  add_real(return_value, "estimated_items", stats.estimated_items, has_fill);
  add_real(return_value, "current_fpr", stats.current_fpr, has_fill);
  add_assoc_bool(return_value, "over_capacity", stats.over_capacity != 0);
  add_assoc_bool(return_value, "sampled", stats.sampled != 0);
  if (stats.kind == BLOOMERY_COUNTING) {
    add_whole(return_value, "counter_bits", stats.counter_bits, stats.counter_bits != 0);
    add_whole(return_value, "saturated_counters", stats.saturated_counters, stats.counter_bits != 0);
  } else if (stats.kind == BLOOMERY_SCALABLE) {
    add_whole(return_value, "sub_filters", stats.sub_filters, stats.sub_filters != 0);
  } else if (stats.kind == BLOOMERY_WINDOW) {
    add_whole(return_value, "window", stats.window, stats.window != 0);
    add_word(return_value, "window_unit", bloomery_word(bloomery_units, stats.window_unit));
    add_whole(return_value, "slices", stats.slices, stats.slices != 0);
  }
}
