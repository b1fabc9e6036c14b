/* The C interface of Bloomery. Its declarations, and what each of them promises, are in
 * bloomery/declarations.h, which has no line for the preprocessor: other languages read it as it is. */
#ifndef BLOOMERY_H
#define BLOOMERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions are those of a shared library, whatever the visibility of what includes this. */
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
