# The .deb packages: bloomery, libbloomery and libbloomery-redis with the version of their interface,
# libbloomery-dev and redis-bloomery.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME bloomery)
set(CPACK_PACKAGE_CONTACT "The Bloomery authors <bloomery@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_COMPONENTS_ALL library development)
if(TARGET bloomery_tool)
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()

if(TARGET bloomery_module)
  list(APPEND CPACK_COMPONENTS_ALL module)
endif()
if(TARGET bloomery_redis_shared)
  list(APPEND CPACK_COMPONENTS_ALL redis)
  set(hiredis_dev ", libbloomery-redis${BLOOMERY_SOVERSION} (= ${PROJECT_VERSION}), libhiredis-dev")
endif()

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME bloomery)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_TOOL_DESCRIPTION "remove the lines that came before, from streams of any size")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libbloomery${BLOOMERY_SOVERSION})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Bloom filters in memory and in durable files, shared library")

# Its dependency on our own library is written by hand: no package of it is installed here.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_REDIS_PACKAGE_NAME libbloomery-redis${BLOOMERY_SOVERSION})
set(CPACK_DEBIAN_REDIS_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_REDIS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_REDIS_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_REDIS_PACKAGE_DEPENDS "libbloomery${BLOOMERY_SOVERSION} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_REDIS_DESCRIPTION "Bloom filters in plain Redis strings, shared library")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libbloomery-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libbloomery${BLOOMERY_SOVERSION} (= ${PROJECT_VERSION}), libsodium-dev${hiredis_dev}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Bloom filters: headers, static library, CMake and pkg-config files")

set(CPACK_DEBIAN_MODULE_PACKAGE_NAME redis-bloomery)
set(CPACK_DEBIAN_MODULE_PACKAGE_SECTION database)
set(CPACK_DEBIAN_MODULE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MODULE_PACKAGE_SUGGESTS "redis-server (>= 5:7.0)")
set(CPACK_COMPONENT_MODULE_DESCRIPTION "Bloom filters inside Redis and Valkey: the commands BF.*")

include(CPack)
