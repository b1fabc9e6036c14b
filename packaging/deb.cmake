# The .deb packages: bloomery (the tool), libbloomery0 (the C interface), libbloomery-dev,
# python3-bloomery, php-bloomery and redis-bloomery.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME bloomery)
set(CPACK_PACKAGE_CONTACT "The Bloomery authors <bloomery@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE ${PROJECT_HOMEPAGE_URL})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_COMPONENTS_ALL "")

# The documents that Debian asks of every package; only a package has them.
string(TIMESTAMP today "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT changelog.Debian @ONLY CONTENT
"bloomery (@PROJECT_VERSION@-@CPACK_DEBIAN_PACKAGE_RELEASE@) unstable; urgency=medium

  * What changed is in changelog.gz.

 -- @CPACK_PACKAGE_CONTACT@  @today@
")
foreach(changes ${PROJECT_SOURCE_DIR}/CHANGELOG.md=changelog.gz
                ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian=changelog.Debian.gz)
  string(REPLACE "=" ";" changes ${changes})
  list(GET changes 0 text)
  list(GET changes 1 packed)
  execute_process(COMMAND gzip -9nc ${text} OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/${packed}
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md)

string(REPLACE ": " ":\n" about "${PROJECT_DESCRIPTION}.")  # no line of a package's may be long
# deb_package(COMPONENT name section description): what goes for every package.
macro(deb_package component name section description)
  string(TOLOWER ${component} lower)
  list(APPEND CPACK_COMPONENTS_ALL ${lower})
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${component}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${component}_DESCRIPTION "${description}\n${about}")
  install(FILES copyright ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${lower} EXCLUDE_FROM_ALL)
endmacro()

deb_package(DEVELOPMENT libbloomery-dev libdevel
            "Bloom filters: headers, static library, CMake and pkg-config files")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS libsodium-dev)
if(BLOOMERY_REDIS)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libhiredis-dev, libssl-dev")
endif()
if(TARGET bloomery_c)
  deb_package(LIBRARY libbloomery0 libs "Bloom filters: the shared library for C")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
         ", libbloomery0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
endif()
if(TARGET bloomery_python)
  deb_package(PYTHON python3-bloomery python "Bloom filters: the package for Python")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= 3.11), libc6 (>= 2.34), libbloomery0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-numpy, python3-scrapy")
endif()
if(TARGET bloomery_php)
  deb_package(PHP php-bloomery php "Bloom filters: the extension of PHP")
  set(CPACK_DEBIAN_PHP_PACKAGE_SHLIBDEPS OFF)
  get_target_property(phpapi bloomery_php PHP_API)
  set(CPACK_DEBIAN_PHP_PACKAGE_DEPENDS
      "phpapi-${phpapi}, libc6 (>= 2.34), libbloomery0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_PHP_PACKAGE_SUGGESTS php-redis)
  set(control ${PROJECT_BINARY_DIR}/php/control)
  set(CPACK_DEBIAN_PHP_PACKAGE_CONTROL_EXTRA ${control}/conffiles ${control}/postinst ${control}/prerm)
endif()
if(TARGET bloomery_tool)
  deb_package(TOOL bloomery utils "remove the lines that came before, from streams of any size")
  set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
endif()
if(TARGET bloomery_module)
  deb_package(MODULE redis-bloomery database "Bloom filters inside Redis and Valkey: the commands BF.*")
  set(CPACK_DEBIAN_MODULE_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_MODULE_PACKAGE_SUGGESTS "redis-server (>= 5:7.0)")
endif()

include(CPack)
