/* The declarations of bloomery.h, for C99 and for parsers of C without a preprocessor (PHP's FFI, cffi).
 *
 *   bloomery_error error;
 *   bloomery_spec spec = {.size = sizeof spec, .capacity = 1000000, .fpr = 0.01};
 *   bloomery_filter *seen = bloomery_open_or_create("seen.bloom", &spec, NULL, &error);
 *   if (!seen) { fprintf(stderr, "%s\n", error.text); exit(1); }
 *   if (bloomery_insert(seen, url, strlen(url), &error) == 1) fetch(url);    // 1: certainly new
 *   if (bloomery_close(seen, &error) != 0) fprintf(stderr, "%s\n", error.text);
 *   bloomery_free(seen);
 *
 * One handle is a filter of any kind (plain, counting, scalable, window, frozen) in any place: memory, a file, a Redis
 * or Valkey server. The same key, plan and seed are the same bits in every place, language and CPU.
 *
 * Errors. A function that can fail takes a place for the error as its last parameter, which may be NULL, and
 * returns NULL or a negative number, which is the error's code with its sign turned. It writes the place only
 * if it fails. Codes never change; texts may. No function keeps the pointers that it is given, ends the
 * process, or lets a C++ exception out. A handle that is NULL is BLOOMERY_INVALID_ARGUMENT.
 *
 * Structs begin with their size, which the caller sets to sizeof. A field that is 0 or NULL has its default, and
 * the reserved room must be 0, so `{.size = sizeof spec}` is always right. Later versions take names for what is
 * reserved or add fields at the end; a program that was compiled against an earlier header goes on as it was.
 *
 * Threads. Each group of functions below says what threads may do with one handle. Different handles know nothing of
 * each other.
 *
 * fork(). A handle of a writer of a file, or of a server, belongs to the process that made it. In a child every
 * call on it but bloomery_free is an error (BLOOMERY_INHERITED), and bloomery_free leaves file and connection
 * alone. A filter in memory, and a file that was opened for reading, go on in both.
 */

/* ---- errors ------------------------------------------------------------------------------------------ */
/* Threads: any, at any time. */

/* What went wrong, for programs. The text of bloomery_error says it for people, with the remedy. */
enum bloomery_code {
  BLOOMERY_OK = 0,
  BLOOMERY_INVALID_ARGUMENT = 1, /* a number or an option that no filter can have */
  BLOOMERY_TOO_LARGE = 2,        /* possible in principle, refused here (2^40 bits is the limit) */
  BLOOMERY_NO_MEMORY = 3,
  BLOOMERY_MISMATCH = 4,      /* filters, or a filter and a request, have different parameters */
  BLOOMERY_NOT_A_FILTER = 5,  /* the bytes are something else */
  BLOOMERY_NEWER_FORMAT = 6,  /* written by a later version */
  BLOOMERY_EXISTS = 7,        /* there is something at that place already */
  BLOOMERY_WRONG_KIND = 8,    /* the kind or the place of the filter cannot do it */
  BLOOMERY_CORRUPT = 9,       /* a checksum or a field contradicts the bytes */
  BLOOMERY_UNCLEAN = 10,      /* the writer died and what it promised cannot be restored */
  BLOOMERY_LOCKED = 11,       /* another process writes this file */
  BLOOMERY_READ_ONLY = 12,    /* a change of a filter that was opened for reading */
  BLOOMERY_IO = 13,           /* the system refused a call */
  BLOOMERY_NO_SPACE = 14,     /* no room on the device */
  BLOOMERY_POISONED = 15,     /* a write failed before; what is on the device is not known */
  BLOOMERY_UNAVAILABLE = 16,  /* a server cannot be reached, or does not answer */
  BLOOMERY_DENIED = 17,       /* a server does not let this user do it */
  BLOOMERY_MISSING = 18,      /* the filter is not there, or not any more */
  BLOOMERY_INHERITED = 19,    /* the handle belongs to the process that this one was forked from */
  BLOOMERY_INTERNAL = 20      /* a fault of the library; please report it */
};

typedef struct bloomery_error {
  int32_t code;
  char text[508]; /* ends with 0; a text that is too long is cut */
} bloomery_error;

/* "invalid_argument" and so on; "unknown" for other numbers. The text lives as long as the library. */
const char *bloomery_error_name(int32_t code);

