/* A handle of the C interface as a Python object: the parts of the extension module bloomery._bloomery.
 *
 * Written for the limited API of Python 3.11, so that one binary serves all later versions. The classes that users see
 * are derived from Filter in __init__.py.
 *
 * Threads. A call that may take long releases the GIL, and then holds a lock of its filter: shared for look-ups in
 * memory and in files, exclusive for changes and for all calls to a server, whose connection has one conversation at a
 * time. `readers` and `writers` count such calls, under the GIL; while there are none, short calls need no lock, because
 * they keep the GIL.
 */
#ifndef BLOOMERY_PYTHON_FILTER_H
#define BLOOMERY_PYTHON_FILTER_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <bloomery.h>

#include <pthread.h>
#include <time.h>

/* Python stores functions in pointers to void, which ISO C does not allow. */
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC visibility push(hidden)

typedef struct {
  PyObject_HEAD
  bloomery_filter *filter; /* NULL: it was given up */
  pthread_mutex_t door; /* who waits for the lock holds it, so that look-ups that overlap always let a change in */
  pthread_rwlock_t lock;
  Py_ssize_t readers, writers;
  char is_fast; /* a call with one key takes no longer than releasing the GIL */
  char is_alone; /* a call that only reads takes turns too: the filter is on a server */
  char is_rebuilt; /* close() puts it in the place of another filter; until then it can be dropped */
  char is_timed; /* it forgets by time, which calls pass to it each second */
  time_t told;
  char *folder; /* NULL, or where a relative path began when it was opened */
  unsigned forks; /* the value of `forks` when the lock was made */
} Filter;

extern PyTypeObject *filter_type;
extern PyObject *error_type; /* bloomery.Error */
extern unsigned forks;       /* how often this process and its ancestors have been forked */

/* Raises the exception of an error, and returns NULL. */
PyObject *raise_error(const bloomery_error *error);

/* The same for an error of a call of the filter, which another thread may have given up while the call waited. */
PyObject *raise_error_of(Filter *self, const bloomery_error *error);

void make_lock(Filter *self);

typedef struct {
  Filter *self;
  PyThreadState *thread;
  int writes;
} Held;

/* Releases the GIL and takes the filter's lock. */
Held hold(Filter *self, int writes);
void release(Held held);

/* What a fork or drop has left of a filter: 1, or 0 with an exception. */
int is_whole_after_all(Filter *self);
/* What the filter was made from. 0: an exception. */
int read_spec(Filter *self, bloomery_spec *spec);
/* Every call begins with it. */
static inline int is_whole(Filter *self) { return (self->filter && self->forks == forks) || is_whole_after_all(self); }

static inline int is_free(const Filter *self, int writes) {
  return self->writers == 0 && (!writes || self->readers == 0);
}

/* The time, if the filter needs it; 0: it does not. Setting the time is a change. */
static inline time_t time_to_tell(const Filter *self) {
  if (!self->is_timed) return 0;
  const time_t now = time(NULL);
  return now == self->told ? 0 : now;
}

/* Returns 0 or a negative number. */
static inline int tell(Filter *self, time_t now, bloomery_error *error) {
  if (now == 0) return 0;
  const int advanced = bloomery_advance(self->filter, now < 0 ? 0 : (uint64_t)now, error);
  if (advanced == 0) self->told = now;
  return advanced;
}

/* Methods of the type and functions of the module; their documentation is in module.c. */
#define METHOD(name) PyObject *filter_##name(PyObject *self, PyObject *argument)
METHOD(add);
METHOD(remove);
METHOD(clear);
METHOD(sync);
METHOD(close);
METHOD(drop);
METHOD(reload);
METHOD(advance);
METHOD(by_clock);
METHOD(encode);
METHOD(save);
METHOD(stats);
METHOD(merge);
METHOD(intersect);
METHOD(copy);
#undef METHOD
int filter_contains(PyObject *self, PyObject *key);
PyObject *filter_insert_many(PyObject *self, PyObject *args, PyObject *names);
PyObject *filter_contains_many(PyObject *self, PyObject *args, PyObject *names);
PyObject *filter_remove_many(PyObject *self, PyObject *args, PyObject *names);
PyObject *filter_name(PyObject *self, void *closure);
PyObject *filter_folder(PyObject *self, void *closure);
PyObject *filter_is_timed(PyObject *self, void *closure);
PyObject *filter_is_rebuilt(PyObject *self, void *closure);
void filter_free(PyObject *object);
/* The class of PHP whose bits they are: its words in the options, as a tuple. */
#define SCHEME_FORMAT "zKK"
#define SCHEME_FIELDS(options) &(options).php_hashes, &(options).php_bits, &(options).php_items

PyObject *make(PyObject *module, PyObject *args);
PyObject *shown(PyObject *module, PyObject *value);
PyObject *rotate(PyObject *module, PyObject *args);
PyObject *convert(PyObject *module, PyObject *args);
PyObject *merge_locations(PyObject *module, PyObject *args);
PyObject *verify(PyObject *module, PyObject *args);
PyObject *decode(PyObject *module, PyObject *args);
PyObject *solve(PyObject *module, PyObject *args);
PyObject *predict(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
