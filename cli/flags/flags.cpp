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
     "billion. Of a scalable filter it is the number to begin with. dedup without -n sizes itself, "
     "files by sampling their lines, and grows where that was too little."},
    {FlagId::fpr, 'p', kSizing, "fpr", "P", "",
     "the false-positive rate: 0.001, 0.1%, 1/1000 or 1e-3",
     "The share of keys never added that are answered \"probably seen\". dedup takes 1e-6 by "
     "default: each false positive silently drops a line that was new."},
    {FlagId::bits, 0, of(Verb::plan, Verb::rebuild) | kSchemes, "bits", "M", "",
     "the size of the filter: bits (8G), bytes (1GiB) or bits per key (16/key)",
     "A bare count is bits. B, KB, MB and GB are bytes, powers of 1000; KiB, MiB, GiB and TiB are "
     "powers of 1024. With -n it gives the false-positive rate, with -p the number of keys. With "
     "--scheme php-crc32-mt it is the m of the PHP class."},
    {FlagId::hashes, 0, of(Verb::plan, Verb::create, Verb::rebuild), "hashes", "K", "",
     "how many bits each key sets (by default the best number)",
     "blocked takes up to 16, blocked2 even numbers up to 32, standard up to 64. With -n alone it "
     "gives the size at which this number is the best, with --bits alone the number of keys."},
    {FlagId::layout, 0, kSizing, "layout", "LAYOUT", "blocked|blocked2|standard",
     "where a key's bits are: blocked, blocked2 or standard",
     "blocked: in one cache line; the fastest, and the default for false-positive rates from 1e-4 "
     "up. blocked2: in two cache lines, the default below. standard: anywhere; the smallest and "
     "the slowest, the default below 1e-10."},
    {FlagId::kind, 0, kSizing, "kind", "KIND", "plain|counting|scalable|window|frozen",
     "what the filter can do besides: plain, counting, scalable, window or frozen",
     "counting: lines can be removed again (four times the memory). scalable: grows beyond -n, at "
     "the same false-positive rate. window: forgets what is older than --window. dedup takes these "
     "with --filter. frozen: the smallest, for a set that is known as a whole; create and rebuild "
     "build it from all lines."},
    {FlagId::counter_bits, 0, of(Verb::plan, Verb::create, Verb::rebuild), "counter-bits", "BITS",
     "4|8", "counting: the bits of a counter (by default 4)",
     "A counter of 4 bits counts a line 15 times, one of 8 bits 255 times. After that it stays as "
     "it is, and the line can no longer be removed."},
    {FlagId::growth, 0, kSizing, "growth", "G", "",
     "scalable: how much larger each sub-filter is than the one before (by default 2)",
     "A larger factor means fewer sub-filters to ask, and more room that may stay empty."},
    {FlagId::window, 0, kSizing, "window", "W", "",
     "window: how long a line is remembered: 7d, 12h, 30min, 90s, 2w, or 10M lines",
     "A line is found for that long after it was added, and for up to one slice longer. With a "
     "time, -n is the number of different lines within the window, spread evenly over its slices: "
     "give the number of slices times what the busiest one takes. A number of lines is its own -n; "
     "dedup counts the lines that are new."},
    {FlagId::slices, 0, kSizing, "slices", "N", "",
     "window: in how many steps it forgets, 1 to 64 (by default 8)",
     "More slices forget more exactly and make every look-up slower."},
    {FlagId::delta, 0, of(Verb::plan, Verb::create, Verb::rebuild), "delta", "N", "",
     "frozen: so many lines may be added before it is rebuilt",
     "They go into a small plain filter in the same file, which check asks besides; a sixteenth of "
     "-p "
     "is its part. Without it a frozen filter takes no lines once it is built."},
    {FlagId::rotating, 0, of(Verb::create, Verb::add, Verb::check, Verb::dedup, Verb::info),
     "rotating", "", "", "in Redis: two generations; rotate drops the older one",
     "-n is for one generation, -p for both together. Only create needs the flag; with --scheme it "
     "says that the older generation of a bucket is looked up too."},
    {FlagId::scheme, 0, kSchemes, "scheme", "SCHEME", "",
     "the filter is a PHP class's: php-crc32-mt, or php-hashes=BKDR,SDBM,JS",
     "Bits without a header, in a file (what GET returned) or in Redis. php-crc32-mt takes m and n "
     "of the class as --bits and -n; php-hashes the names of its hashes, of JS, PJW, ELF, BKDR, "
     "SDBM, DJB, DEK and FNV. Nothing in the bits says whether these are right: a wrong scheme "
     "answers wrongly."},
    {FlagId::table, 0, of(Verb::plan), "table", "", "",
     "the false-positive rates over bits per key (2 to 32) and hashes (1 to 8)",
     "Those of the textbook's formula, or of the layout that --layout names."},
    {FlagId::web, 0, of(Verb::plan), "web", "", "",
     "write the planner, a page for a browser, to FILE (by default planner.html)",
     "One file that needs no server and no network: every number, kind and layout, the "
     "false-positive rate over keys, memory and hashes, the formulas, the lines to copy."},
    {FlagId::hash, 0, kMaking, "hash", "FAMILY", "xxh3|siphash",
     "the hash: xxh3 (fast), siphash (keys chosen by an adversary)",
     "siphash draws a secret random seed unless --seed is given. The hash and the seed are stored "
     "in "
     "the file: an adversary must not read it."},
    {FlagId::seed, 0, kMaking, "seed", "SEED", "",
     "the seed of the hash: a number, 0x and hexadecimal digits, or random",
     "Filters merge only if their seeds are equal. xxh3 takes 64 bits, siphash 128. A filter has "
     "the "
     "seed 0 with xxh3 by default, which everybody knows: give random for lines of strangers, and "
     "siphash if they see answers. dedup without --filter draws one for each run."},
    {FlagId::force, 0, of(Verb::plan, Verb::create, Verb::merge, Verb::salvage, Verb::convert),
     "force", "", "", "replace a filter (plan --web: a page) that exists",
     "What is no filter, or no page, is never replaced, in a file or on a server."},
    {FlagId::filter, 0, of(Verb::dedup), "filter", "FILE", "",
     "remember lines across runs in FILE (-n creates it if absent)",
     "A line is remembered after it was written to the output, so that a crash repeats lines and "
     "loses none; all lines are, also with -c and -v. If FILE exists, -n, -p, --layout, --hash and "
     "--seed must agree with it or be "
     "left out."},
    {FlagId::durability, 0, of(Verb::add, Verb::dedup, Verb::remove), "durability", "LEVEL",
     "none|process|sync",
     "what added and removed lines survive: none, process or sync (the default)",
     "sync: a power loss, at the price of a synced journal write for each batch. process: a kill "
     "of this program; after a power loss the file is refused. none: nothing until the end of the "
     "run, when the file is replaced whole."},
    {FlagId::batch, 0, of(Verb::add, Verb::remove), "batch", "NAME", "",
     "the input has a name: after a crash, repeat the command to go on where the file stands",
     "The file remembers how many lines of its latest batch are done, and leaves those out; repeat "
     "a "
     "batch before you begin another. The input must be the same from its first line on, else it "
     "is "
     "an error. For filters that count, grow or forget; adding lines to a plain filter again "
     "changes "
     "nothing."},
    {FlagId::invert, 'v', of(Verb::check, Verb::dedup), "invert", "", "",
     "check: print the lines that are certainly new; dedup: only the repeats", ""},
    {FlagId::count, 'c', of(Verb::check, Verb::dedup), "count", "", "",
     "print how many lines it would be instead of the lines", ""},
    {FlagId::quiet, 'q', kAll, "quiet", "", "",
     "no statistics, no progress, no remarks; check: no lines either, only the exit code",
     "check -q stops at the first line that answers the question."},
    {FlagId::null, '0', kStreams, "null", "", "", "lines end with NUL, in and out, not newline",
     "For the output of find -print0 and similar programs."},
    {FlagId::key, 'k', kStreams, "key", "N", "",
     "field N of a line is the key (the first is 1), or several: 2,5",
     "The whole line is printed. A line with fewer fields has the empty key. Several fields are "
     "one "
     "key, in the order given and with the delimiter between them: a and bc differ from ab and c."},
    {FlagId::delimiter, 'd', kStreams, "delimiter", "C", "",
     "the byte between fields, with -k (by default a tab)", "One byte, or \\t."},
    {FlagId::whitespace, 0, kStreams, "whitespace", "", "",
     "runs of spaces and tabs are between fields, with -k",
     "Those before the first field and behind the last do not count. One space is between several "
     "fields of a key."},
    {FlagId::json_key, 0, kStreams, "json-key", "FIELD", "",
     "lines are objects of JSON: the value of FIELD is the key",
     "FIELD is a name at the top, as it is written there, or a path such as /request/url or "
     "/tags/0. Of a string the key is what it says, of any other value what is written. A line "
     "without the field has the empty key. A line that is no object of JSON is an error, and the "
     "lines before it are done."},
    {FlagId::ignore_case, 0, kStreams, "ignore-case", "", "", "A to Z in a key count as a to z",
     "Other letters stay different."},
    {FlagId::raw, 0, kStreams, "raw", "", "",
     "take inputs as text, also where they look compressed",
     "Without it an input that begins as gzip, zstd, xz or bzip2 does is decompressed."},
    {FlagId::compress, 'Z', kPrinting, "compress", "FORMAT", "gzip|zstd|xz|bzip2",
     "compress the lines that are printed: gzip, zstd, xz or bzip2",
     "As the program of that name does by default. With --filter the output is in parts, one "
     "behind "
     "the other, and a line is remembered once the part that has it is written."},
    {FlagId::out, 'o', kPrinting, "output", "OUT", "",
     "print lines to the file OUT, which changes when the run is done",
     "OUT may be one of the inputs. It gets the new lines as a whole; after an error or a signal "
     "it is "
     "as it was. With dedup --filter it is written as the lines come instead, so that no line is "
     "remembered that is nowhere, and may be no input."},
    {FlagId::threads, 'j', kStreams, "threads", "N", "",
     "N threads find lines and hash keys (by default one for each processor)",
     "Others read and write beside them. As many then build a frozen filter. What comes out is the "
     "same with any number, byte for byte; small inputs take fewer."},
    {FlagId::json, 0, of(Verb::plan, Verb::add, Verb::remove, Verb::check, Verb::dedup, Verb::info),
     "json", "", "", "JSON instead of text",
     "dedup writes its statistics as one JSON object to stderr, and with -c to stdout; check takes "
     "it with -c. add and remove write one line to stderr each second that says how many lines are "
     "safe, and "
     "their statistics at the end. Numbers that are infinite are null."},
    {FlagId::format, 0, of(Verb::info), "format", "FORMAT", "json|prometheus",
     "json, as --json does, or prometheus: metrics of all FILEs",
     "prometheus is for the textfile collector of its node exporter, from cron. A filter that "
     "cannot "
     "be read is a metric too, and the others are still printed; the exit status is then 2. "
     "redis+module://host?match=PATTERN stands for all filters of a module on a server whose keys "
     "match."},
    {FlagId::plot, 0, of(Verb::plan, Verb::info), "plot", "", "",
     "draw it: plan, the false-positive rate as the filter fills; info, where its ones are",
     "For terminals that show UTF-8. plan draws the layout that it would take, or the one of "
     "--layout; info draws files."},
    {FlagId::exact, 0, of(Verb::info), "exact", "", "",
     "count all of the bits, not a sample of a large filter",
     "A sample has 65,536 blocks, at most 4 MiB, of each filter, sub-filter or window that is "
     "larger. On "
     "a server there is always a sample."},
    {FlagId::no_progress, 0, kStreams, "no-progress", "", "",
     "no progress bar (there is one when stderr is a terminal)", ""},
    {FlagId::help_short, 'h', kAll, "", "", "", "this help, short", ""},
    {FlagId::help_long, 0, kAll, "help", "", "", "the long help, with examples", ""},
};