/* The version of the library that runs, as "0.1.0" and as 65536 * major + 256 * minor + patch. */
const char *bloomery_version(void);
uint32_t bloomery_version_number(void);

/* ---- what a filter is made from ------------------------------------------------------------------------ */
/* Threads: any, at any time. */

enum bloomery_kind {
  BLOOMERY_PLAIN = 1,
  BLOOMERY_COUNTING = 2, /* keys can be removed */
  BLOOMERY_SCALABLE = 3, /* grows */
  BLOOMERY_WINDOW = 4,   /* forgets */
  BLOOMERY_FROZEN = 5    /* built once, from all of its keys, and the smallest */
};

enum bloomery_layout {
  BLOOMERY_BLOCKED = 1,
  BLOOMERY_BLOCKED2 = 2,
  BLOOMERY_STANDARD = 3
};

enum bloomery_window_unit { BLOOMERY_INSERTIONS = 1, BLOOMERY_SECONDS = 2 };

/* A filter as one asks for it. Of a plain or a counting one, two of capacity, fpr, bits and hashes say the rest;
 * a scalable one needs capacity (of its first sub-filter) and fpr; a window filter window, fpr and capacity (the
 * keys within a window), unless the window is a number of insertions; a frozen one fpr, and a
 * delta if keys are to be added after it was built. */
typedef struct bloomery_spec {
  uint32_t size;
  uint32_t kind;         /* default: plain; in a module of a server: scalable */
  uint64_t capacity;     /* keys up to which fpr holds */
  double fpr;            /* the share of absent keys that may be answered "maybe", 0 < fpr <= 0.5 */
  uint64_t bits;         /* of memory */
  uint32_t hashes;       /* bits of a key */
  uint32_t layout;       /* default: by the fpr */
  uint32_t counter_bits; /* of a counting filter: 4 (default) or 8 */
  uint32_t growth;       /* of a scalable filter: each sub-filter is so many times the one before it */
  uint64_t window;       /* how long a window filter remembers, in window_unit */
  uint32_t window_unit;  /* default: seconds */
  uint32_t slices;       /* steps in which a window filter forgets; default 8 */
  uint64_t delta;        /* of a frozen filter: keys that may be added after it was built; default none */
  uint64_t reserved[5];
} bloomery_spec;

/* The filter that follows from a request. */
typedef struct bloomery_plan {
  uint32_t size;
  uint32_t kind;
  uint64_t capacity;
  double fpr;
  uint64_t bytes;  /* of memory; of a scalable filter before it grows */
  uint32_t hashes; /* bits of a key, in a sub-filter or slice */
  uint32_t layout; /* of bloomery_layout, or 4 to 7: those of counting filters (docs/format.md) */
  double bits_per_key;
  uint64_t reserved[6];
} bloomery_plan;

/* 0, and *plan is set but for its size. BLOOMERY_INVALID_ARGUMENT, BLOOMERY_TOO_LARGE: the text says which number
 * to change. */
int bloomery_solve(const bloomery_spec *spec, bloomery_plan *plan, bloomery_error *error);
/* The false-positive rate after so many distinct keys, or a negative number. */
double bloomery_predict(const bloomery_spec *spec, double keys, bloomery_error *error);

/* ---- making and opening ---------------------------------------------------------------------------------- */
/* Threads: any at any time make and open; bloomery_copy, _close and _free want the handle for themselves. */

enum bloomery_hash { BLOOMERY_XXH3 = 1, BLOOMERY_SIPHASH = 2 };

/* What survives of changes to a file once they have returned (docs/guarantees.md). */
enum bloomery_durability {
  BLOOMERY_SYNC = 1,    /* default: everything, also a power loss */
  BLOOMERY_PROCESS = 2, /* the death of the process */
  BLOOMERY_NONE = 3     /* nothing until bloomery_sync or bloomery_close */
};

enum bloomery_flags {
  BLOOMERY_RANDOM_SEED = 1, /* of a new filter; SipHash without a seed always draws one */
  BLOOMERY_REPLACE = 2,     /* bloomery_create replaces a filter that is there */
  BLOOMERY_ROTATING = 4,    /* two generations, in Redis strings */
  BLOOMERY_SHARED = 8       /* several writers, in any processes, have a file with a plain filter open at once;
                             * its durability is BLOOMERY_PROCESS */
};

