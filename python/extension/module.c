/* The tables of the extension module bloomery._bloomery. */
#include "filter.h"

PyTypeObject *filter_type;

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
    {"_drop", filter_drop, METH_NOARGS, NULL},
    {"clear", filter_clear, METH_NOARGS, "clear($self)\n--\n\nForget every key of a filter in memory."},
    {"sync", filter_sync, METH_NOARGS, "sync($self)\n--\n\nMake every change so far survive a power loss."},
    {"close", filter_close, METH_NOARGS,
     "close($self)\n--\n\nMake every change durable and release the file or server. Look-ups in files still work."},
    {"reload", filter_reload, METH_NOARGS,
     "reload($self)\n--\n\nFor a reader: open the file that is at the path now. True: the filter may have changed."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef filter_getset[] = {
    {"name", filter_name, NULL, "The location, without a password.", NULL},
    {"_folder", filter_folder, NULL, NULL, NULL},
    {"_is_timed", filter_is_timed, NULL, NULL, NULL},
    {"_is_rebuilt", filter_is_rebuilt, NULL, NULL, NULL},
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
                                       {"rotate", rotate, METH_VARARGS, NULL},
                                       {"convert", convert, METH_VARARGS, NULL},
                                       {"merge", merge_locations, METH_VARARGS, NULL},
                                       {"verify", verify, METH_VARARGS, NULL},
                                       {"shown", shown, METH_O, NULL},
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
