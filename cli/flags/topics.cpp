// The paragraphs of the long help that apply to every verb.
#include "flags/flags.hpp"

namespace bloomery::cli {

namespace {

constexpr Topic kTopics[] = {
    {"Lines",
     "INPUT is files, or - for the standard input, which is also read if there is no INPUT. A line "
     "is bytes of any length and value. A newline ends it, or with -0 a NUL. The newline is not "
     "part of the key, but a carriage return is: lines that end with CR LF and with LF are "
     "different keys. A last line without a newline counts, and is printed with one."},
    {"Compressed input",
     "Inputs in the formats gzip, zstd, xz and bzip2 are decompressed, from files and pipes "
     "alike; a sequence of compressed parts is one input. --raw reads them as text. If an input "
     "is damaged or ends too early, the lines before that point are used, and the error names "
     "the byte. Data whose decompression needs a window of more than 128 MiB are refused, and so "
     "is a line of more than 1 GiB."},
    {"Filters on a Redis server",
     "FILE may be redis://host:port/db?key=name, a plain filter in a string of a Redis server that "
     "needs no module; redis+unix:///path?key=name is the same over a unix socket, and valkey:// "
     "the same as redis://. create, add, check, dedup --filter, info, merge, rebuild, convert and "
     "verify accept it, and rotate accepts filters of create --rotating. redis+cluster:// is a "
     "filter in shards over the nodes of a Redis Cluster, which rotates too; redis+module:// and "
     "redis+module+cluster:// are filters of a module, which rebuild and rotate do not accept, and "
     "merge only in shards. --force replaces a filter that is kept in the same way, whatever its "
     "kind; create never replaces a filter of a module: UNLINK it first. Write user and password "
     "before the host, as in user:password@, or put the password into BLOOMERY_REDIS_PASSWORD, "
     "where other users of the machine do not see it. redis+sentinel://s1,s2?key=name&master=NAME "
     "asks sentinels for the master. rediss:// and valkeys:// use TLS; add cacert=FILE, cert=FILE, "
     "certkey=FILE and sni=NAME after the key if the server needs them. &timeout=SECONDS is how "
     "long to wait for it, by default 5. Write characters that have a meaning in addresses as "
     "%XX."},
    {"Output",
     "Lines and results go to the standard output, everything else to stderr: progress, "
     "statistics, warnings, errors. A filter over its capacity is reported with its current fpr."},
    {"Exit status",
     "0: done, or lines were printed. 1: no line was printed (check, dedup) or removed (remove), "
     "or a writer has the file open and has changed it (verify). 2: an error, described in one "
     "line. 129, 130 and 143: a SIGHUP, an interrupt or a SIGTERM came, and the filter file is "
     "whole: the tool stops reading, and after two seconds takes no more of the lines that it has "
     "read. A second signal stops it at once."},
    {"Environment",
     "BLOOMERY_REDIS_PASSWORD is the password for addresses without one; otherwise it is the "
     "first line of the file that BLOOMERY_REDIS_PASSWORD_FILE names. BLOOMERY_KERNEL names the "
     "instruction set (scalar, avx2, avx512, neon); by default it is the best that the CPU has. "
     "Bits and answers are the same with each. dedup of a pipe keeps the hashes of more than "
     "65,536 lines in a file without a name in TMPDIR, 16 bytes each; by default in /var/tmp. If "
     "that folder is in memory or full, dedup grows by sub-filters, with up to nine times the "
     "memory."},
};

}  // namespace

const std::string_view kTagline = "Bloom filters: have I seen this line before?";

std::span<const Topic> all_topics() noexcept { return kTopics; }

}  // namespace bloomery::cli
