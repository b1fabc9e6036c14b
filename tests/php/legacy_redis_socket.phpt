--TEST--
Legacy\BloomFilterRedis over a Unix socket, by an array and by a connected Redis
--FILE--
<?php
use Bloomery\Exception;
$socket = getenv("REDIS_SOCKET");
class Bucket extends Bloomery\Legacy\BloomFilterRedis {
    public $bucket = 'b: {of} them?&';
    protected $hashFunction = ['BKDRHash', 'SDBMHash', 'JSHash'];
}
$redis = new Redis;
$redis->connect($socket);
(new Bucket(['host' => $socket, 'timeout' => 60]))->add("none");
(new Bucket(['host' => $socket, 'port' => null, 'password' => '', 'database' => 3, 'timeout' => 60]))->add("three");
var_dump($redis->keys("*"));
$redis->select(3);
$three = new Bucket($redis);
var_dump($three->exists("three"), $three->exists("none"));
$redis->config("SET", "requirepass", "p@ss: /%?&");
try { new Bucket(['host' => $socket]); } catch (Exception $e) { var_dump($e->getCode() === Exception::DENIED); }
$redis->auth(["p@ss: /%?&"]);
var_dump((new Bucket(['host' => $socket, 'user' => 'default', 'password' => "p@ss: /%?&", 'timeout' => 60]))->exists("none"));
var_dump((new Bucket($redis))->exists("three"));
try { new Bucket(['host' => "$socket.gone"]); } catch (Exception $e) { var_dump($e->getCode() === Exception::UNAVAILABLE); }
// An object that was never connected names no host.
class Unconnected extends Redis {
    function getHost(): string { return ""; }
    function getPort(): int { return 0; }
    function getDBNum(): int { return 0; }
    function getReadTimeout(): float { return 0.0; }
    function getAuth(): mixed { return null; }
    function _prefix($key): string { return $key; }
}
try { new Bucket(new Unconnected); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
--EXPECT--
array(1) {
  [0]=>
  string(14) "b: {of} them?&"
}
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
the Redis object is not connected; connect it first
