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
 * Errors. A function that can fail has a pointer to a bloomery_error as its last parameter; the pointer may be NULL.
 * If the function fails, it writes *error and returns NULL or a negative number, which is minus the error's code. If
 * it succeeds, it does not write *error. Codes never change; texts may. No function keeps its pointer arguments, ends
 * the process, or lets a C++ exception out. A NULL handle is the error BLOOMERY_INVALID_ARGUMENT.
 *
 * Structs begin with their size, which the caller sets to sizeof. A field that is 0 or NULL has its default, and
 * reserved fields must be 0, so `{.size = sizeof spec}` is always right. Later versions give names to reserved
 * fields or add fields at the end; a program that was compiled against an earlier header works unchanged.
 *
 * Threads. Each group of functions below says what threads may do with one handle. Different handles are
 * independent.
 *
 * fork(). A handle of a writer of a file, or of a server, belongs to the process that made it. In a child every
 * call on it that can fail is an error (BLOOMERY_INHERITED), and bloomery_free does not touch the file or the
 * connection. A filter in memory, and a file that was opened for reading, work in both processes.
 */

/* ---- errors ------------------------------------------------------------------------------------------ */
/* Threads: any thread may call these functions at any time. */

/* The codes of errors, for programs. The text of a bloomery_error is for people and says how to fix the error. */
enum bloomery_code {
  BLOOMERY_OK = 0,
  BLOOMERY_INVALID_ARGUMENT = 1, /* a number or an option that no filter can have */
  BLOOMERY_TOO_LARGE = 2,        /* possible in principle, refused here (2^40 bits is the limit) */
  BLOOMERY_NO_MEMORY = 3,
  BLOOMERY_MISMATCH = 4,      /* filters, or a filter and a request, have different parameters */
  BLOOMERY_NOT_A_FILTER = 5,  /* the bytes are something else */
  BLOOMERY_NEWER_FORMAT = 6,  /* written by a later version */
  BLOOMERY_EXISTS = 7,        /* something is at that place already */
  BLOOMERY_WRONG_KIND = 8,    /* the kind or the place of the filter cannot do it */
  BLOOMERY_CORRUPT = 9,       /* a checksum or a field contradicts the bytes */
  BLOOMERY_UNCLEAN = 10,      /* the writer died and what it promised cannot be restored */
  BLOOMERY_LOCKED = 11,       /* another process writes this file, or makes this filter on a server */
  BLOOMERY_READ_ONLY = 12,    /* a change of a filter that was opened for reading or is closed */
  BLOOMERY_IO = 13,           /* the system refused a call */
  BLOOMERY_NO_SPACE = 14,     /* no room on the device */
  BLOOMERY_POISONED = 15,     /* a write failed before; what is on the device is not known */
  BLOOMERY_UNAVAILABLE = 16,  /* a server cannot be reached, or does not answer */
  BLOOMERY_DENIED = 17,       /* a server does not let this user do it */
  BLOOMERY_MISSING = 18,      /* the filter is not there, or no longer there */
  BLOOMERY_INHERITED = 19,    /* the handle belongs to the process that this one was forked from */
  BLOOMERY_INTERNAL = 20      /* a fault of the library; please report it */
};

typedef struct bloomery_error {
  int32_t code;
  char text[508]; /* ends with 0; a text that is too long is cut; shows no password of an address */
} bloomery_error;

/* The name of a code: "invalid_argument" and so on, or "unknown". The text lives as long as the library. */
const char *bloomery_error_name(int32_t code);

/* For messages that quote what a caller gave: writes the text to `out` with *** for what looks like the user and the
 * password of an address: all before the last @, after the first colon or its "://". Writes at most `room` bytes, the
 * last of them 0, and returns the length of the whole; strlen(text) + 4 bytes are always enough. */
size_t bloomery_hide_password(const char *text, char *out, size_t room);

/* The version of the library that runs, as "0.1.0" and as 65536 * major + 256 * minor + patch. */
const char *bloomery_version(void);
uint32_t bloomery_version_number(void);

/* ---- the plan of a filter ------------------------------------------------------------------------------- */
/* Threads: any thread may call these functions at any time. */

enum bloomery_kind {
  BLOOMERY_PLAIN = 1,
  BLOOMERY_COUNTING = 2, /* keys can be removed */
  BLOOMERY_SCALABLE = 3, /* grows */
  BLOOMERY_WINDOW = 4,   /* forgets */
  BLOOMERY_FROZEN = 5    /* built once from all of its keys; the smallest */
};

enum bloomery_layout {
  BLOOMERY_BLOCKED = 1,
  BLOOMERY_BLOCKED2 = 2,
  BLOOMERY_STANDARD = 3
};

