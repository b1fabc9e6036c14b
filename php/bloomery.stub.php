<?php

/** @generate-class-entries */

namespace Bloomery {

    /** What went wrong. getMessage() says it for people, getCode() is one of these numbers, which never change. */
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
     * A plain Bloom filter, and what filters of all kinds do. A key is a string; an integer is the string of its
     * decimal digits, as in the keys of PHP's arrays. Every failure is a Bloomery\Exception.
     *
     * $options: bits, hashes, layout ("blocked", "blocked2", "standard"), hash ("xxh3", "siphash"), seed (8 or 16
     * bytes), random_seed; counter_bits of a counting filter, growth of a scalable one, delta of a frozen one, slices and
     * window_unit ("seconds", "insertions") of a window filter, and clock (false: its time is what advance() says).
     */
    class Filter implements \Countable
    {
        /** In memory, for $capacity keys at the false-positive rate $fpr. */
        public function __construct(int $capacity, float $fpr, array $options = []) {}

        /**
         * The filter at a path, or at an address as "redis://10.0.0.7?key=seen": an object of the class of its kind.
         * $mode: "r" to read, "w" to add to what is there, "a" the same, or a new filter if there is none, "x" a new
         * one, "n" a new one in the place of what is there. More options: kind ("plain", "counting", "scalable",
         * "window"), window, durability ("sync", "process", "none"), rotating, and shared: several writers, in any
         * processes, have a file with a plain filter open at once.
         */
        public static function open(string $location, string $mode = "r", ?int $capacity = null, ?float $fpr = null, array $options = []): Filter {}

        /**
         * The filter in a file, opened once in each process and kept across requests. What other processes add to a
         * plain filter is seen at once; a file that was replaced, and changes to the other kinds, by the first
         * attach() of a later second.
         *
         * $writers: open for writing, with all others that say so; of plain filters. $capacity and $fpr: a new one, if
         * there is none.
         */
        public static function attach(string $path, bool $writers = false, ?int $capacity = null, ?float $fpr = null): Filter {}

        /** From what encode() gave or a filter file holds. */
        public static function decode(string $bytes): Filter {}

        /** True: the key was certainly not there before. */
        public function add(string|int $key): bool {}

        /** False: the key was certainly never added. */
        public function has(string|int $key): bool {}

        /** An integer by its 64 bits, which is another key than its digits; faster. */
        public function addInt(int $key): bool {}

        public function hasInt(int $key): bool {}

        /** How many were certainly new; $new gets the answer for each, under its array key. */
        public function addMany(iterable $keys, ?array &$new = null): int {}

        /** For each key, under its array key, whether it may be there. */
        public function hasMany(iterable $keys): array {}

        /** How many different keys are in it, estimated from all of its bits. */
        public function count(): int {}

        /** What is known of it; exact: from all of the bits, and not from a sample of at most 4 MiB. */
        public function stats(bool $exact = false): array {}

        /** Adds every key of another filter that was made from the same numbers; of plain and counting filters. */
        public function merge(Filter $other): void {}

        /** Keeps the keys that are in both; of a plain filter in memory. */
        public function intersect(Filter $other): void {}

        /** Forgets every key; of a filter in memory. */
        public function clear(): void {}

        /** The filter as bytes, which are a filter file. */
        public function encode(): string {}

        /** Writes a filter file, which appears whole or not at all; another filter file there is replaced. */
        public function save(string $path): void {}

        /** Makes every change so far survive what its place can survive. */
        public function sync(): void {}

        /** Makes every change durable and lets go of file or server. Look-ups in memory and in files still work. */
        public function close(): void {}

        /** Of a reader of a file: opens what is at the path now. True: it may differ from before. */
        public function reload(): bool {}

        /** The location, without a password. */
        public function name(): string {}

        public function __serialize(): array {}

        public function __unserialize(array $data): void {}
    }

    /** Keys can be removed from it. */
    class CountingFilter extends Filter
    {
        /** False: the key was certainly not there. Remove only what was added. */
        public function remove(string|int $key): bool {}

        public function removeInt(int $key): bool {}

        /** How many may have been there; $removed gets the answer for each, under its array key. */
        public function removeMany(iterable $keys, ?array &$removed = null): int {}
    }

    /** Grows: $capacity is its first size, and $fpr holds however many keys come. */
    class ScalableFilter extends Filter
    {
    }

    /** Forgets what is older than $window seconds, or insertions. $capacity: the keys within a window. */
    class WindowFilter extends Filter
    {
        public function __construct(int $window, int $capacity, float $fpr, array $options = []) {}

        /** Tells it the time, in place of the clock. */
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

        /** True: the key was certainly not there before. */
        public function addKey(string|int $key): bool {}

        /** False: the key was certainly never added. */
        public function existKey(string|int $key): bool {}
    }

    /**
     * The class of the blog posts: string hashes, in one Redis string that PHP clients share. A class that derives
     * from it sets the two properties.
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
         * $config: an array of host, port, password, user, database; or a connected Redis of phpredis, to whose server a
         * connection of its own is made; or an address as "redis://10.0.0.7/3". A host "tls://..." is reached by TLS; the array may have ssl, of the context
         * options cafile, local_cert, local_pk, peer_name, verify_peer. $id is not used, as it never was.
         */
        public function __construct(array|object|string $config = [], mixed $id = null) {}

        /**
         * What each bit of the key was before, 0 or 1, in the order of $hashFunction, as phpredis answers setBit():
         * in_array(0, $bits) means that the key is certainly new.
         */
        public function add(string|int $string): array {}

        /** False: the key was certainly never added. */
        public function exists(string|int $string): bool {}
    }
}
