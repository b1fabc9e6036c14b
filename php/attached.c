/* Filters that stay in the process: the first request that asks for one opens it, and later requests use it. A file is
 * looked at again in a later second. A filter on a server is opened again then: so nobody has to know whether it is still
 * the one at the address, and no connection is used that has idled. Each thread of a ZTS build has its own filters, and
 * closes them when it ends. */
#include "php_bloomery.h"

#include <main/fopen_wrappers.h>
#include <sys/stat.h>
#include <unistd.h>

/* The key is "r" or "w" and the address, or the absolute path as it was requested: a link may lead to another file
 * later. */
ZEND_BEGIN_MODULE_GLOBALS(bloomery)
  HashTable attached;
ZEND_END_MODULE_GLOBALS(bloomery)
ZEND_DECLARE_MODULE_GLOBALS(bloomery)
#define ATTACHED (ZEND_MODULE_GLOBALS_ACCESSOR(bloomery, attached))

struct known_file {
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec modified;
  bool is_old; /* a change after this look has another time */
};

typedef struct {
  bloomery_attached shared; /* what objects see of it */
  bool on_server;
  struct known_file file; /* as it was at the last look */
  struct timespec looked;
  pid_t process; /* a child process may not use its parent's writer or connection */
} Entry;

static void free_entry(zval *value) { bloomery_let_go(Z_PTR_P(value)); }

static void make_globals(zend_bloomery_globals *globals) {
#ifdef ZTS
  ZEND_TSRMLS_CACHE_UPDATE();
#endif
  zend_hash_init(&globals->attached, 8, NULL, free_entry, true);
}

static void free_globals(zend_bloomery_globals *globals) { zend_hash_destroy(&globals->attached); }

PHP_MINIT_FUNCTION(bloomery_attached) {
  ZEND_INIT_MODULE_GLOBALS(bloomery, make_globals, free_globals);
  return SUCCESS;
}

PHP_MSHUTDOWN_FUNCTION(bloomery_attached) {
#ifdef ZTS
  ts_free_id(bloomery_globals_id);
#else
  free_globals(&bloomery_globals);
#endif
  return SUCCESS;
}

uint32_t bloomery_count_attached(void) { return zend_hash_num_elements(&ATTACHED); }

/* False: the file does not exist, or its state cannot be read. Times of files may be whole seconds, or every second
 * one, so two changes can have the same time. */
static bool look(const char *path, struct known_file *file) {
  const time_t now = time(NULL);
  struct stat found;
  if (stat(path, &found) != 0) return false;
  memset(file, 0, sizeof *file);
  file->device = found.st_dev;
  file->inode = found.st_ino;
  file->size = found.st_size;
  file->modified = found.st_mtim;
  file->is_old = found.st_mtim.tv_sec < now - 1;
  return true;
}

static bool is_same(const struct known_file *one, const struct known_file *other) {
  return one->device == other->device && one->inode == other->inode;
}

static bool is_unchanged(const struct known_file *before, const struct known_file *now) {
  return before->is_old && is_same(before, now) && before->size == now->size &&
         before->modified.tv_sec == now->modified.tv_sec && before->modified.tv_nsec == now->modified.tv_nsec;
}

static bool is_a_second_ago(const struct timespec *then, const struct timespec *now) {
  const time_t seconds = now->tv_sec - then->tv_sec;
  return seconds > 1 || (seconds == 1 && now->tv_nsec >= then->tv_nsec);
}

/* Whether the filter is that of the present file; a reader is reloaded if it is not. */
static bool is_current(Entry *entry, const char *path, bool writes) {
  struct known_file file;
  if (!look(path, &file)) return false;
  if (writes ? is_same(&entry->file, &file) : is_unchanged(&entry->file, &file)) return true;
  if (writes || bloomery_reload(entry->shared.filter, NULL) < 0) return false;
  entry->file = file;
  return bloomery_nature_of(entry->shared.filter, &entry->shared.nature);
}

/* The entry of the attached filter, if that is current; NULL: it has to be opened. */
static Entry *find(const zend_string *name, bool writes, const struct timespec *now) {
  Entry *entry = zend_hash_find_ptr(&ATTACHED, (zend_string *)name);
  if (!entry) return NULL;
  if ((!writes && !entry->on_server) || entry->process == getpid()) {
    if (!is_a_second_ago(&entry->looked, now)) return entry;
    entry->looked = *now;
    if (!entry->on_server && is_current(entry, ZSTR_VAL(name) + 1, writes)) return entry;
  }
  /* Objects that have it keep the old filter; opening the present one reports what is wrong with it. */
  zend_hash_del(&ATTACHED, (zend_string *)name);
  return NULL;
}

