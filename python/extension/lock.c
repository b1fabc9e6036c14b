/* The lock of a filter, and the errors of the C interface as exceptions. */
#include "filter.h"

#include <string.h>

PyObject *error_type;
unsigned forks;

PyObject *raise_error(const bloomery_error *error) {
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

PyObject *raise_error_of(Filter *self, const bloomery_error *error) {
  return is_whole(self) ? raise_error(error) : NULL;
}

void make_lock(Filter *self) {
  pthread_mutex_init(&self->door, NULL);
  pthread_rwlock_init(&self->lock, NULL);
}

Held hold(Filter *self, int writes) {
  writes |= self->is_alone;
  ++*(writes ? &self->writers : &self->readers);
  Held held = {self, PyEval_SaveThread(), writes};
  pthread_mutex_lock(&self->door);
  if (writes)
    pthread_rwlock_wrlock(&self->lock);
  else
    pthread_rwlock_rdlock(&self->lock);
  pthread_mutex_unlock(&self->door);
  return held;
}

void release(Held held) {
  pthread_rwlock_unlock(&held.self->lock);
  PyEval_RestoreThread(held.thread);
  --*(held.writes ? &held.self->writers : &held.self->readers);
}

/* In a child process no thread holds the locks that other threads held in the parent; a filter that one of them was
 * changing stays in the state of that moment. */
int is_whole_after_all(Filter *self) {
  if (!self->filter) {
    const bloomery_error error = {BLOOMERY_READ_ONLY,
                                  "the filter was given up, because the block that builds it failed"};
    raise_error(&error);
    return 0;
  }
  if (self->writers != 0) {
    const bloomery_error error = {BLOOMERY_INHERITED,
                                  "this process was forked while another thread changed the filter; make a new one"};
    raise_error(&error);
    return 0;
  }
  make_lock(self);
  self->readers = 0;
  self->forks = forks;
  return 1;
}
