/* The methods of keys: one at a time, and many at a time. */
#include "php_bloomery.h"

#include <ext/spl/spl_iterators.h>
#include <zend_interfaces.h>

/* ---- one key ---------------------------------------------------------------------------------------------------- */

typedef int (*one_call)(bloomery_filter *, const void *, size_t, bloomery_error *);
typedef int (*integer_call)(bloomery_filter *, uint64_t, bloomery_error *);
typedef int64_t (*many_call)(bloomery_filter *, const void *const *, const size_t *, size_t, bool *, bloomery_error *);

/* Inlined, so that each method calls its library function directly, not through a pointer. */
static zend_always_inline void one_key(INTERNAL_FUNCTION_PARAMETERS, one_call call) {
  zend_string *text;
  zend_long integer;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    BLOOMERY_PARAM_KEY(text, integer)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  if (UNEXPECTED(!self)) RETURN_THROWS();
  char digits[MAX_LENGTH_OF_LONG];
  const char *key = digits;
  size_t size;
  if (EXPECTED(text)) {
    key = ZSTR_VAL(text);
    size = ZSTR_LEN(text);
  } else {
    char *end = digits + sizeof digits;
    key = zend_print_long_to_buf(end - 1, integer);
    size = (size_t)(end - 1 - key);
  }
  bloomery_error error;
  const int yes = call(self->filter, key, size, &error);
  if (UNEXPECTED(yes < 0)) return bloomery_throw(&error);
  RETURN_BOOL(yes);
}

static zend_always_inline void one_integer(INTERNAL_FUNCTION_PARAMETERS, integer_call call) {
  zend_long key;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_LONG(key)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  if (UNEXPECTED(!self)) RETURN_THROWS();
  bloomery_error error;
  const int yes = call(self->filter, (uint64_t)key, &error);
  if (UNEXPECTED(yes < 0)) return bloomery_throw(&error);
  RETURN_BOOL(yes);
}

ZEND_METHOD(Bloomery_Filter, add) { one_key(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_insert); }
ZEND_METHOD(Bloomery_Filter, has) { one_key(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_contains); }
ZEND_METHOD(Bloomery_CountingFilter, remove) { one_key(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_remove); }
ZEND_METHOD(Bloomery_Filter, addInt) { one_integer(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_insert_u64); }
ZEND_METHOD(Bloomery_Filter, hasInt) { one_integer(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_contains_u64); }
ZEND_METHOD(Bloomery_CountingFilter, removeInt) { one_integer(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_remove_u64); }

/* ---- many keys ------------------------------------------------------------------------------------------------- */

/* For a file or a server each call is a commit or a round trip; this many keys go into one call. */
enum { PART = 65536 };

/* Keys that are gathered and then passed to the library, a part at a time. */
typedef struct {
  bloomery_object *self;
  many_call call;
  HashTable *answers_to; /* NULL: the caller wants only their number */
  size_t count, room;
  const void **keys;
  size_t *sizes;
  zend_string **held; /* the strings that the keys point into */
  zval *names;        /* the array keys of the answers */
  bool *answers;
  int64_t yes;
} Batch;

static void make_room(Batch *batch, size_t room) {
  batch->room = room;
  batch->keys = safe_erealloc(batch->keys, room, sizeof *batch->keys, 0);
  batch->sizes = safe_erealloc(batch->sizes, room, sizeof *batch->sizes, 0);
  batch->held = safe_erealloc(batch->held, room, sizeof *batch->held, 0);
  if (!batch->answers_to) return;
  batch->names = safe_erealloc(batch->names, room, sizeof *batch->names, 0);
  batch->answers = safe_erealloc(batch->answers, room, sizeof *batch->answers, 0);
}

static void drop_keys(Batch *batch) {
  for (size_t i = 0; i < batch->count; ++i) {
    zend_string_release(batch->held[i]);
    if (batch->names) zval_ptr_dtor_nogc(&batch->names[i]);
  }
  batch->count = 0;
}

static void free_batch(Batch *batch) {
  drop_keys(batch);
  if (batch->keys) efree(batch->keys);
  if (batch->sizes) efree(batch->sizes);
  if (batch->held) efree(batch->held);
  if (batch->names) efree(batch->names);
  if (batch->answers) efree(batch->answers);
}

/* An iterator may take longer than a window: the keys come at the time when they are passed to the library. */
static bool apply(Batch *batch) {
  bloomery_object *self = batch->self;
  if (self->timed && !bloomery_make_ready(self)) return false;
  bloomery_error error;
  const int64_t yes = batch->count == 0 ? 0
                                        : batch->call(self->filter, batch->keys, batch->sizes, batch->count,
                                                      batch->answers, &error);
  if (yes < 0) {
    bloomery_throw(&error);
    return false;
  }
  batch->yes += yes;
  for (size_t i = 0; batch->answers_to && i < batch->count; ++i) {
    zval answer;
    ZVAL_BOOL(&answer, batch->answers[i]);
    array_set_zval_key(batch->answers_to, &batch->names[i], &answer);
  }
  drop_keys(batch);
  return true;
}

