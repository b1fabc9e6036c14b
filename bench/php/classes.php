<?php
// The classes of the blog posts, written again from their algorithms: what Legacy\BloomFilter and
// Legacy\BloomFilterRedis replace.
declare(strict_types=1);

class PhpBloomFilter
{
    private array $bits = [];
    private int $hashes;

    public function __construct(private int $m, int $n)
    {
        $this->hashes = (int)ceil($m / $n * log(2));
    }

    public function addKey(string $key): void
    {
        foreach ($this->positions($key) as $position) {
            $this->bits[$position] = true;
        }
    }

    public function existKey(string $key): bool
    {
        foreach ($this->positions($key) as $position) {
            if (!isset($this->bits[$position])) {
                return false;
            }
        }
        return true;
    }

    private function positions(string $key): array
    {
        mt_srand(crc32($key));
        $positions = [];
        for ($i = 0; $i < $this->hashes; ++$i) {
            $positions[] = mt_rand(0, $this->m - 1);
        }
        return $positions;
    }
}

class PhpBloomFilterRedis
{
    private const FUNCTIONS = ['bkdr', 'sdbm', 'js'];

    public function __construct(private Redis $redis, private string $bucket)
    {
    }

    public function add(string $key): array
    {
        $pipe = $this->redis->multi();
        foreach (self::FUNCTIONS as $function) {
            $pipe->setBit($this->bucket, self::$function($key), true);
        }
        return $pipe->exec();
    }

    public function exists(string $key): bool
    {
        $pipe = $this->redis->multi();
        foreach (self::FUNCTIONS as $function) {
            $pipe->getBit($this->bucket, self::$function($key));
        }
        return !in_array(0, $pipe->exec(), true);
    }

    private static function bkdr(string $key): int
    {
        $hash = 0;
        foreach (unpack('C*', $key) as $byte) {
            $hash = (int)($hash * 131 + $byte);
        }
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    private static function sdbm(string $key): int
    {
        $hash = 0;
        foreach (unpack('C*', $key) as $byte) {
            $hash = (int)($byte + ($hash << 6) + ($hash << 16) - $hash);
        }
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    private static function js(string $key): int
    {
        $hash = 1315423911;
        foreach (unpack('C*', $key) as $byte) {
            $hash ^= (int)(($hash << 5) + $byte + ($hash >> 2));
        }
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }
}
