--TEST--
open_basedir is honoured by all that takes a path
--FILE--
<?php
use Bloomery\{Filter, Exception};
$inside = getenv("SCRATCH") . "/in";
mkdir($inside);
ini_set("open_basedir", $inside);
$f = new Filter(100, 0.01);
$f->save("$inside/f.bloom");
var_dump(Filter::open("$inside/f.bloom")->has("x"), Filter::attach("$inside/f.bloom")->has("x"));
foreach (["$inside/../f.bloom", "/etc/passwd", "/tmp/f.bloom", "redis/://../../../../../../../etc/passwd"] as $path)
    foreach ([fn() => Filter::open($path), fn() => Filter::open($path, "a", 10, 0.1), fn() => Filter::attach($path), fn() => $f->save($path),
              fn() => Filter::convert($path, "$inside/g"), fn() => Filter::convert("$inside/f.bloom", $path), fn() => Filter::verify($path),
              fn() => Filter::mergeLocations(["$inside/f.bloom", $path], "$inside/g"), fn() => Filter::mergeLocations(["$inside/f.bloom"], $path)] as $i => $call)
        try { $call(); echo "$path: $i is open\n"; }
        catch (Exception $e) { if ($e->getCode() !== Exception::DENIED || !str_contains($e->getMessage(), "open_basedir")) echo $e->getMessage(), "\n"; }
// The certificates of an address are files as well; a socket is not opened as one.
touch("$inside/ca.pem");
class Bucket extends Bloomery\Legacy\BloomFilterRedis { protected $bucket = 'b'; protected $hashFunction = ['BKDRHash']; }
$at = ['host' => 'tls://127.0.0.1', 'port' => 1];
foreach ([
    fn() => Filter::open("rediss://127.0.0.1:1?key=k&cacert=/etc/passwd"),
    fn() => Filter::open("rediss://127.0.0.1:1?cacert=$inside/ca.pem&cert=%2Fetc%2fpasswd&certkey=$inside/ca.pem&key=k"),
    fn() => Filter::open("rediss://127.0.0.1:1?cert=$inside/ca.pem&certkey=$inside/../ca.key&key=k", "a", 10, 0.1),
    fn() => new Bucket($at + ['ssl' => ['cafile' => '/etc/passwd']]),
    fn() => new Bucket($at + ['ssl' => ['local_cert' => '/etc/passwd']]),
    fn() => new Bucket($at + ['ssl' => ['cafile' => "$inside/ca.pem"]]),
    fn() => Filter::open("rediss://127.0.0.1:1?key=k&cacert=$inside/ca.pem"),
    fn() => Filter::open("redis+unix:///none.sock?key=k"),
] as $i => $call)
    try { $call(); echo "$i is open\n"; }
    catch (Exception $e) { echo $i, $e->getCode() === Exception::DENIED && str_contains($e->getMessage(), "open_basedir") ? " denied\n" : " tried\n"; }
class Caught extends Bucket { function __construct($config) { try { parent::__construct($config); } catch (Exception) {} } }
try { (new Caught($at + ['ssl' => ['cafile' => '/etc/passwd']]))->exists("a"); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
chdir($inside);
try { Filter::open("/redis:/user:hidden@h"); } catch (Exception $e) { echo strtok($e->getMessage(), ";"), "\n"; }
try { Filter::open("../f.bloom"); } catch (Exception $e) { echo $e->getCode() === Exception::DENIED ? "denied" : $e->getMessage(), "\n"; }
--EXPECT--
bool(false)
bool(false)
0 denied
1 denied
2 denied
3 denied
4 denied
5 tried
6 tried
7 tried
the filter has not been made; call parent::__construct()
/redis:***@h: open_basedir does not allow it
denied
