/* Strings and integers of Arrow, by its C data interface (arrow.apache.org, "C data interface", version 1.0): what
 * __arrow_c_stream__ and __arrow_c_array__ give.
 *
 * Formats: u U vu (text), z Z vz (bytes), w:N (bytes of one width), l L (64-bit integers). Null values are skipped:
 * they are not keys, and their answer is false.
 */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

enum { VIEWS = 1024 }; /* so many are looked up at once */

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

/* Keys `begin` up to `end` of an array that starts at `keys->bytes` or `keys->offsets`. */
static Keys slice(const Keys *keys, int64_t begin, int64_t end) {
  Keys part = *keys;
  part.count = (size_t)(end - begin);
  if (keys->kind == OFFSETS32)
    part.offsets = (const int32_t *)keys->offsets + begin;
  else if (keys->kind == OFFSETS64)
    part.offsets = (const int64_t *)keys->offsets + begin;
  else
    part.bytes = (const char *)keys->bytes + (size_t)begin * keys->width;
  return part;
}

/* "w:16", from 1 to 2^31 - 1. */
static int is_width(const char *format, size_t *width) {
  if (strncmp(format, "w:", 2) != 0 || strspn(format + 2, "0123456789") != strlen(format + 2)) return 0;
  const unsigned long long number = strtoull(format + 2, NULL, 10);
  *width = (size_t)number;
  return number != 0 && number <= INT32_MAX;
}

static int is_view(const char *format) { return strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0; }

static int refuse_contradiction(void) {
  PyErr_SetString(PyExc_ValueError, "the Arrow array contradicts its format");
  return 0;
}

/* A view: its length and up to 12 bytes; or 4 of its bytes, the number of a buffer, and the place of all bytes in it.
 * The buffers of bytes follow the buffer of views, and the last buffer has their sizes. 0: it leads out of them. */
static int read_view(const struct ArrowArray *array, int64_t i, const void **bytes, size_t *size) {
  const char *view = (const char *)array->buffers[1] + 16 * i;
  int32_t length, number, place;
  memcpy(&length, view, 4);
  memcpy(&number, view + 8, 4);
  memcpy(&place, view + 12, 4);
  *size = (size_t)length;
  *bytes = view + 4;
  if (length >= 0 && length <= 12) return 1;
  const int64_t *sizes = array->buffers[array->n_buffers - 1];
  if (length < 0 || number < 0 || number >= array->n_buffers - 3 || place < 0) return 0;
  *bytes = (const char *)array->buffers[2 + number] + place;
  return sizes && array->buffers[2 + number] && (int64_t)place + length <= sizes[number];
}

/* 0 with an exception. */
static int apply_views(Filter *self, Operation operation, const struct ArrowArray *array, int64_t begin, int64_t end,
                       bool *room, int64_t *total) {
  const void *pointers[VIEWS];
  size_t sizes[VIEWS];
  while (begin < end) {
    size_t count = 0;
    for (; count < VIEWS && begin < end; ++count, ++begin)
      if (!read_view(array, begin, &pointers[count], &sizes[count])) return refuse_contradiction();
    const Keys keys = {.kind = POINTERS, .pointers = pointers, .sizes = sizes, .count = count};
    if (!apply_keys(self, operation, &keys, room, total)) return 0;
    if (room) room += count;
  }
  return 1;
}

/* 0 with an exception. */
static int keys_of_array(const struct ArrowArray *array, const struct ArrowSchema *schema, Keys *keys) {
  const char *format = schema->format;
  int64_t buffers = 2;
  size_t width;
  if (schema->dictionary) {
    PyErr_SetString(PyExc_TypeError, "keys of Arrow are values; decode the dictionary first");
    return 0;
  }
  if (strcmp(format, "u") == 0 || strcmp(format, "z") == 0) {
    *keys = (Keys){.kind = OFFSETS32};
    buffers = 3;
  } else if (strcmp(format, "U") == 0 || strcmp(format, "Z") == 0) {
    *keys = (Keys){.kind = OFFSETS64};
    buffers = 3;
  } else if (strcmp(format, "l") == 0 || strcmp(format, "L") == 0) {
    *keys = (Keys){.kind = INTEGERS, .width = 8};
  } else if (is_width(format, &width)) {
    *keys = (Keys){.kind = FIXED, .width = width};
  } else if (is_view(format)) {
    *keys = (Keys){.kind = POINTERS};
    buffers = array->n_buffers < 3 ? 3 : array->n_buffers;
  } else if (*format == '+') {
    PyErr_SetString(PyExc_TypeError, "keys of Arrow are one column; a table or a list has several values in a row, so give one of its columns, or flatten it");
    return 0;
  } else {
    PyErr_Format(PyExc_TypeError, "keys of Arrow are strings, binary or 64-bit integers, and not of format '%s'", format);
    return 0;
  }
  if (array->n_buffers != buffers || array->length < 0 || array->offset < 0) return refuse_contradiction();
  if (keys->kind == OFFSETS32 || keys->kind == OFFSETS64) {
    keys->offsets = array->buffers[1];
    keys->bytes = array->buffers[2] ? array->buffers[2] : "";
  } else {
    keys->bytes = array->buffers[1];
  }
  if (array->length != 0 && (!array->buffers[1] || (array->null_count != 0 && array->null_count != -1 && !array->buffers[0]))) {
    PyErr_SetString(PyExc_ValueError, "the Arrow array has values, and no buffers for them");
    return 0;
  }
  return 1;
}

