/* What the files of the extension share. */
#ifndef PHP_BLOOMERY_H
#define PHP_BLOOMERY_H

#include <php.h>

#include <bloomery.h>
#include <time.h>

extern zend_module_entry bloomery_module_entry;
#define phpext_bloomery_ptr &bloomery_module_entry

/* ---- classes and exceptions (errors.c) -------------------------------------------------------------------- */

extern zend_class_entry *bloomery_exception, *bloomery_plain, *bloomery_counting, *bloomery_scalable,
    *bloomery_window;

void bloomery_throw(const bloomery_error *error);
ZEND_COLD void bloomery_refuse(int code, const char *format, ...) ZEND_ATTRIBUTE_FORMAT(printf, 2, 3);
/* The text of a user for a message: an address in a wrong place has no password there. The caller frees it. */
char *bloomery_shown(const char *text);
/* bloomery_refuse() with a format that has one %s, for such a text. */
ZEND_COLD void bloomery_refuse_text(int code, const char *format, const char *text);

/* ---- keys (keys.c, legacy.c) ------------------------------------------------------------------------------- */

/* For a parameter string|int: PHP's own macro makes integers of the other types (of 1.5 the key "1", of false "0"); here
 * they become what a cast to a string makes of them. text is NULL for an integer. */
#define BLOOMERY_PARAM_KEY(text, integer)                               \
  Z_PARAM_PROLOGUE(0, 0);                                               \
  integer = 0;                                                          \
  if (Z_TYPE_P(_arg) == IS_LONG) {                                      \
    text = NULL;                                                        \
    integer = Z_LVAL_P(_arg);                                           \
  } else if (UNEXPECTED(!zend_parse_arg_str(_arg, &text, false, _i))) { \
    _expected_type = Z_EXPECTED_STRING_OR_LONG;                         \
    _error_code = ZPP_ERROR_WRONG_ARG;                                  \
    break;                                                              \
  }

/* ---- filters (filter.c) ------------------------------------------------------------------------------------ */

typedef struct bloomery_attached bloomery_attached;

typedef struct {
  bloomery_filter *filter;     /* NULL: the constructor has not been called */
  bloomery_attached *attached; /* the owner of the filter, if it is not this object */
  bool timed;                  /* it forgets by time, which calls pass to it each second */
  time_t told;
  zend_object std;
} bloomery_object;

static inline bloomery_object *bloomery_of(zend_object *object) {
  return (bloomery_object *)((char *)object - XtOffsetOf(bloomery_object, std));
}

PHP_MINIT_FUNCTION(bloomery_filters);
zend_object *bloomery_create_object(zend_class_entry *type);
/* For an object without a filter or with one that needs the time: whether it is ready; if not, an exception. */
bool bloomery_make_ready(bloomery_object *self);
/* The object of a filter that is ready, or NULL and an exception. */
static zend_always_inline bloomery_object *bloomery_ready(zval *zelf) {
  bloomery_object *self = bloomery_of(Z_OBJ_P(zelf));
  return EXPECTED(self->filter && !self->timed) || bloomery_make_ready(self) ? self : NULL;
}
/* What an object has to know about its filter. */
typedef struct {
  uint32_t kind;
  bool by_seconds; /* it forgets by time */
} bloomery_nature;
/* False and an exception. */
bool bloomery_nature_of(bloomery_filter *filter, bloomery_nature *nature);

/* A filter that stays in the process. The last user who lets it go frees it. */
struct bloomery_attached {
  bloomery_filter *filter;
  bloomery_nature nature;
  uint32_t users; /* objects, and one for the table */
};
void bloomery_let_go(bloomery_attached *attached);

/* The class of a kind, and the class of a kind that a given class is or derives from. */
zend_class_entry *bloomery_class_of(uint32_t kind);
zend_class_entry *bloomery_base_of(const zend_class_entry *type);

/* Makes an object for a filter: of the class of its kind, or of `called` if that derives from it. Takes the filter,
 * unless it is attached. An exception if `called` is the class of another kind. */
void bloomery_wrap(zval *out, bloomery_filter *filter, bloomery_attached *attached, zend_class_entry *called,
                   bool clock);

/* ---- measures (measures.c) ---------------------------------------------------------------------------------- */

/* False and an exception. */
bool bloomery_read_stats(bloomery_filter *filter, bool exact, bloomery_stats *stats);

/* ---- what is asked for (options.c) --------------------------------------------------------------------------- */

typedef struct {
  bloomery_spec spec;
  bloomery_options options;
  bool clock;
} bloomery_request;

/* Words by the numbers of bloomery.h, from 1 on; NULL ends them. */
extern const char *const bloomery_kinds[];
extern const char *const bloomery_layouts[];
extern const char *const bloomery_units[];
/* Empty: the number has none. */
const char *bloomery_word(const char *const *words, uint32_t number);

/* Starts a request. */
void bloomery_ask(bloomery_request *request);
/* Adds the options of an array; those of a place only if `at_a_place`. False and an exception. */
bool bloomery_take_options(bloomery_request *request, const HashTable *options, bool at_a_place);
/* Adds a number; false and an exception if it is less than 1. */
bool bloomery_take_count(uint64_t *to, const char *name, zend_long value);
/* Adds the capacity and the false-positive rate; NULL: not given. */
bool bloomery_take_sizes(bloomery_request *request, const zend_long *capacity, const double *fpr);

/* ---- making (making.c) ---------------------------------------------------------------------------------------- */

/* Whether a text is an address, and not the path of a file. */
bool bloomery_is_address(const zend_string *location);
/* False and an exception: no path, or open_basedir forbids it. */
bool bloomery_may_open(const zend_string *location);
/* A location that may be opened, as the library takes it; the caller releases it. NULL and an exception. The library
 * knows one working directory, and a ZTS build has one in each thread: there a path becomes absolute. */
zend_string *bloomery_take_location(zend_string *location);
/* Gives a new filter the kind of the class that open(), attach() or plan() was called of. location: NULL for a filter in
 * memory. False and an exception: its objects have no filter of the kind that was asked for; then nothing may be made or
 * replaced. */
bool bloomery_take_class(bloomery_request *request, const zend_class_entry *called, const zend_string *location);

/* ---- filters that stay (attached.c) ------------------------------------------------------------------------------ */

uint32_t bloomery_count_attached(void);

PHP_MINIT_FUNCTION(bloomery_attached);
PHP_MSHUTDOWN_FUNCTION(bloomery_attached);

/* ---- the classes of the blog posts (legacy.c) ------------------------------------------------------------ */

extern zend_class_entry *bloomery_legacy_redis;
PHP_MINIT_FUNCTION(bloomery_legacy);
zend_object *bloomery_create_legacy(zend_class_entry *type);

/* The address of a bucket (bucket_address.c). config: NULL, an array, an object of phpredis, or the address of a server.
 * NULL and an exception. */
zend_string *bloomery_bucket_address(zval *config, zend_string *bucket);

#endif
