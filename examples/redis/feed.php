<?php
// A feed that shows no user the same article twice, with phpredis.
//
// usage: php feed.php [SOCKET]     (a unix socket; default: the server on localhost)

$redis = new Redis();
isset($argv[1]) ? $redis->connect($argv[1]) : $redis->connect('127.0.0.1');

// The articles that the user has not seen yet; marks them as seen.
function feed(Redis $redis, string $user, array $articles): array
{
    $key = "shown:$user";
    // One filter per user, which grows with what they read.
    $redis->rawCommand('BF.RESERVE', $key, 0.01, 100, 'IFNOTEXISTS');
    $new = $redis->rawCommand('BF.MADD', $key, ...$articles);
    return array_values(array_filter($articles, fn($i) => $new[$i], ARRAY_FILTER_USE_KEY));
}

echo json_encode(feed($redis, 'ada', ['a1', 'a2', 'a3'])), "\n";
echo json_encode(feed($redis, 'ada', ['a2', 'a3', 'a4'])), "\n";
