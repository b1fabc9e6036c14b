/* The objects of filters, and their methods except those for keys (keys.c), bytes (bytes.c) and locations
 * (locations.c). */
#include "php_bloomery.h"

#include <ext/standard/url.h>

static zend_object_handlers handlers;

/* ---- objects ------------------------------------------------------------------------------------------------ */

zend_object *bloomery_create_object(zend_class_entry *type) {
  bloomery_object *self = zend_object_alloc(sizeof *self, type);
  self->filter = NULL;
  self->attached = NULL;
  self->timed = false;
  self->told = 0;
  zend_object_std_init(&self->std, type);
  object_properties_init(&self->std, type);
  self->std.handlers = &handlers;
  return &self->std;
}

void bloomery_let_go(bloomery_attached *attached) {
  if (--attached->users != 0) return;
  bloomery_free(attached->filter);
  pefree(attached, true);
}

static void let_go(bloomery_object *self) {
  if (self->attached)
    bloomery_let_go(self->attached);
  else
    bloomery_free(self->filter);
  self->filter = NULL;
  self->attached = NULL;
}

static void free_object(zend_object *object) {
  let_go(bloomery_of(object));
  zend_object_std_dtor(object);
}

static zend_object *clone_object(zend_object *object) {
  const bloomery_object *self = bloomery_of(object);
  zend_object *made = bloomery_create_object(object->ce);
  bloomery_object *copy = bloomery_of(made);
  bloomery_error error;
  if (self->filter && !(copy->filter = bloomery_copy(self->filter, &error))) {
    bloomery_throw(&error);
    zend_object_store_ctor_failed(made); /* its destructor would find half an object */
    return made;
  }
  copy->timed = self->timed;
  zend_objects_clone_members(made, object); /* last: it calls __clone, which may use the filter */
  return made;
}

PHP_MINIT_FUNCTION(bloomery_filters) {
  memcpy(&handlers, &std_object_handlers, sizeof handlers);
  handlers.offset = XtOffsetOf(bloomery_object, std);
  handlers.free_obj = free_object;
  handlers.clone_obj = clone_object;
  handlers.compare = zend_objects_not_comparable; /* PHP would compare their properties: they have none */
  return SUCCESS;
}

static bool get_stats(bloomery_filter *filter, bool exact, bloomery_stats *stats) {
  bloomery_error error;
  stats->size = sizeof *stats;
  if (bloomery_get_stats(filter, exact, stats, &error) == 0) return true;
  bloomery_throw(&error);
  return false;
}

bool bloomery_nature_of(bloomery_filter *filter, bloomery_nature *nature) {
  bloomery_stats stats;
  if (!get_stats(filter, false, &stats)) return false;
  nature->kind = stats.kind;
  nature->by_seconds = stats.kind == BLOOMERY_WINDOW && stats.window_unit == BLOOMERY_SECONDS;
  return true;
}

zend_class_entry *bloomery_class_of(uint32_t kind) {
  switch (kind) {
    case BLOOMERY_COUNTING:
      return bloomery_counting;
    case BLOOMERY_SCALABLE:
      return bloomery_scalable;
    case BLOOMERY_WINDOW:
      return bloomery_window;
    default:
      return bloomery_plain;
  }
}

zend_class_entry *bloomery_base_of(const zend_class_entry *type) {
  return instanceof_function(type, bloomery_counting)   ? bloomery_counting
         : instanceof_function(type, bloomery_scalable) ? bloomery_scalable
         : instanceof_function(type, bloomery_window)   ? bloomery_window
                                                        : bloomery_plain;
}

static uint32_t kind_of(const zend_class_entry *type) {
  const zend_class_entry *base = bloomery_base_of(type);
  return base == bloomery_counting   ? BLOOMERY_COUNTING
         : base == bloomery_scalable ? BLOOMERY_SCALABLE
         : base == bloomery_window   ? BLOOMERY_WINDOW
                                     : BLOOMERY_PLAIN;
}