constexpr Example kPlanExamples[] = {
    {"bloomery plan -n 100M -p 0.1%", "what a filter for 100 million keys at 1 in 1000 takes"},
    {"bloomery plan -n 100M --bits 128MiB", "the false-positive rate that 128 MiB give"},
    {"bloomery plan -p 1/1000 --bits 1GiB --layout blocked2", "how many keys 1 GiB holds"},
    {"bloomery plan --kind counting -n 1M -p 1%", "a filter that keys can be removed from"},
    {"bloomery plan --kind scalable -n 1M -p 0.1%", "one that grows: its memory as it does"},
    {"bloomery plan --window 7d -n 100M -p 0.1%", "one that forgets after 7 days"},
    {"bloomery plan -n 1M -p 1% --plot",
     "the false-positive rate from empty to four times as full as planned"},
    {"bloomery plan --table", "the textbook's table of false-positive rates"},
    {"bloomery plan --web planner.html", "the planner as a page, for a browser"},
};
constexpr Example kCreateExamples[] = {
    {"bloomery create seen.bloom -n 100M -p 0.1%", "an empty filter of 186 MiB"},
    {"bloomery create guard.bloom -n 1M -p 1e-6 --hash siphash",
     "one whose keys an adversary may choose"},
    {"bloomery create users.bloom --kind counting -n 10M -p 1%", "one that lines can leave again"},
    {"bloomery create urls.bloom --kind scalable -n 1M -p 0.1%", "one that grows with its lines"},
    {"bloomery create week.bloom --window 7d -n 100M -p 0.1%", "one that forgets after 7 days"},
    {"bloomery create --kind frozen -p 0.1% spam.bloom spam.txt",
     "the smallest, of all lines of a file that no line is added to later"},
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
    {"bloomery check -v seen.bloom candidates.txt", "the lines that were certainly not"},
    {"echo http://example.org/ | bloomery check -q seen.bloom", "only the exit code"},
    {"bloomery check -c --json seen.bloom candidates.txt", "counts, for a program"},
};
constexpr Example kDedupExamples[] = {
    {"bloomery dedup urls.txt > once.txt", "each line once, in the order of first appearance"},
    {"bloomery dedup --filter seen.bloom -n 1G -p 1e-6 today.txt > new.txt",
     "only lines that no earlier run has printed"},
    {"bloomery dedup -k 1 -d , table.csv", "the first line of each value of the first field"},
    {"bloomery dedup -k 1,7 --whitespace access.log", "of each pair of two fields"},
    {"bloomery dedup --json-key /request/url events.jsonl", "of each URL in a log of JSON"},
    {"bloomery dedup -o urls.txt urls.txt", "a file without its repeats, in its own place"},
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
    {"bloomery rebuild cache.bloom keys.txt",
     "the keys that the cache has now, and none that has left it"},
    {"bloomery rebuild seen.bloom -n 1G urls.txt", "the same lines in a larger filter"},
};
constexpr Example kVerifyExamples[] = {
    {"bloomery verify seen.bloom", "reads every byte, changes none"},
};
constexpr Example kSalvageExamples[] = {
    {"bloomery salvage seen.bloom repaired.bloom", "damaged parts become all ones: no key is lost"},
};

