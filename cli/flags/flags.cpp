// The rows of the table of verbs and flags, and the words of every help text.
#include "flags/flags.hpp"

namespace bloomery::cli {

namespace {

template <class... Verbs>
constexpr VerbSet of(Verbs... verbs) {
  return (verb_bit(verbs) | ...);
}

constexpr VerbSet kAll = (VerbSet{1} << (static_cast<unsigned>(Verb::convert) + 1)) - 1;
constexpr VerbSet kSizing = of(Verb::plan, Verb::create, Verb::dedup, Verb::rebuild);
constexpr VerbSet kSchemes =
    of(Verb::create, Verb::add, Verb::check, Verb::dedup, Verb::info, Verb::rotate, Verb::convert);
constexpr VerbSet kStreams =
    of(Verb::create, Verb::add, Verb::check, Verb::dedup, Verb::rebuild, Verb::remove);
constexpr VerbSet kPrinting = of(Verb::check, Verb::dedup);
constexpr VerbSet kMaking = of(Verb::create, Verb::dedup, Verb::rebuild);

constexpr Flag kFlags[] = {
    {FlagId::items, 'n', kSizing | kSchemes, "items", "N", "",
     "how many different keys to make room for",
     "Counts take K, M, G and T (powers of 1000): 100M, 1.5G, 1e6; or write 1,000,000 or 2.5 "
     "billion. For a scalable filter it is the first size. dedup without -n chooses the size "
     "itself, "
     "for files from a sample of their lines, and grows if that was too small."},
    {FlagId::fpr, 'p', kSizing, "fpr", "P", "",
     "the false-positive rate: 0.001, 0.1%, 1/1000 or 1e-3",
     "The share of lines never added that the filter answers with \"probably seen\". dedup uses "
     "1e-6 "
     "by default: each false positive silently drops a new line."},
    {FlagId::bits, 0, of(Verb::plan, Verb::rebuild) | kSchemes, "bits", "M", "",
     "the size of the filter: bits (8G), bytes (1GiB) or bits per key (16/key)",
     "A bare count is bits. B, KB, MB and GB are bytes, powers of 1000; KiB, MiB, GiB and TiB are "
     "powers of 1024. With -n it gives the false-positive rate, with -p the number of keys. With "
     "--scheme php-crc32-mt it is the m of the PHP class."},
    {FlagId::hashes, 0, of(Verb::plan, Verb::create, Verb::rebuild), "hashes", "K", "",
     "how many bits each key sets (by default the best number)",
     "blocked allows up to 16, blocked2 even numbers up to 32, standard up to 64. With -n alone it "
     "gives the size for which this number is the best, with --bits alone the number of keys."},
    {FlagId::layout, 0, kSizing, "layout", "LAYOUT", "blocked|blocked2|standard",
     "where a key's bits are: blocked, blocked2 or standard",
     "blocked: in one cache line; the fastest, and the default for false-positive rates from 1e-4 "
     "up. blocked2: in two cache lines, the default below. standard: anywhere; the smallest and "
     "the slowest, the default below 1e-10."},
    {FlagId::kind, 0, kSizing, "kind", "KIND", "plain|counting|scalable|window|frozen",
     "the kind of the filter: plain, counting, scalable, window or frozen",
     "counting: lines can be removed again (four times the memory). scalable: grows beyond -n, at "
     "the same false-positive rate. window: forgets lines older than --window. dedup accepts these "
     "with --filter. frozen: the smallest, for a set that is known as a whole; create and rebuild "
     "build it from all lines."},
    {FlagId::counter_bits, 0, of(Verb::plan, Verb::create, Verb::rebuild), "counter-bits", "BITS",
     "4|8", "counting: the bits of a counter (by default 4)",
     "A counter of 4 bits counts to 15, one of 8 bits to 255. Then it is saturated and never "
     "changes "
     "again, and a line whose counters are all saturated can no longer be removed."},
    {FlagId::growth, 0, kSizing, "growth", "G", "",
     "scalable: how much larger each sub-filter is than the one before (by default 2)",
     "A larger factor means fewer sub-filters to ask, and more memory that may stay unused."},
    {FlagId::window, 0, kSizing, "window", "W", "",
     "window: how long a line is remembered: 7d, 12h, 30min, 90s, 2w, or 10M lines",
     "A line is found for that long after it was added, and for up to one slice longer. With a "
     "time, -n is the number of different lines within the window, spread evenly over its slices: "
     "multiply the lines of the busiest slice by the number of slices. With a number of lines, -n "
     "is that number; dedup counts the lines that are new."},
    {FlagId::slices, 0, kSizing, "slices", "N", "",
     "window: in how many steps it forgets, 1 to 64 (by default 8)",
     "More slices forget more exactly and make every look-up slower."},
    {FlagId::delta, 0, of(Verb::plan, Verb::create, Verb::rebuild), "delta", "N", "",
     "frozen: how many lines may be added before it is rebuilt",
     "They go into a small plain filter in the same file, the delta, which check asks too; its "
     "share "
     "of -p is a sixteenth. Without a delta a frozen filter accepts no lines after it was built."},
    {FlagId::rotating, 0, of(Verb::create, Verb::add, Verb::check, Verb::dedup, Verb::info),
     "rotating", "", "", "in Redis: two generations; rotate drops the older one",
     "-n is for one generation, -p for both together. Only create needs the flag; with --scheme "
     "the "
     "older generation of a bucket is looked up too."},
    {FlagId::scheme, 0, kSchemes, "scheme", "SCHEME", "",
     "the bits are those of a PHP class: php-crc32-mt, or php-hashes=BKDR,SDBM,JS",
     "The bits have no header; they are in a file (the reply of GET) or in Redis. php-crc32-mt "
     "needs m "
     "and n of the class as --bits and -n; php-hashes needs the names of its hashes, from JS, PJW, "
     "ELF, BKDR, SDBM, DJB, DEK and FNV. The bits do not tell whether these are right: a wrong "
     "scheme gives wrong answers."},
    {FlagId::table, 0, of(Verb::plan), "table", "", "",
     "the false-positive rates over bits per key (2 to 32) and hashes (1 to 8)",
     "By the textbook's formula, or for the layout that --layout names."},
    {FlagId::web, 0, of(Verb::plan), "web", "", "",
     "write the planner, a page for a browser, to FILE (by default planner.html)",
     "The page is one file and needs no server and no network. It shows every number, kind and "
     "layout, the false-positive rate over keys, memory and hashes, and the formulas."},
    {FlagId::hash, 0, kMaking, "hash", "FAMILY", "xxh3|siphash",
     "the hash: xxh3 (fast), siphash (keys chosen by an adversary)",
     "siphash draws a secret random seed unless --seed is given. The file stores the hash and the "
     "seed: an adversary must not read it."},
    {FlagId::seed, 0, kMaking, "seed", "SEED", "",
     "the seed of the hash: a number, 0x and hexadecimal digits, or random",
     "Filters merge only if their seeds are equal. xxh3 has a seed of 64 bits, siphash of 128. The "
     "default with xxh3 is 0, which everybody knows: use random for lines of strangers, and "
     "siphash "
     "if they see answers. dedup without --filter draws a seed for each run."},
    {FlagId::force, 0, of(Verb::plan, Verb::create, Verb::merge, Verb::salvage, Verb::convert),
     "force", "", "", "replace a filter (plan --web: a page) that exists",
     "Anything that is not a filter (or a page) is never replaced, in a file or on a server."},
    {FlagId::filter, 0, of(Verb::dedup), "filter", "FILE", "",
     "remember lines across runs in FILE (-n creates it if absent)",
     "A line is remembered after it was written to the output, so a crash repeats lines and loses "
     "none. All lines are remembered, with -c and -v too. If FILE exists, -n, -p, --layout, --hash "
     "and --seed must agree with it or be left out."},
    {FlagId::durability, 0, of(Verb::add, Verb::dedup, Verb::remove), "durability", "LEVEL",
     "none|process|sync",
     "what added and removed lines survive: none, process or sync (the default)",
     "sync: a power loss; each batch costs a synced journal write. process: a kill of this "
     "program; "
     "after a power loss the file is refused. none: nothing until the end of the run, when the "
     "file "
     "is replaced whole."},
    {FlagId::batch, 0, of(Verb::add, Verb::remove), "batch", "NAME", "",
     "a name for the input: after a crash, repeat the command to finish it",
     "The file knows how many lines of its latest batch are done, and skips them. Repeat a batch "
     "before you begin another one. If the input is not the same from its first line on, that is "
     "an "
     "error. The flag is for filters that count, grow or forget; adding lines again to a plain "
     "filter changes nothing."},
    {FlagId::invert, 'v', of(Verb::check, Verb::dedup), "invert", "", "",
     "check: print the lines that are certainly new; dedup: only the repeats", ""},
    {FlagId::count, 'c', of(Verb::check, Verb::dedup), "count", "", "",
     "print the number of lines instead of the lines", ""},
    {FlagId::quiet, 'q', kAll, "quiet", "", "",
     "no statistics, no progress, no remarks; check: no lines, only the exit code",
     "check -q stops at the first line that decides the exit code."},
    {FlagId::null, '0', kStreams, "null", "", "",
     "lines end with NUL instead of newline, in input and output",
     "For the output of find -print0 and similar programs."},
    {FlagId::key, 'k', kStreams, "key", "N", "",
     "field N of a line is the key (the first is 1), or several: 2,5",
     "The whole line is printed. A line with fewer fields has the empty key. Several fields are "
     "one "
     "key, in the given order and with the delimiter between them: a and bc differ from ab and c."},
    {FlagId::delimiter, 'd', kStreams, "delimiter", "C", "",
     "the byte between fields, with -k (by default a tab)", "One byte, or \\t."},
    {FlagId::whitespace, 0, kStreams, "whitespace", "", "",
     "fields are separated by runs of spaces and tabs, with -k",
     "Runs before the first field and after the last one do not count. If a key has several "
     "fields, "
     "one space is between them."},
    {FlagId::json_key, 0, kStreams, "json-key", "FIELD", "",
     "lines are JSON objects: the value of FIELD is the key",
     "FIELD is a name at the top level, exactly as it is written there, or a path such as "
     "/request/url or /tags/0. The key of a string is its text, the key of any other value is its "
     "JSON. A line without the field has the empty key. A line that is not a JSON object is an "
     "error, and the lines before it are done."},
    {FlagId::ignore_case, 0, kStreams, "ignore-case", "", "",
     "keys ignore the case of the letters A to Z", "Other letters stay different."},
    {FlagId::raw, 0, kStreams, "raw", "", "",
     "read inputs as they are, even if they look compressed",
     "Without it, inputs in the formats gzip, zstd, xz and bzip2 are decompressed."},
    {FlagId::compress, 'Z', kPrinting, "compress", "FORMAT", "gzip|zstd|xz|bzip2",
     "compress the lines that are printed: gzip, zstd, xz or bzip2",
     "Like the program of that name by default. With --filter the output is a sequence of "
     "compressed "
     "parts, and a line is remembered when its part was written."},
    {FlagId::out, 'o', kPrinting, "output", "OUT", "",
     "print lines to the file OUT, which changes when the run is done",
     "OUT may be one of the inputs. It gets all new lines at once; after an error or a signal it "
     "is "
     "unchanged. With dedup --filter OUT is written as the lines come, so that every remembered "
     "line is in it, and it must not be an input."},
    {FlagId::threads, 'j', kStreams, "threads", "N", "",
     "N threads find lines and hash keys (by default one for each processor)",
     "Further threads read and write. The output is the same with any number, byte for byte. Small "
     "inputs use fewer threads."},
    {FlagId::json, 0, of(Verb::plan, Verb::add, Verb::remove, Verb::check, Verb::dedup, Verb::info),
     "json", "", "", "JSON instead of text",
     "dedup writes its statistics as one JSON object to stderr, and with -c to stdout; check "
     "accepts "
     "the flag with -c. add and remove write one line to stderr each second with the number of "
     "lines "
     "that are safe, and their statistics at the end. Infinite numbers are null."},
    {FlagId::format, 0, of(Verb::info), "format", "FORMAT", "json|prometheus",
     "json (the same as --json), or prometheus: metrics of all FILEs",
     "prometheus is for the textfile collector of the node exporter, from cron. A filter that "
     "cannot be read is a metric too, and the others are still printed; the exit status is then 2. "
     "redis+module://host?match=PATTERN means all filters of a module on a server whose keys "
     "match."},
    {FlagId::plot, 0, of(Verb::plan, Verb::info), "plot", "", "",
     "draw: plan, the false-positive rate as the filter fills; info, where its ones are",
     "For terminals that show UTF-8. plan draws the default layout or the one of --layout; info "
     "draws files."},
    {FlagId::exact, 0, of(Verb::info), "exact", "", "",
     "count all of the bits, not a sample of a large filter",
     "A sample has 65,536 blocks, at most 4 MiB, of each filter, sub-filter or window that is "
     "larger. On a server it is always a sample."},
    {FlagId::no_progress, 0, kStreams, "no-progress", "", "",
     "no progress bar (there is one when stderr is a terminal)", ""},
    {FlagId::help_short, 'h', kAll, "", "", "", "the short help", ""},
    {FlagId::help_long, 0, kAll, "help", "", "", "the long help, with examples", ""},
};

constexpr Example kPlanExamples[] = {
    {"bloomery plan -n 100M -p 0.1%", "the size of a filter for 100 million keys at 1 in 1000"},
    {"bloomery plan -n 100M --bits 128MiB", "the false-positive rate that 128 MiB give"},
    {"bloomery plan -p 1/1000 --bits 1GiB --layout blocked2", "how many keys 1 GiB holds"},
    {"bloomery plan --kind counting -n 1M -p 1%", "a filter that keys can be removed from"},
    {"bloomery plan --kind scalable -n 1M -p 0.1%",
     "a filter that grows, and its memory as it grows"},
    {"bloomery plan --window 7d -n 100M -p 0.1%", "a filter that forgets after 7 days"},
    {"bloomery plan -n 1M -p 1% --plot",
     "the false-positive rate from empty to four times as full as planned"},
    {"bloomery plan --table", "the textbook's table of false-positive rates"},
    {"bloomery plan --web planner.html", "the planner as a page, for a browser"},
};
constexpr Example kCreateExamples[] = {
    {"bloomery create seen.bloom -n 100M -p 0.1%", "an empty filter of 186 MiB"},
    {"bloomery create guard.bloom -n 1M -p 1e-6 --hash siphash",
     "a filter for keys that an adversary may choose"},
    {"bloomery create users.bloom --kind counting -n 10M -p 1%",
     "a filter that lines can be removed from"},
    {"bloomery create urls.bloom --kind scalable -n 1M -p 0.1%", "a filter that grows"},
    {"bloomery create week.bloom --window 7d -n 100M -p 0.1%",
     "a filter that forgets after 7 days"},
    {"bloomery create --kind frozen -p 0.1% spam.bloom spam.txt",
     "the smallest filter, for the lines of a file; no line can be added later"},
};
constexpr Example kRemoveExamples[] = {
    {"bloomery remove users.bloom gone.txt", "every line of a file, once"},
    {"bloomery remove -k 1 -d , users.bloom gone.csv", "the first field of each line"},
};
constexpr Example kAddExamples[] = {
    {"bloomery add seen.bloom urls.txt", "every line of a file"},
    {"bloomery add seen.bloom -k 7 -d ' ' access.log access.log.*.gz",
     "the seventh field of each line, of compressed files too"},
};
constexpr Example kCheckExamples[] = {
    {"bloomery check seen.bloom candidates.txt", "the lines that were probably added"},
    {"bloomery check -v seen.bloom candidates.txt", "the lines that were certainly not added"},
    {"echo http://example.org/ | bloomery check -q seen.bloom", "only the exit code"},
    {"bloomery check -c --json seen.bloom candidates.txt", "counts, for a program"},
};
constexpr Example kDedupExamples[] = {
    {"bloomery dedup urls.txt > once.txt", "each line once, in the order of first appearance"},
    {"bloomery dedup --filter seen.bloom -n 1G -p 1e-6 today.txt > new.txt",
     "only lines that no earlier run has printed"},
    {"bloomery dedup -k 1 -d , table.csv", "the first line of each value of the first field"},
    {"bloomery dedup -k 1,7 --whitespace access.log", "the first line of each pair of two fields"},
    {"bloomery dedup --json-key /request/url events.jsonl",
     "the first line of each URL in a JSON log"},
    {"bloomery dedup -o urls.txt urls.txt", "removes the repeats from a file, in place"},
    {"find . -type f -print0 | bloomery dedup -0", "records that end with NUL"},
    {"bloomery dedup -v -c urls.txt", "how many lines are repeats"},
    {"bloomery dedup -Z zstd urls.gz > once.zst", "from one compressed file to another"},
    {"bloomery dedup --window 10M stream.txt", "repeats of the last 10 million lines printed"},
    {"bloomery dedup --filter week.bloom --window 7d -n 100M today.txt",
     "no line twice within 7 days, across runs"},
};
constexpr Example kInfoExamples[] = {
    {"bloomery info seen.bloom", "its plan, what is in it, and its current fpr"},
    {"bloomery info --json seen.bloom", "the same for a program"},
    {"bloomery info --format prometheus seen.bloom > bloomery.prom",
     "metrics, for a textfile collector"},
};
constexpr Example kMergeExamples[] = {
    {"bloomery merge all.bloom monday.bloom tuesday.bloom",
     "a filter that has the keys of both (same plan and seed)"},
};
constexpr Example kRebuildExamples[] = {
    {"bloomery rebuild cache.bloom keys.txt", "the keys that the cache has now, and no others"},
    {"bloomery rebuild seen.bloom -n 1G urls.txt", "the same lines in a larger filter"},
};
constexpr Example kVerifyExamples[] = {
    {"bloomery verify seen.bloom", "reads every byte, changes none"},
};
constexpr Example kSalvageExamples[] = {
    {"bloomery salvage seen.bloom repaired.bloom", "damaged parts become all ones: no key is lost"},
};

constexpr Example kRotateExamples[] = {
    {"bloomery rotate 'redis://10.0.0.7?key=comments'",
     "forgets the keys from before the previous rotation"},
};
constexpr Example kConvertExamples[] = {
    {"bloomery convert seen.bloom 'redis://10.0.0.7?key=seen'", "a file into a Redis string"},
    {"bloomery convert 'redis+cluster://10.0.0.7?key=urls' urls.bloom",
     "a filter in shards on many nodes into a file"},
    {"bloomery convert 'redis+module://10.0.0.7?key=urls' urls.bfdump",
     "a filter of the module, or of RedisBloom, into a file"},
    {"bloomery convert urls.bfdump 'redis+module://10.0.0.8?key=urls'", "and back"},
    {"bloomery convert --scheme php-hashes=BKDR,SDBM,JS 'redis://10.0.0.7?key=rptc' rptc.bits",
     "the bucket of a PHP class into a file"},
};

constexpr VerbInfo kVerbs[] = {
    {Verb::plan, "plan", "[FILE]",
     "compute the size of a filter: bits, hashes, false-positive rates",
     "Give two or three of -n, -p, --bits and --hashes (-p and --hashes alone leave the size "
     "open). It prints bits, bytes and hashes for each layout, and the false-positive rate at 1 to "
     "4 times the capacity. --kind counting: counters of 4 and 8 bits, and how many of them "
     "saturate. scalable: the memory as the filter grows. window: how long a key is remembered. "
     "create with the same flags makes the filter. FILE goes with --web.",
     kPlanExamples, 0, 1},
    {Verb::create, "create", "FILE [INPUT...]",
     "create an empty filter, or a frozen one from lines",
     "It accepts the same numbers as plan. The file has its full size from the start. --window "
     "alone means --kind window. With --kind frozen all lines are read first, and -n is not "
     "needed; "
     "FILE appears whole or not at all. INPUT and the flags about lines go with that kind.",
     kCreateExamples, 1, kAnyNumber},
    {Verb::add, "add", "FILE [INPUT...]", "add every line to a filter",
     "It reads the standard input if no INPUT is named.", kAddExamples, 1, kAnyNumber},
    {Verb::remove, "remove", "FILE [INPUT...]", "remove every line from a counting filter",
     "For filters made with --kind counting. A line that comes twice is removed twice. A line that "
     "was certainly never added changes nothing. Remove only lines that were added: a line that "
     "merely looks present decrements counters of other lines, which may then be lost. Exit code 0 "
     "if a line was removed, 1 if none.",
     kRemoveExamples, 1, kAnyNumber},
    {Verb::check, "check", "FILE [INPUT...]", "print the lines that a filter has probably seen",
     "A line that was added is always printed. Other lines are printed at the filter's "
     "false-positive rate. With -v every printed line is certainly new. Exit code 0 if a line was "
     "printed, 1 if none.",
     kCheckExamples, 1, kAnyNumber},
    {Verb::dedup, "dedup", "[INPUT...]", "print each line once, the first time it comes",
     "Repeats are always dropped. New lines are dropped at the false-positive rate, by default one "
     "in a million. Memory: the filter (31 bits per line at 1e-6), less than 48 MiB, and 16 MiB "
     "for each thread of -j, whatever the length of the input. With --window a line is printed "
     "again if it comes after that time, or after that many other printed lines. Exit code 0 if a "
     "line was printed, 1 if none.",
     kDedupExamples, 0, kAnyNumber},
    {Verb::info, "info", "FILE...", "show what filters are and how full they are",
     "It also shows the saturated counters of a counting filter, the sub-filters of a scalable one "
     "and the slices of a window.",
     kInfoExamples, 1, kAnyNumber},
    {Verb::merge, "merge", "OUT FILE FILE...", "write a filter with the keys of several",
     "The filters must be plain or counting, all of one kind, and have the same bits, hashes, "
     "layout, hash and seed. OUT appears whole or not at all.",
     kMergeExamples, 3, kAnyNumber},
    {Verb::rebuild, "rebuild", "FILE [INPUT...]",
     "read all lines into a new filter and swap it in at once",
     "FILE keeps its filter until all lines are read. Then the new filter replaces it, and keys "
     "that "
     "did not come again are forgotten. Programs that have FILE open see the old filter until they "
     "reload it. By default the numbers, layout, hash and seed are those of FILE; if there is no "
     "FILE, -n and -p create it. After an interrupt or an error FILE is unchanged. The disk needs "
     "room for both filters.",
     kRebuildExamples, 1, kAnyNumber},
    {Verb::verify, "verify", "FILE...", "read filter files whole and check every checksum",
     "Exit code 0 if a file is whole or the next writer repairs it, 1 if a writer has it open, so "
     "that "
     "its bits cannot be checked now, 2 if it is damaged. Of several files the worst code counts.",
     kVerifyExamples, 1, kAnyNumber},
    {Verb::salvage, "salvage", "FILE OUT", "write a usable filter from a damaged file",
     "Each damaged chunk of 64 KiB becomes all ones, or saturated counters: no key is lost, the "
     "false-positive rate rises, and the new rate is printed.",
     kSalvageExamples, 2, 2},
    {Verb::rotate, "rotate", "URL",
     "drop the older generation of a filter in Redis, begin a new one",
     "For filters made with create --rotating: lines go into the newer generation and are looked "
     "up in both. All clients follow at once. If two clients rotate at the same time, one rotation "
     "is done. With --scheme the bucket of a PHP class moves to the key {name}:older, which its "
     "clients must then ask too.",
     kRotateExamples, 1, 1},
    {Verb::convert, "convert", "SRC DST",
     "copy a filter to another place, if that place can hold its bits",
     "It copies between filter files, Redis strings and shards of strings; between filters of a "
     "module and their dumps in files; between filters of a module in the same number of shards; "
     "with --scheme between the bucket of a PHP class and a file of its bits. DST appears whole or "
     "not at all. Bits cannot become bits of another scheme, because a filter has no keys: rebuild "
     "makes a filter from keys.",
     kConvertExamples, 2, 2},
};

constexpr Topic kTopics[] = {
    {"Lines",
     "INPUT is files, or - for the standard input, which is also read if there is no INPUT. A line "
     "is bytes of any length and value. A newline ends it, or with -0 a NUL. The newline is not "
     "part of the key, but a carriage return is: lines that end with CR LF and with LF are "
     "different "
     "keys. A last line without a newline counts, and is printed with one."},
    {"Compressed input",
     "Inputs in the formats gzip, zstd, xz and bzip2 are decompressed, from files and pipes alike; "
     "a "
     "sequence of compressed parts is one input. --raw reads them as text. If an input is damaged "
     "or "
     "ends too early, the lines before that point are used, and the error names the byte. Data "
     "that "
     "need a window of more than 128 MiB are refused, and so is a line of more than 1 GiB."},
    {"Filters on a Redis server",
     "FILE may be redis://host:port/db?key=name, a plain filter in a string of a Redis server that "
     "needs no module; redis+unix:///path?key=name is the same over a unix socket, and valkey:// "
     "the same as redis://. create, add, check, dedup --filter, info, merge, rebuild, convert and "
     "verify accept it, and rotate accepts filters of create --rotating. redis+cluster:// is a "
     "filter in shards over the nodes of a Redis Cluster, which rotates too; redis+module:// and "
     "redis+module+cluster:// are filters of a module, which rebuild and rotate do not accept, and "
     "merge only in shards. --force replaces a filter of the same kind; create never replaces a "
     "filter of a module: UNLINK it first. Write user and password before the host, as in "
     "user:password@, or put the password into BLOOMERY_REDIS_PASSWORD, where other users of the "
     "machine do not see it. redis+sentinel://s1,s2?key=name&master=NAME asks sentinels for the "
     "master. rediss:// and valkeys:// use TLS; add cacert=FILE, cert=FILE, certkey=FILE and "
     "sni=NAME after the key if the server needs them. Write characters that have a meaning in "
     "addresses as %XX."},
    {"Output",
     "Lines and results go to the standard output, everything else to stderr: progress, "
     "statistics, "
     "warnings, errors. A filter over its capacity is reported with its current fpr."},
    {"Exit status",
     "0: done, or lines were printed. 1: no line was printed (check, dedup). 2: an error, "
     "described in "
     "one line. 129, 130 and 143: a SIGHUP, an interrupt or a SIGTERM came, and the filter file is "
     "whole: the tool stops reading and finishes the lines that it has begun. A second signal "
     "stops "
     "it at once."},
    {"Environment",
     "BLOOMERY_REDIS_PASSWORD is the password for addresses without one; otherwise it is the first "
     "line of the file that BLOOMERY_REDIS_PASSWORD_FILE names. BLOOMERY_KERNEL names the "
     "instruction set (scalar, avx2, avx512, neon); by default it is the best that the CPU has. "
     "Bits "
     "and answers are the same with each. dedup of a pipe keeps the hashes of more than 65,536 "
     "lines "
     "in a file without a name in TMPDIR, 16 bytes each; by default in /var/tmp. If that is in "
     "memory "
     "or full, dedup grows by sub-filters, with up to nine times the memory."},
};

}  // namespace

const std::string_view kTagline = "Bloom filters: have I seen this line before?";

std::span<const Flag> all_flags() noexcept { return kFlags; }
std::span<const VerbInfo> all_verbs() noexcept { return kVerbs; }
std::span<const Topic> all_topics() noexcept { return kTopics; }

const VerbInfo& info_of(Verb verb) noexcept { return kVerbs[static_cast<std::size_t>(verb)]; }

std::string_view flag_of(PlanField field) {
  switch (field) {
    case PlanField::kind:
      return "--kind";
    case PlanField::capacity:
      return "-n";
    case PlanField::fpr:
      return "-p";
    case PlanField::bits:
      return "--bits";
    case PlanField::hashes:
      return "--hashes";
    case PlanField::layout:
      return "--layout";
    case PlanField::counter_bits:
      return "--counter-bits";
    case PlanField::growth:
      return "--growth";
    case PlanField::tightening:
      break;
    case PlanField::window:
      return "--window";
    case PlanField::slices:
      return "--slices";
    case PlanField::delta:
      return "--delta";
  }
  return "tightening";
}

}  // namespace bloomery::cli