bool bloomery_take_class(bloomery_request *request, const zend_class_entry *called, const zend_string *location) {
  if (called->ce_flags & (ZEND_ACC_EXPLICIT_ABSTRACT_CLASS | ZEND_ACC_IMPLICIT_ABSTRACT_CLASS)) {
    zend_throw_error(NULL, "Cannot instantiate abstract class %s", ZSTR_VAL(called->name));
    return false;
  }
  if (called == bloomery_plain) return true;
  /* A file is plain anyway, and an existing one may be frozen; a module would make a scalable filter. */
  const zend_class_entry *base = bloomery_base_of(called);
  if (request->spec.kind == 0 && (base != bloomery_plain || (location && bloomery_is_address(location))))
    request->spec.kind = kind_of(called);
  if (bloomery_class_of(request->spec.kind) == base) return true;
  bloomery_refuse(BLOOMERY_WRONG_KIND, "an object of %s has no filter of the kind %s; use another class",
                  ZSTR_VAL(called->name), bloomery_word(bloomery_kinds, request->spec.kind));
  return false;
}

void bloomery_wrap(zval *out, bloomery_filter *filter, bloomery_attached *attached, zend_class_entry *called,
                   bool clock) {
  bloomery_nature nature;
  if (attached) {
    nature = attached->nature;
  } else if (!bloomery_nature_of(filter, &nature)) {
    bloomery_free(filter);
    return;
  }
  zend_class_entry *type = bloomery_class_of(nature.kind);
  if (bloomery_base_of(called) == type) {
    type = called;
  } else if (called != bloomery_plain) {
    bloomery_refuse(BLOOMERY_WRONG_KIND, "%s: is a filter of the class %s, and not of %s; open it as that",
                    bloomery_name(filter), ZSTR_VAL(type->name), ZSTR_VAL(called->name));
    if (!attached) bloomery_free(filter);
    return;
  }
  if (object_init_ex(out, type) != SUCCESS) { /* a user's class is abstract */
    if (!attached) bloomery_free(filter);
    return;
  }
  bloomery_object *self = bloomery_of(Z_OBJ_P(out));
  self->filter = filter;
  self->timed = clock && nature.by_seconds;
  if ((self->attached = attached)) ++attached->users;
}

bool bloomery_make_ready(bloomery_object *self) {
  if (!self->filter) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "the filter has not been made; call parent::__construct()");
    return false;
  }
  const time_t now = time(NULL);
  if (now == self->told) return true;
  bloomery_error error;
  if (bloomery_advance(self->filter, (uint64_t)now, &error) != 0) {
    bloomery_throw(&error);
    return false;
  }
  self->told = now;
  return true;
}

/* ---- making ------------------------------------------------------------------------------------------------- */

static void construct(INTERNAL_FUNCTION_PARAMETERS, uint32_t kind) {
  zend_long window = 0, capacity;
  double fpr;
  HashTable *options = NULL;
  ZEND_PARSE_PARAMETERS_START(kind == BLOOMERY_WINDOW ? 3 : 2, kind == BLOOMERY_WINDOW ? 4 : 3)
    if (kind == BLOOMERY_WINDOW) {
      Z_PARAM_LONG(window)
    }
    Z_PARAM_LONG(capacity)
    Z_PARAM_DOUBLE(fpr)
    Z_PARAM_OPTIONAL
    Z_PARAM_ARRAY_HT(options)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_of(Z_OBJ_P(ZEND_THIS));
  if (self->filter) {
    bloomery_refuse(BLOOMERY_EXISTS, "the filter has been made already; make another one");
    RETURN_THROWS();
  }
  bloomery_request request;
  bloomery_ask(&request);
  request.spec.kind = kind;
  if (kind == BLOOMERY_WINDOW && !bloomery_take_count(&request.spec.window, "window", window)) RETURN_THROWS();
  if (!bloomery_take_sizes(&request, &capacity, &fpr) || (options && !bloomery_take_options(&request, options, false)))
    RETURN_THROWS();
  bloomery_error error;
  self->filter = bloomery_new(&request.spec, &request.options, &error);
  if (!self->filter) return bloomery_throw(&error);
  self->timed = kind == BLOOMERY_WINDOW && request.clock && request.spec.window_unit != BLOOMERY_INSERTIONS;
}

