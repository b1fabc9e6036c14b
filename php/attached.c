/* Filters that stay in the process: opened by the first request that asks for them, and there for the next ones. */
#include "php_bloomery.h"

#include <main/fopen_wrappers.h>
#include <sys/stat.h>

/* By absolute paths as they were asked for: a link may lead to another file later. */
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
};

typedef struct {
  bloomery_attached shared; /* what objects see of it */
  struct known_file file;   /* at the last look */
  struct timespec looked;
} Entry;

static void free_entry(zval *value) { bloomery_let_go(Z_PTR_P(value)); }

static void make_globals(zend_bloomery_globals *globals) {
#if defined(ZTS) && defined(COMPILE_DL_BLOOMERY)
  ZEND_TSRMLS_CACHE_UPDATE();
#endif
  zend_hash_init(&globals->attached, 8, NULL, free_entry, true);
}

static void free_globals(zend_bloomery_globals *globals) { zend_hash_destroy(&globals->attached); }

PHP_MINIT_FUNCTION(bloomery_attached) {
  ZEND_INIT_MODULE_GLOBALS(bloomery, make_globals, NULL);
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

void bloomery_let_go(bloomery_attached *attached) {
  if (--attached->users != 0) return;
  bloomery_free(attached->filter);
  pefree(attached, true);
}

uint32_t bloomery_count_attached(void) { return zend_hash_num_elements(&ATTACHED); }

/* False: there is nothing, or it cannot be seen. */
static bool look(const zend_string *path, struct known_file *file) {
  struct stat found;
  if (stat(ZSTR_VAL(path), &found) != 0) return false;
  memset(file, 0, sizeof *file);
  file->device = found.st_dev;
  file->inode = found.st_ino;
  file->size = found.st_size;
  file->modified = found.st_mtim;
  return true;
}

static bool is_same(const struct known_file *one, const struct known_file *other) {
  return one->device == other->device && one->inode == other->inode && one->size == other->size &&
         one->modified.tv_sec == other->modified.tv_sec && one->modified.tv_nsec == other->modified.tv_nsec;
}

static bool is_a_second_ago(const struct timespec *then, const struct timespec *now) {
  const time_t seconds = now->tv_sec - then->tv_sec;
  return seconds > 1 || (seconds == 1 && now->tv_nsec >= then->tv_nsec);
}

/* The filter that is there, as it is now; NULL: it has to be opened. */
static bloomery_attached *find(zend_string *path, const struct timespec *now, bloomery_error *error) {
  Entry *entry = zend_hash_find_ptr(&ATTACHED, path);
  if (!entry || !is_a_second_ago(&entry->looked, now)) return entry ? &entry->shared : NULL;
  struct known_file file;
  if (look(path, &file)) {
    entry->looked = *now;
    if (is_same(&entry->file, &file)) return &entry->shared;
    if (bloomery_reload(entry->shared.filter, error) >= 0) {
      entry->file = file;
      return &entry->shared;
    }
  }
  /* Objects that have it go on with what it was; opening what is there says what is wrong with it. */
  zend_hash_del(&ATTACHED, path);
  return NULL;
}

static bloomery_attached *attach(zend_string *path, bloomery_error *error) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  bloomery_attached *there = find(path, &now, error);
  if (there) return there;
  struct known_file file = {0};
  look(path, &file);
  bloomery_filter *filter = bloomery_open(ZSTR_VAL(path), BLOOMERY_READ, NULL, error);
  if (!filter) return NULL;
  Entry *entry = pecalloc(1, sizeof *entry, true);
  entry->shared.filter = filter;
  entry->shared.users = 1;
  entry->file = file;
  entry->looked = now;
  zend_hash_str_add_ptr(&ATTACHED, ZSTR_VAL(path), ZSTR_LEN(path), entry);
  return &entry->shared;
}

ZEND_METHOD(Bloomery_Filter, attach) {
  zend_string *path;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(path)
  ZEND_PARSE_PARAMETERS_END();
  if (!bloomery_may_open(path)) RETURN_THROWS();
  if (bloomery_is_address(path)) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "only a file is attached, and not an address; open it");
    RETURN_THROWS();
  }
  char *expanded = expand_filepath(ZSTR_VAL(path), NULL);
  zend_string *absolute = expanded ? zend_string_init(expanded, strlen(expanded), false) : zend_string_copy(path);
  if (expanded) efree(expanded);
  bloomery_error error;
  bloomery_attached *attached = attach(absolute, &error);
  zend_string_release(absolute);
  if (!attached) return bloomery_throw(&error);
  bloomery_wrap(return_value, attached->filter, attached, zend_get_called_scope(execute_data), true);
}
