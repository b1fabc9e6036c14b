/* Keys in bulk: from buffers (numpy) and from iterables. */
#include "keys.h"

#include <string.h>

/* How many keys of an iterable are taken at a time: as many as the cache holds; more if each call is a commit or a
 * round trip. */
enum { PART = 4096, LARGE_PART = 262144, COPIED_BYTES = 64 /* of each key of a part, on average */ };

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

int room_for(Answers *answers, size_t count, bool **room) {
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

int apply_keys(Filter *self, Operation operation, const Keys *keys, bool *answers, int64_t *total) {
  if (!is_whole(self)) return 0;
  bloomery_error error;
  const time_t now = time_to_tell(self);
  const Held held = hold(self, operation != CONTAINS || now != 0);
  int64_t yes = tell(self, now, &error);
  if (yes == 0) yes = call(self->filter, operation, keys, answers, &error);
  release(held);
  if (yes < 0) {
    raise_error_of(self, &error);
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

/* Applies the keys of a buffer. A server takes seconds for each million, so that an interrupt must be noticed between
 * parts of them; elsewhere one call is one commit. */
static int apply_fixed(Filter *self, Operation operation, const Keys *keys, bool *answers, int64_t *total) {
  const size_t most = self->is_alone ? LARGE_PART : keys->count;
  for (size_t begin = 0; begin < keys->count; begin += most) {
    Keys part = *keys;
    part.bytes = (const char *)keys->bytes + begin * keys->width;
    part.count = keys->count - begin < most ? keys->count - begin : most;
    if (!apply_keys(self, operation, &part, answers ? answers + begin : NULL, total)) return 0;
    if (self->is_alone && PyErr_CheckSignals() != 0) return 0;
  }
  return 1;
}

/* 1: it was a buffer of keys; 0: it is not a buffer, or a buffer of Python objects or texts; -1: an exception. */
static int apply_buffer(Filter *self, Operation operation, PyObject *object, Answers *answers, int64_t *total) {
  if (!PyObject_CheckBuffer(object)) return 0;
  if (PyObject_HasAttrString(object, "mask")) { /* of numpy; its buffer has the masked keys too */
    PyErr_SetString(PyExc_TypeError, "a masked array has keys that do not count; give its compressed()");
    return -1;
  }
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
    const int narrow = view.ndim == 1 && length == 1 && strchr("bhHiI", *format);
    PyErr_Format(PyExc_TypeError,
                 "a buffer of keys is one of 64-bit integers, of bytes of one width, or rows of bytes, and not of "
                 "format '%s' with %d dimensions%s",
                 format, view.ndim, narrow ? "; give integers of 64 bits, as keys.astype('int64')" : "");
  }
  bool *room;
  const int done = known && room_for(answers, keys.count, &room) &&
                   apply_fixed(self, operation, &keys, room, total);
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
  int in_order; /* whether inserts must keep the order of keys with bytes and integers; -1: not known yet */
  size_t copied; /* bytes */
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

/* Applies the keys from `begin` up to `end`: first those with bytes, then integers. */
static int apply_between(Filter *self, Operation operation, Part *part, size_t begin, size_t end, bool *room,
                         int64_t *total) {
  size_t texts = 0, numbers = 0;
  for (size_t i = begin; i < end; ++i) {
    const Key *key = &part->keys[i];
    if (key->bytes) {
      part->pointers[texts] = key->bytes;
      part->sizes[texts++] = key->size;
    } else {
      part->integers[numbers++] = key->integer;
    }
  }
  bool *const told = room ? part->answers : NULL;
  const Keys bytes = {.kind = POINTERS, .pointers = part->pointers, .sizes = part->sizes, .count = texts};
  const Keys integers = {.kind = INTEGERS, .bytes = part->integers, .count = numbers};
  if (texts && !apply_keys(self, operation, &bytes, told, total)) return 0;
  if (numbers && !apply_keys(self, operation, &integers, told ? told + texts : NULL, total)) return 0;
  if (room) {
    size_t text = 0, number = texts;
    for (size_t i = begin; i < end; ++i)
      room[i] = part->answers[part->keys[i].bytes ? text++ : number++];
  }
  return 1;
}

/* The end of the keys from `begin` on that all have bytes, or are all integers. */
static size_t end_of_run(const Part *part, size_t begin) {
  const int has_bytes = part->keys[begin].bytes != NULL;
  size_t end = begin + 1;
  while (end < part->count && (part->keys[end].bytes != NULL) == has_bytes) ++end;
  return end;
}

/* Whether the filter forgets by the order of keys: 1 or 0, or -1 with an exception. No server has such a filter that
 * takes integers. */
static int forgets_by_order(Filter *self) {
  if (self->is_alone) return 0;
  bloomery_spec spec;
  if (!read_spec(self, &spec)) return -1;
  return spec.kind == BLOOMERY_WINDOW && spec.window_unit == BLOOMERY_INSERTIONS;
}

static int apply_part(Filter *self, Operation operation, Part *part, Answers *answers, int64_t *total) {
  bool *room;
  if (!room_for(answers, part->count, &room)) return 0;
  const int is_mixed = operation == INSERT && end_of_run(part, 0) != part->count;
  if (is_mixed && part->in_order < 0 && (part->in_order = forgets_by_order(self)) < 0) return 0;
  const int in_runs = is_mixed && part->in_order;
  for (size_t begin = 0, end; begin < part->count; begin = end) {
    end = in_runs ? end_of_run(part, begin) : part->count;
    if (!apply_between(self, operation, part, begin, end, room, total)) return 0;
  }
  return 1;
}

static void empty(Part *part) {
  for (size_t i = 0; i < part->count; ++i) Py_DECREF(part->objects[i]);
  part->count = part->copied = 0;
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

/* Takes over the item. An iterable may put its next key into the same bytearray, so bytes that may change are copied.
 * 1, or 0 with an exception. */
static int take_item(Part *part, PyObject *item) {
  Key *key = &part->keys[part->count];
  int done = key_of(item, key) == 0;
  if (done && key->view.obj) {
    PyObject *const copy = PyBytes_FromStringAndSize(key->bytes, (Py_ssize_t)key->size);
    part->copied += key->size;
    drop(key);
    Py_DECREF(item);
    item = copy;
    done = copy && key_of(copy, key) == 0;
  }
  if (!done) {
    Py_XDECREF(item);
    return 0;
  }
  part->objects[part->count++] = item;
  return 1;
}

static int apply_iterable(Filter *self, Operation operation, PyObject *object, Answers *answers, int64_t *total) {
  if (PyObject_HasAttrString(object, "iterrows")) { /* of pandas; its items are the names of its columns */
    PyErr_SetString(PyExc_TypeError, "keys are one column; a table has several, so give one of its columns");
    return -1;
  }
  PyObject *iterator = PyObject_GetIter(object);
  if (!iterator) return -1;
  const size_t most = operation == INSERT && !self->is_fast ? LARGE_PART : PART;
  Part part = {.in_order = -1};
  int done = make_room(&part, PART);
  PyObject *item = NULL;
  while (done && (item = PyIter_Next(iterator)) != NULL) {
    done = take_item(&part, item);
    if (!done) break;
    /* Views of one large buffer take no memory, and copies of them would. */
    if (part.copied < COPIED_BYTES * most) {
      if (part.count < part.room) continue;
      if (part.room < most) {
        done = make_room(&part, 2 * part.room);
        continue;
      }
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

PyObject *filter_insert_many(PyObject *self, PyObject *args, PyObject *names) {
  return many(self, args, names, INSERT, "O|O:insert_many");
}
PyObject *filter_contains_many(PyObject *self, PyObject *args, PyObject *names) {
  return many(self, args, names, CONTAINS, "O|O:contains_many");
}
PyObject *filter_remove_many(PyObject *self, PyObject *args, PyObject *names) {
  return many(self, args, names, REMOVE, "O|O:remove_many");
}