ZEND_METHOD(Bloomery_Filter, __construct) {
  construct(INTERNAL_FUNCTION_PARAM_PASSTHRU, kind_of(Z_OBJCE_P(ZEND_THIS)));
}

ZEND_METHOD(Bloomery_WindowFilter, __construct) {
  construct(INTERNAL_FUNCTION_PARAM_PASSTHRU, BLOOMERY_WINDOW);
}

/* A word and "://": the library takes none of these for a path, so open_basedir is only about the certificates that it
 * names. */
bool bloomery_is_address(const zend_string *location) {
  const char *text = ZSTR_VAL(location);
  const size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
  return word != 0 && text[0] != '.' && strncmp(text + word, "://", 3) == 0;
}

static bool is_allowed(const char *path) {
  if (php_check_open_basedir_ex(path, 0) == 0) return true;
  bloomery_refuse(BLOOMERY_DENIED, "%s: open_basedir does not allow it; it allows %s", path, PG(open_basedir));
  return false;
}

/* The certificates in an address are files too. */
static bool may_open_certificates(const char *address) {
  static const char *const names[] = {"cacert=", "cert=", "certkey="};
  const char *field = strchr(address, '?');
  bool allowed = true;
  while (allowed && field) {
    const char *const begin = field + 1, *const end = strpbrk(begin, "?&");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
      const size_t name = strlen(names[i]);
      if (strncmp(begin, names[i], name) != 0) continue;
      char *path = end ? estrndup(begin + name, (size_t)(end - begin) - name) : estrdup(begin + name);
      php_raw_url_decode(path, strlen(path));
      allowed = is_allowed(path);
      efree(path);
    }
    field = end;
  }
  return allowed;
}

bool bloomery_may_open(const zend_string *location) {
  if (ZSTR_LEN(location) == 0 || strlen(ZSTR_VAL(location)) != ZSTR_LEN(location)) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "a path is not empty and has no byte 0; check how it was put together");
    return false;
  }
  return bloomery_is_address(location) ? may_open_certificates(ZSTR_VAL(location)) : is_allowed(ZSTR_VAL(location));
}

/* The filter at a location in one of open()'s modes, or for mode 0 the one that replaces it. */
static bloomery_filter *opened(const zend_string *location, char mode, bloomery_request *request,
                               bloomery_error *error) {
  const char *place = ZSTR_VAL(location);
  switch (mode) {
    case 0:
      return bloomery_rebuild(place, &request->spec, &request->options, error);
    case 'r':
      return bloomery_open(place, BLOOMERY_READ, &request->options, error);
    case 'w':
      return bloomery_open(place, BLOOMERY_WRITE, &request->options, error);
    case 'a':
      return bloomery_open_or_create(place, &request->spec, &request->options, error);
    case 'n':
      request->options.flags |= BLOOMERY_REPLACE;
      break;
  }
  return bloomery_create(place, &request->spec, &request->options, error);
}