typedef struct bloomery_options {
  uint32_t size;
  uint32_t flags;
  uint32_t hash;         /* of a new filter; default xxh3. SipHash if somebody chooses keys to do harm */
  uint32_t durability;   /* of a writer of a file */
  uint64_t seed[2];      /* low, high half; used if seed_bytes is not 0 */
  uint32_t seed_bytes;   /* 0: the default seed; 8 (xxh3), 16 (siphash) */
  uint32_t reserved_word;
  /* The bits are those of a PHP class (docs/migrate.md): hashes of its names, "BKDR,SDBM,JS", or crc32 and
   * mt_rand over so many bits for so many items. */
  const char *php_hashes;
  uint64_t php_bits;
  uint64_t php_items;
  uint64_t reserved[6];
} bloomery_options;

typedef struct bloomery_filter bloomery_filter; /* of any kind, in any place */

enum bloomery_access { BLOOMERY_READ = 1, BLOOMERY_WRITE = 2 };

/* In memory. Options of files and servers are BLOOMERY_INVALID_ARGUMENT. With those of a PHP class, spec is NULL. */
bloomery_filter *bloomery_new(const bloomery_spec *spec, const bloomery_options *options, bloomery_error *error);
/* At a location: a path, or an address as "redis://10.0.0.7?key=seen" (docs/redis.md). New and open for writing;
 * BLOOMERY_EXISTS without BLOOMERY_REPLACE. options may be NULL in all of these. */
bloomery_filter *bloomery_create(const char *location, const bloomery_spec *spec, const bloomery_options *options,
                          bloomery_error *error);
/* What is there, opened for reading or writing. */
bloomery_filter *bloomery_open(const char *location, uint32_t access, const bloomery_options *options,
                        bloomery_error *error);
/* What is there, opened for writing, or a new one. BLOOMERY_MISMATCH: spec or options say something else than the
 * filter that is there. */
bloomery_filter *bloomery_open_or_create(const char *location, const bloomery_spec *spec,
                                  const bloomery_options *options, bloomery_error *error);
/* A new filter that takes the place of what is there at bloomery_close, at once. Of files and Redis strings. */
bloomery_filter *bloomery_rebuild(const char *location, const bloomery_spec *spec, const bloomery_options *options,
                           bloomery_error *error);
/* In memory, from what bloomery_encode gave or a filter file holds. Everything is checked before memory is taken
 * for it. */
bloomery_filter *bloomery_decode(const void *bytes, size_t size, bloomery_error *error);
/* The same filter once more, in memory: of one in memory or in a file. */
bloomery_filter *bloomery_copy(bloomery_filter *filter, bloomery_error *error);

/* Makes every change durable and lets go of file or server; 0 or a negative number. Look-ups in memory and in files
 * still work. After an error one may make room and close again. Closing twice does nothing. */
int bloomery_close(bloomery_filter *filter, bloomery_error *error);
/* Closes, if that was not done, without a word about failures, except after bloomery_rebuild, which it drops. filter
 * may be NULL. */
void bloomery_free(bloomery_filter *filter);

/* ---- one key ------------------------------------------------------------------------------------------- */
/* Threads: any number at once look up (bloomery_contains...) in a filter in memory or in a file, while none does anything
 * else with the handle. What changes the filter wants the handle for itself, and so does each call on a server. */

/* 1 or 0, or a negative number. A key is any bytes (key may be NULL if size is 0), or an integer by its value; the
 * integer 97 is not the key "a". A module and a PHP class take bytes alone (BLOOMERY_WRONG_KIND).
 * insert: 1 if the key was certainly not there before. contains: 0 if it certainly was never inserted.
 * remove: 0 if it certainly was not there; of counting filters. Remove only what was inserted. */
int bloomery_insert(bloomery_filter *filter, const void *key, size_t size, bloomery_error *error);
int bloomery_contains(bloomery_filter *filter, const void *key, size_t size, bloomery_error *error);
int bloomery_remove(bloomery_filter *filter, const void *key, size_t size, bloomery_error *error);
int bloomery_insert_u64(bloomery_filter *filter, uint64_t key, bloomery_error *error);
int bloomery_contains_u64(bloomery_filter *filter, uint64_t key, bloomery_error *error);
int bloomery_remove_u64(bloomery_filter *filter, uint64_t key, bloomery_error *error);

