/* Handles whole filters by their locations: no object is made. */
#include "filter.h"

#include <stdlib.h>
#include <string.h>

/* The repr of a value, for a message: an address in a wrong place shows no password. */
PyObject *shown(PyObject *Py_UNUSED(module), PyObject *value) {
  PyObject *text = PyObject_Repr(value);
  PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL;
  Py_XDECREF(text);
  if (!bytes) return NULL;
  const size_t room = (size_t)PyBytes_Size(bytes) + 4;
  char *hidden = malloc(room);
  PyObject *result = NULL;
  if (hidden) {
    bloomery_hide_password(PyBytes_AsString(bytes), hidden, room);
    result = PyUnicode_DecodeUTF8(hidden, (Py_ssize_t)strlen(hidden), "replace");
  }
  Py_DECREF(bytes);
  if (!hidden) return PyErr_NoMemory();
  free(hidden);
  return result;
}

/* A call that answers yes or no of one location: its arguments are that and a scheme. */
static PyObject *of_location(PyObject *args, int (*call)(const char *, const bloomery_options *, bloomery_error *)) {
  PyObject *path;
  bloomery_options options = {.size = sizeof options};
  if (!PyArg_ParseTuple(args, "O&(" SCHEME_FORMAT ")", PyUnicode_FSConverter, &path, SCHEME_FIELDS(options)))
    return NULL;
  const char *location = PyBytes_AsString(path);
  bloomery_error error;
  PyThreadState *thread = PyEval_SaveThread();
  const int yes = call(location, &options, &error);
  PyEval_RestoreThread(thread);
  Py_DECREF(path);
  return yes < 0 ? raise_error(&error) : PyBool_FromLong(yes);
}

PyObject *rotate(PyObject *Py_UNUSED(module), PyObject *args) { return of_location(args, bloomery_rotate); }
PyObject *verify(PyObject *Py_UNUSED(module), PyObject *args) { return of_location(args, bloomery_verify); }

PyObject *convert(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *source, *out;
  bloomery_options options = {.size = sizeof options};
  if (!PyArg_ParseTuple(args, "O&O&I(" SCHEME_FORMAT "):convert", PyUnicode_FSConverter, &source, PyUnicode_FSConverter,
                        &out, &options.flags, SCHEME_FIELDS(options)))
    return NULL;
  const char *from = PyBytes_AsString(source), *to = PyBytes_AsString(out);
  bloomery_error error;
  PyThreadState *thread = PyEval_SaveThread();
  const int done = bloomery_convert(from, to, &options, &error);
  PyEval_RestoreThread(thread);
  Py_DECREF(source);
  Py_DECREF(out);
  if (done < 0) return raise_error(&error);
  Py_RETURN_NONE;
}

/* merge(sources, out, replace): sources is a tuple of bytes. */
PyObject *merge_locations(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *sources, *out;
  int replace;
  if (!PyArg_ParseTuple(args, "O!O&p:merge", &PyTuple_Type, &sources, PyUnicode_FSConverter, &out, &replace))
    return NULL;
  const Py_ssize_t count = PyTuple_Size(sources);
  const char **all = malloc(((size_t)count + 1) * sizeof *all);
  if (!all) {
    Py_DECREF(out);
    return PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    if (PyBytes_AsStringAndSize(PyTuple_GetItem(sources, i), (char **)&all[i], NULL) != 0) {
      free(all);
      Py_DECREF(out);
      return NULL;
    }
  const char *to = PyBytes_AsString(out);
  bloomery_error error;
  PyThreadState *thread = PyEval_SaveThread();
  const int done = bloomery_merge_locations(all, (size_t)count, to, replace, &error);
  PyEval_RestoreThread(thread);
  free(all);
  Py_DECREF(out);
  if (done < 0) return raise_error(&error);
  Py_RETURN_NONE;
}