constexpr Example kRotateExamples[] = {
    {"bloomery rotate 'redis://10.0.0.7?key=comments'", "forgets what came before the last time"},
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
    {Verb::plan, "plan", "[FILE]", "what a filter takes: bits, hashes, false-positive rates",
     "Give two or three of -n, -p, --bits and --hashes (-p and --hashes alone leave the size "
     "open). Prints bits, bytes and hashes for each layout, and the false-positive rate at 1 to 4 "
     "times the capacity. With --kind counting: counters of 4 and 8 bits, and how many of them "
     "lose count. scalable: the memory as the filter grows. window: how long a key stays. create "
     "with the same flags makes the filter. FILE goes with --web.",
     kPlanExamples, 0, 1},
    {Verb::create, "create", "FILE [INPUT...]",
     "make an empty filter, or a frozen one of all lines",
     "Takes the same numbers as plan. The file has its full size from the start. --window alone "
     "means --kind window. With --kind frozen all lines are read first, and -n is not needed; FILE "
     "is there when all is done, or not at all. INPUT and the flags about lines go with that kind.",
     kCreateExamples, 1, kAnyNumber},
    {Verb::add, "add", "FILE [INPUT...]", "put every line into a filter",
     "Reads the standard input if no INPUT is named.", kAddExamples, 1, kAnyNumber},
    {Verb::remove, "remove", "FILE [INPUT...]", "take every line out of a counting filter",
     "For filters made with --kind counting. A line that comes twice is removed twice. A line that "
     "was certainly never added changes nothing. Remove only what was added: a line that merely "
     "looks present takes counts from other lines, which may then be missed. Exit code 0 if a line "
     "was removed, 1 if none.",
     kRemoveExamples, 1, kAnyNumber},
    {Verb::check, "check", "FILE [INPUT...]", "print the lines that a filter has probably seen",
     "A line that was added is always printed. Other lines are printed at the filter's "
     "false-positive rate. With -v every printed line is certainly new. Exit code 0 if a line was "
     "printed, 1 if none.",
     kCheckExamples, 1, kAnyNumber},
    {Verb::dedup, "dedup", "[INPUT...]", "print each line once, the first time it comes",
     "Repeats are always dropped. New lines are dropped at the false-positive rate, by default one "
     "in a million. Memory: the filter (31 bits per line at 1e-6), less than 48 MiB, and 16 MiB "
     "for each of -j, whatever the length of the input. With --window a line is printed again if "
     "it comes after so much "
     "time, or so many other printed lines. Exit code 0 if a line was printed, 1 if none.",
     kDedupExamples, 0, kAnyNumber},
    {Verb::info, "info", "FILE...", "what filters are and how full they are",
     "Also the saturated counters of a counting filter, the sub-filters of a scalable one and the "
     "slices of a window.",
     kInfoExamples, 1, kAnyNumber},
    {Verb::merge, "merge", "OUT FILE FILE...", "write a filter with the keys of several",
     "The filters must be plain or counting, all of one kind, and have the same bits, hashes, "
     "layout, hash and seed. OUT appears whole or not at all.",
     kMergeExamples, 3, kAnyNumber},
    {Verb::rebuild, "rebuild", "FILE [INPUT...]",
     "read all lines into a new filter and swap it in at once",
     "FILE keeps what it has until all lines are read. Then the new filter takes its place, and "
     "keys that did not come again are forgotten. Programs that have FILE open see the old filter "
     "until they reload it. By default the numbers, layout, hash and seed are those of FILE; if "
     "there is none, -n and -p make one. After an interrupt or an error FILE is unchanged. The "
     "disk needs room for both.",
     kRebuildExamples, 1, kAnyNumber},
    {Verb::verify, "verify", "FILE...", "read all of filter files and check every checksum",
     "Exit code 0 if all is well or the next writer repairs it, 1 if a writer has it open, so that "
     "its bits cannot be checked now, 2 if it is damaged. Of several files the worst.",
     kVerifyExamples, 1, kAnyNumber},
    {Verb::salvage, "salvage", "FILE OUT", "write a usable filter from a damaged file",
     "Each damaged chunk of 64 KiB becomes all ones, or saturated counters: no key is lost, the "
     "false-positive rate rises, and the new rate is printed.",
     kSalvageExamples, 2, 2},
    {Verb::rotate, "rotate", "URL",
     "drop the older generation of a filter in Redis, begin a new one",
     "For filters made with create --rotating: lines go into the newer generation and are looked "
     "up "
     "in both. All clients follow at once. Of two rotations at the same time one is done. With "
     "--scheme the bucket of a PHP class moves to the key {name}:older, which its clients must "
     "then ask as well.",
     kRotateExamples, 1, 1},
    {Verb::convert, "convert", "SRC DST",
     "move a filter to another place, as far as its bits allow",
     "Between filter files, Redis strings and shards of them; between filters of a module and "
     "their "
     "dumps in files; between filters of a module in the same number of shards; with --scheme "
     "between the bucket of a PHP class and a file of its bits. DST appears whole or not at all. "
     "Bits cannot become bits of another scheme, because their keys are gone: rebuild makes a "
     "filter from keys.",
     kConvertExamples, 2, 2},
};