/* ---- many keys ------------------------------------------------------------------------------------------- */
/* Threads: as with one key. */

/* How many of the answers are 1, or a negative number. answers may be NULL; otherwise it has room for count. Several
 * times as fast as one key at a time; in a file or on a server, where each call is a commit or a round trip,
 * thousands of times.
 *
 *   many       keys[i] has sizes[i] bytes
 *   offsets32  key i is bytes[offsets[i]] up to, without, bytes[offsets[i + 1]], so there are count + 1 offsets (as
 *   offsets64  in Arrow); they never fall: BLOOMERY_INVALID_ARGUMENT, and nothing is inserted
 *   fixed      key i is the `width` bytes at bytes + i * width: fingerprints, UUIDs
 *   u64s       integers by value
 */
int64_t bloomery_insert_many(bloomery_filter *filter, const void *const *keys, const size_t *sizes, size_t count,
                             bool *answers, bloomery_error *error);
int64_t bloomery_insert_offsets32(bloomery_filter *filter, const void *bytes, const int32_t *offsets, size_t count,
                                  bool *answers, bloomery_error *error);
int64_t bloomery_insert_offsets64(bloomery_filter *filter, const void *bytes, const int64_t *offsets, size_t count,
                                  bool *answers, bloomery_error *error);
int64_t bloomery_insert_fixed(bloomery_filter *filter, const void *bytes, size_t width, size_t count, bool *answers,
                              bloomery_error *error);
int64_t bloomery_insert_u64s(bloomery_filter *filter, const uint64_t *keys, size_t count, bool *answers,
                             bloomery_error *error);

int64_t bloomery_contains_many(bloomery_filter *filter, const void *const *keys, const size_t *sizes, size_t count,
                               bool *answers, bloomery_error *error);
int64_t bloomery_contains_offsets32(bloomery_filter *filter, const void *bytes, const int32_t *offsets, size_t count,
                                    bool *answers, bloomery_error *error);
int64_t bloomery_contains_offsets64(bloomery_filter *filter, const void *bytes, const int64_t *offsets, size_t count,
                                    bool *answers, bloomery_error *error);
int64_t bloomery_contains_fixed(bloomery_filter *filter, const void *bytes, size_t width, size_t count, bool *answers,
                                bloomery_error *error);
int64_t bloomery_contains_u64s(bloomery_filter *filter, const uint64_t *keys, size_t count, bool *answers,
                               bloomery_error *error);

int64_t bloomery_remove_many(bloomery_filter *filter, const void *const *keys, const size_t *sizes, size_t count,
                             bool *answers, bloomery_error *error);
int64_t bloomery_remove_offsets32(bloomery_filter *filter, const void *bytes, const int32_t *offsets, size_t count,
                                  bool *answers, bloomery_error *error);
int64_t bloomery_remove_offsets64(bloomery_filter *filter, const void *bytes, const int64_t *offsets, size_t count,
                                  bool *answers, bloomery_error *error);
int64_t bloomery_remove_fixed(bloomery_filter *filter, const void *bytes, size_t width, size_t count, bool *answers,
                              bloomery_error *error);
int64_t bloomery_remove_u64s(bloomery_filter *filter, const uint64_t *keys, size_t count, bool *answers,
                             bloomery_error *error);

/* Of the bits of a PHP class on a server: inserts a key, and tells of each of its bits, in the order of php_hashes,
 * whether it was set before, as SETBIT does. How many these are, or a negative number; bits has room for `room`:
 * BLOOMERY_INVALID_ARGUMENT if that is less, and the key is not inserted. BLOOMERY_WRONG_KIND: another filter. */
int bloomery_insert_bits(bloomery_filter *filter, const void *key, size_t size, bool *bits, size_t room,
                         bloomery_error *error);

/* How many of the first keys of the last call that inserts or removes are done for certain. After an error the
 * others may be done or not: inserting them again is harmless, removing them is not (bloomery_begin_batch). */
uint64_t bloomery_acknowledged(const bloomery_filter *filter);

/* ---- the whole ------------------------------------------------------------------------------------------- */
/* Threads: one, for each function wants the handle for itself; bloomery_name is free. Of `other`, which is only read,
 * look-ups go on. */

