/* Converts the options of a PHP array to the structs of the C interface. */
#include "php_bloomery.h"

const char *const bloomery_kinds[] = {"plain", "counting", "scalable", "window", "frozen", NULL};
const char *const bloomery_layouts[] = {"blocked", "blocked2", "standard", NULL};
static const char *const hashes[] = {"xxh3", "siphash", NULL};
static const char *const durabilities[] = {"sync", "process", "none", NULL};
const char *const bloomery_units[] = {"insertions", "seconds", NULL};

typedef enum { WORD, COUNT, LARGE_COUNT, FLAG, CLOCK, SEED } Form;

/* The numbers of a table's words are those of bloomery.h, from 1 on. */
static const struct option {
  const char *name;
  Form form;
  bool of_a_place;
  size_t at; /* in the request */
  const char *const *words;
  uint32_t flag;
} known[] = {
    {"kind", WORD, true, offsetof(bloomery_request, spec.kind), bloomery_kinds, 0},
    {"bits", LARGE_COUNT, false, offsetof(bloomery_request, spec.bits), NULL, 0},
    {"hashes", COUNT, false, offsetof(bloomery_request, spec.hashes), NULL, 0},
    {"layout", WORD, false, offsetof(bloomery_request, spec.layout), bloomery_layouts, 0},
    {"counter_bits", COUNT, false, offsetof(bloomery_request, spec.counter_bits), NULL, 0},
    {"growth", COUNT, false, offsetof(bloomery_request, spec.growth), NULL, 0},
    {"window", LARGE_COUNT, true, offsetof(bloomery_request, spec.window), NULL, 0},
    {"window_unit", WORD, false, offsetof(bloomery_request, spec.window_unit), bloomery_units, 0},
    {"slices", COUNT, false, offsetof(bloomery_request, spec.slices), NULL, 0},
    {"delta", LARGE_COUNT, false, offsetof(bloomery_request, spec.delta), NULL, 0},
    {"hash", WORD, false, offsetof(bloomery_request, options.hash), hashes, 0},
    {"durability", WORD, true, offsetof(bloomery_request, options.durability), durabilities, 0},
    {"random_seed", FLAG, false, offsetof(bloomery_request, options.flags), NULL, BLOOMERY_RANDOM_SEED},
    {"rotating", FLAG, true, offsetof(bloomery_request, options.flags), NULL, BLOOMERY_ROTATING},
    {"shared", FLAG, true, offsetof(bloomery_request, options.flags), NULL, BLOOMERY_SHARED},
    {"clock", CLOCK, false, offsetof(bloomery_request, clock), NULL, 0},
    {"seed", SEED, false, 0, NULL, 0},
};

const char *bloomery_word(const char *const *words, uint32_t number) {
  while (number > 1 && *words) ++words, --number;
  return number == 1 && *words ? *words : "";
}

void bloomery_ask(bloomery_request *request) {
  memset(request, 0, sizeof *request);
  request->spec.size = sizeof request->spec;
  request->options.size = sizeof request->options;
  request->clock = true;
}

bool bloomery_take_count(uint64_t *to, const char *name, zend_long value) {
  if (value < 1) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "%s is at least 1, and not " ZEND_LONG_FMT, name, value);
    return false;
  }
  *to = (uint64_t)value;
  return true;
}

static bool take_fpr(bloomery_request *request, double fpr) {
  /* For the C interface, 0 is a rate that follows from the other numbers. */
  if (fpr == 0) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT,
                    "a false-positive rate of 0 is impossible; give one from 1e-15 to 0.5");
    return false;
  }
  request->spec.fpr = fpr;
  return true;
}

bool bloomery_take_sizes(bloomery_request *request, const zend_long *capacity, const double *fpr) {
  return (!capacity || bloomery_take_count(&request->spec.capacity, "capacity", *capacity)) &&
         (!fpr || take_fpr(request, *fpr));
}

static bool take_word(uint32_t *to, const struct option *option, const zval *value) {
  if (Z_TYPE_P(value) == IS_STRING)
    for (uint32_t i = 0; option->words[i]; ++i)
      if (zend_string_equals_cstr(Z_STR_P(value), option->words[i], strlen(option->words[i]))) {
        *to = i + 1;
        return true;
      }
  char listed[128] = "";
  for (uint32_t i = 0; option->words[i]; ++i) {
    strlcat(listed, i ? ", " : "", sizeof listed);
    strlcat(listed, option->words[i], sizeof listed);
  }
  bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "%s is one of %s", option->name, listed);
  return false;
}

static bool take_seed(bloomery_request *request, const zval *value) {
  if (Z_TYPE_P(value) != IS_STRING || (Z_STRLEN_P(value) != 8 && Z_STRLEN_P(value) != 16)) {
    bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "seed is a string of 8 bytes (xxh3) or 16 (siphash)");
    return false;
  }
  request->options.seed_bytes = (uint32_t)Z_STRLEN_P(value);
  for (size_t i = 0; i < Z_STRLEN_P(value); ++i)
    request->options.seed[i / 8] |= (uint64_t)(unsigned char)Z_STRVAL_P(value)[i] << (i % 8 * 8);
  return true;
}

static bool take_option(bloomery_request *request, const struct option *option, const zval *value) {
  void *to = (char *)request + option->at;
  uint64_t count;
  switch (option->form) {
    case WORD:
      return take_word(to, option, value);
    case SEED:
      return take_seed(request, value);
    case COUNT:
    case LARGE_COUNT:
      if (Z_TYPE_P(value) != IS_LONG) {
        bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "%s is an integer", option->name);
        return false;
      }
      if (!bloomery_take_count(&count, option->name, Z_LVAL_P(value))) return false;
      if (option->form == LARGE_COUNT) {
        *(uint64_t *)to = count;
      } else if (count <= UINT32_MAX) {
        *(uint32_t *)to = (uint32_t)count;
      } else {
        bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "%s is at most %u", option->name, UINT32_MAX);
        return false;
      }
      return true;
    case FLAG:
    case CLOCK:
      if (Z_TYPE_P(value) != IS_TRUE && Z_TYPE_P(value) != IS_FALSE) {
        bloomery_refuse(BLOOMERY_INVALID_ARGUMENT, "%s is true or false", option->name);
        return false;
      }
      if (option->form == CLOCK)
        *(bool *)to = Z_TYPE_P(value) == IS_TRUE;
      else if (Z_TYPE_P(value) == IS_TRUE)
        *(uint32_t *)to |= option->flag;
      return true;
  }
  return false;
}

bool bloomery_take_options(bloomery_request *request, const HashTable *options, bool at_a_place) {
  zend_string *name;
  zval *value;
  ZEND_HASH_FOREACH_STR_KEY_VAL((HashTable *)options, name, value) {
    const struct option *option = NULL;
    for (size_t i = 0; name && i < sizeof known / sizeof *known; ++i)
      if (zend_string_equals_cstr(name, known[i].name, strlen(known[i].name))) option = &known[i];
    if (!option || (option->of_a_place && !at_a_place)) {
      bloomery_refuse_text(
          BLOOMERY_INVALID_ARGUMENT,
          option ? "the option '%s' is for open(); a filter in memory has it by its class, or not at all"
                 : "there is no option '%s'; check its name",
          name ? ZSTR_VAL(name) : "0");
      return false;
    }
    ZVAL_DEREF(value);
    if (!take_option(request, option, value)) return false;
  }
  ZEND_HASH_FOREACH_END();
  return true;
}
