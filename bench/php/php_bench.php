<?php
// The cost of a call of the extension, beside PHP's own means: bench/php/run.sh
//
// Every line is the median of the rounds. Each round runs all lines one after another, so that another job on the
// machine slows all of them. A round is short, so that most are not interrupted. The time of the empty loop is
// subtracted.
declare(strict_types=1);

use Bloomery\Filter;

require __DIR__ . '/classes.php';

const TURNS = 101;

class Nothing
{
    public function method(string $key): bool
    {
        return true;
    }
}

/** Nanoseconds per call. */
function timed(callable $loop, int $calls): float
{
    $begin = hrtime(true);
    $loop();
    return (hrtime(true) - $begin) / $calls;
}

function median(array $numbers): float
{
    sort($numbers);
    return $numbers[intdiv(count($numbers), 2)];
}

/** name => [number of calls, loop]; prints the median of each without that of $empty. */
function contest(array $lines, ?string $empty): array
{
    $times = [];
    for ($turn = 0; $turn < TURNS; ++$turn) {
        foreach ($lines as $name => [$calls, $loop]) {
            $times[$name][] = timed($loop, $calls);
        }
    }
    $medians = array_map(median(...), $times);
    foreach ($medians as $name => $median) {
        if ($name !== $empty) {
            printf("| %s | %s |\n", $name, number_format($median - ($empty === null ? 0 : $medians[$empty]), 0));
        }
    }
    return $medians;
}

[, $folder, $socket] = $argv;
$keys = array_map(fn($i) => "http://example.org/page/$i", range(1, 100_000));
$count = count($keys);
$path = "$folder/keys.bloom";
$filter = new Filter(1_000_000, 0.01);
$filter->addMany($keys);
$filter->save($path);
$attached = Filter::attach($path);
$shared = Filter::attach("$folder/shared.bloom", writers: true, capacity: 1_000_000, fpr: 0.01);
$php = new Nothing();

echo "## A call, in nanoseconds; 100 keys of 25 to 27 bytes, again and again\n\n| call | ns |\n|---|---|\n";
$hundred = array_slice($keys, 0, 100);
$many = array_slice($keys, 0, 10_000);
$again = fn(callable $loop) => [5000, function () use ($loop, $hundred) {
    for ($i = 0; $i < 50; ++$i) $loop($hundred);
}];
contest([
    'loop' => $again(function ($keys) { foreach ($keys as $key) { } }),
    'an empty method written in PHP' => $again(function ($keys) use ($php) { foreach ($keys as $key) $php->method($key); }),
    'an empty method of the extension' => $again(function ($keys) use ($attached) { foreach ($keys as $key) $attached->close(); }),
    '`has`' => $again(function ($keys) use ($filter) { foreach ($keys as $key) $filter->has($key); }),
    '`has` of a filter that is attached' => $again(function ($keys) use ($attached) { foreach ($keys as $key) $attached->has($key); }),
    '`hasInt`' => $again(function ($keys) use ($filter) { foreach ($keys as $i => $key) $filter->hasInt($i); }),
], 'loop');

echo "\n## The same with 10,000 different keys, in a filter for 1 million at 1 %\n\n| call | ns |\n|---|---|\n";
contest([
    'loop' => [10_000, function () use ($many) { foreach ($many as $key) { } }],
    'an empty method written in PHP' => [10_000, function () use ($many, $php) { foreach ($many as $key) $php->method($key); }],
    'an empty method of the extension' => [10_000, function () use ($many, $attached) { foreach ($many as $key) $attached->close(); }],
    '`has`' => [10_000, function () use ($many, $filter) { foreach ($many as $key) $filter->has($key); }],
    '`add`' => [10_000, function () use ($many, $filter) { foreach ($many as $key) $filter->add($key); }],
    '`hasInt`' => [10_000, function () use ($filter) { for ($i = 0; $i < 10_000; ++$i) $filter->hasInt($i); }],
    '`hasMany` of an array, a key' => [10_000, function () use ($many, $filter) { $filter->hasMany($many); }],
    '`has` of a filter that is attached' => [10_000, function () use ($many, $attached) { foreach ($many as $key) $attached->has($key); }],
    '`add` of one that workers share' => [10_000, function () use ($many, $shared) { foreach ($many as $key) $shared->add($key); }],
], 'loop');