constexpr Topic kTopics[] = {
    {"Lines",
     "INPUT is files, or - for the standard input, which is also read if there is no INPUT. A line "
     "is bytes of any length and value, ended by a newline, or by NUL with -0. The end is not part "
     "of the key, but a carriage return is: lines that end with CR LF and with LF are different "
     "keys. A last line without an end counts, and is printed with one."},
    {"Compressed input",
     "An input that begins as gzip, zstd, xz or bzip2 does is decompressed, from files and pipes "
     "alike; several that stand one behind the other are one. --raw takes it for text. Where it is "
     "damaged or ends too early, the lines before are taken, and the error names the byte. What "
     "takes a window of more than 128 MiB is refused, and so is a line of more than 1 GiB."},
    {"Filters on a Redis server",
     "FILE may be redis://host:port/db?key=name, a plain filter in a string of a Redis server that "
     "needs no module; redis+unix:///path?key=name is the same over a unix socket, and valkey:// "
     "the "
     "same as redis://. create, add, "
     "check, dedup --filter, info, merge, rebuild, convert and verify take it, and rotate one that "
     "create --rotating has made. redis+cluster:// is one in shards over the nodes of a Redis "
     "Cluster, which rotates too; redis+module:// and redis+module+cluster:// are filters of a "
     "module, which rebuild and rotate do not take, and merge only in shards. --force replaces a "
     "filter of the same "
     "kind; create replaces none of a module: UNLINK it first. A user and password stand before "
     "the host, as in user:password@, or the password is in BLOOMERY_REDIS_PASSWORD, where other "
     "users of the machine do not see it. redis+sentinel://s1,s2?key=name&master=NAME asks "
     "sentinels "
     "for the master; rediss:// and valkeys:// speak TLS, with cacert=FILE, cert=FILE, "
     "certkey=FILE "
     "and sni=NAME behind the key where they are needed. What has a meaning in an address is "
     "written as %XX."},
    {"Output",
     "Lines and results go to the standard output, all else to stderr: progress, statistics, "
     "warnings, errors. A filter filled beyond its capacity is reported with its current fpr."},
    {"Exit status",
     "0: done, or lines were printed. 1: no line was printed (check, dedup). 2: an error, told in "
     "one line. 129, 130 and 143: a SIGHUP, an interrupt or SIGTERM came, and the filter file is "
     "whole: reading stops, and what has begun is finished. A second signal stops at once."},
    {"Environment",
     "BLOOMERY_REDIS_PASSWORD is the password for addresses that have none, or else the first line "
     "of the file that BLOOMERY_REDIS_PASSWORD_FILE names. BLOOMERY_KERNEL names "
     "the instruction set to use (scalar, avx2, avx512, neon); by default it is the best that the "
     "CPU has. The bits and answers are the same with each. TMPDIR is where dedup of a pipe keeps "
     "the hashes of more than 65,536 lines, 16 bytes each, in a file without a name; by default "
     "/var/tmp. Where that is memory, or full, dedup grows by sub-filters, in up to nine times the "
     "memory."},
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
