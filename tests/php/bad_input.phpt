--TEST--
Bad input is an exception with a message, never a crash
--INI--
zend.exception_ignore_args=0
--FILE--
<?php
use Bloomery\{Filter, CountingFilter, ScalableFilter, WindowFilter, Exception};
use Bloomery\Legacy\{BloomFilter, BloomFilterRedis};
chdir(getenv("SCRATCH"));
$f = new Filter(1000, 0.01);
$f->add("a");
$f->save("f.bloom");
$bytes = file_get_contents("f.bloom");
function with(string $bytes, int $at, string $new): string { return substr_replace($bytes, $new, $at, strlen($new)); }
file_put_contents("damaged", with(with($bytes, 100, "\xff\xff\xff"), 4196, "\xff\xff\xff"));
file_put_contents("short", substr($bytes, 0, 9000));
file_put_contents("text", str_repeat("text", 5000));
file_put_contents("empty", "");
file_put_contents("newer", with(with($bytes, 8, "\xff"), 4096, str_repeat("\0", 100)));
mkdir("folder");
copy("f.bloom", "closed");
chmod("closed", 0);
class Unmade extends Filter { function __construct() {} }
abstract class Half extends Filter {}
class NoBucket extends BloomFilterRedis {}
class Bound extends BloomFilterRedis {
    function __construct(string &$name, array &$hashes, string|array $at) { $this->bucket = &$name; $this->hashFunction = &$hashes; parent::__construct($at); }
}
[$name, $hashes] = ['b', ['BKDRHash']];
class NoHash extends BloomFilterRedis { protected $bucket = 'b'; protected $hashFunction = ['md5']; }
class CutName extends BloomFilterRedis { protected $bucket = 'b'; protected $hashFunction = ["JS\0Hash", 'BKDRHash']; }
class TwoNames extends BloomFilterRedis { protected $bucket = 'b'; protected $hashFunction = ['JS,BKDRHash']; }
class Numbers extends BloomFilterRedis { protected $bucket = 'b'; protected $hashFunction = [1]; }
$again = serialize($f);
$calls = [
    'wrong type of key' => fn() => $f->add([]),
    'object as a key' => fn() => $f->has(new stdClass),
    'wrong type in many' => fn() => $f->addMany(["b", null]),
    'no iterable' => fn() => $f->hasMany("text"),
    'generator that throws' => fn() => $f->addMany((function () { yield "g"; throw new Exception("mine", 99); })()),
    'array as the key of an answer' => fn() => $f->hasMany((function () { yield [] => "g"; })()),
    'no capacity' => fn() => new Filter(0, 0.01),
    'negative' => fn() => new Filter(-5, 0.01),
    'huge' => fn() => new Filter(PHP_INT_MAX, 0.01),
    'huge bits' => fn() => new Filter(1000, 0.01, ['bits' => PHP_INT_MAX]),
    'rate 0' => fn() => new Filter(10, 0.0),
    'rate 1' => fn() => new Filter(10, 1.0),
    'rate NaN' => fn() => new Filter(10, NAN),
    'rate infinite' => fn() => new Filter(10, INF),
    'unknown option' => fn() => new Filter(10, 0.1, ['size' => 1]),
    'option without a name' => fn() => new Filter(10, 0.1, [1]),
    'unknown word' => fn() => new Filter(10, 0.1, ['layout' => 'round']),
    'option of a wrong type' => fn() => new Filter(10, 0.1, ['bits' => 'many']),
    'seed' => fn() => new Filter(10, 0.1, ['seed' => 'short']),
    'window of 0' => fn() => new WindowFilter(0, 10, 0.1),
    'too many hashes' => fn() => new Filter(10, 0.1, ['hashes' => 1 << 40]),
    'made twice' => fn() => $f->__construct(10, 0.1),
    'never made' => fn() => (new Unmade)->has("a"),
    'clone of nothing' => fn() => (clone new Unmade)->add("a"),
    'merge nothing' => fn() => $f->merge(new Unmade),
    'mode' => fn() => Filter::open("f.bloom", "rw"),
    'other numbers for reading' => fn() => Filter::open("f.bloom", "r", 2000),
    'another rate for adding' => fn() => Filter::open("f.bloom", "w", null, 0.1),
    'another seed' => fn() => Filter::open("f.bloom", "w", options: ['seed' => "12345678"]),
    'other numbers for an attached reader' => fn() => Filter::attach("f.bloom", capacity: 2000, fpr: 0.01),
    'no path' => fn() => Filter::open(""),
    'NUL in a path' => fn() => Filter::open("f.bloom\0x"),
    'NUL in attach' => fn() => Filter::attach("f.bloom\0x"),
    'NUL in save' => fn() => $f->save("g\0x"),
    'missing' => fn() => Filter::open("none"),
    'missing folder' => fn() => $f->save("none/f.bloom"),
    'directory' => fn() => Filter::open("folder"),
    'attached directory' => fn() => Filter::attach("folder"),
    'save on a directory' => fn() => $f->save("folder"),
    'damaged' => fn() => Filter::open("damaged"),
    'short' => fn() => Filter::open("short"),
    'text' => fn() => Filter::attach("text"),
    'empty' => fn() => Filter::open("empty"),
    'newer' => fn() => Filter::open("newer"),
    'other kind' => fn() => CountingFilter::open("f.bloom"),
    'kind of a subclass' => fn() => Unmade::decode((new CountingFilter(10, 0.1))->encode()),
    'bytes' => fn() => Filter::decode("bytes"),
    'no bytes' => fn() => Filter::decode(""),
    'damaged bytes' => fn() => Filter::decode(with($bytes, 8200, "\x55")),
    'serialized damage' => fn() => unserialize(str_replace("BLM", "BLN", $again)),
    'serialized other' => fn() => unserialize('O:15:"Bloomery\Filter":1:{s:6:"filter";i:5;}'),
    'serialized nothing' => fn() => unserialize('O:15:"Bloomery\Filter":0:{}'),
    'serialized kind' => fn() => unserialize(str_replace('O:15:"Bloomery\Filter"', 'O:23:"Bloomery\CountingFilter"', $again)),
    'unserialize twice' => fn() => $f->__unserialize(['filter' => $bytes]),
    'a server that is not there' => fn() => Filter::open("redis://127.0.0.1:1?key=k"),
    'an address without a key' => fn() => Filter::open("redis://127.0.0.1:1"),
    'opened as an abstract class' => fn() => Half::open("f.bloom"),
    'attached as an abstract class' => fn() => Half::attach("f.bloom"),
    'decoded as an abstract class' => fn() => Half::decode($bytes),
    'serialized bits of PHP' => fn() => serialize(new BloomFilter(100, 10)),
    'cloned bits of PHP' => fn() => clone new BloomFilter(100, 10),
    'no bits' => fn() => new BloomFilter(0, 10),
    'huge array of bits' => fn() => new BloomFilter(PHP_INT_MAX, 10),
    'too many draws' => fn() => new BloomFilter(1 << 40, 1),
    'no bucket' => fn() => new NoBucket,
    'references, and a server that is not there' => function () use (&$name, &$hashes) { new Bound($name, $hashes, "redis://127.0.0.1:1"); },
    'IPv6' => function () use (&$name, &$hashes) { new Bound($name, $hashes, ['host' => '::1', 'port' => 1]); },
    'IPv6 in brackets' => function () use (&$name, &$hashes) { new Bound($name, $hashes, ['host' => '[fe80::1%lo]', 'port' => 1]); },
    'half a bracket' => function () use (&$name, &$hashes) { new Bound($name, $hashes, ['host' => '[::1', 'port' => 1]); },
    'NUL in a host' => function () use (&$name, &$hashes) { new Bound($name, $hashes, ['host' => "::1\0", 'port' => 1]); },
    'a host and a port' => function () use (&$name, &$hashes) { new Bound($name, $hashes, ['host' => 'localhost:1', 'port' => 1]); },
    'more than a host' => function () use (&$name, &$hashes) { new Bound($name, $hashes, ['host' => '::1]/1?key=other&', 'port' => 1]); },
    'unknown hash' => fn() => new NoHash,
    'no names' => fn() => new Numbers,
    'a byte 0 in a name' => fn() => new CutName,
    'two names in one' => fn() => new TwoNames,
    'no configuration' => fn() => new NoHash(5),
    'NUL in an address' => fn() => new NoHash("redis://127.0.0.1\0?key=b"),
    'other object' => fn() => new NoHash(new stdClass),
    'abstract' => fn() => new BloomFilterRedis,
];
// root may read everything
if (!is_readable("closed"))
    try { Filter::open("closed"); echo "opened\n"; } catch (Exception $e) { if ($e->getCode() !== Exception::IO) echo $e->getMessage(), "\n"; }
