<?php
// The eight string hashes as the classes in the field write them, since what PHP does where an
// integer overflows depends on the order of the operations.
error_reporting(E_ALL & ~E_DEPRECATED);  // floats that are used as integers: they are the subject

function bytes_of(string $key): array
{
    return $key === '' ? [] : array_values(unpack('C*', $key));
}

// What every one of the eight ends with.
function folded($hash): int
{
    return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
}

// The hash of no byte (DEK: the key's length is all of it), what a byte makes of a hash, and what
// is done to it after the last.
$same = fn ($hash) => $hash;
$formulas = [
    'JS' => [
        fn (string $key) => 1315423911,
        fn ($hash, int $byte) => $hash ^ (($hash << 5) + $byte + ($hash >> 2)),
        $same,
    ],
    'PJW' => [
        fn (string $key) => 0,
        fn ($hash, int $byte) => ($hash << 4) + $byte,
        function ($hash) {
            $high = 0xFFFFFFFF << 28;
            $test = $hash & $high;
            return $test != 0 ? ($hash ^ ($test >> 24)) & (~$high) : $hash;
        },
    ],
    'ELF' => [
        fn (string $key) => 0,
        function ($hash, int $byte) {
            $hash = ($hash << 4) + $byte;
            $top = $hash & 0xF0000000;
            if ($top != 0) {
                $hash ^= ($top >> 24);
            }
            $hash &= ~$top;
            return $hash;
        },
        $same,
    ],
    'BKDR' => [
        fn (string $key) => 0,
        fn ($hash, int $byte) => (int) (($hash * 131) + $byte),
        $same,
    ],
    'SDBM' => [
        fn (string $key) => 0,
        fn ($hash, int $byte) => (int) ($byte + ($hash << 6) + ($hash << 16) - $hash),
        $same,
    ],
    'DJB' => [
        fn (string $key) => 5381,
        fn ($hash, int $byte) => (int) (($hash << 5) + $hash) + $byte,
        $same,
    ],
    'DEK' => [
        fn (string $key) => strlen($key),
        fn ($hash, int $byte) => (($hash << 5) ^ ($hash >> 27)) ^ $byte,
        $same,
    ],
    'FNV' => [
        fn (string $key) => 2166136261,
        fn ($hash, int $byte) => ((int) ($hash * 16777619) % 0xFFFFFFFF) ^ $byte,
        $same,
    ],
];

function string_hash(array $formula, string $key): int
{
    [$start, $step, $finish] = $formula;
    $hash = $start($key);
    foreach (bytes_of($key) as $byte) {
        $hash = $step($hash, $byte);
    }
    return folded($finish($hash));
}
