/* The extension module bloomery._bloomery: a handle of the C interface as a Python object.
 *
 * Written for the limited API of Python 3.11, so that one binary serves all later versions. The classes that users see
 * are derived from Filter in __init__.py.
 *
 * Threads. A call that may take long releases the GIL, and then holds a lock of its filter: shared for look-ups in
 * memory and in files, exclusive for changes and for all calls to a server, whose connection has one conversation at a
 * time. `readers` and `writers` count such calls, under the GIL; while there are none, short calls need no lock, because
 * they keep the GIL.
 */
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <bloomery.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Python stores functions in pointers to void, which ISO C does not allow. */
#pragma GCC diagnostic ignored "-Wpedantic"

/* How many keys of an iterable are taken at a time: as many as the cache holds; more if each call is a commit or a
 * round trip. */
enum { PART = 4096, LARGE_PART = 262144 };

typedef struct {
  PyObject_HEAD
  bloomery_filter *filter;
  pthread_rwlock_t lock;
  Py_ssize_t readers, writers;
  char is_fast; /* a call with one key takes no longer than releasing the GIL */
  char is_alone; /* a call that only reads takes turns too: the filter is on a server */
  char is_timed; /* it forgets by time, which calls pass to it each second */
  time_t told;
  unsigned forks; /* the value of `forks` when the lock was made */
} Filter;

typedef enum { INSERT, CONTAINS, REMOVE } Operation;

static PyObject *error_type; /* bloomery.Error */
static unsigned forks;       /* how often this process and its ancestors have been forked */

/* ---- errors -------------------------------------------------------------------------------------------- */

static PyObject *raise_error(const bloomery_error *error) {
  if (error->code == BLOOMERY_NO_MEMORY) {
    PyErr_SetString(PyExc_MemoryError, error->text);
    return NULL;
  }
  PyObject *text = PyUnicode_DecodeUTF8(error->text, (Py_ssize_t)strlen(error->text), "replace");
  PyObject *raised = text ? PyObject_CallFunctionObjArgs(error_type, text, NULL) : NULL;
  Py_XDECREF(text);
  PyObject *code = PyUnicode_FromString(bloomery_error_name(error->code));
  if (raised && code && PyObject_SetAttrString(raised, "code", code) == 0)
    PyErr_SetObject(error_type, raised);
  Py_XDECREF(raised);
  Py_XDECREF(code);
  return NULL;
}

/* ---- the lock -------------------------------------------------------------------------------------------- */

typedef struct {
  Filter *self;
  PyThreadState *thread;
  int writes;
} Held;

/* Releases the GIL and takes the filter's lock. */
static Held hold(Filter *self, int writes) {
  writes |= self->is_alone;
  ++*(writes ? &self->writers : &self->readers);
  Held held = {self, PyEval_SaveThread(), writes};
  if (writes)
    pthread_rwlock_wrlock(&self->lock);
  else
    pthread_rwlock_rdlock(&self->lock);
  return held;
}

static void release(Held held) {
  pthread_rwlock_unlock(&held.self->lock);
  PyEval_RestoreThread(held.thread);
  --*(held.writes ? &held.self->writers : &held.self->readers);
}

/* 1, or 0 with an exception. In a child process no thread holds the locks that other threads held in the parent; a
 * filter that one of them was changing stays in the state of that moment. */
static int is_whole(Filter *self) {
  if (self->forks == forks) return 1;
  if (self->writers != 0) {
    const bloomery_error error = {BLOOMERY_INHERITED,
                                  "this process was forked while another thread changed the filter; make a new one"};
    raise_error(&error);
    return 0;
  }
  pthread_rwlock_init(&self->lock, NULL);
  self->readers = 0;
  self->forks = forks;
  return 1;
}

static int is_free(const Filter *self, int writes) {
  return self->writers == 0 && (!writes || self->readers == 0);
}

/* The time, if the filter needs it; 0: it does not. Setting the time is a change. */
static time_t time_to_tell(const Filter *self) {
  if (!self->is_timed) return 0;
  const time_t now = time(NULL);
  return now == self->told ? 0 : now;
}

/* Returns 0 or a negative number. */
static int tell(Filter *self, time_t now, bloomery_error *error) {
  if (now == 0) return 0;
  self->told = now;
  return bloomery_advance(self->filter, (uint64_t)now, error);
}

/* ---- one key --------------------------------------------------------------------------------------------- */

typedef struct {
  const void *bytes; /* NULL: an integer */
  size_t size;
  uint64_t integer;
  Py_buffer view; /* of another object with bytes; view.obj is NULL otherwise */
} Key;

static int integer_key(PyObject *object, Key *key) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (value == -1 && PyErr_Occurred()) return -1;
  key->integer = (uint64_t)value;
  if (overflow > 0) {
    key->integer = PyLong_AsUnsignedLongLong(object);
    if (key->integer == (uint64_t)-1 && PyErr_Occurred()) {
      PyErr_Clear();
    } else {
      overflow = 0;
    }
  }
  if (overflow == 0) return 0;
  PyErr_SetString(PyExc_TypeError, "an integer key has 64 bits; write larger ones as text or bytes");
  return -1;
}

