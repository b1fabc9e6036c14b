# A Debian cross compiler, a sysroot of unpacked Debian packages, and qemu-user to run things.
#
# Include it with `triplet` and `processor` set. The sysroot (tools/cross.sh makes it) holds
# our dependencies only; the compiler brings its own libc.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${processor})
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_CXX_COMPILER ${triplet}-g++)

get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../../build/sysroot-${processor} ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${sysroot} /usr/${triplet})
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${sysroot}/usr/lib/${triplet}/pkgconfig:${sysroot}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})

set(CMAKE_C_FLAGS_INIT "-isystem ${sysroot}/usr/include -isystem ${sysroot}/usr/include/${triplet}")
set(CMAKE_CXX_FLAGS_INIT "-isystem ${sysroot}/usr/include -isystem ${sysroot}/usr/include/${triplet}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${sysroot}/usr/lib/${triplet}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-L${sysroot}/usr/lib/${triplet}")
# The loader and libc come from the compiler's package, our dependencies from the sysroot.
set(CMAKE_BUILD_RPATH ${sysroot}/usr/lib/${triplet})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${processor}-static -L /usr/${triplet})