enum bloomery_window_unit { BLOOMERY_INSERTIONS = 1, BLOOMERY_SECONDS = 2 };

/* A request for a filter. A plain or counting filter needs two of capacity, fpr, bits and hashes. A scalable filter
 * needs capacity (of its first sub-filter) and fpr. A window filter needs window, fpr and capacity (the keys within a
 * window), or no capacity if the window is a number of insertions. A frozen filter needs fpr, and delta if keys are
 * added after it was built. */
typedef struct bloomery_spec {
  uint32_t size;
  uint32_t kind;         /* default: plain; in a module of a server: scalable */
  uint64_t capacity;     /* keys up to which fpr holds */
  double fpr;            /* the share of absent keys that may be answered "maybe", 0 < fpr <= 0.5 */
  uint64_t bits;         /* of memory */
  uint32_t hashes;       /* bits that each key sets */
  uint32_t layout;       /* default: by the fpr */
  uint32_t counter_bits; /* of a counting filter: 4 (default) or 8 */
  uint32_t growth;       /* of a scalable filter: how many times larger each sub-filter is than the one before */
  uint64_t window;       /* how long a window filter remembers, in window_unit */
  uint32_t window_unit;  /* default: seconds */
  uint32_t slices;       /* steps in which a window filter forgets; default 8 */
  uint64_t delta;        /* of a frozen filter: keys that may be added after it was built; default none */
  uint64_t reserved[5];
} bloomery_spec;

/* The plan that a request gives. */
typedef struct bloomery_plan {
  uint32_t size;
  uint32_t kind;
  uint64_t capacity;
  double fpr;
  uint64_t bytes;  /* of memory; of a scalable filter before it grows */
  uint32_t hashes; /* bits that each key sets, in a sub-filter or slice */
  uint32_t layout; /* of bloomery_layout; 4 to 7: those of counting filters (docs/format.md); 0 of a frozen filter */
  double bits_per_key;
  uint64_t reserved[6];
} bloomery_plan;

/* Makes the plan for a request: sets *plan, except for its size, and returns 0 or a negative number. After
 * BLOOMERY_INVALID_ARGUMENT or BLOOMERY_TOO_LARGE the text says which number to change. */
int bloomery_solve(const bloomery_spec *spec, bloomery_plan *plan, bloomery_error *error);
/* Returns the plan's false-positive rate with this number of distinct keys, or a negative number. */
double bloomery_predict(const bloomery_spec *spec, double keys, bloomery_error *error);

/* ---- making and opening ---------------------------------------------------------------------------------- */
/* Threads: any number of threads may create and open filters at any time. While a thread calls bloomery_copy, _close or
 * _free, no other thread may use the handle. */

enum bloomery_hash { BLOOMERY_XXH3 = 1, BLOOMERY_SIPHASH = 2 };

/* What acknowledged changes of a file survive (docs/guarantees.md). */
enum bloomery_durability {
  BLOOMERY_SYNC = 1,    /* default: everything, a power loss too */
  BLOOMERY_PROCESS = 2, /* the death of the process */
  BLOOMERY_NONE = 3     /* nothing until bloomery_sync or bloomery_close */
};

enum bloomery_flags {
  BLOOMERY_RANDOM_SEED = 1, /* for a new filter; SipHash without a seed always draws one */
  BLOOMERY_REPLACE = 2,     /* bloomery_create replaces a filter that is there */
  BLOOMERY_ROTATING = 4,    /* two generations, in Redis strings */
  BLOOMERY_SHARED = 8       /* several writers, in any processes, can have the file of a plain filter open at once;
                             * its durability is BLOOMERY_PROCESS */
};

/* Options for making or opening a filter. */
typedef struct bloomery_options {
  uint32_t size;
  uint32_t flags;
  uint32_t hash;         /* of a new filter; default xxh3. Use SipHash if an adversary chooses keys */
  uint32_t durability;   /* for a writer of a file; a server has its own: BLOOMERY_INVALID_ARGUMENT */
  uint64_t seed[2];      /* low, high half; used if seed_bytes is not 0 */
  uint32_t seed_bytes;   /* 0: the default seed; 8 (xxh3), 16 (siphash) */
  uint32_t reserved_word;
  /* The bits of a PHP class (docs/migrate.md): the names of its hashes, "BKDR,SDBM,JS", or crc32 and mt_rand over
   * php_bits bits for php_items items. */
  const char *php_hashes;
  uint64_t php_bits;
  uint64_t php_items;
  uint64_t reserved[6];
} bloomery_options;

