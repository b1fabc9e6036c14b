// The rows of the table of verbs, with their examples.
#include "flags/flags.hpp"

namespace bloomery::cli {

namespace {

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
     "needed; FILE appears whole or not at all. INPUT and the flags about lines go with that kind.",
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
     "false-positive rate. With -v every printed line is certainly new. Lines that come after "
     "another run has added to FILE or replaced it are looked up in what is there then (not for "
     "dumps, and bits of a PHP class in a file). Exit code 0 if a line was printed, 1 if none.",
     kCheckExamples, 1, kAnyNumber},
    {Verb::dedup, "dedup", "[INPUT...]", "print each line once, the first time it comes",
     "Repeats are always dropped. New lines are dropped at the false-positive rate, by default "
     "one in a million. Memory: the filter (31 bits per line at 1e-6), less than 48 MiB, and 16 "
     "MiB for each thread of -j, whatever the length of the input. With --window a line is "
     "printed again if it comes after that time, or after that many other printed lines. With "
     "--filter, a window of lines is written to the file after every slice: a small window is "
     "faster with --durability none. Exit code 0 if a line was printed, 1 if none.",
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
     "that did not come again are forgotten. Programs that have FILE open see the old filter until "
     "they reload it. By default the numbers, layout, hash and seed are those of FILE; if there is "
     "no FILE, -n and -p create it (--kind frozen: -p). After an interrupt or an error FILE is "
     "unchanged. The disk needs room for both filters.",
     kRebuildExamples, 1, kAnyNumber},
    {Verb::verify, "verify", "FILE...",
     "read filter files and dumps whole and check every checksum",
     "Exit code 0 if a file is whole or the next writer repairs it, 1 if a writer has it open, so "
     "that its bits cannot be checked now, 2 if it is damaged. Of several files the worst code "
     "counts.",
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

}  // namespace

std::span<const VerbInfo> all_verbs() noexcept { return kVerbs; }
const VerbInfo& info_of(Verb verb) noexcept { return kVerbs[static_cast<std::size_t>(verb)]; }

}  // namespace bloomery::cli
