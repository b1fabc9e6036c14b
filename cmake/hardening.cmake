# What makes a mistake in memory harder to use, for all that is shipped: tool, library, module.
#
# Stack canaries, checked calls of libc, tables of functions that are read-only once the program runs, no
# stack that can be executed, and a place in memory that is drawn at each start. These are the flags of
# Debian's `dpkg-buildflags` with hardening=+all (tests/package/hardening_test.py reads them off the
# binaries). A sanitizer finds the same mistakes itself, and checked calls would hide them from it.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

# bloomery_without_canaries(SOURCE...): of the library, for calls that take a few nanoseconds. A canary is five
# instructions more for each.
function(bloomery_without_canaries)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY bloomery_objects PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -fno-stack-protector)
endfunction()

function(bloomery_harden target)
  if(BLOOMERY_SANITIZE)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fstack-protector-strong)
  # libc checks only what is optimized, and warns where nothing is. Who builds with a level of their own
  # keeps it.
  if(NOT CMAKE_CXX_FLAGS MATCHES "_FORTIFY_SOURCE")
    target_compile_options(${target} PRIVATE
      "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  get_target_property(type ${target} TYPE)
  if(type MATCHES "EXECUTABLE|MODULE_LIBRARY|SHARED_LIBRARY")
    target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  endif()
endfunction()