/* A filter on a server that is opened again when it is next asked for: a connection that nobody uses is closed. */
static int is_idle(zval *value, void *now) {
  const Entry *entry = Z_PTR_P(value);
  return entry->on_server && is_a_second_ago(&entry->looked, now) ? ZEND_HASH_APPLY_REMOVE : ZEND_HASH_APPLY_KEEP;
}

static Entry *open_entry(const zend_string *name, bool on_server, bool writes, const struct timespec *now,
                         bloomery_request *request, bloomery_error *error) {
  const char *location = ZSTR_VAL(name) + 1;
  struct known_file file = {0};
  if (on_server)
    zend_hash_apply_with_argument(&ATTACHED, is_idle, (void *)now);
  else
    look(location, &file);
  bloomery_filter *filter = writes ? bloomery_open_or_create(location, &request->spec, &request->options, error)
                                   : bloomery_open(location, BLOOMERY_READ, NULL, error);
  bloomery_nature nature;
  if (!filter) return NULL;
  if (!bloomery_nature_of(filter, &nature)) {
    bloomery_free(filter);
    return NULL;
  }
  if (file.inode == 0 && !on_server) look(location, &file);
  Entry *entry = pecalloc(1, sizeof *entry, true);
  entry->shared.filter = filter;
  entry->shared.nature = nature;
  entry->shared.users = 1;
  entry->on_server = on_server;
  entry->file = file;
  entry->looked = *now;
  entry->process = getpid();
  zend_hash_str_add_ptr(&ATTACHED, ZSTR_VAL(name), ZSTR_LEN(name), entry);
  return entry;
}

/* The numbers of each request are compared, so that no answer depends on which page a worker served first. Only the
 * present filter refuses them: one that was replaced within this second is let go. */
static bloomery_attached *attach(const zend_string *name, bool on_server, bool writes, bloomery_request *request,
                                 bloomery_error *error) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  Entry *entry = find(name, writes, &now);
  if (entry && bloomery_require_match(entry->shared.filter, &request->spec, NULL, NULL) == 0) return &entry->shared;
  if (entry) zend_hash_del(&ATTACHED, (zend_string *)name);
  entry = open_entry(name, on_server, writes, &now, request, error);
  const bool fits = entry && bloomery_require_match(entry->shared.filter, &request->spec, NULL, error) == 0;
  return fits ? &entry->shared : NULL;
}

ZEND_METHOD(Bloomery_Filter, attach) {
  zend_string *location;
  bool writes = false, no_capacity = true, no_fpr = true;
  zend_long capacity = 0;
  double fpr = 0;
  ZEND_PARSE_PARAMETERS_START(1, 4)
    Z_PARAM_STR(location)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(writes)
    Z_PARAM_LONG_OR_NULL(capacity, no_capacity)
    Z_PARAM_DOUBLE_OR_NULL(fpr, no_fpr)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_request request;
  bloomery_ask(&request);
  const bool on_server = bloomery_is_address(location);
  if (!on_server) request.options.flags = BLOOMERY_SHARED;
  if (!bloomery_take_sizes(&request, no_capacity ? NULL : &capacity, no_fpr ? NULL : &fpr)) RETURN_THROWS();
  zend_class_entry *called = zend_get_called_scope(execute_data);
  if (writes && !bloomery_take_class(&request, called, location)) RETURN_THROWS();
  if (writes && !on_server && request.spec.kind > BLOOMERY_PLAIN) { /* attach() has no numbers for them */
    bloomery_refuse(BLOOMERY_WRONG_KIND, "writers share plain filters, and %s makes none; open it", ZSTR_VAL(called->name));
    RETURN_THROWS();
  }
  zend_string *place = bloomery_take_location(location);
  if (!place) RETURN_THROWS();
  /* Links are not followed here: they may lead elsewhere later. */
  const char *text = ZSTR_VAL(place);
  const bool is_plain = on_server || (text[0] == '/' && !strstr(text, "/.") && !strstr(text, "//"));
  char *expanded = is_plain ? NULL : expand_filepath_with_mode(text, NULL, NULL, 0, CWD_EXPAND);
  const char *absolute = expanded ? expanded : text;
  zend_string *name = zend_string_concat2(writes ? "w" : "r", 1, absolute, strlen(absolute));
  if (expanded) efree(expanded);
  zend_string_release(place);
  bloomery_error error;
  bloomery_attached *attached = attach(name, on_server, writes, &request, &error);
  zend_string_release(name);
  if (!attached) {
    if (!EG(exception)) bloomery_throw(&error);
    return;
  }
  bloomery_wrap(return_value, attached->filter, attached, called, true);
}