/* name: the array key of the answer. */
static bool take_key(Batch *batch, zval *key, zval *name) {
  ZVAL_DEREF(key);
  if (Z_TYPE_P(key) != IS_STRING && Z_TYPE_P(key) != IS_LONG) {
    zend_type_error("a key is a string or an integer, %s given", zend_zval_type_name(key));
    return false;
  }
  if (batch->count == PART && !apply(batch)) return false;
  if (batch->count == batch->room) make_room(batch, batch->room == 0 ? 64 : 2 * batch->room);
  zend_string *held = zval_get_string(key);
  batch->held[batch->count] = held;
  batch->keys[batch->count] = ZSTR_VAL(held);
  batch->sizes[batch->count] = ZSTR_LEN(held);
  if (batch->names) ZVAL_COPY(&batch->names[batch->count], name);
  ++batch->count;
  return true;
}

static bool take_array(Batch *batch, HashTable *keys) {
  zend_ulong index;
  zend_string *text;
  zval *key, name;
  if (zend_hash_num_elements(keys) != 0) make_room(batch, MIN((size_t)zend_hash_num_elements(keys), (size_t)PART));
  ZEND_HASH_FOREACH_KEY_VAL(keys, index, text, key) {
    if (text)
      ZVAL_STR(&name, text);
    else
      ZVAL_LONG(&name, (zend_long)index);
    if (!take_key(batch, key, &name)) return false;
  }
  ZEND_HASH_FOREACH_END();
  return true;
}

static int take_from_iterator(zend_object_iterator *iterator, void *given) {
  zval *key = iterator->funcs->get_current_data(iterator), name;
  if (!key || EG(exception)) return ZEND_HASH_APPLY_STOP;
  ZVAL_LONG(&name, (zend_long)iterator->index);
  const bool is_named = ((Batch *)given)->answers_to && iterator->funcs->get_current_key;
  if (is_named) iterator->funcs->get_current_key(iterator, &name);
  const bool may_be_name = Z_TYPE(name) == IS_STRING || Z_TYPE(name) == IS_LONG;
  if (!EG(exception) && !may_be_name) zend_type_error("the key of an answer is a string or an integer");
  if (!EG(exception)) take_key(given, key, &name);
  zval_ptr_dtor(&name);
  return EG(exception) ? ZEND_HASH_APPLY_STOP : ZEND_HASH_APPLY_KEEP;
}

static bool take_all(Batch *batch, zval *keys) {
  if (Z_TYPE_P(keys) == IS_ARRAY) return take_array(batch, Z_ARRVAL_P(keys)) && apply(batch);
  return spl_iterator_apply(keys, take_from_iterator, batch) == SUCCESS && !EG(exception) && apply(batch);
}

/* Returns the number, with the answers in a variable of the caller if it gives one; or returns the answers. */
static void many_keys(INTERNAL_FUNCTION_PARAMETERS, many_call call, bool gives_answers) {
  zval *keys, *variable = NULL;
  ZEND_PARSE_PARAMETERS_START(1, gives_answers ? 1 : 2)
    Z_PARAM_ITERABLE(keys)
    if (!gives_answers) {
      Z_PARAM_OPTIONAL
      Z_PARAM_ZVAL(variable)
    }
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  if (!self) RETURN_THROWS();
  zval answers;
  ZVAL_UNDEF(&answers);
  if (gives_answers || variable) array_init(&answers);
  /* An iterator may release the object or the array. */
  zval kept, kept_keys;
  ZVAL_COPY(&kept, ZEND_THIS);
  ZVAL_COPY(&kept_keys, keys);
  Batch batch = {.self = self, .call = call};
  batch.answers_to = Z_TYPE(answers) == IS_ARRAY ? Z_ARRVAL(answers) : NULL;
  const bool done = take_all(&batch, &kept_keys);
  free_batch(&batch);
  zval_ptr_dtor(&kept_keys);
  zval_ptr_dtor(&kept);
  if (!done) {
    zval_ptr_dtor(&answers);
    RETURN_THROWS();
  }
  if (gives_answers) RETURN_COPY_VALUE(&answers);
  if (variable) ZEND_TRY_ASSIGN_REF_ARR(variable, Z_ARRVAL(answers));
  RETURN_LONG((zend_long)batch.yes);
}

ZEND_METHOD(Bloomery_Filter, addMany) {
  many_keys(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_insert_many, false);
}
ZEND_METHOD(Bloomery_Filter, hasMany) {
  many_keys(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_contains_many, true);
}
ZEND_METHOD(Bloomery_CountingFilter, removeMany) {
  many_keys(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_remove_many, false);
}