$names = array_flip((new ReflectionClass(Exception::class))->getConstants());
foreach ($calls as $what => $call)
    try {
        $call();
        echo "$what: nothing\n";
    } catch (Exception $e) {
        printf("%s: %s%s\n", $what, $names[$e->getCode()] ?? $e->getCode(), strlen($e->getMessage()) < 4 ? " without a message" : "");
    } catch (Throwable $e) {
        printf("%s: %s%s\n", $what, get_class($e), strlen($e->getMessage()) < 4 ? " without a message" : "");
    }
var_dump($f->has("a"));
// Which property of a bucket is wrong.
class Nameless extends BloomFilterRedis { protected $bucket = ''; protected $hashFunction = ['JSHash']; }
class Listless extends BloomFilterRedis { protected $bucket = 'b'; protected $hashFunction = []; }
foreach ([NoBucket::class, Nameless::class, Listless::class] as $class)
    try { new $class; } catch (Exception $e) { echo $e->getMessage(), "\n"; }
// An address in a wrong place shows no password.
$wrong = 'redis://user:hid den@h';
foreach ([fn() => Filter::open("f.bloom", $wrong), fn() => Filter::open("f.bloom", options: [$wrong => 1]),
          fn() => new NoHash([$wrong => 1]), fn() => new NoHash(['host' => 'tls://h', 'ssl' => [$wrong => 1]]),
          fn() => Filter::open("f.bloom", "user:hidden@h"), fn() => Filter::open("f.bloom", "h:1"),
          fn() => Filter::open("redis:/user:hidden@h?key=k")] as $call)
    try { $call(); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
// What a log has of an exception that nobody caught.
class Bucket extends BloomFilterRedis { protected $bucket = 'b'; protected $hashFunction = ['JSHash']; }
$at = "redis://:hidden@127.0.0.1:1?key=k";
foreach ([fn() => Filter::open($at), fn() => Filter::attach($at), fn() => $f->save($at), fn() => Filter::rebuild($at, 10, 0.1),
          fn() => Filter::rotate($at), fn() => new Bucket($at),
          fn() => new Bucket(['port' => 1, 'password' => 'hidden'])] as $call)
    try { $call(); } catch (Exception $e) {
        if (str_contains($e . var_export($e->getTrace()[0]['args'], true), 'hidden')) echo "the trace has the password\n";
    }
--EXPECT--
wrong type of key: TypeError
object as a key: TypeError
wrong type in many: TypeError
no iterable: TypeError
generator that throws: 99
array as the key of an answer: TypeError
no capacity: INVALID_ARGUMENT
negative: INVALID_ARGUMENT
huge: TOO_LARGE
huge bits: TOO_LARGE
rate 0: INVALID_ARGUMENT
rate 1: INVALID_ARGUMENT
rate NaN: INVALID_ARGUMENT
rate infinite: INVALID_ARGUMENT
unknown option: INVALID_ARGUMENT
option without a name: INVALID_ARGUMENT
unknown word: INVALID_ARGUMENT
option of a wrong type: INVALID_ARGUMENT
seed: INVALID_ARGUMENT
window of 0: INVALID_ARGUMENT
too many hashes: INVALID_ARGUMENT
made twice: EXISTS
never made: INVALID_ARGUMENT
clone of nothing: INVALID_ARGUMENT
merge nothing: INVALID_ARGUMENT
mode: INVALID_ARGUMENT
other numbers for reading: MISMATCH
another rate for adding: MISMATCH
another seed: MISMATCH
other numbers for an attached reader: MISMATCH
no path: INVALID_ARGUMENT
NUL in a path: INVALID_ARGUMENT
NUL in attach: INVALID_ARGUMENT
NUL in save: INVALID_ARGUMENT
missing: MISSING
missing folder: MISSING
directory: NOT_A_FILTER
attached directory: NOT_A_FILTER
save on a directory: IO
damaged: CORRUPT
short: CORRUPT
text: NOT_A_FILTER
empty: NOT_A_FILTER
newer: NEWER_FORMAT
other kind: WRONG_KIND
kind of a subclass: WRONG_KIND
bytes: NOT_A_FILTER
no bytes: NOT_A_FILTER
damaged bytes: CORRUPT
serialized damage: NOT_A_FILTER
serialized other: NOT_A_FILTER
serialized nothing: NOT_A_FILTER
serialized kind: WRONG_KIND
unserialize twice: NOT_A_FILTER
a server that is not there: UNAVAILABLE
an address without a key: INVALID_ARGUMENT
opened as an abstract class: Error
attached as an abstract class: Error
decoded as an abstract class: Error
serialized bits of PHP: Exception
cloned bits of PHP: Error
no bits: INVALID_ARGUMENT
huge array of bits: TOO_LARGE
too many draws: INVALID_ARGUMENT
no bucket: INVALID_ARGUMENT
references, and a server that is not there: UNAVAILABLE
IPv6: UNAVAILABLE
IPv6 in brackets: UNAVAILABLE
half a bracket: INVALID_ARGUMENT
NUL in a host: INVALID_ARGUMENT
a host and a port: INVALID_ARGUMENT
more than a host: INVALID_ARGUMENT
unknown hash: INVALID_ARGUMENT
no names: INVALID_ARGUMENT
a byte 0 in a name: INVALID_ARGUMENT
two names in one: INVALID_ARGUMENT
no configuration: TypeError
NUL in an address: INVALID_ARGUMENT
other object: INVALID_ARGUMENT
abstract: Error
bool(true)
NoBucket::$bucket is no name or an empty one; set it to the name of the bucket's key
Nameless::$bucket is no name or an empty one; set it to the name of the bucket's key
Listless::$hashFunction is no list of names; set it to names of functions, such as ['BKDRHash']
mode is one of r, w, a, x and n, and not 'redis://***@h'
there is no option 'redis://***@h'; check its name
config has no 'redis://***@h'; it has host, port, user, password, database, timeout, ssl
the ssl option 'redis://***@h' is not known; those that are: cafile, local_cert, local_pk, peer_name, verify_peer
mode is one of r, w, a, x and n, and not 'user:***@h'
mode is one of r, w, a, x and n, and not 'h:1'
redis:***@h?key=k: the directory redis: does not exist; check the path, or make it first