typedef struct bloomery_filter bloomery_filter; /* of any kind, in any place */

enum bloomery_access { BLOOMERY_READ = 1, BLOOMERY_WRITE = 2 };

/* Makes a filter in memory. Options of files and servers are the error BLOOMERY_INVALID_ARGUMENT. With options of a
 * PHP class, spec is NULL. */
bloomery_filter *bloomery_new(const bloomery_spec *spec, const bloomery_options *options, bloomery_error *error);
/* Makes a new filter at a location and opens it for writing. A location is a path, or an address such as
 * "redis://10.0.0.7?key=seen" (docs/configuration.md). BLOOMERY_EXISTS: something is there, and BLOOMERY_REPLACE is not set.
 * options may be NULL in all of these functions. */
bloomery_filter *bloomery_create(const char *location, const bloomery_spec *spec, const bloomery_options *options,
                          bloomery_error *error);
/* Opens the filter at a location for reading or writing. Hash and seed are for new filters; bloomery_require_match
 * compares them. */
bloomery_filter *bloomery_open(const char *location, uint32_t access, const bloomery_options *options,
                        bloomery_error *error);
/* Opens the filter at a location for writing, or creates it. BLOOMERY_MISMATCH: spec or options differ from the
 * filter that is there. BLOOMERY_LOCKED: another program has been making it in shards for longer than the
 * timeout of the address. */
bloomery_filter *bloomery_open_or_create(const char *location, const bloomery_spec *spec,
                                  const bloomery_options *options, bloomery_error *error);
/* Makes a new filter beside the old one; bloomery_close then replaces the old filter by it in one step. For files and
 * Redis strings. In shards, servers drop a new filter that gets no key for ten minutes: BLOOMERY_NO_SPACE. */
bloomery_filter *bloomery_rebuild(const char *location, const bloomery_spec *spec, const bloomery_options *options,
                           bloomery_error *error);
/* Drops the older generation of a filter that was created with BLOOMERY_ROTATING, and begins a new one, at once for all
 * its users. 1: done. 0: another client rotated it at the same time; of the bits of a PHP class: nothing was added since
 * the last rotation. BLOOMERY_WRONG_KIND: it has no generations. Of options only those of a PHP class are used. */
int bloomery_rotate(const char *location, const bloomery_options *options, bloomery_error *error);
/* Copies the filter at `source` to `out`, bit for bit: a plain filter between files, Redis strings, shards, dumps and
 * modules; a filter of a module between servers and dumps; a frozen one into a module; the bits of a PHP class, with its
 * options, between files and Redis. `out` gets the whole filter or nothing. As a path it becomes a filter file, or for a
 * filter of a module a dump, unless its name ends in ".bloom". Other options than BLOOMERY_REPLACE are not used.
 * BLOOMERY_EXISTS, for the bits of a PHP class also with BLOOMERY_REPLACE; BLOOMERY_WRONG_KIND: `out` cannot hold these
 * bits. */
int bloomery_convert(const char *source, const char *out, const bloomery_options *options, bloomery_error *error);
/* Makes a filter at `out` that has every key of the `count` sources: plain filters in files and Redis strings, counting
 * filters in files, filters of a module in shards. If replace is true, it replaces a filter that is there.
 * BLOOMERY_MISMATCH: their parameters differ; BLOOMERY_WRONG_KIND; BLOOMERY_EXISTS. */
int bloomery_merge_locations(const char *const *sources, size_t count, const char *out, bool replace,
                             bloomery_error *error);
/* Checks a filter and changes nothing: in a file every byte, on a server headers and lengths, because bits have no
 * checksums there. 1: it is what was written, or becomes that when it is next opened for writing. 0: a writer has it
 * open; try again later. BLOOMERY_CORRUPT: it is damaged, and the text says what to do. */
int bloomery_verify(const char *location, const bloomery_options *options, bloomery_error *error);
/* Makes a filter in memory from the bytes of bloomery_encode or of a filter file. It checks all bytes before it
 * allocates memory. */
bloomery_filter *bloomery_decode(const void *bytes, size_t size, bloomery_error *error);
/* Makes a copy in memory of a filter in memory or in a file. BLOOMERY_CORRUPT: the bits in the file are damaged;
 * BLOOMERY_INVALID_ARGUMENT: a frozen filter in a file is not built before bloomery_close. bloomery_encode and
 * bloomery_save have the same errors. */
bloomery_filter *bloomery_copy(bloomery_filter *filter, bloomery_error *error);

/* Makes every change durable and releases the file or server; 0 or a negative number. Look-ups in memory and in files
 * still work; changes of a file and any use of a server are BLOOMERY_READ_ONLY. After an error the caller can make room
 * and close again. Closing twice does nothing. */