/* A date or a duration of numpy is a buffer of the bytes of its count of units, and equal ones may have other units. */
static int is_time_of_numpy(PyObject *object) {
  if (PyObject_Size(object) >= 0) return 0;
  PyErr_Clear();
  PyObject *type = PyObject_GetAttrString(object, "dtype");
  if (!type) PyErr_Clear();
  Py_XDECREF(type);
  return type != NULL;
}

/* Points into the object, which must outlive the key. */
static int key_of(PyObject *object, Key *key) {
  key->bytes = NULL;
  key->view.obj = NULL;
  if (PyUnicode_Check(object)) {
    Py_ssize_t size;
    key->bytes = PyUnicode_AsUTF8AndSize(object, &size);
    key->size = (size_t)size;
    return key->bytes ? 0 : -1;
  }
  if (PyBytes_Check(object)) {
    key->bytes = PyBytes_AsString(object);
    key->size = (size_t)PyBytes_Size(object);
    return 0;
  }
  if (PyLong_Check(object) && !PyBool_Check(object)) return integer_key(object, key);
  int is_scalar = !PyBool_Check(object); /* a number of numpy is a buffer too, without a dimension */
  if (PyObject_CheckBuffer(object)) {
    if (PyObject_GetBuffer(object, &key->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) return -1;
    if (key->view.ndim == 1 && key->view.itemsize == 1 && !is_time_of_numpy(object)) {
      key->bytes = key->view.buf ? key->view.buf : "";
      key->size = (size_t)key->view.len;
      return 0;
    }
    is_scalar = key->view.ndim == 0 && !(key->view.format && *key->view.format == '?');
    PyBuffer_Release(&key->view);
    key->view.obj = NULL;
  }
  if (is_scalar && PyIndex_Check(object)) {
    PyObject *integer = PyNumber_Index(object);
    const int done = integer ? integer_key(integer, key) : -1;
    Py_XDECREF(integer);
    return done;
  }
  PyErr_Format(PyExc_TypeError, "a key is str, bytes or int, and not %R", (PyObject *)Py_TYPE(object));
  return -1;
}

static void drop(Key *key) {
  if (key->view.obj) PyBuffer_Release(&key->view);
}

static int apply_key(bloomery_filter *filter, Operation operation, const Key *key, bloomery_error *error) {
  if (key->bytes)
    return operation == INSERT     ? bloomery_insert(filter, key->bytes, key->size, error)
           : operation == CONTAINS ? bloomery_contains(filter, key->bytes, key->size, error)
                                   : bloomery_remove(filter, key->bytes, key->size, error);
  return operation == INSERT     ? bloomery_insert_u64(filter, key->integer, error)
         : operation == CONTAINS ? bloomery_contains_u64(filter, key->integer, error)
                                 : bloomery_remove_u64(filter, key->integer, error);
}

/* 1, 0, or -1 with an exception. */
static int with_key(Filter *self, Operation operation, PyObject *object) {
  Key key;
  if (!is_whole(self) || key_of(object, &key) != 0) return -1;
  bloomery_error error;
  const time_t now = time_to_tell(self);
  const int writes = operation != CONTAINS || now != 0;
  int answer;
  if (self->is_fast && is_free(self, writes)) {
    answer = tell(self, now, &error);
    if (answer == 0) answer = apply_key(self->filter, operation, &key, &error);
  } else {
    const Held held = hold(self, writes);
    answer = tell(self, now, &error);
    if (answer == 0) answer = apply_key(self->filter, operation, &key, &error);
    release(held);
  }
  drop(&key);
  if (answer < 0) {
    raise_error(&error);
    return -1;
  }
  return answer;
}

static PyObject *filter_add(PyObject *self, PyObject *key) {
  const int fresh = with_key((Filter *)self, INSERT, key);
  return fresh < 0 ? NULL : PyBool_FromLong(fresh);
}

static PyObject *filter_remove(PyObject *self, PyObject *key) {
  const int removed = with_key((Filter *)self, REMOVE, key);
  return removed < 0 ? NULL : PyBool_FromLong(removed);
}

static int filter_contains(PyObject *self, PyObject *key) { return with_key((Filter *)self, CONTAINS, key); }

/* ---- many keys ------------------------------------------------------------------------------------------- */

/* The destination of answers: a writable buffer of one byte per key, or nothing. */
typedef struct {
  Py_buffer view;
  bool *next; /* NULL: none are wanted */
  size_t left;
} Answers;

static int answers_to(PyObject *out, Answers *answers) {
  answers->view.obj = NULL;
  answers->next = NULL;
  answers->left = 0;
  if (out == NULL || out == Py_None) return 0;
  if (PyObject_GetBuffer(out, &answers->view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0) return -1;
  if (answers->view.itemsize != 1) {
    PyBuffer_Release(&answers->view);
    PyErr_SetString(PyExc_TypeError, "out is a writable buffer of booleans, as numpy.empty(n, bool) or bytearray(n)");
    return -1;
  }
  answers->next = answers->view.buf;
  answers->left = (size_t)answers->view.len;
  return 0;
}

/* Gets room for the answers to so many keys; 0 with an exception if there is less. */
static int room_for(Answers *answers, size_t count, bool **room) {
  *room = answers->next;
  if (answers->view.obj == NULL) return 1;
  if (answers->left < count) {
    PyErr_SetString(PyExc_ValueError, "out has less room than there are keys; make it as long as they are");
    return 0;
  }
  answers->next += count;
  answers->left -= count;
  return 1;
}

/* Keys in the form of the C interface; only the fields that their kind needs are set. */
typedef struct {
  enum { POINTERS, OFFSETS32, OFFSETS64, FIXED, INTEGERS } kind;
  const void *bytes;
  const void *const *pointers;
  const size_t *sizes;
  const void *offsets;
  size_t width;
  size_t count;
} Keys;

#define CALL(name, keys, answers, error)                                                                         \
  switch ((keys)->kind) {                                                                                        \
    case POINTERS:                                                                                               \
      return bloomery_##name##_many(filter, (keys)->pointers, (keys)->sizes, (keys)->count, answers, error);     \
    case OFFSETS32:                                                                                              \
      return bloomery_##name##_offsets32(filter, (keys)->bytes, (keys)->offsets, (keys)->count, answers, error); \
    case OFFSETS64:                                                                                              \
      return bloomery_##name##_offsets64(filter, (keys)->bytes, (keys)->offsets, (keys)->count, answers, error); \
    case FIXED:                                                                                                  \
      return bloomery_##name##_fixed(filter, (keys)->bytes, (keys)->width, (keys)->count, answers, error);       \
    case INTEGERS:                                                                                               \
      return bloomery_##name##_u64s(filter, (keys)->bytes, (keys)->count, answers, error);                       \
  }

static int64_t call(bloomery_filter *filter, Operation operation, const Keys *keys, bool *answers,
                    bloomery_error *error) {
  switch (operation) {
    case INSERT:
      CALL(insert, keys, answers, error)
      break;
    case CONTAINS:
      CALL(contains, keys, answers, error)
      break;
    case REMOVE:
      CALL(remove, keys, answers, error)
      break;
  }
  return 0;
}

/* Adds how many answers are true to *total; 0 with an exception. */
static int apply_keys(Filter *self, Operation operation, const Keys *keys, bool *answers, int64_t *total) {
  if (!is_whole(self)) return 0;
  bloomery_error error;
  const time_t now = time_to_tell(self);
  const Held held = hold(self, operation != CONTAINS || now != 0);
  int64_t yes = tell(self, now, &error);
  if (yes == 0) yes = call(self->filter, operation, keys, answers, &error);
  release(held);
  if (yes < 0) {
    raise_error(&error);
    return 0;
  }
  *total += yes;
  return 1;
}

/* The format of a buffer's items, without the mark of this machine's byte order. */
static const char *format_of(const Py_buffer *view) {
  static const char ours[] = {'@', '=', PY_BIG_ENDIAN ? '>' : '<', 0};
  const char *format = view->format ? view->format : "B";
  return *format && strchr(ours, *format) ? format + 1 : format;
}

/* 1: it was a buffer of keys; 0: it is not a buffer, or a buffer of Python objects or texts; -1: an exception. */
static int apply_buffer(Filter *self, Operation operation, PyObject *object, Answers *answers, int64_t *total) {
  if (!PyObject_CheckBuffer(object)) return 0;
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) return -1;
  const char *format = format_of(&view);
  const size_t length = strlen(format);
  if (view.ndim > 0 && length != 0 && strchr("Ow", format[length - 1])) {
    PyBuffer_Release(&view);
    return 0;
  }
  if (!PyBuffer_IsContiguous(&view, 'C')) {
    PyBuffer_Release(&view);
    PyErr_SetString(PyExc_ValueError, "the items of a buffer of keys are not one after the other; give a copy of it");
    return -1;
  }
  Keys keys = {.bytes = view.buf, .width = (size_t)view.itemsize};
  int known = 1;
  keys.count = view.ndim > 0 ? (size_t)view.shape[0] : 1;
  if (view.ndim == 1 && view.itemsize == 8 && length == 1 && strchr("qQlL", *format)) {
    keys.kind = INTEGERS;
  } else if (view.ndim == 1 && length != 0 && format[length - 1] == 's') {
    keys.kind = FIXED;
  } else if (view.ndim == 2 && view.itemsize == 1 && (view.shape[1] != 0 || keys.count == 0)) {
    keys.kind = FIXED;
    keys.width = (size_t)view.shape[1];
  } else {
    known = 0;
    PyErr_Format(PyExc_TypeError,
                 "a buffer of keys is one of 64-bit integers, of bytes of one width, or rows of bytes, and not of "
                 "format '%s' with %d dimensions",
                 format, view.ndim);
  }
  bool *room;
  const int done = known && room_for(answers, keys.count, &room) &&
                   (keys.count == 0 || apply_keys(self, operation, &keys, room, total));
  PyBuffer_Release(&view);
  return done ? 1 : -1;
}

/* The keys of a part of an iterable: those with bytes, and integers, each with its place. */
typedef struct {
  PyObject **objects;
  Key *keys;
  const void **pointers;
  size_t *sizes;
  uint64_t *integers;
  bool *answers;
  size_t count, room;
} Part;

/* 1, or 0 with an exception. */
static int make_room(Part *part, size_t room) {
  const struct {
    void **array;
    size_t size;
  } arrays[] = {{(void **)&part->objects, sizeof *part->objects},   {(void **)&part->keys, sizeof *part->keys},
                {(void **)&part->pointers, sizeof *part->pointers}, {(void **)&part->sizes, sizeof *part->sizes},
                {(void **)&part->integers, sizeof *part->integers}, {(void **)&part->answers, sizeof *part->answers}};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
    void *const larger = PyMem_Realloc(*arrays[i].array, room * arrays[i].size);
    if (!larger) {
      PyErr_NoMemory();
      return 0;
    }
    *arrays[i].array = larger;
  }
  part->room = room;
  return 1;
}

