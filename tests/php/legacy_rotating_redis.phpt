--TEST--
A bucket of Legacy\BloomFilterRedis forgets by two generations
--FILE--
<?php
use Bloomery\Exception;
class Comments extends Bloomery\Legacy\BloomFilterRedis {
    protected $bucket = 'rptc';
    protected $hashFunction = ['BKDRHash', 'SDBMHash', 'JSHash'];
    protected $rotating = true;
}
class Plain extends Comments { protected $rotating = false; }
$config = ['host' => '127.0.0.1', 'port' => (int)getenv("REDIS_PORT"), 'timeout' => 60];
$redis = new Redis;
$redis->connect('127.0.0.1', $config['port']);
$one = new Comments($config);
$two = new Comments($config);
function found(object $filter): string {
    return implode(array_filter(["a", "b", "c", "d"], fn($key) => $filter->exists($key)));
}
var_dump(found($one), $one->rotate(), $redis->exists('rptc'));
$one->add("a");
var_dump(found($two), $one->rotate(), $redis->exists('rptc'), $redis->exists('{rptc}:older'));
var_dump(found($one), found($two), found(new Comments($config)), found(new Plain($config)));
var_dump($two->rotate(), found($two)); // nothing was added
// The bits of the newer bucket; BKDR and SDBM of one byte are one bit.
var_dump(implode($two->add("b")), found($one), implode($two->add("a")), $two->rotate(), found($one));
$two->add("c");
var_dump($one->rotate(), found($two), found($one));

class None extends Comments { function __construct() {} }
class Odd extends Comments { protected $rotating = 'yes'; }
foreach ([fn() => (new Plain($config))->rotate(), fn() => (new None)->rotate(), fn() => new Odd($config)] as $call)
    try { $call(); } catch (Exception $e) { echo $e->getCode() === Exception::INVALID_ARGUMENT, " ", $e->getMessage(), "\n"; }
$redis->del('rptc', '{rptc}:older');
$redis->rPush('rptc', 'x');
try { $one->rotate(); } catch (Exception $e) { var_dump($e->getCode() === Exception::NOT_A_FILTER); }
--EXPECT--
string(0) ""
bool(false)
int(0)
string(1) "a"
bool(true)
int(0)
int(1)
string(1) "a"
string(1) "a"
string(1) "a"
string(0) ""
bool(false)
string(1) "a"
string(3) "010"
string(2) "ab"
string(3) "010"
bool(true)
string(2) "ab"
bool(true)
string(1) "c"
string(1) "c"
1 Plain has one bucket; with $rotating = true it also looks into the older one
1 None has not been made; call parent::__construct()
1 $rotating is true or false
bool(true)
