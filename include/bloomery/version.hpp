// The version of the library that a program is compiled against, and a check for C++20, exceptions and 64 bits. The
// build and the packages take their version from the three numbers here. (clang with libc++ needs libc++ 19 or later.)
// A file of its own, which includes nothing, so that every other header can include it.
#pragma once

#if __cplusplus < 202002L
#error "Bloomery needs C++20: compile with -std=c++20 (g++ 12 or later, clang 14 or later)"
#endif
#if !defined(__cpp_exceptions)
#error "Bloomery reports errors by exceptions: compile without -fno-exceptions"
#endif
#if !defined(__SIZEOF_INT128__)
#error "Bloomery is for 64-bit CPUs: compile without -m32"
#endif

#define BLOOMERY_VERSION_MAJOR 0
#define BLOOMERY_VERSION_MINOR 1
#define BLOOMERY_VERSION_PATCH 0

#define BLOOMERY_DETAIL_TEXT(number) #number
#define BLOOMERY_DETAIL_DOTTED(major, minor, patch) \
  BLOOMERY_DETAIL_TEXT(major) "." BLOOMERY_DETAIL_TEXT(minor) "." BLOOMERY_DETAIL_TEXT(patch)
// "major.minor.patch"
#define BLOOMERY_VERSION \
  BLOOMERY_DETAIL_DOTTED(BLOOMERY_VERSION_MAJOR, BLOOMERY_VERSION_MINOR, BLOOMERY_VERSION_PATCH)
