--TEST--
An attached filter is one for all objects, sees what writers add, and is opened again when the file was replaced
--FILE--
<?php
use Bloomery\{Filter, CountingFilter, Exception};
chdir(getenv("SCRATCH"));
function attached_rows(): string { ob_start(); phpinfo(INFO_MODULES); preg_match('/attached in this process => (\d+)/', ob_get_clean(), $m); return $m[1]; }
$first = new Filter(1000, 0.001);
$first->add("one");
$first->save("f.bloom");
$a = Filter::attach("f.bloom");
$b = Filter::attach(getcwd() . "/./f.bloom");
var_dump($a->has("one"), $b->has("one"), attached_rows());
unset($a);
$writer = Filter::open("f.bloom", "w", null, null, ['durability' => 'process']);
$writer->add("two");
var_dump($b->has("two"));
unset($writer);
$other = new Filter(2000, 0.001);
$other->add("three");
$other->save("f.bloom");
// At most a second later.
$deadline = microtime(true) + 60;
do { usleep(50000); $now = Filter::attach("f.bloom"); } while (!$now->has("three") && microtime(true) < $deadline);
var_dump($now->has("three"), $now->has("one"), $b->has("three"), attached_rows());
$b->close();
var_dump($now->has("three"));
try { $now->add("x"); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
// A file of another kind is read again when it has changed.
$c = Filter::open("c.bloom", "x", 100, 0.01, ['kind' => 'counting', 'durability' => 'process']);
var_dump(get_class(Filter::attach("c.bloom")));
$c->add("late");
do { usleep(50000); } while (!Filter::attach("c.bloom")->has("late") && microtime(true) < $deadline);
var_dump(Filter::attach("c.bloom")->has("late"));
unlink("f.bloom");
do { usleep(50000); try { Filter::attach("f.bloom"); $gone = false; } catch (Exception $e) { $gone = $e->getCode() === Exception::MISSING; } }
while (!$gone && microtime(true) < $deadline);
var_dump($gone, $now->has("three"), attached_rows());
try { Filter::attach("redis://127.0.0.1?key=k"); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
try { CountingFilter::attach("g.bloom"); } catch (Exception $e) { echo $e->getCode() === Exception::MISSING ? "missing\n" : "?"; }
--EXPECTF--
bool(true)
bool(true)
string(1) "1"
bool(true)
bool(true)
bool(false)
bool(true)
string(1) "1"
bool(true)
%s: is open for reading; open it for writing
string(23) "Bloomery\CountingFilter"
bool(true)
bool(true)
bool(true)
string(1) "1"
only a file is attached, and not an address; open it
missing