/* Adds every key of `other`: plain to plain, counting to counting, made from equal plans and seeds
 * (BLOOMERY_MISMATCH), in memory or in files. 0 or a negative number, as the others here. */
int bloomery_merge(bloomery_filter *filter, const bloomery_filter *other, bloomery_error *error);
/* Keeps the keys that are in both. `filter` is plain and in memory. */
int bloomery_intersect(bloomery_filter *filter, const bloomery_filter *other, bloomery_error *error);
/* Forgets every key: of a filter in memory. */
int bloomery_clear(bloomery_filter *filter, bloomery_error *error);
/* Tells a window filter the time, in the seconds that its window has: it forgets what is older. Others do nothing. */
int bloomery_advance(bloomery_filter *filter, uint64_t now, bloomery_error *error);
/* Makes the calls from here to bloomery_end_load one: what they insert is acknowledged by it, by bloomery_sync or by
 * bloomery_close, not when they return. A plain filter in a file opened with BLOOMERY_SYNC then takes many keys
 * several times as fast; each bloomery_insert_* call for many keys does so by itself. 1: begun. 0: a load is on already,
 * or each call is acknowledged as before; then do not end it. */
int bloomery_begin_load(bloomery_filter *filter, bloomery_error *error);
int bloomery_end_load(bloomery_filter *filter, bloomery_error *error);
/* Names the changes from here to bloomery_close, so that they can be repeated after a crash without being done
 * twice: as many of the first keys as it returns are left out. Of files. */
int64_t bloomery_begin_batch(bloomery_filter *filter, const char *name, bloomery_error *error);

/* What is known of a filter; 0 where its place does not say. */
typedef struct bloomery_stats {
  uint32_t size;
  uint32_t kind;
  uint64_t capacity;
  double fpr; /* stated */
  uint64_t bytes;
  uint32_t hashes;
  uint32_t layout;
  uint64_t inserted;      /* inserts that were certainly new; of a window all */
  double fill;            /* the share of bits that are set */
  double estimated_items; /* distinct keys that give this fill; infinite if all bits are set */
  double current_fpr;     /* the false-positive rate with so many keys */
  uint32_t over_capacity; /* 1: it holds more keys than it was planned for; time for a larger one */
  uint32_t sampled;       /* 1: a part of the bits was counted */
  uint32_t counter_bits;  /* of a counting filter */
  uint32_t sub_filters;   /* of a scalable filter */
  uint64_t saturated_counters;
  uint64_t window; /* of a window filter, in window_unit */
  uint32_t window_unit;
  uint32_t slices;
  uint64_t reserved[8];
} bloomery_stats;

/* exact: from all of the bits, and not from a sample of at most 4 MiB. *stats is set but for its size. */
int bloomery_get_stats(bloomery_filter *filter, bool exact, bloomery_stats *stats, bloomery_error *error);

/* How many bytes bloomery_encode gives, or a negative number: of a filter in memory or in a file. */
int64_t bloomery_encoded_size(bloomery_filter *filter, bloomery_error *error);
/* Writes the filter as bytes, which bloomery_decode takes and which are a filter file. Returns their number, or
 * BLOOMERY_INVALID_ARGUMENT with its sign turned if they do not fit into `size`. */
int64_t bloomery_encode(bloomery_filter *filter, void *bytes, size_t size, bloomery_error *error);

/* Writes what bloomery_encode gives as a filter file, which appears whole or not at all and is on the device then. It
 * takes the place of another filter file there; BLOOMERY_NOT_A_FILTER, BLOOMERY_LOCKED: it does not. */
int bloomery_save(bloomery_filter *filter, const char *path, bloomery_error *error);

/* Makes every change so far survive what the place can survive; in memory, builds a frozen filter, which takes no more
 * keys then. */
int bloomery_sync(bloomery_filter *filter, bloomery_error *error);
/* Of a reader of a file, which sees at once what is added to a plain filter, and of the other kinds with this call:
 * opens what is at the path now. 1 if it may differ from before, 0, or a negative number. */
int bloomery_reload(bloomery_filter *filter, bloomery_error *error);
/* The location, without a password; it lives as long as the handle. */
const char *bloomery_name(const bloomery_filter *filter);