static void open_or_rebuild(INTERNAL_FUNCTION_PARAMETERS, bool rebuilds) {
  zend_string *location, *mode = NULL;
  zend_long capacity = 0;
  double fpr = 0;
  bool no_capacity = true, no_fpr = true;
  HashTable *options = NULL;
  ZEND_PARSE_PARAMETERS_START(1, rebuilds ? 4 : 5)
    Z_PARAM_STR(location)
    Z_PARAM_OPTIONAL
    if (!rebuilds) {
      Z_PARAM_STR(mode)
    }
    Z_PARAM_LONG_OR_NULL(capacity, no_capacity)
    Z_PARAM_DOUBLE_OR_NULL(fpr, no_fpr)
    Z_PARAM_ARRAY_HT(options)
  ZEND_PARSE_PARAMETERS_END();
  if (mode && (ZSTR_LEN(mode) != 1 || !strchr("rwaxn", *ZSTR_VAL(mode)))) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "mode is one of r, w, a, x and n, and not '%s'", ZSTR_VAL(mode));
    RETURN_THROWS();
  }
  const char how = rebuilds ? 0 : mode ? *ZSTR_VAL(mode) : 'r';
  bloomery_request request;
  bloomery_ask(&request);
  if (!bloomery_may_open(location) ||
      !bloomery_take_sizes(&request, no_capacity ? NULL : &capacity, no_fpr ? NULL : &fpr) ||
      (options && !bloomery_take_options(&request, options, true)))
    RETURN_THROWS();
  zend_class_entry *called = zend_get_called_scope(execute_data);
  if (how != 'r' && how != 'w' && !bloomery_take_class(&request, called, location)) RETURN_THROWS();
  bloomery_error error;
  bloomery_filter *filter = opened(location, how, &request, &error);
  if (!filter) return bloomery_throw(&error);
  bloomery_wrap(return_value, filter, NULL, called, request.clock);
}

ZEND_METHOD(Bloomery_Filter, open) {
  open_or_rebuild(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_METHOD(Bloomery_Filter, rebuild) {
  open_or_rebuild(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

ZEND_METHOD(Bloomery_Filter, count) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  bloomery_stats stats;
  if (!self || !get_stats(self->filter, true, &stats)) RETURN_THROWS();
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
  if (!self || !get_stats(self->filter, exact, &stats)) RETURN_THROWS();
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

static void with_other(INTERNAL_FUNCTION_PARAMETERS,
                       int (*call)(bloomery_filter *, const bloomery_filter *, bloomery_error *)) {
  zval *other;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJECT_OF_CLASS(other, bloomery_plain)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_ready(ZEND_THIS), *from = self ? bloomery_ready(other) : NULL;
  bloomery_error error;
  if (from && call(self->filter, from->filter, &error) != 0) bloomery_throw(&error);
}

ZEND_METHOD(Bloomery_Filter, merge) { with_other(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_merge); }
ZEND_METHOD(Bloomery_Filter, intersect) { with_other(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_intersect); }

static void of_whole(INTERNAL_FUNCTION_PARAMETERS, int (*call)(bloomery_filter *, bloomery_error *)) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  bloomery_error error;
  if (self && call(self->filter, &error) != 0) bloomery_throw(&error);
}

ZEND_METHOD(Bloomery_Filter, clear) { of_whole(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_clear); }
ZEND_METHOD(Bloomery_Filter, sync) { of_whole(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_sync); }

ZEND_METHOD(Bloomery_Filter, close) {
  bloomery_object *self = bloomery_of(Z_OBJ_P(ZEND_THIS));
  if (self->attached) { /* the process owns it, so it stays open */
    ZEND_PARSE_PARAMETERS_NONE();
    return;
  }
  of_whole(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_close);
}

ZEND_METHOD(Bloomery_Filter, reload) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  if (!self) RETURN_THROWS();
  bloomery_error error;
  const int changed = bloomery_reload(self->filter, &error);
  if (changed < 0) return bloomery_throw(&error);
  self->told = 0;
  RETURN_BOOL(changed);
}

ZEND_METHOD(Bloomery_Filter, name) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  if (!self) RETURN_THROWS();
  RETURN_STRING(bloomery_name(self->filter));
}

ZEND_METHOD(Bloomery_WindowFilter, advance) {
  zend_long now;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_LONG(now)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  uint64_t time;
  if (!self || !bloomery_take_count(&time, "now", now)) RETURN_THROWS();
  self->timed = false;
  bloomery_error error;
  if (bloomery_advance(self->filter, time, &error) != 0) bloomery_throw(&error);
}
