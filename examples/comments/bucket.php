<?php
// A class as people have it: a Bloom filter over one Redis string, with three hashes per comment; a hash is
// the offset of a bit. Lines that such classes do not have are marked NEW.
//
// usage: php bucket.php SOCKET add|count < COMMENTS, one per line
// `count` prints how many of them were there.
error_reporting(E_ALL & ~E_DEPRECATED);  // integers that overflow become floats: the bits depend on it

class CommentFilter
{
    private const BUCKET = 'rptc';
    private const OLDER = '{rptc}:older';

    public function __construct(private Redis $redis)
    {
    }

    public function add(string $comment): void
    {
        // NEW: a transaction, so that no rotation comes between the three.
        $bits = $this->redis->multi();
        foreach (self::offsets($comment) as $offset) {
            $bits->setBit(self::BUCKET, $offset, true);
        }
        $bits->exec();
    }

    public function exists(string $comment): bool
    {
        // NEW: the older generation too, after the newer one, so that a rotation in between loses nothing.
        return $this->isIn(self::BUCKET, $comment) || $this->isIn(self::OLDER, $comment);
    }

    private function isIn(string $bucket, string $comment): bool
    {
        $bits = $this->redis->multi();
        foreach (self::offsets($comment) as $offset) {
            $bits->getBit($bucket, $offset);
        }
        return !in_array(0, $bits->exec(), true);
    }

    private static function offsets(string $text): array
    {
        $bytes = array_values(unpack('C*', $text));
        $bkdr = 0;
        $sdbm = 0;
        $js = 1315423911;
        foreach ($bytes as $byte) {
            $bkdr = (int) (($bkdr * 131) + $byte);
            $sdbm = (int) ($byte + ($sdbm << 6) + ($sdbm << 16) - $sdbm);
            $js = $js ^ (($js << 5) + $byte + ($js >> 2));
        }
        return array_map(fn ($hash) => ($hash % 0xFFFFFFFF) & 0xFFFFFFFF, [$bkdr, $sdbm, $js]);
    }
}

[, $socket, $verb] = $argv;
$redis = new Redis();
$redis->connect($socket);
$filter = new CommentFilter($redis);
$there = 0;
while (($line = fgets(STDIN)) !== false) {
    $comment = rtrim($line, "\n");
    if ($verb === 'add') {
        $filter->add($comment);
    } else {
        $there += $filter->exists($comment) ? 1 : 0;
    }
}
if ($verb === 'count') {
    echo $there, "\n";
}
