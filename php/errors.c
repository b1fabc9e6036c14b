/* The exception of every call, and the classes that calls name: what all other files of the extension stand on. */
#include "php_bloomery.h"

#include <stdarg.h>
#include <zend_exceptions.h>

zend_class_entry *bloomery_exception, *bloomery_plain, *bloomery_counting, *bloomery_scalable, *bloomery_window;

void bloomery_throw(const bloomery_error *error) {
  if (!EG(exception)) zend_throw_exception(bloomery_exception, error->text, error->code);
}

ZEND_COLD void bloomery_refuse(int code, const char *format, ...) {
  va_list list;
  va_start(list, format);
  zend_string *text = zend_vstrpprintf(0, format, list);
  va_end(list);
  zend_throw_exception(bloomery_exception, ZSTR_VAL(text), code);
  zend_string_release(text);
}

char *bloomery_shown(const char *text) {
  const size_t room = strlen(text) + 4;
  char *shown = emalloc(room);
  bloomery_hide_password(text, shown, room);
  return shown;
}

ZEND_COLD void bloomery_refuse_text(int code, const char *format, const char *text) {
  char *shown = bloomery_shown(text);
  bloomery_refuse(code, format, shown);
  efree(shown);
}
