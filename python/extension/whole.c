/* Calls that concern the whole filter: its state, its bytes, its statistics, other filters. */
#include "filter.h"

#include <stdbool.h>
#include <stdlib.h>

/* Makes a call that takes only the filter; returns its result, or -1 with an exception. */
#define ALONE(self, writes, expression)                     \
  if (!is_whole((Filter *)(self))) return NULL;             \
  bloomery_error error;                                     \
  const Held held = hold((Filter *)(self), writes);         \
  bloomery_filter *const filter = ((Filter *)(self))->filter; \
  const int64_t result = (expression);                      \
  release(held);                                            \
  if (result < 0) return raise_error_of((Filter *)(self), &error)

PyObject *filter_clear(PyObject *self, PyObject *Py_UNUSED(none)) {
  ALONE(self, 1, bloomery_clear(filter, &error));
  Py_RETURN_NONE;
}
PyObject *filter_sync(PyObject *self, PyObject *Py_UNUSED(none)) {
  ALONE(self, 1, bloomery_sync(filter, &error));
  Py_RETURN_NONE;
}
PyObject *filter_close(PyObject *self, PyObject *Py_UNUSED(none)) {
  if (!((Filter *)self)->filter) Py_RETURN_NONE;
  ALONE(self, 1, bloomery_close(filter, &error));
  ((Filter *)self)->is_rebuilt = 0;
  Py_RETURN_NONE;
}
/* For a filter that close() would put in its place: its keys are given up, and its location keeps what it has. */
PyObject *filter_drop(PyObject *object, PyObject *Py_UNUSED(none)) {
  Filter *self = (Filter *)object;
  if (!is_whole(self)) return NULL;
  Held held = hold(self, 1);
  /* The name is read with the GIL and without the lock. No thread waits for the lock with the GIL. */
  PyEval_RestoreThread(held.thread);
  bloomery_filter *filter = self->filter;
  self->filter = NULL;
  held.thread = PyEval_SaveThread();
  bloomery_free(filter);
  release(held);
  Py_RETURN_NONE;
}
PyObject *filter_reload(PyObject *self, PyObject *Py_UNUSED(none)) {
  ALONE(self, 1, bloomery_reload(filter, &error));
  return PyBool_FromLong((long)result);
}
PyObject *filter_advance(PyObject *self, PyObject *time) {
  const unsigned long long now = PyLong_AsUnsignedLongLong(time);
  if (now == (unsigned long long)-1 && PyErr_Occurred()) return NULL;
  ALONE(self, 1, bloomery_advance(filter, now, &error));
  ((Filter *)self)->is_timed = 0;
  Py_RETURN_NONE;
}

int read_spec(Filter *self, bloomery_spec *spec) {
  if (!is_whole(self)) return 0;
  *spec = (bloomery_spec){.size = sizeof *spec};
  bloomery_error error;
  const Held held = hold(self, 0);
  const int told = bloomery_get_spec(self->filter, spec, &error);
  release(held);
  return told >= 0 || raise_error_of(self, &error);
}

/* From now on calls pass the time of the clock to the filter, if it forgets by time. */
PyObject *filter_by_clock(PyObject *self, PyObject *Py_UNUSED(none)) {
  bloomery_spec spec;
  if (!read_spec((Filter *)self, &spec)) return NULL;
  ((Filter *)self)->is_timed = spec.window_unit == BLOOMERY_SECONDS;
  Py_RETURN_NONE;
}

PyObject *filter_encode(PyObject *self, PyObject *Py_UNUSED(none)) {
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
    raise_error_of((Filter *)self, &error);
  else
    encoded = bytes ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : PyErr_NoMemory();
  free(bytes);
  return encoded;
}

PyObject *filter_save(PyObject *self, PyObject *location) {
  PyObject *path = NULL;
  if (!is_whole((Filter *)self) || !PyUnicode_FSConverter(location, &path)) return NULL;
  bloomery_error error;
  const Held held = hold((Filter *)self, 0);
  const int saved = bloomery_save(((Filter *)self)->filter, PyBytes_AsString(path), &error);
  release(held);
  Py_DECREF(path);
  if (saved != 0) return raise_error_of((Filter *)self, &error);
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

PyObject *filter_stats(PyObject *self, PyObject *args) {
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

static PyObject *join(PyObject *self, PyObject *other, int (*with)(bloomery_filter *, const bloomery_filter *,
                                                                   bloomery_error *)) {
  if (!PyObject_TypeCheck(other, filter_type)) {
    PyErr_SetString(PyExc_TypeError, "a filter is joined with another filter; update() adds keys");
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
    if (!copy) return raise_error_of((Filter *)other, &error);
    held = hold((Filter *)self, 1);
    done = with(((Filter *)self)->filter, copy, &error);
    release(held);
    bloomery_free(copy);
  }
  if (done < 0) return raise_error_of((Filter *)self, &error);
  Py_RETURN_NONE;
}
PyObject *filter_merge(PyObject *self, PyObject *other) { return join(self, other, bloomery_merge); }
PyObject *filter_intersect(PyObject *self, PyObject *other) { return join(self, other, bloomery_intersect); }

PyObject *filter_name(PyObject *self, void *Py_UNUSED(closure)) {
  if (!is_whole((Filter *)self)) return NULL;
  const char *name = bloomery_name(((Filter *)self)->filter);
  return PyUnicode_DecodeFSDefault(name);
}

PyObject *filter_folder(PyObject *self, void *Py_UNUSED(closure)) {
  const char *folder = ((Filter *)self)->folder;
  return PyUnicode_DecodeFSDefault(folder ? folder : "");
}
PyObject *filter_is_timed(PyObject *self, void *Py_UNUSED(closure)) {
  return PyBool_FromLong(((Filter *)self)->is_timed);
}
PyObject *filter_is_rebuilt(PyObject *self, void *Py_UNUSED(closure)) {
  return PyBool_FromLong(((Filter *)self)->is_rebuilt);
}
