/* Filters are made: in memory, and at a path or an address. */
#include "php_bloomery.h"

#include <ext/standard/url.h>

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
  char *shown = bloomery_shown(path);
  bloomery_refuse(BLOOMERY_DENIED, "%s: open_basedir does not allow it; it allows %s", shown, PG(open_basedir));
  efree(shown);
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
#ifdef VIRTUAL_DIR
      if (allowed && *path && *path != '/') {
        bloomery_refuse_text(BLOOMERY_INVALID_ARGUMENT,
                             "%s: threads have their own working directories; give an absolute path", path);
        allowed = false;
      }
#endif
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

zend_string *bloomery_take_location(zend_string *location) {
  if (!bloomery_may_open(location)) return NULL;
#ifdef VIRTUAL_DIR
  if (ZSTR_VAL(location)[0] != '/' && !bloomery_is_address(location)) {
    char folder[MAXPATHLEN];
    if (VCWD_GETCWD(folder, sizeof folder))
      return zend_string_concat3(folder, strlen(folder), "/", 1, ZSTR_VAL(location), ZSTR_LEN(location));
    bloomery_refuse_text(BLOOMERY_MISSING, "%s: there is no working directory; give an absolute path",
                         ZSTR_VAL(location));
    return NULL;
  }
#endif
  return zend_string_copy(location);
}

static bloomery_filter *opened_as_requested(const char *location, uint32_t access, const bloomery_request *request,
                                            bloomery_error *error) {
  bloomery_filter *filter = bloomery_open(location, access, &request->options, error);
  if (!filter || bloomery_require_match(filter, &request->spec, &request->options, error) == 0) return filter;
  bloomery_free(filter);
  return NULL;
}

/* The filter at a location in one of open()'s modes, or for mode 0 the one that replaces it. */
static bloomery_filter *opened(const zend_string *location, char mode, bloomery_request *request,
                               bloomery_error *error) {
  const char *place = ZSTR_VAL(location);
  switch (mode) {
    case 0:
      return bloomery_rebuild(place, &request->spec, &request->options, error);
    case 'r':
      return opened_as_requested(place, BLOOMERY_READ, request, error);
    case 'w':
      return opened_as_requested(place, BLOOMERY_WRITE, request, error);
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
    bloomery_refuse_text(BLOOMERY_INVALID_ARGUMENT, "mode is one of r, w, a, x and n, and not '%s'", ZSTR_VAL(mode));
    RETURN_THROWS();
  }
  const char how = rebuilds ? 0 : mode ? *ZSTR_VAL(mode) : 'r';
  bloomery_request request;
  bloomery_ask(&request);
  if (!bloomery_take_sizes(&request, no_capacity ? NULL : &capacity, no_fpr ? NULL : &fpr) ||
      (options && !bloomery_take_options(&request, options, true)))
    RETURN_THROWS();
  zend_class_entry *called = zend_get_called_scope(execute_data);
  if (how != 'r' && how != 'w' && !bloomery_take_class(&request, called, location)) RETURN_THROWS();
  zend_string *place = bloomery_take_location(location);
  if (!place) RETURN_THROWS();
  bloomery_error error;
  bloomery_filter *filter = opened(place, how, &request, &error);
  zend_string_release(place);
  if (!filter) return bloomery_throw(&error);
  bloomery_wrap(return_value, filter, NULL, called, request.clock);
}

ZEND_METHOD(Bloomery_Filter, open) {
  open_or_rebuild(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_METHOD(Bloomery_Filter, rebuild) {
  open_or_rebuild(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}
