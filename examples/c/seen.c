/* A crawler that fetches no page twice: a filter in a file that survives kills, one URL at a time. */
#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static const char *const found[] = {"https://example.org/", "https://example.org/a",
                                      "https://example.org/"};
  bloomery_error error;
  bloomery_spec spec = {.size = sizeof spec, .capacity = 1000000, .fpr = 1e-6};
  bloomery_options options = {.size = sizeof options, .durability = BLOOMERY_PROCESS};
  bloomery_filter *seen = bloomery_open_or_create("seen.bloom", &spec, &options, &error);
  if (seen == NULL) {
    fprintf(stderr, "%s\n", error.text);
    return EXIT_FAILURE;
  }
  for (size_t i = 0; i < sizeof found / sizeof *found; ++i) {
    const int is_new = bloomery_insert(seen, found[i], strlen(found[i]), &error);
    if (is_new < 0) {
      fprintf(stderr, "%s\n", error.text);
      return EXIT_FAILURE;
    }
    printf("%s %s\n", is_new ? "fetch" : "skip", found[i]);
  }
  if (bloomery_close(seen, &error) != 0) {
    fprintf(stderr, "%s\n", error.text);
    return EXIT_FAILURE;
  }
  bloomery_free(seen);
  return EXIT_SUCCESS;
}

/* Prints:
 * fetch https://example.org/
 * fetch https://example.org/a
 * skip https://example.org/
 */
