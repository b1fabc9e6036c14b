--TEST--
A key is a string, an integer its digits; single keys and many give the same answers
--FILE--
<?php
use Bloomery\{Filter, CountingFilter};
$f = new Filter(10000, 1e-6);
var_dump($f->add("a"), $f->add("a"), $f->has("a"), $f->has("b"), $f->has(""), $f->add(""), $f->has(""));
foreach ([0, 7, -7, PHP_INT_MAX, PHP_INT_MIN] as $n)
    if (!$f->add($n) || !$f->has((string)$n) || $f->add((string)$n)) echo "not the digits of $n\n";
var_dump($f->has("a\0"), $f->add("a\0"), $f->has("a\0"));
foreach ([0, -1, PHP_INT_MIN] as $n) {
    if (!$f->addInt($n) || !$f->hasInt($n) || $f->hasInt($n ^ 4)) echo "not the integer $n\n";
}
var_dump($f->has(-1));
var_dump($f->addMany(["x" => "new", 5 => "a", "y" => 7, 123456], $new), $new);
var_dump($f->addMany([]), $f->hasMany([]));
// Without strict_types a value of another type is the string that a cast makes of it.
class Text { function __toString() { return "text of an object"; } }
foreach ([1.5, -0.25, 5.0, 1e15, 1e20, NAN, true, false, new Text] as $value) {
    $c = new CountingFilter(100, 1e-6);
    if (!$c->add($value) || !$c->has((string)$value) || !$c->has($value) || $c->has(1.7) || count($c) !== 1 || !$c->remove((string)$value))
        echo "not the text of ", json_encode((string)$value), "\n";
}
var_dump($f->hasMany(["i" => "new", "none", "j" => 123456]));
$made = (function () { yield "one" => "q"; yield 3 => "r"; yield 3 => "r"; })();
var_dump($f->addMany($made, $new), $new);
// Where nobody asks for answers, their keys may be anything.
$objects = new WeakMap;
$objects[$f] = "of an object";
var_dump($f->addMany($objects), $f->addMany((function () { yield 1.5 => "x1"; yield null => "x2"; })()), $f->has("x2"));
$many = array_map(fn($i) => "key $i", range(1, 200000));
$large = new Filter(200000, 1e-9);
var_dump($large->addMany($many) === 200000, $large->addMany(new ArrayIterator($many)), array_sum($large->hasMany($many)));
// What an iterator does to the filter meanwhile.
$one = new Filter(200000, 1e-9);
$adds = fn(int $count, callable $at_70000) => (function () use ($count, $at_70000) {
    for ($i = 0; $i < $count; ++$i) { if ($i === 70000) $at_70000(); yield "k$i"; }
})();
$one->addMany($adds(80000, fn() => $one->clear()));
var_dump($one->has("k0"), $one->has("k79999"));
$one->addMany($adds(80000, function () use (&$one) { $one = null; gc_collect_cycles(); }));
$fiber = new Fiber(fn() => $f->addMany((function () { yield "before"; Fiber::suspend(); yield "after"; })()));
$fiber->start();
$f->add("between");
$fiber->resume();
var_dump($fiber->getReturn(), $f->has("before"));
$never = new Fiber(fn() => $f->addMany((function () { yield "lost"; Fiber::suspend(); })()));
$never->start();
unset($never);
$c = new CountingFilter(1000, 1e-6);
$c->addMany(["a", "b", 3]);
$c->addInt(9);
var_dump($c->remove("a"), $c->remove("a"), $c->has("a"), $c->remove(3), $c->removeInt(9), $c->removeInt(9));
var_dump($c->removeMany(["k" => "b", "l" => "none"], $removed), $removed, count($c));
--EXPECT--
bool(true)
bool(false)
bool(true)
bool(false)
bool(false)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
int(2)
array(4) {
  ["x"]=>
  bool(true)
  [5]=>
  bool(false)
  ["y"]=>
  bool(false)
  [6]=>
  bool(true)
}
int(0)
array(0) {
}
array(3) {
  ["i"]=>
  bool(true)
  [0]=>
  bool(false)
  ["j"]=>
  bool(true)
}
int(2)
array(2) {
  ["one"]=>
  bool(true)
  [3]=>
  bool(false)
}
int(1)
int(2)
bool(true)
bool(true)
int(0)
int(200000)
bool(false)
bool(true)
int(2)
bool(true)
bool(true)
bool(false)
bool(false)
bool(true)
bool(true)
bool(false)
int(1)
array(2) {
  ["k"]=>
  bool(true)
  ["l"]=>
  bool(false)
}
int(0)
