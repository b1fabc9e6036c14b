/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 4416ec81c1282c753fdf23f7f692a60c1b184866 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Bloomery_Filter___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, capacity, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, fpr, IS_DOUBLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Bloomery_Filter_open, 0, 1, Bloomery\\Filter, 0)
	ZEND_ARG_TYPE_INFO(0, location, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, mode, IS_STRING, 0, "\"r\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fpr, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Bloomery_Filter_rebuild, 0, 1, Bloomery\\Filter, 0)
	ZEND_ARG_TYPE_INFO(0, location, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fpr, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_rotate, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, location, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_convert, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, source, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, to, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, replace, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_mergeLocations, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, sources, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, to, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, replace, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

#define arginfo_class_Bloomery_Filter_verify arginfo_class_Bloomery_Filter_rotate

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_plan, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fpr, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_predictedFpr, 0, 1, IS_DOUBLE, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_DOUBLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fpr, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Bloomery_Filter_attach, 0, 1, Bloomery\\Filter, 0)
	ZEND_ARG_TYPE_INFO(0, location, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, writers, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fpr, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Bloomery_Filter_decode, 0, 1, Bloomery\\Filter, 0)
	ZEND_ARG_TYPE_INFO(0, bytes, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_add, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Bloomery_Filter_has arginfo_class_Bloomery_Filter_add

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_addInt, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_LONG, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Bloomery_Filter_hasInt arginfo_class_Bloomery_Filter_addInt

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_addMany, 0, 1, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(1, new, IS_ARRAY, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_hasMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_count, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_stats, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, exact, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_merge, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, other, Bloomery\\Filter, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Bloomery_Filter_intersect arginfo_class_Bloomery_Filter_merge

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_clear, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_encode, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, path, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Bloomery_Filter_sync arginfo_class_Bloomery_Filter_clear

#define arginfo_class_Bloomery_Filter_close arginfo_class_Bloomery_Filter_clear

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter_reload, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Bloomery_Filter_name arginfo_class_Bloomery_Filter_encode

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter___serialize, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Filter___unserialize, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, data, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Bloomery_CountingFilter_remove arginfo_class_Bloomery_Filter_add

#define arginfo_class_Bloomery_CountingFilter_removeInt arginfo_class_Bloomery_Filter_addInt

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_CountingFilter_removeMany, 0, 1, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(1, removed, IS_ARRAY, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Bloomery_WindowFilter___construct, 0, 0, 3)
	ZEND_ARG_TYPE_INFO(0, window, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, capacity, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, fpr, IS_DOUBLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_WindowFilter_advance, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, now, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Bloomery_Legacy_BloomFilter___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, m, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, n, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Legacy_BloomFilter_addKey, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Bloomery_Legacy_BloomFilter_existKey arginfo_class_Bloomery_Legacy_BloomFilter_addKey

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Bloomery_Legacy_BloomFilterRedis___construct, 0, 0, 0)
	ZEND_ARG_TYPE_MASK(0, config, MAY_BE_ARRAY|MAY_BE_OBJECT|MAY_BE_STRING, "[]")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, id, IS_MIXED, 0, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Legacy_BloomFilterRedis_add, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_MASK(0, string, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Legacy_BloomFilterRedis_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_MASK(0, string, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Bloomery_Legacy_BloomFilterRedis_rotate, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(Bloomery_Filter, __construct);
ZEND_METHOD(Bloomery_Filter, open);
ZEND_METHOD(Bloomery_Filter, rebuild);
ZEND_METHOD(Bloomery_Filter, rotate);
ZEND_METHOD(Bloomery_Filter, convert);
ZEND_METHOD(Bloomery_Filter, mergeLocations);
ZEND_METHOD(Bloomery_Filter, verify);
ZEND_METHOD(Bloomery_Filter, plan);
ZEND_METHOD(Bloomery_Filter, predictedFpr);
ZEND_METHOD(Bloomery_Filter, attach);
ZEND_METHOD(Bloomery_Filter, decode);
ZEND_METHOD(Bloomery_Filter, add);
ZEND_METHOD(Bloomery_Filter, has);
ZEND_METHOD(Bloomery_Filter, addInt);
ZEND_METHOD(Bloomery_Filter, hasInt);
ZEND_METHOD(Bloomery_Filter, addMany);
ZEND_METHOD(Bloomery_Filter, hasMany);
ZEND_METHOD(Bloomery_Filter, count);
ZEND_METHOD(Bloomery_Filter, stats);
ZEND_METHOD(Bloomery_Filter, merge);
ZEND_METHOD(Bloomery_Filter, intersect);
ZEND_METHOD(Bloomery_Filter, clear);
ZEND_METHOD(Bloomery_Filter, encode);
ZEND_METHOD(Bloomery_Filter, save);
ZEND_METHOD(Bloomery_Filter, sync);
ZEND_METHOD(Bloomery_Filter, close);
ZEND_METHOD(Bloomery_Filter, reload);
ZEND_METHOD(Bloomery_Filter, name);
ZEND_METHOD(Bloomery_Filter, __serialize);
ZEND_METHOD(Bloomery_Filter, __unserialize);
ZEND_METHOD(Bloomery_CountingFilter, remove);
ZEND_METHOD(Bloomery_CountingFilter, removeInt);
ZEND_METHOD(Bloomery_CountingFilter, removeMany);
ZEND_METHOD(Bloomery_WindowFilter, __construct);
ZEND_METHOD(Bloomery_WindowFilter, advance);
ZEND_METHOD(Bloomery_Legacy_BloomFilter, __construct);
ZEND_METHOD(Bloomery_Legacy_BloomFilter, addKey);
ZEND_METHOD(Bloomery_Legacy_BloomFilter, existKey);
ZEND_METHOD(Bloomery_Legacy_BloomFilterRedis, __construct);
ZEND_METHOD(Bloomery_Legacy_BloomFilterRedis, add);
ZEND_METHOD(Bloomery_Legacy_BloomFilterRedis, exists);
ZEND_METHOD(Bloomery_Legacy_BloomFilterRedis, rotate);


static const zend_function_entry class_Bloomery_Exception_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Bloomery_Filter_methods[] = {
	ZEND_ME(Bloomery_Filter, __construct, arginfo_class_Bloomery_Filter___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, open, arginfo_class_Bloomery_Filter_open, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, rebuild, arginfo_class_Bloomery_Filter_rebuild, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, rotate, arginfo_class_Bloomery_Filter_rotate, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, convert, arginfo_class_Bloomery_Filter_convert, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, mergeLocations, arginfo_class_Bloomery_Filter_mergeLocations, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, verify, arginfo_class_Bloomery_Filter_verify, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, plan, arginfo_class_Bloomery_Filter_plan, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, predictedFpr, arginfo_class_Bloomery_Filter_predictedFpr, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, attach, arginfo_class_Bloomery_Filter_attach, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, decode, arginfo_class_Bloomery_Filter_decode, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Bloomery_Filter, add, arginfo_class_Bloomery_Filter_add, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, has, arginfo_class_Bloomery_Filter_has, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, addInt, arginfo_class_Bloomery_Filter_addInt, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, hasInt, arginfo_class_Bloomery_Filter_hasInt, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, addMany, arginfo_class_Bloomery_Filter_addMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, hasMany, arginfo_class_Bloomery_Filter_hasMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, count, arginfo_class_Bloomery_Filter_count, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, stats, arginfo_class_Bloomery_Filter_stats, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, merge, arginfo_class_Bloomery_Filter_merge, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, intersect, arginfo_class_Bloomery_Filter_intersect, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, clear, arginfo_class_Bloomery_Filter_clear, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, encode, arginfo_class_Bloomery_Filter_encode, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, save, arginfo_class_Bloomery_Filter_save, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, sync, arginfo_class_Bloomery_Filter_sync, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, close, arginfo_class_Bloomery_Filter_close, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, reload, arginfo_class_Bloomery_Filter_reload, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, name, arginfo_class_Bloomery_Filter_name, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, __serialize, arginfo_class_Bloomery_Filter___serialize, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Filter, __unserialize, arginfo_class_Bloomery_Filter___unserialize, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Bloomery_CountingFilter_methods[] = {
	ZEND_ME(Bloomery_CountingFilter, remove, arginfo_class_Bloomery_CountingFilter_remove, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_CountingFilter, removeInt, arginfo_class_Bloomery_CountingFilter_removeInt, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_CountingFilter, removeMany, arginfo_class_Bloomery_CountingFilter_removeMany, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Bloomery_ScalableFilter_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Bloomery_WindowFilter_methods[] = {
	ZEND_ME(Bloomery_WindowFilter, __construct, arginfo_class_Bloomery_WindowFilter___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_WindowFilter, advance, arginfo_class_Bloomery_WindowFilter_advance, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Bloomery_Legacy_BloomFilter_methods[] = {
	ZEND_ME(Bloomery_Legacy_BloomFilter, __construct, arginfo_class_Bloomery_Legacy_BloomFilter___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Legacy_BloomFilter, addKey, arginfo_class_Bloomery_Legacy_BloomFilter_addKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Legacy_BloomFilter, existKey, arginfo_class_Bloomery_Legacy_BloomFilter_existKey, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Bloomery_Legacy_BloomFilterRedis_methods[] = {
	ZEND_ME(Bloomery_Legacy_BloomFilterRedis, __construct, arginfo_class_Bloomery_Legacy_BloomFilterRedis___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Legacy_BloomFilterRedis, add, arginfo_class_Bloomery_Legacy_BloomFilterRedis_add, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Legacy_BloomFilterRedis, exists, arginfo_class_Bloomery_Legacy_BloomFilterRedis_exists, ZEND_ACC_PUBLIC)
	ZEND_ME(Bloomery_Legacy_BloomFilterRedis, rotate, arginfo_class_Bloomery_Legacy_BloomFilterRedis_rotate, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Bloomery_Exception(zend_class_entry *class_entry_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Bloomery", "Exception", class_Bloomery_Exception_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);

	zval const_INVALID_ARGUMENT_value;
	ZVAL_LONG(&const_INVALID_ARGUMENT_value, BLOOMERY_INVALID_ARGUMENT);
	zend_string *const_INVALID_ARGUMENT_name = zend_string_init_interned("INVALID_ARGUMENT", sizeof("INVALID_ARGUMENT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_INVALID_ARGUMENT_name, &const_INVALID_ARGUMENT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_INVALID_ARGUMENT_name);

	zval const_TOO_LARGE_value;
	ZVAL_LONG(&const_TOO_LARGE_value, BLOOMERY_TOO_LARGE);
	zend_string *const_TOO_LARGE_name = zend_string_init_interned("TOO_LARGE", sizeof("TOO_LARGE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_TOO_LARGE_name, &const_TOO_LARGE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_TOO_LARGE_name);

	zval const_NO_MEMORY_value;
	ZVAL_LONG(&const_NO_MEMORY_value, BLOOMERY_NO_MEMORY);
	zend_string *const_NO_MEMORY_name = zend_string_init_interned("NO_MEMORY", sizeof("NO_MEMORY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_NO_MEMORY_name, &const_NO_MEMORY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_NO_MEMORY_name);

	zval const_MISMATCH_value;
	ZVAL_LONG(&const_MISMATCH_value, BLOOMERY_MISMATCH);
	zend_string *const_MISMATCH_name = zend_string_init_interned("MISMATCH", sizeof("MISMATCH") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_MISMATCH_name, &const_MISMATCH_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_MISMATCH_name);

	zval const_NOT_A_FILTER_value;
	ZVAL_LONG(&const_NOT_A_FILTER_value, BLOOMERY_NOT_A_FILTER);
	zend_string *const_NOT_A_FILTER_name = zend_string_init_interned("NOT_A_FILTER", sizeof("NOT_A_FILTER") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_NOT_A_FILTER_name, &const_NOT_A_FILTER_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_NOT_A_FILTER_name);

	zval const_NEWER_FORMAT_value;
	ZVAL_LONG(&const_NEWER_FORMAT_value, BLOOMERY_NEWER_FORMAT);
	zend_string *const_NEWER_FORMAT_name = zend_string_init_interned("NEWER_FORMAT", sizeof("NEWER_FORMAT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_NEWER_FORMAT_name, &const_NEWER_FORMAT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_NEWER_FORMAT_name);

	zval const_EXISTS_value;
	ZVAL_LONG(&const_EXISTS_value, BLOOMERY_EXISTS);
	zend_string *const_EXISTS_name = zend_string_init_interned("EXISTS", sizeof("EXISTS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_EXISTS_name, &const_EXISTS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_EXISTS_name);

	zval const_WRONG_KIND_value;
	ZVAL_LONG(&const_WRONG_KIND_value, BLOOMERY_WRONG_KIND);
	zend_string *const_WRONG_KIND_name = zend_string_init_interned("WRONG_KIND", sizeof("WRONG_KIND") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_WRONG_KIND_name, &const_WRONG_KIND_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_WRONG_KIND_name);

	zval const_CORRUPT_value;
	ZVAL_LONG(&const_CORRUPT_value, BLOOMERY_CORRUPT);
	zend_string *const_CORRUPT_name = zend_string_init_interned("CORRUPT", sizeof("CORRUPT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_CORRUPT_name, &const_CORRUPT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_CORRUPT_name);

	zval const_UNCLEAN_value;
	ZVAL_LONG(&const_UNCLEAN_value, BLOOMERY_UNCLEAN);
	zend_string *const_UNCLEAN_name = zend_string_init_interned("UNCLEAN", sizeof("UNCLEAN") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_UNCLEAN_name, &const_UNCLEAN_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_UNCLEAN_name);

	zval const_LOCKED_value;
	ZVAL_LONG(&const_LOCKED_value, BLOOMERY_LOCKED);
	zend_string *const_LOCKED_name = zend_string_init_interned("LOCKED", sizeof("LOCKED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_LOCKED_name, &const_LOCKED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_LOCKED_name);

	zval const_READ_ONLY_value;
	ZVAL_LONG(&const_READ_ONLY_value, BLOOMERY_READ_ONLY);
	zend_string *const_READ_ONLY_name = zend_string_init_interned("READ_ONLY", sizeof("READ_ONLY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_READ_ONLY_name, &const_READ_ONLY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_READ_ONLY_name);

	zval const_IO_value;
	ZVAL_LONG(&const_IO_value, BLOOMERY_IO);
	zend_string *const_IO_name = zend_string_init_interned("IO", sizeof("IO") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_IO_name, &const_IO_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_IO_name);

	zval const_NO_SPACE_value;
	ZVAL_LONG(&const_NO_SPACE_value, BLOOMERY_NO_SPACE);
	zend_string *const_NO_SPACE_name = zend_string_init_interned("NO_SPACE", sizeof("NO_SPACE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_NO_SPACE_name, &const_NO_SPACE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_NO_SPACE_name);

	zval const_POISONED_value;
	ZVAL_LONG(&const_POISONED_value, BLOOMERY_POISONED);
	zend_string *const_POISONED_name = zend_string_init_interned("POISONED", sizeof("POISONED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_POISONED_name, &const_POISONED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_POISONED_name);

	zval const_UNAVAILABLE_value;
	ZVAL_LONG(&const_UNAVAILABLE_value, BLOOMERY_UNAVAILABLE);
	zend_string *const_UNAVAILABLE_name = zend_string_init_interned("UNAVAILABLE", sizeof("UNAVAILABLE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_UNAVAILABLE_name, &const_UNAVAILABLE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_UNAVAILABLE_name);

	zval const_DENIED_value;
	ZVAL_LONG(&const_DENIED_value, BLOOMERY_DENIED);
	zend_string *const_DENIED_name = zend_string_init_interned("DENIED", sizeof("DENIED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_DENIED_name, &const_DENIED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_DENIED_name);

	zval const_MISSING_value;
	ZVAL_LONG(&const_MISSING_value, BLOOMERY_MISSING);
	zend_string *const_MISSING_name = zend_string_init_interned("MISSING", sizeof("MISSING") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_MISSING_name, &const_MISSING_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_MISSING_name);

	zval const_INHERITED_value;
	ZVAL_LONG(&const_INHERITED_value, BLOOMERY_INHERITED);
	zend_string *const_INHERITED_name = zend_string_init_interned("INHERITED", sizeof("INHERITED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_INHERITED_name, &const_INHERITED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_INHERITED_name);

	zval const_INTERNAL_value;
	ZVAL_LONG(&const_INTERNAL_value, BLOOMERY_INTERNAL);
	zend_string *const_INTERNAL_name = zend_string_init_interned("INTERNAL", sizeof("INTERNAL") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_INTERNAL_name, &const_INTERNAL_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_INTERNAL_name);

	return class_entry;
}

static zend_class_entry *register_class_Bloomery_Filter(zend_class_entry *class_entry_Countable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Bloomery", "Filter", class_Bloomery_Filter_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	zend_class_implements(class_entry, 1, class_entry_Countable);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "open", sizeof("open") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "rebuild", sizeof("rebuild") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "rotate", sizeof("rotate") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "convert", sizeof("convert") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "convert", sizeof("convert") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "mergelocations", sizeof("mergelocations") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "mergelocations", sizeof("mergelocations") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "verify", sizeof("verify") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "attach", sizeof("attach") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "save", sizeof("save") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Bloomery_CountingFilter(zend_class_entry *class_entry_Bloomery_Filter)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Bloomery", "CountingFilter", class_Bloomery_CountingFilter_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Bloomery_Filter);

	return class_entry;
}

static zend_class_entry *register_class_Bloomery_ScalableFilter(zend_class_entry *class_entry_Bloomery_Filter)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Bloomery", "ScalableFilter", class_Bloomery_ScalableFilter_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Bloomery_Filter);

	return class_entry;
}

static zend_class_entry *register_class_Bloomery_WindowFilter(zend_class_entry *class_entry_Bloomery_Filter)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Bloomery", "WindowFilter", class_Bloomery_WindowFilter_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Bloomery_Filter);

	return class_entry;
}

static zend_class_entry *register_class_Bloomery_Legacy_BloomFilter(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Bloomery\\Legacy", "BloomFilter", class_Bloomery_Legacy_BloomFilter_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Bloomery_Legacy_BloomFilterRedis(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Bloomery\\Legacy", "BloomFilterRedis", class_Bloomery_Legacy_BloomFilterRedis_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_ABSTRACT|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_bucket_default_value;
	ZVAL_NULL(&property_bucket_default_value);
	zend_string *property_bucket_name = zend_string_init("bucket", sizeof("bucket") - 1, 1);
	zend_declare_property_ex(class_entry, property_bucket_name, &property_bucket_default_value, ZEND_ACC_PROTECTED, NULL);
	zend_string_release(property_bucket_name);

	zval property_hashFunction_default_value;
	ZVAL_NULL(&property_hashFunction_default_value);
	zend_string *property_hashFunction_name = zend_string_init("hashFunction", sizeof("hashFunction") - 1, 1);
	zend_declare_property_ex(class_entry, property_hashFunction_name, &property_hashFunction_default_value, ZEND_ACC_PROTECTED, NULL);
	zend_string_release(property_hashFunction_name);

	zval property_rotating_default_value;
	ZVAL_FALSE(&property_rotating_default_value);
	zend_string *property_rotating_name = zend_string_init("rotating", sizeof("rotating") - 1, 1);
	zend_declare_property_ex(class_entry, property_rotating_name, &property_rotating_default_value, ZEND_ACC_PROTECTED, NULL);
	zend_string_release(property_rotating_name);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
