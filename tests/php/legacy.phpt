--TEST--
Legacy\BloomFilter has the bits that PHP's crc32 and mt_rand give
--FILE--
<?php
// The class that it replaces, in short.
class Theirs {
    private array $bits = [];
    private int $k;
    public function __construct(private int $m, int $n) { $this->k = (int)ceil($m / $n * log(2)); }
    private function offsets(string $key): array {
        mt_srand(crc32($key));
        for ($i = 0; $i < $this->k; ++$i) $offsets[] = mt_rand(0, $this->m - 1);
        return $offsets;
    }
    public function addKey(string $key): void { foreach ($this->offsets($key) as $at) $this->bits[$at] = true; }
    public function existKey(string $key): bool {
        foreach ($this->offsets($key) as $at) if (!isset($this->bits[$at])) return false;
        return true;
    }
}
// So full that a wrong bit shows.
foreach ([[10, 2], [100, 10], [4096, 700], [10007, 3000], [5000000, 500000]] as [$m, $n]) {
    $theirs = new Theirs($m, $n);
    $ours = new Bloomery\Legacy\BloomFilter($m, $n);
    for ($i = 0; $i < min($n, 2000); ++$i) {
        $key = random_bytes($i % 40 + 1);
        if ($ours->addKey($key) === $theirs->existKey($key)) echo "new is not new\n";
        $theirs->addKey($key);
    }
    $known = 0;
    for ($i = 0; $i < 3000; ++$i) {
        $known += $theirs->existKey("key $i");
        if ($theirs->existKey("key $i") !== $ours->existKey("key $i")) echo "$m, $n: another answer for key $i\n";
    }
    foreach ([1.5, 1e15, 1e20, true, false, 17] as $value) {
        $theirs->addKey((string)$value); // what crc32 makes of it
        $ours->addKey($value);
        if (!$ours->existKey((string)$value)) echo "$m, $n: other bits of ", json_encode($value), "\n";
    }
    if ($m < 20000 && $known === 0) echo "$m, $n: nothing was tried\n";
}
$f = new Bloomery\Legacy\BloomFilter(1000, 10);
var_dump($f->addKey(17), $f->existKey("17"), $f->existKey("18"));
try { clone $f; } catch (Error $e) { echo get_class($e), "\n"; }

// Classes that were derived from those of the posts name no types.
class Trimmed extends Bloomery\Legacy\BloomFilter
{
    #[ReturnTypeWillChange]
    public function addKey($key) { return parent::addKey(trim($key)); }
    #[ReturnTypeWillChange]
    public function existKey($key) { return parent::existKey(trim($key)); }
}
abstract class TrimmedInRedis extends Bloomery\Legacy\BloomFilterRedis
{
    #[ReturnTypeWillChange]
    public function add($string) { return parent::add(trim($string)); }
    #[ReturnTypeWillChange]
    public function exists($string) { return parent::exists(trim($string)); }
    #[ReturnTypeWillChange]
    public function rotate() { return parent::rotate(); }
}
$f = new Trimmed(1000, 10);
var_dump($f->addKey(" a\n"), $f->existKey("a"));
--EXPECT--
bool(true)
bool(true)
bool(false)
Error
bool(true)
bool(true)
