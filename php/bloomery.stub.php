<?php

/** @generate-class-entries */

namespace Bloomery {

    /** An error. getMessage() is for people, getCode() is one of these numbers, which never change. */
    class Exception extends \RuntimeException
    {
        /**
         * @var int
         * @cvalue BLOOMERY_INVALID_ARGUMENT
         */
        public const INVALID_ARGUMENT = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_TOO_LARGE
         */
        public const TOO_LARGE = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_NO_MEMORY
         */
        public const NO_MEMORY = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_MISMATCH
         */
        public const MISMATCH = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_NOT_A_FILTER
         */
        public const NOT_A_FILTER = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_NEWER_FORMAT
         */
        public const NEWER_FORMAT = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_EXISTS
         */
        public const EXISTS = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_WRONG_KIND
         */
        public const WRONG_KIND = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_CORRUPT
         */
        public const CORRUPT = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_UNCLEAN
         */
        public const UNCLEAN = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_LOCKED
         */
        public const LOCKED = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_READ_ONLY
         */
        public const READ_ONLY = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_IO
         */
        public const IO = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_NO_SPACE
         */
        public const NO_SPACE = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_POISONED
         */
        public const POISONED = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_UNAVAILABLE
         */
        public const UNAVAILABLE = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_DENIED
         */
        public const DENIED = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_MISSING
         */
        public const MISSING = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_INHERITED
         */
        public const INHERITED = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMERY_INTERNAL
         */
        public const INTERNAL = UNKNOWN;
    }

    /**
     * A plain Bloom filter, and the operations of filters of every kind. A key is a string; an integer is the string of its
     * decimal digits, as in the keys of PHP's arrays. Every failure is a Bloomery\Exception.
     *
     * $options: bits, hashes, layout ("blocked", "blocked2", "standard"), hash ("xxh3", "siphash"), seed (8 bytes, or
     * the 16 of siphash), random_seed; counter_bits of a counting filter, growth of a scalable one, delta of a frozen one, slices and
     * window_unit ("seconds", "insertions") of a window filter, and clock (false: advance() sets its time).
     */
    class Filter implements \Countable
    {
        /** In memory, for $capacity keys at the false-positive rate $fpr. */
        public function __construct(int $capacity, float $fpr, array $options = []) {}