static int apply_part(Filter *self, Operation operation, Part *part, Answers *answers, int64_t *total) {
  size_t texts = 0, numbers = 0;
  for (size_t i = 0; i < part->count; ++i) {
    const Key *key = &part->keys[i];
    if (key->bytes) {
      part->pointers[texts] = key->bytes;
      part->sizes[texts++] = key->size;
    } else {
      part->integers[numbers++] = key->integer;
    }
  }
  bool *room;
  if (!room_for(answers, part->count, &room)) return 0;
  bool *const told = room ? part->answers : NULL;
  const Keys bytes = {.kind = POINTERS, .pointers = part->pointers, .sizes = part->sizes, .count = texts};
  const Keys integers = {.kind = INTEGERS, .bytes = part->integers, .count = numbers};
  if (texts && !apply_keys(self, operation, &bytes, told, total)) return 0;
  if (numbers && !apply_keys(self, operation, &integers, told ? told + texts : NULL, total)) return 0;
  if (room) {
    size_t text = 0, number = texts;
    for (size_t i = 0; i < part->count; ++i)
      room[i] = part->answers[part->keys[i].bytes ? text++ : number++];
  }
  return 1;
}

static void empty(Part *part) {
  for (size_t i = 0; i < part->count; ++i) {
    drop(&part->keys[i]);
    Py_DECREF(part->objects[i]);
  }
  part->count = 0;
}

