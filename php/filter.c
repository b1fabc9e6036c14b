/* The objects of filters, and their methods for the whole filter. Others: making.c, locations.c, keys.c, measures.c and
 * bytes.c. */
#include "php_bloomery.h"

static zend_object_handlers handlers;

/* ---- objects ------------------------------------------------------------------------------------------------ */

zend_object *bloomery_create_object(zend_class_entry *type) {
  bloomery_object *self = zend_object_alloc(sizeof *self, type);
  self->filter = NULL;
  self->attached = NULL;
  self->timed = false;
  self->told = 0;
  zend_object_std_init(&self->std, type);
  object_properties_init(&self->std, type);
  self->std.handlers = &handlers;
  return &self->std;
}

void bloomery_let_go(bloomery_attached *attached) {
  if (--attached->users != 0) return;
  bloomery_free(attached->filter);
  pefree(attached, true);
}

static void let_go(bloomery_object *self) {
  if (self->attached)
    bloomery_let_go(self->attached);
  else
    bloomery_free(self->filter);
  self->filter = NULL;
  self->attached = NULL;
}

static void free_object(zend_object *object) {
  let_go(bloomery_of(object));
  zend_object_std_dtor(object);
}

static zend_object *clone_object(zend_object *object) {
  const bloomery_object *self = bloomery_of(object);
  zend_object *made = bloomery_create_object(object->ce);
  bloomery_object *copy = bloomery_of(made);
  bloomery_error error;
  if (self->filter && !(copy->filter = bloomery_copy(self->filter, &error))) {
    bloomery_throw(&error);
    zend_object_store_ctor_failed(made); /* its destructor would find half an object */
    return made;
  }
  copy->timed = self->timed;
  zend_objects_clone_members(made, object); /* last: it calls __clone, which may use the filter */
  return made;
}

PHP_MINIT_FUNCTION(bloomery_filters) {
  memcpy(&handlers, &std_object_handlers, sizeof handlers);
  handlers.offset = XtOffsetOf(bloomery_object, std);
  handlers.free_obj = free_object;
  handlers.clone_obj = clone_object;
  handlers.compare = zend_objects_not_comparable; /* PHP would compare their properties: they have none */
  return SUCCESS;
}

bool bloomery_nature_of(bloomery_filter *filter, bloomery_nature *nature) {
  bloomery_spec spec = {.size = sizeof spec};
  bloomery_error error;
  if (bloomery_get_spec(filter, &spec, &error) < 0) {
    bloomery_throw(&error);
    return false;
  }
  nature->kind = spec.kind;
  nature->by_seconds = spec.kind == BLOOMERY_WINDOW && spec.window_unit == BLOOMERY_SECONDS;
  return true;
}

zend_class_entry *bloomery_class_of(uint32_t kind) {
  switch (kind) {
    case BLOOMERY_COUNTING:
      return bloomery_counting;
    case BLOOMERY_SCALABLE:
      return bloomery_scalable;
    case BLOOMERY_WINDOW:
      return bloomery_window;
    default:
      return bloomery_plain;
  }
}

zend_class_entry *bloomery_base_of(const zend_class_entry *type) {
  return instanceof_function(type, bloomery_counting)   ? bloomery_counting
         : instanceof_function(type, bloomery_scalable) ? bloomery_scalable
         : instanceof_function(type, bloomery_window)   ? bloomery_window
                                                        : bloomery_plain;
}

void bloomery_wrap(zval *out, bloomery_filter *filter, bloomery_attached *attached, zend_class_entry *called,
                   bool clock) {
  bloomery_nature nature;
  if (attached) {
    nature = attached->nature;
  } else if (!bloomery_nature_of(filter, &nature)) {
    bloomery_free(filter);
    return;
  }
  zend_class_entry *type = bloomery_class_of(nature.kind);
  if (bloomery_base_of(called) == type) {
    type = called;
  } else if (called != bloomery_plain) {
    bloomery_refuse(BLOOMERY_WRONG_KIND, "%s: is a filter of the class %s, and not of %s; open it as that",
                    bloomery_name(filter), ZSTR_VAL(type->name), ZSTR_VAL(called->name));
    if (!attached) bloomery_free(filter);
    return;
  }
  if (object_init_ex(out, type) != SUCCESS) { /* a user's class is abstract */
    if (!attached) bloomery_free(filter);
    return;
  }
  bloomery_object *self = bloomery_of(Z_OBJ_P(out));
  self->filter = filter;
  self->timed = clock && nature.by_seconds;
  if ((self->attached = attached)) ++attached->users;
}

bool bloomery_make_ready(bloomery_object *self) {
  if (!self->filter) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "the filter has not been made; call parent::__construct()");
    return false;
  }
  const time_t now = time(NULL);
  if (now == self->told) return true;
  bloomery_error error;
  if (bloomery_advance(self->filter, now < 0 ? 0 : (uint64_t)now, &error) != 0) {
    bloomery_throw(&error);
    return false;
  }
  self->told = now;
  return true;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static void with_other(INTERNAL_FUNCTION_PARAMETERS,
                       int (*call)(bloomery_filter *, const bloomery_filter *, bloomery_error *)) {
  zval *other;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJECT_OF_CLASS(other, bloomery_plain)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_ready(ZEND_THIS), *from = self ? bloomery_ready(other) : NULL;
  bloomery_error error;
  if (from && call(self->filter, from->filter, &error) != 0) bloomery_throw(&error);
}

ZEND_METHOD(Bloomery_Filter, merge) { with_other(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_merge); }
ZEND_METHOD(Bloomery_Filter, intersect) { with_other(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_intersect); }

static void of_whole(INTERNAL_FUNCTION_PARAMETERS, int (*call)(bloomery_filter *, bloomery_error *)) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  bloomery_error error;
  if (self && call(self->filter, &error) != 0) bloomery_throw(&error);
}

ZEND_METHOD(Bloomery_Filter, clear) { of_whole(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_clear); }
ZEND_METHOD(Bloomery_Filter, sync) { of_whole(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_sync); }

ZEND_METHOD(Bloomery_Filter, close) {
  bloomery_object *self = bloomery_of(Z_OBJ_P(ZEND_THIS));
  if (self->attached) { /* the process owns it, so it stays open */
    ZEND_PARSE_PARAMETERS_NONE();
    return;
  }
  of_whole(INTERNAL_FUNCTION_PARAM_PASSTHRU, bloomery_close);
}

ZEND_METHOD(Bloomery_Filter, reload) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  if (!self) RETURN_THROWS();
  bloomery_error error;
  const int changed = bloomery_reload(self->filter, &error);
  if (changed < 0) return bloomery_throw(&error);
  self->told = 0;
  RETURN_BOOL(changed);
}

ZEND_METHOD(Bloomery_Filter, name) {
  ZEND_PARSE_PARAMETERS_NONE();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  if (!self) RETURN_THROWS();
  RETURN_STRING(bloomery_name(self->filter));
}

ZEND_METHOD(Bloomery_WindowFilter, advance) {
  zend_long now;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_LONG(now)
  ZEND_PARSE_PARAMETERS_END();
  bloomery_object *self = bloomery_ready(ZEND_THIS);
  uint64_t time;
  if (!self || !bloomery_take_count(&time, "now", now)) RETURN_THROWS();
  self->timed = false;
  bloomery_error error;
  if (bloomery_advance(self->filter, time, &error) != 0) bloomery_throw(&error);
}