echo "\n## One question of a request, in nanoseconds\n\n| call | ns |\n|---|---|\n";
$redis = new Redis();
$redis->connect($socket);
foreach (array_chunk($keys, 1000) as $part) {
    $redis->sAdd('set', ...$part);
    $redis->rawCommand('BF.INSERT', 'filter', 'CAPACITY', '1000000', 'ERROR', '0.01', 'ITEMS', ...$part);
}
foreach ($keys as $key) {
    apcu_store($key, true);
}
$few = array_slice($keys, 0, 250);
$address = "redis+unix://$socket?key=seen";
contest([
    '`Filter::attach($path)->has($key)`' => [10_000, function () use ($many, $path) { foreach ($many as $key) Filter::attach($path)->has($key); }],
    '`apcu_exists`' => [10_000, function () use ($many) { foreach ($many as $key) apcu_exists($key); }],
    '`SISMEMBER`, phpredis by a socket' => [250, function () use ($few, $redis) { foreach ($few as $key) $redis->sIsMember('set', $key); }],
    '`BF.EXISTS`, phpredis by a socket' => [250, function () use ($few, $redis) { foreach ($few as $key) $redis->rawCommand('BF.EXISTS', 'filter', $key); }],
    '`Filter::open($address, "a", 1_000_000, 0.001)->add($key)`, by a socket' => [20, function () use ($few, $address) { for ($i = 0; $i < 20; ++$i) Filter::open($address, 'a', 1_000_000, 0.001)->add($few[$i]); }],
    '`Filter::attach($address, true, 1_000_000, 0.001)->add($key)`, by a socket' => [20, function () use ($few, $address) { for ($i = 0; $i < 20; ++$i) Filter::attach($address, true, 1_000_000, 0.001)->add($few[$i]); }],
], null);
printf("\nMemory for %s keys of %d bytes: filter %s kB, APCu %s kB\n", number_format($count), strlen($keys[0]),
    number_format($filter->stats()['bytes'] / 10 / 1000), number_format(apcu_sma_info()['seg_size'] / 1000 - apcu_sma_info()['avail_mem'] / 1000));

echo "\n## The classes of the blog posts, in nanoseconds\n\n| call | PHP | extension | times as fast |\n|---|---|---|---|\n";
class OurBucket extends Bloomery\Legacy\BloomFilterRedis
{
    protected $bucket = 'ours';
    protected $hashFunction = ['BKDRHash', 'SDBMHash', 'JSHash'];
}
$theirs = new PhpBloomFilter(1_000_000, 100_000);
$ours = new Bloomery\Legacy\BloomFilter(1_000_000, 100_000);
$their_bucket = new PhpBloomFilterRedis($redis, 'theirs');
$our_bucket = new OurBucket($redis, 1);
$pairs = [
    '`addKey`' => [250, function ($f) use ($few) { foreach ($few as $key) $f->addKey($key); }, $theirs, $ours],
    '`existKey`' => [250, function ($f) use ($few) { foreach ($few as $key) $f->existKey($key); }, $theirs, $ours],
    '`add`, in Redis' => [250, function ($f) use ($few) { foreach ($few as $key) $f->add($key); }, $their_bucket, $our_bucket],
    '`exists`, in Redis' => [250, function ($f) use ($few) { foreach ($few as $key) $f->exists($key); }, $their_bucket, $our_bucket],
];
foreach ($pairs as $name => [$calls, $loop, $old, $new]) {
    $times = [];
    for ($turn = 0; $turn < TURNS; ++$turn) {
        $times[0][] = timed(fn() => $loop($old), $calls);
        $times[1][] = timed(fn() => $loop($new), $calls);
    }
    [$before, $after] = array_map(median(...), $times);
    printf("| %s | %s | %s | %.1f |\n", $name, number_format($before), number_format($after), $before / $after);
}
if ($redis->bitCount('theirs') !== $redis->bitCount('ours') || $redis->bitOp('XOR', 'x', 'theirs', 'ours') === false || $redis->bitCount('x') !== 0) {
    exit("the two buckets differ\n");
}
