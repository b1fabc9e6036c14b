--TEST--
Legacy\BloomFilterRedis shares its bucket, bit for bit, with the PHP class that it replaces
--FILE--
<?php
use Bloomery\Exception;
$port = (int)getenv("REDIS_PORT");
$redis = new Redis;
$redis->connect("127.0.0.1", $port);
class FilteRepeatedComments extends Bloomery\Legacy\BloomFilterRedis {
    protected $bucket = 'rptc';
    protected $hashFunction = ['BKDRHash', 'SDBMHash', 'JSHash'];
}
class All extends Bloomery\Legacy\BloomFilterRedis {
    public $bucket = 'all: {of} them?&';
    protected $hashFunction = ['JSHash', 'PJWHash', 'ELFHash', 'BKDRHash', 'SDBMHash', 'DJBHash', 'DEKHash', 'FNVHash'];
}
// On a busy machine a server takes seconds to make a string of 512 MB.
$redis->setOption(Redis::OPT_READ_TIMEOUT, 60);
$config = ['host' => '127.0.0.1', 'port' => $port, 'timeout' => 60];
$f = new FilteRepeatedComments($config, 1);
function bits(array $bits): string { foreach ($bits as $bit) if (!is_int($bit)) return "no integers"; return implode($bits); }
var_dump($f->exists('a'), $redis->exists('rptc'), bits($f->add('a')), bits($f->add('a')), $f->exists('a'), $redis->getBit('rptc', 97));
// What the posts' class returns, which is what SETBIT answers: for the same keys in a bucket of its own.
require getenv("SOURCE") . "/bench/php/classes.php";
$theirs = new PhpBloomFilterRedis($redis, 'theirs');
class Ours extends FilteRepeatedComments { protected $bucket = 'ours'; }
$ours = new Ours($config);
$redis->setBit('ours', 4294967295, 0); // a busy server may need longer for the zeros than we wait
// Of the keys of one byte BKDR and SDBM give one bit, so that the second of the two finds what the first has set.
for ($i = 0; $i < (getenv("FEW_KEYS") ?: 3000); ++$i) {
    $key = $i < 300 ? chr($i % 256) : ($i % 3 ? "page/" . intdiv($i, 3) : "$i");
    if ($theirs->add($key) !== $ours->add($key)) { echo "other bits of ", bin2hex($key), "\n"; break; }
}
$redis->del('theirs', 'ours'); // half a gigabyte each
// The golden bits, of every hash.
$golden = json_decode(shell_exec("xz -dc " . escapeshellarg(getenv("SOURCE") . "/tests/legacy/golden/php-vectors.json.xz")), true);
$all = new All($redis, 'any id');
$redis->setBit($all->bucket, 4294967295, 0);
$expected = [];
foreach ($golden['hashes'] as $of_key) {
    $key = hex2bin($of_key['key_hex']);
    $all->add($key);
    foreach ($of_key as $name => $hash) if ($name !== 'key_hex') $expected[$hash] = true;
    if (!$all->exists($key)) echo "lost $of_key[key_hex]\n";
}
var_dump(count($golden['hashes']), count($expected) > 900, $redis->bitCount($all->bucket) === count($expected));
foreach ($expected as $at => $_) if (!$redis->getBit($all->bucket, $at)) echo "bit $at is missing\n";
// What PHP sets is found.
$one = $golden['hashes'][100];
foreach (['BKDRHash', 'SDBMHash', 'JSHash'] as $name) $redis->setBit('rptc', $one[$name], 1);
var_dump($f->exists(hex2bin($one['key_hex'])));
// It is emptied while objects have it.
$g = new FilteRepeatedComments($redis);
$redis->del('rptc');
var_dump($f->exists('a'), $redis->exists('rptc'), bits($f->add('a')), bits($g->add('b')), $g->exists('a'));
// The database and the prefix of a connection; passwords, as array and as phpredis has them.
$redis->select(3);
$redis->setOption(Redis::OPT_PREFIX, 'p:');
(new FilteRepeatedComments($redis, 1))->add('a');
$redis->setOption(Redis::OPT_PREFIX, '');
var_dump($redis->keys('*'));
(new FilteRepeatedComments($config + ['database' => 5]))->add(12);
$redis->select(5);
var_dump($redis->dbSize());
$password = "p@ss: /%?&";
$redis->config('SET', 'requirepass', $password);
try { new FilteRepeatedComments($config); } catch (Exception $e) { var_dump($e->getCode() === Exception::DENIED); }
var_dump((new FilteRepeatedComments($config + ['password' => $password, 'database' => 5]))->exists("12"));
$with = new Redis;
$with->connect("127.0.0.1", $port);
$with->setOption(Redis::OPT_READ_TIMEOUT, 60);
$with->auth($password);
$with->select(5);
var_dump((new FilteRepeatedComments($with))->exists(12));
$with->auth(['default', $password]);
var_dump((new FilteRepeatedComments($with))->exists(12));
var_dump((new FilteRepeatedComments("redis://:" . rawurlencode($password) . "@127.0.0.1:$port/5", 1))->exists(12));
try { new FilteRepeatedComments("127.0.0.1"); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
try { new FilteRepeatedComments("redis://127.0.0.1:$port?key=other"); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
$with->set('rptc', '');
$with->rPush('list', 'x');
class OnAList extends FilteRepeatedComments { protected $bucket = 'list'; }
try { (new OnAList($with))->exists('a'); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
// A name or a value without effect would lead to another server or bucket.
foreach ([['hots' => 'x'], ['prefix' => 'p:'], ['db' => 5, 'database' => 6], ['database' => 5.0], [$port], ['host' => "127.0.0.1:$port"], ['user' => 'bob'], ['password' => $password, 'user' => null]] as $more)
    try { echo new FilteRepeatedComments($more + $config) ? "taken\n" : ""; } catch (Exception $e) { echo $e->getMessage(), "\n"; }
var_dump(is_object(new FilteRepeatedComments(["host" => "127.0.0.1:$port", "password" => $password])));
// What a value of config does while it is read.
class Emptying { function __construct(public &$all) {} function __toString(): string { $this->all = []; return '/no/ca'; } }
class Throwing { function __toString(): string { throw new LogicException('its own'); } }
class Constructing extends Redis {
    public $of;
    function getHost(): string { $this->of->__construct($GLOBALS['config'] + ['password' => $GLOBALS['password']]); return parent::getHost(); }
}
$ssl = ['local_cert' => str_repeat('/no', 20)];
$ssl['cafile'] = new Emptying($ssl);
foreach ([['ssl' => &$ssl], ['ssl' => ['peer_name' => new Throwing]]] as $more)
    try { new FilteRepeatedComments(['host' => 'tls://127.0.0.1'] + $more + $config); } catch (Throwable $e) { echo get_class($e), "\n"; }
$c = new Constructing;
$c->connect("127.0.0.1", $port);
$c->auth($password);
$c->of = (new ReflectionClass('FilteRepeatedComments'))->newInstanceWithoutConstructor();
try { $c->of->__construct($c); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
var_dump($c->of->exists(12));
try { new FilteRepeatedComments(new Redis); } catch (Throwable $e) { echo get_class($e), "\n"; }
// Both properties by __get, which may change the other, or throw.
class Magic extends Bloomery\Legacy\BloomFilterRedis {
    public function __construct($config) { unset($this->bucket, $this->hashFunction); parent::__construct($config); }
    public function __get($name) { return $name === 'bucket' ? "magic$name" : ['BKDR' . 'Hash', 'JSHash']; }
}
class Changing extends Bloomery\Legacy\BloomFilterRedis {
    public $bucket;
    public function __construct($config) { unset($this->hashFunction); $this->bucket = "new" . 1; parent::__construct($config); }
    public function __get($name) { $this->bucket = 2; return ['JSHash']; }
}
class Raising extends Magic {
    public function __get($name) { throw new LogicException("no $name"); }
}
foreach ([Magic::class, Changing::class, Raising::class] as $class)
    try { echo bits((new $class($with))->add('a')), "\n"; } catch (LogicException $e) { echo $e->getMessage(), "\n"; }
var_dump($with->exists('magicbucket', 'new1'));
// Its own time to wait, which may be longer than an address says.
$with->setOption(Redis::OPT_READ_TIMEOUT, 86400);
try { echo new FilteRepeatedComments($with) ? "opened\n" : ""; } catch (Exception $e) { echo $e->getMessage(), "\n"; }
$with->setOption(Redis::OPT_READ_TIMEOUT, 0.05);
$with->rawCommand('CLIENT', 'PAUSE', '60000');
$config['password'] = $password;
foreach ([$with, ['timeout' => 0.06] + $config, ['timeout' => '0.07'] + $config] as $slow)
    try { new FilteRepeatedComments($slow); } catch (Exception $e) { echo strstr($e->getMessage(), "no answer"), "\n"; }
--EXPECTF--
bool(false)
int(0)
string(3) "010"
string(3) "111"
bool(true)
int(1)
int(151)
bool(true)
bool(true)
bool(true)
bool(false)
int(0)
string(3) "010"
string(3) "010"
bool(true)
array(1) {
  [0]=>
  string(6) "p:rptc"
}
int(1)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
config is an array, a connected Redis or an address as redis://10.0.0.7
the address of config names a key; leave it out: $bucket is the key
%slist%s
config has no 'hots'; it has host, port, user, password, database, timeout, ssl
config has no 'prefix'; it has host, port, user, password, database, timeout, ssl
'db' of config is there under another name too; give one of the two
'database' of config is a string or an integer
config has no '0'; it has host, port, user, password, database, timeout, ssl
the host '127.0.0.1%s' has a character that no host has%s
the address names a user and no password%s
taken
bool(true)
Bloomery\Exception
LogicException
the filter has been made already; make another one
bool(false)
RedisException
00
0
no bucket
int(2)
opened
no answer within 50 ms; find out why, or add &timeout=SECONDS to the address
no answer within 60 ms; find out why, or add &timeout=SECONDS to the address
no answer within 70 ms; find out why, or add &timeout=SECONDS to the address
