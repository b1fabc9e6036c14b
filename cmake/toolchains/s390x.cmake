# IBM Z: big-endian, without any kernel but the scalar one.
set(processor s390x)
set(triplet s390x-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
