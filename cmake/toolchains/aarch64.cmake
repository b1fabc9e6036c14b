# 64-bit ARM: little-endian, with NEON kernels.
set(processor aarch64)
set(triplet aarch64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