        /**
         * Opens the filter at a path, or at an address such as "redis://10.0.0.7?key=seen", as an object of the class of
         * its kind. $mode: "r" reads, "w" adds to an existing filter, "a" does the same or creates one, "x" creates a new
         * one, "n" puts a new one in the place of an existing one, at once and empty (rebuild() replaces it when the new
         * one is whole). Numbers that an existing filter does not have are the exception MISMATCH. More options: kind
         * ("plain", "counting", "scalable", "window", or "frozen", which takes its keys before close()), window,
         * rotating: two generations in Redis strings (rotate() drops the older one), and for files durability ("sync",
         * "process", "none") and shared: several writers, in any processes, can have the file of a plain filter open at
         * once.
         */
        public static function open(#[\SensitiveParameter] string $location, string $mode = "r", ?int $capacity = null, ?float $fpr = null, array $options = []): Filter {}

        /**
         * A new filter for a file or a Redis string, which keeps its old one until close() puts the new one in its place,
         * in one step. An object that is destroyed without close() leaves the old one. There need not be an old filter.
         */
        public static function rebuild(#[\SensitiveParameter] string $location, ?int $capacity = null, ?float $fpr = null, array $options = []): Filter {}

        /**
         * Drops the older generation of a filter in Redis that was made with rotating, and begins a new one, for all its
         * users. False: another client did it at the same time.
         */
        public static function rotate(#[\SensitiveParameter] string $location): bool {}

        /**
         * Copies a plain filter, bit for bit, between files, Redis strings, shards, dumps and modules, one of a module between
         * servers and dumps, or a frozen one into a module. $to gets the whole filter or nothing; a path becomes a filter
         * file, or for a filter of a module a dump, unless its name ends in ".bloom". $replace: it may replace a filter.
         */
        public static function convert(#[\SensitiveParameter] string $source, #[\SensitiveParameter] string $to, bool $replace = false): void {}

        /**
         * Makes a filter at $to that has every key of the filters at the locations $sources: plain ones in files and Redis
         * strings, counting ones in files, those of a module in shards, which were made from the same numbers.
         */
        public static function mergeLocations(#[\SensitiveParameter] array $sources, #[\SensitiveParameter] string $to, bool $replace = false): void {}

        /**
         * Checks every byte of a filter in a file, and on a server headers and lengths, and changes nothing. False: a writer
         * has it open, so try again later. The exception CORRUPT: it is damaged, and the message says what to do.
         */
        public static function verify(#[\SensitiveParameter] string $location): bool {}

        /**
         * What a filter of the class's kind costs, without making it: kind, capacity, fpr, bytes, hashes, layout and
         * bits_per_key. Give two of $capacity, $fpr and the options bits and hashes; other options as for open().
         */
        public static function plan(?int $capacity = null, ?float $fpr = null, array $options = []): array {}

        /** The false-positive rate of the filter of this plan with $keys distinct keys in it. */
        public static function predictedFpr(float $keys, ?int $capacity = null, ?float $fpr = null, array $options = []): float {}

        /**
         * Opens a filter once per process and keeps it across requests. Keys that other processes add to a plain
         * filter are seen at once. A replaced file, and changes to the other kinds in files, are seen by the first
         * attach() of a later second. A filter on a server keeps its connection until then.
         *
         * $writers: open for writing, in a file together with all others that set it, for plain filters. With it
         * $capacity and $fpr create the filter if there is none. An existing filter must have them (MISMATCH).
         */
        public static function attach(#[\SensitiveParameter] string $location, bool $writers = false, ?int $capacity = null, ?float $fpr = null): Filter {}

        /** A filter in memory from the bytes of encode() or of a filter file. */
        public static function decode(string $bytes): Filter {}

        /** True: the key was certainly not there before. */
        public function add(string|int $key): bool {}

        /** False: the key was certainly never added. */
        public function has(string|int $key): bool {}

        /** The key is the 64-bit integer itself, not the string of its digits; this is faster. */
        public function addInt(int $key): bool {}

        public function hasInt(int $key): bool {}

        /** Returns how many keys were certainly new; $new gets the answer for each key, under its array key. */
        public function addMany(iterable $keys, ?array &$new = null): int {}

        /** For each key, under its array key, whether it may be there. */
        public function hasMany(iterable $keys): array {}

        /** How many different keys are in it, estimated from all of its bits. */
        public function count(): int {}

        /** The statistics; null: not known. $exact: from all of the bits, and not from a sample of at most 4 MiB. */
        public function stats(bool $exact = false): array {}

        /** Adds every key of another filter that was made from the same numbers; for plain and counting filters. */
        public function merge(Filter $other): void {}

        /** Keeps the keys that are in both; for plain filters in memory. */
        public function intersect(Filter $other): void {}

        /** Forgets every key; for filters in memory. */
        public function clear(): void {}

        /** The filter as bytes, which are a filter file. */
        public function encode(): string {}

        /** Writes a filter file, which appears whole or not at all and replaces another filter file. */
        public function save(#[\SensitiveParameter] string $path): void {}

        /** Makes every change so far as durable as the place can. */
        public function sync(): void {}

        /** Makes every change durable and releases the file or server. Look-ups in memory and in files still work. */
        public function close(): void {}

        /** For a reader of a file: opens the file that is at the path now. True: the filter may have changed. */
        public function reload(): bool {}

        /** The location, without a password. */
        public function name(): string {}

        public function __serialize(): array {}

        public function __unserialize(array $data): void {}
    }

    /** A filter from which keys can be removed. */
    class CountingFilter extends Filter
    {
        /** False: the key was certainly not there. Remove only what was added. */
        public function remove(string|int $key): bool {}

        public function removeInt(int $key): bool {}

        /** Returns how many keys may have been there; $removed gets the answer for each key, under its array key. */
        public function removeMany(iterable $keys, ?array &$removed = null): int {}
    }

    /** A filter that grows: $capacity is its first size, and $fpr holds for any number of keys. */
    class ScalableFilter extends Filter
    {
    }

    /** A filter that forgets keys older than $window seconds or insertions. $capacity: the keys within a window. */
    class WindowFilter extends Filter
    {
        public function __construct(int $window, int $capacity, float $fpr, array $options = []) {}

        /** Sets the time, instead of the clock. */
        public function advance(int $now): void {}
    }
}

namespace Bloomery\Legacy {

    /**
     * The class of the blog posts: crc32 seeds mt_rand, which draws the bits; in memory. For new filters: Filter.
     *
     * @not-serializable
     */
    class BloomFilter
    {
        /** $m bits for $n keys. */
        public function __construct(int $m, int $n) {}

        /**
         * True: the key was certainly not there before.
         *
         * @tentative-return-type
         */
        public function addKey(string|int $key): bool {}

        /**
         * False: the key was certainly never added.
         *
         * @tentative-return-type
         */
        public function existKey(string|int $key): bool {}
    }

    /**
     * The class of the blog posts: string hashes, in one Redis string that PHP clients share. A class that derives
     * from it sets the first two properties.
     *
     * @not-serializable
     */
    abstract class BloomFilterRedis
    {
        /** @var string */
        protected $bucket;

        /** @var array */
        protected $hashFunction;

        /**
         * Whether keys are also looked up in the older bucket, which rotate() makes.
         *
         * @var bool
         */
        protected $rotating = false;

        /**
         * $config: an array of host, port, password, user, database; or a connected Redis of phpredis, to whose server
         * the object makes its own connection; or an address such as "redis://10.0.0.7/3". A host "tls://..." uses TLS;
         * the array may have ssl, an array of the context options cafile, local_cert, local_pk, peer_name, verify_peer.
         * $id is not used, and never was.
         */
        public function __construct(#[\SensitiveParameter] array|object|string $config = [], mixed $id = null) {}

        /**
         * What each bit of the key was before, 0 or 1, in the order of $hashFunction, as phpredis answers setBit():
         * in_array(0, $bits) means that the key is certainly new.
         *
         * @tentative-return-type
         */
        public function add(string|int $string): array {}

        /**
         * False: the key was certainly never added.
         *
         * @tentative-return-type
         */
        public function exists(string|int $string): bool {}

        /**
         * Puts the bucket aside, as {bucket}:older, and drops the one that was there before, so that the bucket is empty
         * and a key is forgotten by the second rotation after it. Only with $rotating. False: nothing was added since the
         * last rotation.
         *
         * @tentative-return-type
         */
        public function rotate(): bool {}
    }
}
