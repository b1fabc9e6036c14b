/* The extension: what it registers, and what phpinfo() says. */
#include "php_bloomery.h"

#include <ext/spl/spl_exceptions.h>
#include <ext/standard/info.h>
#include <zend_attributes.h>
#include <zend_interfaces.h>

#include "bloomery_arginfo.h"

static PHP_MINIT_FUNCTION(bloomery) {
  bloomery_exception = register_class_Bloomery_Exception(spl_ce_RuntimeException);
  bloomery_plain = register_class_Bloomery_Filter(zend_ce_countable);
  bloomery_plain->create_object = bloomery_create_object;
  bloomery_counting = register_class_Bloomery_CountingFilter(bloomery_plain);
  bloomery_scalable = register_class_Bloomery_ScalableFilter(bloomery_plain);
  bloomery_window = register_class_Bloomery_WindowFilter(bloomery_plain);
  register_class_Bloomery_Legacy_BloomFilter()->create_object = bloomery_create_legacy;
  bloomery_legacy_redis = register_class_Bloomery_Legacy_BloomFilterRedis();
  bloomery_legacy_redis->create_object = bloomery_create_legacy;
  PHP_MINIT(bloomery_legacy)(INIT_FUNC_ARGS_PASSTHRU);
  return PHP_MINIT(bloomery_filters)(INIT_FUNC_ARGS_PASSTHRU) == SUCCESS
             ? PHP_MINIT(bloomery_attached)(INIT_FUNC_ARGS_PASSTHRU)
             : FAILURE;
}

static PHP_MINFO_FUNCTION(bloomery) {
  char attached[16];
  snprintf(attached, sizeof attached, "%u", bloomery_count_attached());
  php_info_print_table_start();
  php_info_print_table_row(2, "Bloom filters (Bloomery)", "enabled");
  php_info_print_table_row(2, "Version of the extension", ZEND_TOSTR(PHP_BLOOMERY_VERSION));
  php_info_print_table_row(2, "Version of libbloomery", bloomery_version());
  php_info_print_table_row(2, "Filters attached in this process", attached);
  php_info_print_table_end();
}

zend_module_entry bloomery_module_entry = {
    STANDARD_MODULE_HEADER,
    "bloomery",
    NULL,
    PHP_MINIT(bloomery),
    PHP_MSHUTDOWN(bloomery_attached),
    NULL,
    NULL,
    PHP_MINFO(bloomery),
    ZEND_TOSTR(PHP_BLOOMERY_VERSION),
    STANDARD_MODULE_PROPERTIES,
};

#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(bloomery)
