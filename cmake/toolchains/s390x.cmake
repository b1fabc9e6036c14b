# IBM Z: big-endian, with only the scalar kernel.
set(processor s390x)
set(triplet s390x-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
