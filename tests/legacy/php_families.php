<?php
// The PHP families as PHP itself computes them: what the C++ is compared with.
//
// usage: php php_families.php < QUESTIONS, one line each; keys and bits in hexadecimal:
//   hash KEY                the eight hashes, in the order of $formulas
//   step HASH BYTE          what each formula makes of a hash, which may be a double, and a byte
//   mt M K KEY              the k positions of a key in m bits
//   count M N               k for m bits and n items
//   filter M K KEY...       the bits of a filter with these keys
//   contains M K BITS KEY...  1 or 0 for each key
require __DIR__ . '/php_formulas.php';

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
