// The version of the library that a program was compiled against.
#pragma once

#define BLOOMERY_VERSION_MAJOR 0
#define BLOOMERY_VERSION_MINOR 1
#define BLOOMERY_VERSION_PATCH 0
#define BLOOMERY_VERSION "0.1.0"