int bloomery_close(bloomery_filter *filter, bloomery_error *error);
/* Frees the handle. It closes the filter first, if that was not done, and cannot report a failure; after
 * bloomery_rebuild, and while a frozen filter in a file is not built, it drops the new filter instead. filter may be
 * NULL. */
void bloomery_free(bloomery_filter *filter);

/* ---- one key ------------------------------------------------------------------------------------------- */
/* Threads: any number of threads may look up (bloomery_contains...) in a filter in memory or in a file, while no thread
 * does anything else with the handle. Only one thread at a time may change a filter, or use a filter on a server. */

/* Each function handles one key and returns 1, 0 or a negative number. A key is any bytes (key may be NULL if size is
 * 0), or an integer by its value; the integer 97 is not the key "a". A module and a PHP class take only bytes
 * (BLOOMERY_WRONG_KIND).
 * insert: 1 if the key was certainly not there before. contains: 0 if it was certainly never inserted.
 * remove: 0 if it was certainly not there; for counting filters. Remove only what was inserted. */
int bloomery_insert(bloomery_filter *filter, const void *key, size_t size, bloomery_error *error);
int bloomery_contains(bloomery_filter *filter, const void *key, size_t size, bloomery_error *error);
int bloomery_remove(bloomery_filter *filter, const void *key, size_t size, bloomery_error *error);
int bloomery_insert_u64(bloomery_filter *filter, uint64_t key, bloomery_error *error);
int bloomery_contains_u64(bloomery_filter *filter, uint64_t key, bloomery_error *error);
int bloomery_remove_u64(bloomery_filter *filter, uint64_t key, bloomery_error *error);

/* ---- many keys ------------------------------------------------------------------------------------------- */
/* Threads: as with one key. */

/* Each function handles many keys and returns the number of answers that are 1, or a negative number. answers may be
 * NULL; otherwise it has room for count answers. These functions are several times as fast as one key at a time; in a
 * file or on a server, where each call is a commit or a round trip, they are thousands of times as fast.
 *
 *   many       keys[i] has sizes[i] bytes; no keys[i] may be NULL
 *   offsets32  key i is bytes[offsets[i]] up to, without, bytes[offsets[i + 1]], so there are count + 1 offsets (as
 *   offsets64  in Arrow). If an offset is below the one before: BLOOMERY_INVALID_ARGUMENT, and nothing is inserted
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

/* Inserts a key into the bits of a PHP class on a server, and answers for each of its bits, in the order of php_hashes,
 * whether it was set before, as SETBIT does. Returns the number of bits, or a negative number. bits has room for `room`
 * answers. BLOOMERY_INVALID_ARGUMENT: the room is too small, and the key is not inserted. BLOOMERY_WRONG_KIND: the
 * filter is another one. */
int bloomery_insert_bits(bloomery_filter *filter, const void *key, size_t size, bool *bits, size_t room,
                         bloomery_error *error);

/* Returns how many of the first keys of the last insert or remove call are certainly done. After an error the other
 * keys may be done or not: repeating inserts is harmless, repeating removals is not (bloomery_begin_batch). */
uint64_t bloomery_acknowledged(const bloomery_filter *filter);

/* ---- the whole ------------------------------------------------------------------------------------------- */
/* Threads: one at a time may use the handle, except for bloomery_name. Look-ups in `other`, which is only read, may
 * run at the same time. */

/* Adds every key of `other`: plain to plain, counting to counting, in memory or in files. BLOOMERY_MISMATCH: their
 * plans or seeds differ. Returns 0 or a negative number, like the other functions here. */
int bloomery_merge(bloomery_filter *filter, const bloomery_filter *other, bloomery_error *error);
/* Keeps the keys that are in both. `filter` is plain and in memory. */
int bloomery_intersect(bloomery_filter *filter, const bloomery_filter *other, bloomery_error *error);
/* Forgets every key of a filter in memory. */
int bloomery_clear(bloomery_filter *filter, bloomery_error *error);
/* Sets the time of a window filter in seconds: it forgets older keys. Other filters ignore it. */
int bloomery_advance(bloomery_filter *filter, uint64_t now, bloomery_error *error);
/* Joins the calls from here to bloomery_end_load into one load: bloomery_end_load, bloomery_sync or bloomery_close
 * acknowledges their inserts, not the calls themselves; if it fails, bloomery_acknowledged is 0. Many keys then go
 * several times as fast into a plain filter in a file that was opened with BLOOMERY_SYNC; each bloomery_insert_* call for
 * many keys does this itself. 1: begun. 0: a load is already active, or each call is acknowledged as before; then do not
 * end it. */
