<?php
// A PHP class over Redis, in short: SETBIT and GETBIT at the hashes of a key.
//
// usage: php php_bucket.php SOCKET BUCKET HASH,HASH,... add|contains < KEYS, one per line, in hexadecimal
// For `contains` it prints 1 or 0 for each key, one per line.
require __DIR__ . '/../legacy/php_formulas.php';

[, $socket, $bucket, $names, $verb] = $argv;
$redis = new Redis();
$redis->connect($socket);
$names = explode(',', $names);
$pipe = $redis->multi(Redis::PIPELINE);
while (($line = fgets(STDIN)) !== false) {
    $key = hex2bin(rtrim($line, "\n"));
    foreach ($names as $name) {
        $hash = string_hash($formulas[$name], $key);
        $verb === 'add' ? $pipe->setBit($bucket, $hash, true) : $pipe->getBit($bucket, $hash);
    }
}
foreach (array_chunk($pipe->exec(), count($names)) as $bits) {
    if ($verb === 'contains') {
        echo in_array(0, $bits, true) ? 0 : 1, "\n";
    }
}
