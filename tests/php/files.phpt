--TEST--
Files in every mode; save replaces a filter and nothing else
--FILE--
<?php
use Bloomery\{Filter, CountingFilter, WindowFilter, Exception};
function code(callable $call): int {
    try { $call(); return 0; } catch (Exception $e) { return $e->getMessage() === "" ? -1 : $e->getCode(); }
}
chdir(getenv("SCRATCH"));
var_dump(code(fn() => Filter::open("f.bloom")) === Exception::MISSING, code(fn() => Filter::open("f.bloom", "w")) === Exception::MISSING);
$f = Filter::open("f.bloom", "a", 1000, 0.001, ['durability' => 'process']);
var_dump($f->add("one"), code(fn() => Filter::open("f.bloom", "w")) === Exception::LOCKED);
var_dump(Filter::open("f.bloom")->has("one"));
$f->sync();
$f->close();
$f->close();
var_dump($f->has("one"), code(fn() => $f->add("two")) === Exception::READ_ONLY);
var_dump(code(fn() => Filter::open("f.bloom", "a", 2000, 0.001)) === Exception::MISMATCH);
var_dump(code(fn() => Filter::open("f.bloom", "x", 1000, 0.001)) === Exception::EXISTS);
$reader = Filter::open("f.bloom");
var_dump(basename($reader->name()), $reader->reload());
$new = Filter::open("f.bloom", "n", 500, 0.01);
var_dump($reader->reload(), $reader->has("one"));
unset($new);
$c = new CountingFilter(100, 0.01);
$c->addMany(["a", "b"]);
$c->save("c.bloom");
$c->add("c");
$c->save("./c.bloom");
$again = Filter::open("c.bloom", "w");
var_dump(get_class($again), $again->has("c"), $again->remove("a"), code(fn() => $c->save("c.bloom")) === Exception::LOCKED);
unset($again);
var_dump(CountingFilter::open("c.bloom")->has("a"), get_class(CountingFilter::open("c.bloom")));
file_put_contents("text", str_repeat("some text ", 1000));
var_dump(code(fn() => $c->save("text")) === Exception::NOT_A_FILTER, strlen(file_get_contents("text")));
// A new filter has the kind of the class; if it cannot have it, nothing is made, and nothing replaced.
abstract class Half extends Filter {}
class Mine extends Filter {}
var_dump(get_class(CountingFilter::open("new", "x", 100, 0.01)), get_class(Mine::open("own", "a", 100, 0.01)), WindowFilter::open("new", "n", 100, 0.01, ['window' => 60])->stats()['kind']);
(new Filter(100, 0.01))->save("old");
$before = md5_file("old");
foreach (["x", "a", "n"] as $mode)
    foreach (["old", "none"] as $path)
        foreach ([fn() => Mine::open($path, $mode, 100, 0.01, ['kind' => 'counting']), fn() => CountingFilter::open($path, $mode, 100, 0.01, ['kind' => 'plain']), fn() => Half::open($path, $mode, 100, 0.01)] as $i => $call)
            try { $call(); echo "$i is open\n"; } catch (Exception $e) { if ($e->getCode() !== Exception::WRONG_KIND) echo $e->getMessage(), "\n"; } catch (Error) { if ($i !== 2) echo "$i is an error\n"; }
var_dump(code(fn() => CountingFilter::attach("none", true, 100, 0.01)) === Exception::WRONG_KIND, md5_file("old") === $before);
Filter::open("frozen", "x", null, 0.01, ['kind' => 'frozen', 'delta' => 10])->close();
var_dump(get_class(Mine::open("frozen", "a")), Filter::open("frozen")->stats()['layout']);
array_map(unlink(...), ["new", "own", "old", "frozen"]);
chmod("c.bloom", 0640);
$c->save("c.bloom");
printf("%o\n", fileperms("c.bloom") & 0777);
// Closed filters go on forgetting.
$windows = [new WindowFilter(1, 100, 0.001, ['slices' => 1]),
            Filter::open("w.bloom", "x", 100, 0.001, ['kind' => 'window', 'window' => 1, 'slices' => 1])];
foreach ($windows as $w) {
    $w->add("key");
    $w->close();
}
// The keys are asked for when the generator has ended, at the time of then.
function slowly() { usleep(3_100_000); yield "key"; }
var_dump($windows[0]->hasMany(slowly())[0], $windows[1]->has("key"), count($windows[1]));
echo implode(" ", scandir(".")), "\n";
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
string(7) "f.bloom"
bool(false)
bool(true)
bool(false)
string(23) "Bloomery\CountingFilter"
bool(true)
bool(true)
bool(true)
bool(false)
string(23) "Bloomery\CountingFilter"
bool(true)
int(10000)
string(23) "Bloomery\CountingFilter"
string(4) "Mine"
string(6) "window"
bool(true)
bool(true)
string(4) "Mine"
NULL
640
bool(false)
bool(false)
int(0)
. .. c.bloom f.bloom text w.bloom
