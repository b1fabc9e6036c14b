--TEST--
Filters are converted, merged and verified by their locations, in files and Redis strings
--FILE--
<?php
use Bloomery\{CountingFilter, Exception, Filter};
function code(callable $call): int {
    try { $call(); return 0; } catch (Exception $e) { return $e->getMessage() === "" ? -1 : $e->getCode(); }
}
function make(string $place, string $key, string $class = Filter::class, array $options = []): string {
    $filter = $class::open($place, "x", 1000, 0.001, $options);
    $filter->add($key);
    $filter->close();
    return $place;
}
function found(string $place): string {
    return implode(array_keys(array_filter(array_combine(["a", "b", "c", "d"], Filter::open($place)->hasMany(["a", "b", "c", "d"])))));
}
chdir(getenv("SCRATCH"));
$server = "redis://127.0.0.1:" . getenv("REDIS_PORT") . "?key=";
$a = make("a.bloom", "a");
Filter::convert($a, "{$server}a");
Filter::convert("{$server}a", "copy.bloom");
var_dump(found("{$server}a"), found("copy.bloom"), substr(file_get_contents("copy.bloom"), 8192) === substr(file_get_contents($a), 8192));
var_dump(code(fn() => Filter::convert(make("b.bloom", "b"), "copy.bloom")) === Exception::EXISTS, found("copy.bloom"));
Filter::convert("b.bloom", "copy.bloom", replace: true);
var_dump(found("copy.bloom"));
var_dump(code(fn() => Filter::convert(make("counting.bloom", "a", CountingFilter::class), "no.bloom")) === Exception::WRONG_KIND,
         code(fn() => Filter::convert("none.bloom", "no.bloom")) === Exception::MISSING,
         code(fn() => Filter::convert("a.bloom", "")) === Exception::INVALID_ARGUMENT);

$c = make("c.bloom", "c");
$sources = ["x" => "{$server}a", "y" => &$c];
Filter::mergeLocations($sources, "all.bloom");
var_dump(found("all.bloom"));
var_dump(code(fn() => Filter::mergeLocations(["b.bloom"], "all.bloom")) === Exception::EXISTS,
         code(fn() => Filter::mergeLocations(["a.bloom", make("seed.bloom", "d", options: ['seed' => "12345678"])], "all.bloom", true)) === Exception::MISMATCH,
         code(fn() => Filter::mergeLocations([], "all.bloom", true)) === Exception::INVALID_ARGUMENT,
         code(fn() => Filter::mergeLocations(["a.bloom", "b\0"], "all.bloom", true)) === Exception::INVALID_ARGUMENT);
try { Filter::mergeLocations(["a.bloom", 7], "all.bloom", true); } catch (TypeError $e) { echo $e->getMessage(), "\n"; }
var_dump(found("all.bloom"));
Filter::mergeLocations(["a.bloom", "b.bloom"], "all.bloom", replace: true);
var_dump(found("all.bloom"));

var_dump(Filter::verify("all.bloom"), Filter::verify("{$server}a"));
$writer = Filter::open("all.bloom", "w");
$writer->add("d");
var_dump(Filter::verify("all.bloom"));
$writer->close();
$bytes = file_get_contents("all.bloom");
$bytes[8192] = $bytes[8192] ^ "\1";
file_put_contents("all.bloom", $bytes);
// Opening a filter counts none of its bits.
$ask = fn(string $words): ?string => shell_exec("redis-cli -p " . getenv("REDIS_PORT") . " $words");
$ask("CONFIG RESETSTAT");
Filter::open("{$server}a", "w")->add("x");
Filter::open("{$server}rotating", "a", 1000, 0.001, ['rotating' => true])->add("x");
var_dump(str_contains($ask("INFO commandstats"), "cmdstat_bitfield"), str_contains($ask("INFO commandstats"), "cmdstat_bitcount"));
try { Filter::verify("all.bloom"); } catch (Exception $e) { var_dump($e->getCode() === Exception::CORRUPT, $e->getMessage()); }
--EXPECT--
string(1) "a"
string(1) "a"
bool(true)
bool(true)
string(1) "a"
string(1) "b"
bool(true)
bool(true)
bool(true)
string(2) "ac"
bool(true)
bool(true)
bool(true)
bool(true)
Bloomery\Filter::mergeLocations(): Argument #1 ($sources) must be an array of strings, int given
string(2) "ac"
string(2) "ab"
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
string(68) "all.bloom: 1 of 1 chunk of the bits is damaged, number 0; salvage it"