static void drop_part(Part *part) {
  empty(part);
  PyMem_Free(part->objects);
  PyMem_Free(part->keys);
  PyMem_Free(part->pointers);
  PyMem_Free(part->sizes);
  PyMem_Free(part->integers);
  PyMem_Free(part->answers);
}

static int apply_iterable(Filter *self, Operation operation, PyObject *object, Answers *answers, int64_t *total) {
  PyObject *iterator = PyObject_GetIter(object);
  if (!iterator) return -1;
  const size_t most = operation == INSERT && !self->is_fast ? LARGE_PART : PART;
  Part part = {0};
  int done = make_room(&part, PART);
  PyObject *item = NULL;
  while (done && (item = PyIter_Next(iterator)) != NULL) {
    part.objects[part.count] = item;
    if (key_of(item, &part.keys[part.count]) != 0) {
      Py_DECREF(item);
      done = 0;
      break;
    }
    if (++part.count < part.room) continue;
    if (part.room < most) {
      done = make_room(&part, 2 * part.room);
      continue;
    }
    /* The iterable may have no end and run no Python code, which would notice an interrupt. */
    done = apply_part(self, operation, &part, answers, total) && PyErr_CheckSignals() == 0;
    empty(&part);
  }
  if (PyErr_Occurred()) done = 0;
  if (done && part.count) done = apply_part(self, operation, &part, answers, total);
  drop_part(&part);
  Py_DECREF(iterator);
  return done ? 1 : -1;
}

#include "arrow.h"

