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
    foreach ([fn() => Filter::open($path), fn() => Filter::open($path, "a", 10, 0.1), fn() => Filter::attach($path), fn() => $f->save($path)] as $i => $call)
        try { $call(); echo "$path: $i is open\n"; }
        catch (Exception $e) { if ($e->getCode() !== Exception::DENIED || !str_contains($e->getMessage(), "open_basedir")) echo $e->getMessage(), "\n"; }
chdir($inside);
try { Filter::open("../f.bloom"); } catch (Exception $e) { echo $e->getCode() === Exception::DENIED ? "denied" : $e->getMessage(), "\n"; }
--EXPECT--
bool(false)
bool(false)
denied