static int is_there(const unsigned char *valid, int64_t i) { return !valid || (valid[i / 8] >> i % 8 & 1); }

/* Takes runs of values that are not null, one after the other. 0 with an exception. */
static int apply_array(Filter *self, Operation operation, const struct ArrowArray *array,
                       const struct ArrowSchema *schema, Answers *answers, int64_t *total) {
  Keys keys;
  bool *room;
  if (!keys_of_array(array, schema, &keys) || !room_for(answers, (size_t)array->length, &room)) return 0;
  const unsigned char *valid = array->null_count == 0 ? NULL : array->buffers[0];
  const int64_t first = array->offset, last = array->offset + array->length;
  for (int64_t begin = first; begin < last;) {
    int64_t end = begin;
    if (!is_there(valid, begin)) {
      if (room) room[begin - first] = false;
      ++begin;
      continue;
    }
    if (valid)
      while (end < last && is_there(valid, end)) ++end;
    else
      end = last;
    bool *const told = room ? room + (begin - first) : NULL;
    const Keys run = slice(&keys, begin, end);
    if (!(keys.kind == POINTERS ? apply_views(self, operation, array, begin, end, told, total)
                                : apply_keys(self, operation, &run, told, total)))
      return 0;
    begin = end;
  }
  return 1;
}

static int refuse_consumed(void) {
  PyErr_SetString(PyExc_ValueError, "these keys of Arrow have been consumed already");
  return 0;
}

/* The release function of a producer must not run while an exception is set. */
#define RELEASE(given)                              \
  do {                                              \
    PyObject *kind, *value, *trace;                 \
    PyErr_Fetch(&kind, &value, &trace);             \
    if ((given).release) (given).release(&(given)); \
    PyErr_Restore(kind, value, trace);              \
  } while (0)

static int apply_stream(Filter *self, Operation operation, PyObject *capsule, Answers *answers, int64_t *total) {
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  if (!stream) return 0;
  if (!stream->release) return refuse_consumed();
  /* A producer may wait for threads of its own, which may wait for the GIL. */
  struct ArrowSchema schema = {0};
  PyThreadState *thread = PyEval_SaveThread();
  int done = stream->get_schema(stream, &schema) == 0;
  PyEval_RestoreThread(thread);
  while (done) {
    struct ArrowArray array = {0};
    thread = PyEval_SaveThread();
    done = stream->get_next(stream, &array) == 0;
    PyEval_RestoreThread(thread);
    if (!done || !array.release) break;
    /* A stream may have no end and run no Python code, which would notice an interrupt. */
    const int applied = apply_array(self, operation, &array, &schema, answers, total) && PyErr_CheckSignals() == 0;
    RELEASE(array);
    if (!applied) break;
  }
  if (!done) {
    const char *why = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s", why ? why : "it does not say why");
  }
  RELEASE(schema);
  return !PyErr_Occurred();
}

static int apply_pair(Filter *self, Operation operation, PyObject *pair, Answers *answers, int64_t *total) {
  PyObject *first = PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? PyTuple_GetItem(pair, 0) : NULL;
  struct ArrowSchema *schema = first ? PyCapsule_GetPointer(first, "arrow_schema") : NULL;
  struct ArrowArray *array = schema ? PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array") : NULL;
  if (array && (!array->release || !schema->release)) return refuse_consumed();
  if (array) return apply_array(self, operation, array, schema, answers, total);
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ gives a schema and an array");
  return 0;
}

int apply_arrow(Filter *self, Operation operation, PyObject *keys, Answers *answers, int64_t *total) {
  static const char *const names[] = {"__arrow_c_stream__", "__arrow_c_array__"};
  for (int i = 0; i < 2; ++i) {
    PyObject *method = PyObject_GetAttrString(keys, names[i]);
    if (!method) {
      if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
      PyErr_Clear();
      continue;
    }
    PyObject *given = PyObject_CallObject(method, NULL);
    Py_DECREF(method);
    if (!given) return -1;
    const int done = (i == 0 ? apply_stream : apply_pair)(self, operation, given, answers, total);
    Py_DECREF(given);
    return done ? 1 : -1;
  }
  return 0;
}
