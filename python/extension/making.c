/* Makes filters, opens and frees them, and plans them. */
#include "filter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `types` is a type, or a tuple of types by kind; the first is for filters that do not say theirs. */
static PyTypeObject *type_of(PyObject *types, bloomery_filter *filter) {
  PyObject *type = types;
  if (PyTuple_Check(types)) {
    bloomery_spec spec = {.size = sizeof spec};
    bloomery_error error;
    if (bloomery_get_spec(filter, &spec, &error) < 0) return (PyTypeObject *)raise_error(&error);
    type = PyTuple_GetItem(types, (Py_ssize_t)spec.kind);
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
  self->is_alone = self->is_rebuilt = self->is_timed = 0;
  self->told = 0;
  self->folder = NULL;
  self->forks = forks;
  make_lock(self);
  return (PyObject *)self;
}

void filter_free(PyObject *object) {
  Filter *self = (Filter *)object;
  PyTypeObject *type = Py_TYPE(object);
  PyThreadState *thread = PyEval_SaveThread();
  bloomery_free(self->filter);
  PyEval_RestoreThread(thread);
  pthread_rwlock_destroy(&self->lock);
  pthread_mutex_destroy(&self->door);
  free(self->folder);
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

/* An existing filter, which is as requested. */
static bloomery_filter *opened(const char *location, unsigned access, const bloomery_spec *spec,
                               const bloomery_options *options, bloomery_error *error) {
  bloomery_filter *filter = bloomery_open(location, access, options, error);
  if (!filter || bloomery_require_match(filter, spec, options, error) == 0) return filter;
  bloomery_free(filter);
  return NULL;
}

/* make(types, how, location, access, spec, flags, hash, durability, seed, scheme): how is "new", "create",
 * "open_or_create", "open" or "rebuild". */
PyObject *make(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *types;
  const char *how;
  PyObject *path, *seed;
  unsigned int access;
  bloomery_spec spec = {.size = sizeof spec};
  bloomery_options options = {.size = sizeof options};
  if (!PyArg_ParseTuple(args, "OsO&I(" SPEC_FORMAT ")IIIO(" SCHEME_FORMAT "):make", &types, &how, PyUnicode_FSConverter,
                        &path, &access, SPEC_FIELDS(spec), &options.flags, &options.hash, &options.durability, &seed,
                        SCHEME_FIELDS(options)))
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
    filter = opened(location, access, &spec, &options, &error);
  PyEval_RestoreThread(thread);
  /* A reader of a file looks keys up in its mapping. */
  const int is_address = strstr(location, "://") != NULL;
  const int is_fast = strcmp(how, "new") == 0 || (strcmp(how, "open") == 0 && access == BLOOMERY_READ && !is_address);
  char *folder = is_address || *location == '/' || *location == 0 ? NULL : getcwd(NULL, 0);
  Py_DECREF(path);
  PyObject *made = wrapped(types, filter, is_fast, &error);
  if (!made) {
    free(folder);
  } else {
    ((Filter *)made)->folder = folder;
    ((Filter *)made)->is_alone = (char)is_address;
    ((Filter *)made)->is_rebuilt = strcmp(how, "rebuild") == 0;
  }
  return made;
}

PyObject *decode(PyObject *Py_UNUSED(module), PyObject *args) {
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

PyObject *filter_copy(PyObject *self, PyObject *Py_UNUSED(none)) {
  if (!is_whole((Filter *)self)) return NULL;
  bloomery_error error;
  const Held held = hold((Filter *)self, 0);
  bloomery_filter *copy = bloomery_copy(((Filter *)self)->filter, &error);
  release(held);
  if (!copy) return raise_error_of((Filter *)self, &error);
  PyObject *made = wrapped((PyObject *)Py_TYPE(self), copy, 1, &error);
  if (made) ((Filter *)made)->is_timed = ((Filter *)self)->is_timed;
  return made;
}

PyObject *solve(PyObject *Py_UNUSED(module), PyObject *args) {
  bloomery_spec spec = {.size = sizeof spec};
  if (!PyArg_ParseTuple(args, "(" SPEC_FORMAT "):solve", SPEC_FIELDS(spec))) return NULL;
  bloomery_plan plan = {.size = sizeof plan};
  bloomery_error error;
  if (bloomery_solve(&spec, &plan, &error) < 0) return raise_error(&error);
  return Py_BuildValue("{s:I,s:K,s:d,s:K,s:I,s:I,s:d}", "kind", plan.kind, "capacity", plan.capacity, "fpr", plan.fpr,
                       "bytes", plan.bytes, "hashes", plan.hashes, "layout", plan.layout, "bits_per_key",
                       plan.bits_per_key);
}

PyObject *predict(PyObject *Py_UNUSED(module), PyObject *args) {
  bloomery_spec spec = {.size = sizeof spec};
  double keys;
  if (!PyArg_ParseTuple(args, "(" SPEC_FORMAT ")d:predict", SPEC_FIELDS(spec), &keys)) return NULL;
  bloomery_error error;
  const double fpr = bloomery_predict(&spec, keys, &error);
  return fpr < 0 ? raise_error(&error) : PyFloat_FromDouble(fpr);
}
