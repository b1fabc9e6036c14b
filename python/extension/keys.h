/* Keys of Python: one, many, and those of Arrow. */
#ifndef BLOOMERY_PYTHON_KEYS_H
#define BLOOMERY_PYTHON_KEYS_H

#include "filter.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

typedef enum { INSERT, CONTAINS, REMOVE } Operation;

typedef struct {
  const void *bytes; /* NULL: an integer */
  size_t size;
  uint64_t integer;
  Py_buffer view; /* of another object with bytes; view.obj is NULL otherwise */
} Key;

/* What is neither text nor bytes. 0, or -1 with an exception. */
int other_key_of(PyObject *object, Key *key);

/* Points into the object, which must outlive the key. 0, or -1 with an exception. */
static inline int key_of(PyObject *object, Key *key) {
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
  return other_key_of(object, key);
}

static inline void drop(Key *key) {
  if (key->view.obj) PyBuffer_Release(&key->view);
}

/* The destination of answers: a writable buffer of one byte per key, or nothing. */
typedef struct {
  Py_buffer view;
  bool *next; /* NULL: none are wanted */
  size_t left;
} Answers;

/* Gets room for the answers to so many keys; 0 with an exception if there is less. */
int room_for(Answers *answers, size_t count, bool **room);

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

/* Adds how many answers are true to *total; 0 with an exception. */
int apply_keys(Filter *self, Operation operation, const Keys *keys, bool *answers, int64_t *total);

/* 1: it was an object of Arrow; 0: it was not; -1: an exception. */
int apply_arrow(Filter *self, Operation operation, PyObject *keys, Answers *answers, int64_t *total);

#pragma GCC visibility pop

#endif
