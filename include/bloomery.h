/* The C interface of Bloomery. Its declarations and their contracts are in bloomery/declarations.h. That file has no
 * lines for the preprocessor, so other languages can read it unchanged. */
#ifndef BLOOMERY_H
#define BLOOMERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions are visible symbols of a shared library, whatever visibility the including code has. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif
#include "bloomery/declarations.h"
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