static PyObject *many(PyObject *object, PyObject *args, PyObject *names, Operation operation, const char *format) {
  static char *words[] = {"keys", "out", NULL};
  PyObject *keys, *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, names, format, words, &keys, &out)) return NULL;
  if (PyUnicode_Check(keys) || PyBytes_Check(keys) || PyByteArray_Check(keys)) {
    PyErr_SetString(PyExc_TypeError, "keys is an iterable of keys; for one key use add(), remove() and `in`");
    return NULL;
  }
  Filter *self = (Filter *)object;
  Answers answers;
  if (answers_to(out, &answers) != 0) return NULL;
  int64_t total = 0;
  int done = apply_arrow(self, operation, keys, &answers, &total);
  if (done == 0) done = apply_buffer(self, operation, keys, &answers, &total);
  if (done == 0) done = apply_iterable(self, operation, keys, &answers, &total);
  if (answers.view.obj) PyBuffer_Release(&answers.view);
  return done < 0 ? NULL : PyLong_FromLongLong(total);
}

static PyObject *filter_insert_many(PyObject *self, PyObject *args, PyObject *names) {
  return many(self, args, names, INSERT, "O|O:insert_many");
}
static PyObject *filter_contains_many(PyObject *self, PyObject *args, PyObject *names) {
  return many(self, args, names, CONTAINS, "O|O:contains_many");
}
static PyObject *filter_remove_many(PyObject *self, PyObject *args, PyObject *names) {
  return many(self, args, names, REMOVE, "O|O:remove_many");
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* Makes a call that takes only the filter; returns its result, or -1 with an exception. */
#define ALONE(self, writes, expression)                     \
  if (!is_whole((Filter *)(self))) return NULL;             \
  bloomery_error error;                                     \
  const Held held = hold((Filter *)(self), writes);         \
  bloomery_filter *const filter = ((Filter *)(self))->filter; \
  const int64_t result = (expression);                      \
  release(held);                                            \
  if (result < 0) return raise_error(&error)

static PyObject *filter_clear(PyObject *self, PyObject *Py_UNUSED(none)) {
  ALONE(self, 1, bloomery_clear(filter, &error));
  Py_RETURN_NONE;
}
static PyObject *filter_sync(PyObject *self, PyObject *Py_UNUSED(none)) {
  ALONE(self, 1, bloomery_sync(filter, &error));
  Py_RETURN_NONE;
}
static PyObject *filter_close(PyObject *self, PyObject *Py_UNUSED(none)) {
  ALONE(self, 1, bloomery_close(filter, &error));
  Py_RETURN_NONE;
}
static PyObject *filter_reload(PyObject *self, PyObject *Py_UNUSED(none)) {
  ALONE(self, 1, bloomery_reload(filter, &error));
  return PyBool_FromLong((long)result);
}
static PyObject *filter_advance(PyObject *self, PyObject *time) {
  const unsigned long long now = PyLong_AsUnsignedLongLong(time);
  if (now == (unsigned long long)-1 && PyErr_Occurred()) return NULL;
  ALONE(self, 1, bloomery_advance(filter, now, &error));
  ((Filter *)self)->is_timed = 0;
  Py_RETURN_NONE;
}
/* From now on calls pass the time of the clock to the filter. */
static PyObject *filter_by_clock(PyObject *self, PyObject *Py_UNUSED(none)) {
  ((Filter *)self)->is_timed = 1;
  Py_RETURN_NONE;
}

static PyObject *filter_encode(PyObject *self, PyObject *Py_UNUSED(none)) {
  if (!is_whole((Filter *)self)) return NULL;
  bloomery_error error;
  /* One lock covers both calls, so that the size is still right. */
  const Held held = hold((Filter *)self, 0);
  bloomery_filter *const filter = ((Filter *)self)->filter;
  const int64_t size = bloomery_encoded_size(filter, &error);
  char *bytes = size < 0 ? NULL : malloc((size_t)size);
  const int64_t written = bytes ? bloomery_encode(filter, bytes, (size_t)size, &error) : -1;
  release(held);
  PyObject *encoded = NULL;
  if (size < 0 || (bytes && written < 0))
    raise_error(&error);
  else
    encoded = bytes ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : PyErr_NoMemory();
  free(bytes);
  return encoded;
}

static PyObject *filter_save(PyObject *self, PyObject *location) {
  PyObject *path = NULL;
  if (!is_whole((Filter *)self) || !PyUnicode_FSConverter(location, &path)) return NULL;
  bloomery_error error;
  const Held held = hold((Filter *)self, 0);
  const int saved = bloomery_save(((Filter *)self)->filter, PyBytes_AsString(path), &error);
  release(held);
  Py_DECREF(path);
  if (saved != 0) return raise_error(&error);
  Py_RETURN_NONE;
}

/* None: the place of the filter does not tell the value. */
static PyObject *real(double value, int known) {
  if (known) return PyFloat_FromDouble(value);
  Py_RETURN_NONE;
}
static PyObject *whole(uint64_t value, int known) {
  if (known) return PyLong_FromUnsignedLongLong(value);
  Py_RETURN_NONE;
}

static PyObject *filter_stats(PyObject *self, PyObject *args) {
  int exact = 0;
  if (!PyArg_ParseTuple(args, "|p:_stats", &exact)) return NULL;
  bloomery_stats stats = {.size = sizeof stats};
  const time_t now = time_to_tell((Filter *)self);
  ALONE(self, now != 0,
        tell((Filter *)self, now, &error) < 0 ? -1 : bloomery_get_stats(filter, exact != 0, &stats, &error));
  const int has_fill = (stats.unknown & BLOOMERY_NO_FILL) == 0;
  return Py_BuildValue("{s:I,s:K,s:N,s:K,s:N,s:I,s:N,s:N,s:N,s:N,s:N,s:N,s:I,s:I,s:K,s:K,s:I,s:I}", "kind", stats.kind,
                       "capacity", stats.capacity, "fpr", real(stats.fpr, stats.fpr != 0), "bytes", stats.bytes,
                       "hashes", whole(stats.hashes, stats.hashes != 0), "layout", stats.layout, "inserted",
                       whole(stats.inserted, (stats.unknown & BLOOMERY_NO_INSERTED) == 0), "fill",
                       real(stats.fill, has_fill), "estimated_items", real(stats.estimated_items, has_fill),
                       "current_fpr", real(stats.current_fpr, has_fill), "over_capacity",
                       PyBool_FromLong((long)stats.over_capacity), "sampled", PyBool_FromLong((long)stats.sampled),
                       "counter_bits", stats.counter_bits, "sub_filters", stats.sub_filters, "saturated_counters",
                       stats.saturated_counters, "window", stats.window, "window_unit", stats.window_unit, "slices",
                       stats.slices);
}

static PyTypeObject *filter_type;

static PyObject *join(PyObject *self, PyObject *other, int (*with)(bloomery_filter *, const bloomery_filter *,
                                                                   bloomery_error *)) {
  if (!PyObject_TypeCheck(other, filter_type)) {
    PyErr_SetString(PyExc_TypeError, "the other is a filter too");
    return NULL;
  }
  if (!is_whole((Filter *)self) || !is_whole((Filter *)other)) return NULL;
  bloomery_error error;
  int done;
  if (self == other) {
    const Held held = hold((Filter *)self, 1);
    done = with(((Filter *)self)->filter, ((Filter *)other)->filter, &error);
    release(held);
  } else {
    /* A copy is joined, made with the GIL, so that no two calls hold a lock that the other waits for. */
    Held held = hold((Filter *)other, 0);
    bloomery_filter *copy = bloomery_copy(((Filter *)other)->filter, &error);
    release(held);
    if (!copy) return raise_error(&error);
    held = hold((Filter *)self, 1);
    done = with(((Filter *)self)->filter, copy, &error);
    release(held);
    bloomery_free(copy);
  }
  if (done < 0) return raise_error(&error);
  Py_RETURN_NONE;
}
static PyObject *filter_merge(PyObject *self, PyObject *other) { return join(self, other, bloomery_merge); }
static PyObject *filter_intersect(PyObject *self, PyObject *other) { return join(self, other, bloomery_intersect); }

static PyObject *filter_name(PyObject *self, void *Py_UNUSED(closure)) {
  const char *name = bloomery_name(((Filter *)self)->filter);
  return PyUnicode_DecodeFSDefault(name);
}

static PyObject *filter_is_timed(PyObject *self, void *Py_UNUSED(closure)) {
  return PyBool_FromLong(((Filter *)self)->is_timed);
}

/* ---- making ------------------------------------------------------------------------------------------------ */

/* `types` is a type, or a tuple of types by kind; the first is for filters that do not say theirs. */
static PyTypeObject *type_of(PyObject *types, bloomery_filter *filter) {
  PyObject *type = types;
  if (PyTuple_Check(types)) {
    bloomery_stats stats = {.size = sizeof stats};
    bloomery_error error;
    PyThreadState *thread = PyEval_SaveThread();
    const int told = bloomery_get_stats(filter, false, &stats, &error);
    PyEval_RestoreThread(thread);
    if (told < 0) return (PyTypeObject *)raise_error(&error);
    type = PyTuple_GetItem(types, (Py_ssize_t)stats.kind);
    if (!type) return NULL;
  }
  if (PyType_Check(type) && PyType_IsSubtype((PyTypeObject *)type, filter_type)) return (PyTypeObject *)type;
  PyErr_SetString(PyExc_TypeError, "the type is not one of Filter");
  return NULL;
}

/* Takes over the filter, even if it fails. */
static PyObject *wrapped(PyObject *types, bloomery_filter *filter, int is_fast, const bloomery_error *error) {
  if (!filter) return raise_error(error);
  PyTypeObject *type = type_of(types, filter);
  Filter *self = type ? (Filter *)PyType_GenericAlloc(type, 0) : NULL;
  if (!self) {
    bloomery_free(filter);
    return NULL;
  }
  self->filter = filter;
  self->readers = self->writers = 0;
  self->is_fast = (char)is_fast;
  self->is_alone = self->is_timed = 0;
  self->told = 0;
  self->forks = forks;
  pthread_rwlock_init(&self->lock, NULL);
  return (PyObject *)self;
}

static void filter_free(PyObject *object) {
  Filter *self = (Filter *)object;
  PyTypeObject *type = Py_TYPE(object);
  PyThreadState *thread = PyEval_SaveThread();
  bloomery_free(self->filter);
  PyEval_RestoreThread(thread);
  pthread_rwlock_destroy(&self->lock);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* The words that make a spec and options; 0 means that a value is not given. */
#define SPEC_FORMAT "IKdKIIIIKIIK"
#define SPEC_FIELDS(spec)                                                                                          \
  &(spec).kind, &(spec).capacity, &(spec).fpr, &(spec).bits, &(spec).hashes, &(spec).layout, &(spec).counter_bits, \
      &(spec).growth, &(spec).window, &(spec).window_unit, &(spec).slices, \
      &(spec).delta

static int options_of(bloomery_options *options, PyObject *seed) {
  if (seed == Py_None) return 0;
  char *bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(seed, &bytes, &size) != 0) return -1;
  unsigned char padded[16] = {0};
  memcpy(padded, bytes, (size_t)(size > 16 ? 16 : size));
  for (int i = 0; i < 16; ++i) options->seed[i / 8] |= (uint64_t)padded[i] << i % 8 * 8;
  options->seed_bytes = (uint32_t)size;
  return 0;
}

/* make(types, how, location, access, spec, flags, hash, durability, seed): how is "new", "create", "open_or_create",
 * "open" or "rebuild". */
static PyObject *make(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *types;
  const char *how;
  PyObject *path, *seed;
  unsigned int access;
  bloomery_spec spec = {.size = sizeof spec};
  bloomery_options options = {.size = sizeof options};
  if (!PyArg_ParseTuple(args, "OsO&I(" SPEC_FORMAT ")IIIO:make", &types, &how, PyUnicode_FSConverter, &path,
                        &access, SPEC_FIELDS(spec), &options.flags, &options.hash, &options.durability, &seed))
    return NULL;
  if (options_of(&options, seed) != 0) {
    Py_DECREF(path);
    return NULL;
  }
  const char *location = PyBytes_AsString(path);
  bloomery_error error;
  bloomery_filter *filter;
  PyThreadState *thread = PyEval_SaveThread();
  if (strcmp(how, "new") == 0)
    filter = bloomery_new(&spec, &options, &error);
  else if (strcmp(how, "create") == 0)
    filter = bloomery_create(location, &spec, &options, &error);
  else if (strcmp(how, "open_or_create") == 0)
    filter = bloomery_open_or_create(location, &spec, &options, &error);
  else if (strcmp(how, "rebuild") == 0)
    filter = bloomery_rebuild(location, &spec, &options, &error);
  else
    filter = bloomery_open(location, access, &options, &error);
  PyEval_RestoreThread(thread);
  /* A reader of a file looks keys up in its mapping. */
  const int is_address = strstr(location, "://") != NULL;
  const int is_fast = strcmp(how, "new") == 0 || (strcmp(how, "open") == 0 && access == BLOOMERY_READ && !is_address);
  Py_DECREF(path);
  PyObject *made = wrapped(types, filter, is_fast, &error);
  if (made) ((Filter *)made)->is_alone = (char)is_address;
  return made;
}

static PyObject *decode(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *types;
  Py_buffer view;
  if (!PyArg_ParseTuple(args, "Oy*:decode", &types, &view)) return NULL;
  bloomery_error error;
  PyThreadState *thread = PyEval_SaveThread();
  bloomery_filter *filter = bloomery_decode(view.buf, (size_t)view.len, &error);
  PyEval_RestoreThread(thread);
  PyBuffer_Release(&view);
  return wrapped(types, filter, 1, &error);
}

static PyObject *filter_copy(PyObject *self, PyObject *Py_UNUSED(none)) {
  if (!is_whole((Filter *)self)) return NULL;
  bloomery_error error;
  const Held held = hold((Filter *)self, 0);
  bloomery_filter *copy = bloomery_copy(((Filter *)self)->filter, &error);
  release(held);
  PyObject *made = wrapped((PyObject *)Py_TYPE(self), copy, 1, &error);
  if (made) ((Filter *)made)->is_timed = ((Filter *)self)->is_timed;
  return made;
}

static PyObject *solve(PyObject *Py_UNUSED(module), PyObject *args) {
  bloomery_spec spec = {.size = sizeof spec};
  if (!PyArg_ParseTuple(args, "(" SPEC_FORMAT "):solve", SPEC_FIELDS(spec))) return NULL;
  bloomery_plan plan = {.size = sizeof plan};
  bloomery_error error;
  if (bloomery_solve(&spec, &plan, &error) < 0) return raise_error(&error);
  return Py_BuildValue("{s:I,s:K,s:d,s:K,s:I,s:I,s:d}", "kind", plan.kind, "capacity", plan.capacity, "fpr", plan.fpr,
                       "bytes", plan.bytes, "hashes", plan.hashes, "layout", plan.layout, "bits_per_key",
                       plan.bits_per_key);
}

static PyObject *predict(PyObject *Py_UNUSED(module), PyObject *args) {
  bloomery_spec spec = {.size = sizeof spec};
  double keys;
  if (!PyArg_ParseTuple(args, "(" SPEC_FORMAT ")d:predict", SPEC_FIELDS(spec), &keys)) return NULL;
  bloomery_error error;
  const double fpr = bloomery_predict(&spec, keys, &error);
  return fpr < 0 ? raise_error(&error) : PyFloat_FromDouble(fpr);
}

/* ---- the module -------------------------------------------------------------------------------------------- */

static PyMethodDef filter_methods[] = {
    {"add", filter_add, METH_O,
     "add($self, key, /)\n--\n\nAdd a key: str (as UTF-8), bytes or an int of 64 bits. True: it was certainly not there. TypeError: "
     "it is not a key. Error: the filter is read_only, or its place refused."},
    {"insert_many", (PyCFunction)(void (*)(void))filter_insert_many, METH_VARARGS | METH_KEYWORDS,
     "insert_many($self, keys, out=None)\n--\n\nAdd keys, and return how many were certainly new. keys is an iterable, a "
     "buffer of 64-bit integers or of bytes of one width (numpy), or strings of Arrow. out gets an answer for each: a "
     "writable buffer of one byte for each key. TypeError, ValueError: an item is not a key, or out is too short; the parts "
     "of an iterable before it have been added."},
    {"contains_many", (PyCFunction)(void (*)(void))filter_contains_many, METH_VARARGS | METH_KEYWORDS,
     "contains_many($self, keys, out=None)\n--\n\nLook keys up, as in insert_many, and return how many may be there."},
    {"_remove", filter_remove, METH_O, NULL},
    {"_remove_many", (PyCFunction)(void (*)(void))filter_remove_many, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_merge", filter_merge, METH_O, NULL},
    {"_intersect", filter_intersect, METH_O, NULL},
    {"_stats", filter_stats, METH_VARARGS, NULL},
    {"_encode", filter_encode, METH_NOARGS, NULL},
    {"_save", filter_save, METH_O, NULL},
    {"_by_clock", filter_by_clock, METH_NOARGS, NULL},
    {"_advance", filter_advance, METH_O, NULL},
    {"_copy", filter_copy, METH_NOARGS, NULL},
    {"clear", filter_clear, METH_NOARGS, "clear($self)\n--\n\nForget every key of a filter in memory."},
    {"sync", filter_sync, METH_NOARGS, "sync($self)\n--\n\nMake every change so far survive a power loss."},
    {"close", filter_close, METH_NOARGS,
     "close($self)\n--\n\nMake every change durable and release the file or server. Look-ups in files still work."},
    {"reload", filter_reload, METH_NOARGS,
     "reload($self)\n--\n\nFor a reader: open the file that is at the path now. True: the filter may have changed."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef filter_getset[] = {
    {"name", filter_name, NULL, "The location, without a password.", NULL},
    {"_is_timed", filter_is_timed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot filter_slots[] = {{Py_tp_dealloc, filter_free},
                                     {Py_tp_methods, filter_methods},
                                     {Py_tp_getset, filter_getset},
                                     {Py_sq_contains, filter_contains},
                                     {0, NULL}};

static PyType_Spec filter_spec = {"bloomery._bloomery.Filter", sizeof(Filter), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  filter_slots};

/* os.register_at_fork calls it in the child. */
static PyObject *forked(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none)) {
  ++forks;
  Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {{"forked", forked, METH_NOARGS, NULL},
                                       {"make", make, METH_VARARGS, NULL},
                                       {"decode", decode, METH_VARARGS, NULL},
                                       {"solve", solve, METH_VARARGS, NULL},
                                       {"predict", predict, METH_VARARGS, NULL},
                                       {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_bloomery", NULL, -1, module_methods, NULL, NULL, NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__bloomery(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  filter_type = (PyTypeObject *)PyType_FromSpec(&filter_spec);
  error_type = PyErr_NewExceptionWithDoc("bloomery.Error",
                                         "An error. `code` is a name for programs: 'missing', 'locked', 'mismatch', 'corrupt' and so on; the text is for people.",
                                         NULL, NULL);
  if (!filter_type || !error_type || PyModule_AddObjectRef(module, "Filter", (PyObject *)filter_type) != 0 ||
      PyModule_AddObjectRef(module, "Error", error_type) != 0 ||
      PyModule_AddStringConstant(module, "__version__", bloomery_version()) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
