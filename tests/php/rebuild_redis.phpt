--TEST--
A rebuilt filter is in its place after close, in files and Redis strings; generations rotate
--FILE--
<?php
use Bloomery\{CountingFilter, Exception, Filter};
function code(callable $call): int {
    try { $call(); return 0; } catch (Exception $e) { return $e->getMessage() === "" ? -1 : $e->getCode(); }
}
chdir(getenv("SCRATCH"));
$server = "redis://127.0.0.1:" . getenv("REDIS_PORT") . "?key=";
foreach (["f.bloom", "{$server}list"] as $place) {
    $built = Filter::rebuild($place, 1000, 0.001); // there is no old one
    $built->addMany(["one", "two"]);
    var_dump(code(fn() => Filter::open($place)) === Exception::MISSING);
    $built->close();
    var_dump(Filter::open($place)->hasMany(["one", "two", "three"]) === [true, true, false]);
    foreach ([false, true] as $closes) {
        $built = Filter::rebuild($place, 1000, 0.001, ['random_seed' => true]);
        $built->add("three");
        if ($closes) $built->close();
        unset($built);
        var_dump(Filter::open($place)->hasMany(["one", "three"]) === [!$closes, $closes]);
    }
}
$counting = CountingFilter::rebuild("f.bloom", 100, 0.01, ['counter_bits' => 8]);
var_dump(get_class($counting), $counting->stats()["counter_bits"]);
unset($counting);
var_dump(code(fn() => Filter::rebuild("f.bloom", 100, 0.01, ['durability' => "none"])) === Exception::INVALID_ARGUMENT,
         code(fn() => Filter::rebuild("f.bloom")) === Exception::INVALID_ARGUMENT,
         code(fn() => Filter::rebuild(str_replace("redis:", "redis+module:", $server) . "m", 100, 0.01)) === Exception::WRONG_KIND,
         code(fn() => CountingFilter::rebuild("f.bloom", 100, 0.01, ['kind' => "plain"])) === Exception::WRONG_KIND);

$news = Filter::open("{$server}news", "x", 1000, 0.001, ['rotating' => true]);
$news->add("old");
var_dump(Filter::rotate("{$server}news"), $news->has("old"), $news->add("new"), Filter::rotate("{$server}news"));
var_dump($news->hasMany(["old", "new"]) === [false, true]);
var_dump(code(fn() => Filter::rotate("f.bloom")) === Exception::WRONG_KIND,
         code(fn() => Filter::rotate("{$server}none")) === Exception::MISSING,
         code(fn() => Filter::rotate("")) === Exception::INVALID_ARGUMENT);
try { Filter::rebuild(); } catch (ArgumentCountError $e) { echo $e->getMessage(), "\n"; }
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
string(23) "Bloomery\CountingFilter"
int(8)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
Bloomery\Filter::rebuild() expects at least 1 argument, 0 given
