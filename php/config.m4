dnl phpize's way: with the installed libbloomery.so.0, which pkg-config finds as bloomery-c.
PHP_ARG_ENABLE([bloomery], [whether to enable Bloomery's filters],
  [AS_HELP_STRING([--enable-bloomery], [Enable Bloomery's filters])], [yes])

if test "$PHP_BLOOMERY" != "no"; then
  AC_PATH_PROG([PKG_CONFIG], [pkg-config], [no])
  if test "$PKG_CONFIG" = "no" || ! $PKG_CONFIG --exists bloomery-c; then
    AC_MSG_ERROR([libbloomery is not there: install libbloomery-dev, or run ./dev install, and pkg-config])
  fi
  BLOOMERY_VERSION=`$PKG_CONFIG --modversion bloomery-c`
  PHP_EVAL_INCLINE([`$PKG_CONFIG --cflags bloomery-c`])
  PHP_EVAL_LIBLINE([`$PKG_CONFIG --libs bloomery-c`], [BLOOMERY_SHARED_LIBADD])
  PHP_SUBST([BLOOMERY_SHARED_LIBADD])
  PHP_NEW_EXTENSION([bloomery], [attached.c bloomery.c bucket_address.c bytes.c errors.c filter.c keys.c legacy.c locations.c making.c measures.c options.c], [$ext_shared], ,
    [-DPHP_BLOOMERY_VERSION=$BLOOMERY_VERSION -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 -fvisibility=hidden])
fi
