/* Many keys in one call: fingerprints of 16 bytes, answered in an array; then what is known of the filter. */
#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 100000, WIDTH = 16 };

int main(void) {
  static unsigned char fingerprints[KEYS][WIDTH];
  static bool known[KEYS];
  uint64_t state = 1;
  for (size_t i = 0; i < KEYS; ++i)
    for (size_t j = 0; j < WIDTH; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      fingerprints[i][j] = (unsigned char)(state >> 56);
    }
  bloomery_error error;
  const bloomery_spec spec = {.size = sizeof spec, .capacity = KEYS, .fpr = 0.001};
  bloomery_filter *filter = bloomery_new(&spec, NULL, &error);
  bloomery_stats stats = {.size = sizeof stats};
  if (filter == NULL ||
      bloomery_insert_fixed(filter, fingerprints, WIDTH, KEYS / 2, NULL, &error) < 0 ||
      bloomery_contains_fixed(filter, fingerprints, WIDTH, KEYS, known, &error) < 0 ||
      bloomery_get_stats(filter, true, &stats, &error) != 0) {
    fprintf(stderr, "%s\n", error.text);
    return EXIT_FAILURE;
  }
  size_t missed = 0, wrong = 0;
  for (size_t i = 0; i < KEYS; ++i) {
    missed += i < KEYS / 2 && !known[i];
    wrong += i >= KEYS / 2 && known[i];
  }
  printf("%zu of %d missed, %s than 0.1 %% of the others wrong\n", missed, KEYS / 2,
         wrong < KEYS / 2 / 1000 ? "fewer" : "more");
  printf("%s\n", stats.over_capacity ? "too full" : "there is room for more");
  bloomery_free(filter);
  return EXIT_SUCCESS;
}

/* Prints:
 * 0 of 50000 missed, fewer than 0.1 % of the others wrong
 * there is room for more
 */
