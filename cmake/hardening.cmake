# Makes memory errors harder to exploit, in everything that is shipped: tool, library, module.
#
# Stack canaries, checked calls of libc, function tables that are read-only once the program runs, a
# stack that cannot be executed, and random addresses at each start. These are the flags of Debian's
# `dpkg-buildflags` with hardening=+all (tests/package/hardening_test.py reads them off the binaries). A
# sanitizer finds the same mistakes itself, and checked calls would hide them from it.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

# bloomery_without_canaries(SOURCE...): for sources of the library with calls that take a few nanoseconds. A
# canary adds five instructions to each call.
function(bloomery_without_canaries)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY bloomery_objects PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -fno-stack-protector)
endfunction()

function(bloomery_harden target)
  if(BLOOMERY_SANITIZE)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fstack-protector-strong)
  # libc checks only optimized code, and warns in a build without optimization. A level that the user
  # sets stays.
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