int bloomery_begin_load(bloomery_filter *filter, bloomery_error *error);
int bloomery_end_load(bloomery_filter *filter, bloomery_error *error);
/* Names the changes from here to bloomery_close, so that they can be repeated after a crash and none is done twice:
 * the filter skips the first n keys, where n is the number that this returns. For files. */
int64_t bloomery_begin_batch(bloomery_filter *filter, const char *name, bloomery_error *error);

enum bloomery_unknown {
  BLOOMERY_NO_FILL = 1,    /* fill, estimated_items and current_fpr, of most kinds of filters of a module */
  BLOOMERY_NO_INSERTED = 2 /* inserted, of filters in Redis strings and of PHP classes */
};

/* The statistics of a filter. A value that the place of the filter does not report is 0. If 0 is also a possible
 * value, `unknown` says that it was not reported. */
typedef struct bloomery_stats {
  uint32_t size;
  uint32_t kind;
  uint64_t capacity;
  double fpr; /* stated */
  uint64_t bytes;
  uint32_t hashes;
  uint32_t layout;
  uint64_t inserted;      /* inserts that were certainly new; of a window filter all inserts; of a frozen filter its
                           * keys and the inserts of keys that its delta did not have */
  double fill;            /* the share of bits that are set */
  double estimated_items; /* distinct keys that give this fill; infinite if all bits are set */
  double current_fpr;     /* the false-positive rate of the bits as they are */
  uint32_t over_capacity; /* 1: it holds more keys than it was planned for; use a larger one */
  uint32_t sampled;       /* 1: a part of the bits was counted */
  uint32_t counter_bits;  /* of a counting filter */
  uint32_t sub_filters;   /* of a scalable filter */
  uint64_t saturated_counters;
  uint64_t window; /* of a window filter, in window_unit */
  uint32_t window_unit;
  uint32_t slices;
  uint32_t unknown; /* bloomery_unknown */
  uint32_t reserved_word;
  uint64_t reserved[7];
} bloomery_stats;

/* Sets *stats, except for its size. If exact is true, it counts all bits and not a sample of at most 4 MiB. */
int bloomery_get_stats(bloomery_filter *filter, bool exact, bloomery_stats *stats, bloomery_error *error);

/* Sets *spec, except for its size, to a request for such a filter: its kind, capacity, fpr and the numbers of that kind,
 * but not bits and hashes. What the place of the filter does not report is 0. It counts no bits and asks no server. */
int bloomery_get_spec(bloomery_filter *filter, bloomery_spec *spec, bloomery_error *error);
/* BLOOMERY_MISMATCH: the filter was made from another request. As in bloomery_open_or_create, values that are 0, or that
 * the place of the filter does not report, are not compared. options may be NULL. */
int bloomery_require_match(bloomery_filter *filter, const bloomery_spec *spec, const bloomery_options *options,
                           bloomery_error *error);

/* Returns the number of bytes that bloomery_encode writes, or a negative number. For filters in memory and in files,
 * but not for the bits of a PHP class, which have no header: BLOOMERY_WRONG_KIND, as from bloomery_encode, _save and
 * _copy. Create those bits in a file. */
int64_t bloomery_encoded_size(bloomery_filter *filter, bloomery_error *error);
/* Writes the filter as bytes for bloomery_decode; they are also the bytes of a filter file. Returns their number, or
 * -BLOOMERY_INVALID_ARGUMENT if they do not fit into `size`. */
int64_t bloomery_encode(bloomery_filter *filter, void *bytes, size_t size, bloomery_error *error);

/* Writes the filter as a filter file, which appears whole or not at all, and is on the device when the call returns.
 * It replaces another filter file. BLOOMERY_NOT_A_FILTER: the path has another kind of file; BLOOMERY_LOCKED: a writer
 * has it open. */
int bloomery_save(bloomery_filter *filter, const char *path, bloomery_error *error);

/* Makes every change so far as durable as the place can. In memory it builds a frozen filter, which then accepts keys
 * only into its delta, if it has one. bloomery_copy, _encoded_size, _encode and _save build it too. */
int bloomery_sync(bloomery_filter *filter, bloomery_error *error);
/* For a reader of a file: opens the file that is at the path now. A reader sees inserts into a plain filter at once,
 * and changes of the other kinds after this call. 1: the filter may have changed; 0: it has not; or a negative
 * number. */
int bloomery_reload(bloomery_filter *filter, bloomery_error *error);
/* Returns the location without its password. The text lives as long as the handle. */
const char *bloomery_name(const bloomery_filter *filter);
