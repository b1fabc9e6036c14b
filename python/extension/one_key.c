/* A key of Python, and the calls with one key. */
#include "keys.h"

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

int other_key_of(PyObject *object, Key *key) {
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
  if (key_of(object, &key) != 0) return -1;
  if (!is_whole(self)) { /* after key_of, which may run Python code */
    drop(&key);
    return -1;
  }
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
    raise_error_of(self, &error);
    return -1;
  }
  return answer;
}

PyObject *filter_add(PyObject *self, PyObject *key) {
  const int fresh = with_key((Filter *)self, INSERT, key);
  return fresh < 0 ? NULL : PyBool_FromLong(fresh);
}

PyObject *filter_remove(PyObject *self, PyObject *key) {
  const int removed = with_key((Filter *)self, REMOVE, key);
  return removed < 0 ? NULL : PyBool_FromLong(removed);
}

int filter_contains(PyObject *self, PyObject *key) { return with_key((Filter *)self, CONTAINS, key); }
