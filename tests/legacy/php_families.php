<?php
// The PHP families as PHP itself computes them: what the C++ is compared with.
//
// usage: php php_families.php < QUESTIONS, one line each; keys and bits in hexadecimal:
//   hash KEY                the eight hashes, in the order of $formulas
//   step HASH BYTE          what each formula makes of a hash, be it a double, and a byte
//   mt M K KEY              the k positions of a key in m bits
//   count M N               k for m bits and n items
//   filter M K KEY...       the bits of a filter with these keys
//   contains M K BITS KEY...  1 or 0 for each key
// The formulas are spelt as the classes in the field spell them, since what PHP does where an
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

function positions(int $m, int $k, string $key): array
{
    mt_srand(crc32($key));
    $positions = [];
    for ($i = 0; $i < $k; $i++) {
        $positions[] = mt_rand(0, $m - 1);
    }
    return $positions;
}

// A filter of the blog posts: its array is written as the Redis string with the same bits.
function filter_string(int $m, int $k, array $keys): string
{
    $string = str_repeat("\0", intdiv($m + 7, 8));
    foreach ($keys as $key) {
        foreach (positions($m, $k, $key) as $position) {
            $byte = $position >> 3;
            $string[$byte] = chr(ord($string[$byte]) | (0x80 >> ($position & 7)));
        }
    }
    return $string;
}

function contains(int $m, int $k, string $string, string $key): int
{
    foreach (positions($m, $k, $key) as $position) {
        if ((ord($string[$position >> 3]) & (0x80 >> ($position & 7))) === 0) {
            return 0;
        }
    }
    return 1;
}

while (($line = fgets(STDIN)) !== false) {
    $words = explode(' ', rtrim($line, "\n"));
    $answers = [];
    switch (array_shift($words)) {
        case 'hash':
            $key = hex2bin($words[0]);
            foreach ($formulas as $formula) {
                $answers[] = string_hash($formula, $key);
            }
            break;
        case 'step':
            foreach ($formulas as [$start, $step]) {
                $answers[] = $step($words[0] + 0, (int) $words[1]) & -1;
            }
            break;
        case 'mt':
            $answers = positions((int) $words[0], (int) $words[1], hex2bin($words[2]));
            break;
        case 'count':
            $answers[] = (int) ceil((int) $words[0] / (int) $words[1] * log(2));
            break;
        case 'filter':
            [$m, $k] = [(int) $words[0], (int) $words[1]];
            $answers[] = bin2hex(filter_string($m, $k, array_map('hex2bin', array_slice($words, 2))));
            break;
        case 'contains':
            [$m, $k, $string] = [(int) $words[0], (int) $words[1], hex2bin($words[2])];
            foreach (array_slice($words, 3) as $key) {
                $answers[] = contains($m, $k, $string, hex2bin($key));
            }
            break;
        default:
            fwrite(STDERR, "not a question: $line");
            exit(2);
    }
    echo implode(' ', $answers), "\n";
}
