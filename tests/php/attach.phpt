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
// A link that leads elsewhere.
symlink("f.bloom", "link");
var_dump(Filter::attach("link")->has("three"));
unlink("link");
$first->save("g.bloom");
symlink("g.bloom", "link");
do { usleep(50000); } while (!Filter::attach("link")->has("one") && microtime(true) < $deadline);
var_dump(Filter::attach("link")->has("one"));
unlink("g.bloom");
// A file of another kind is read again when it has changed.
$c = Filter::open("c.bloom", "x", 100, 0.01, ['kind' => 'counting', 'durability' => 'process']);
var_dump(get_class(Filter::attach("c.bloom")));
$c->add("late");
do { usleep(50000); } while (!Filter::attach("c.bloom")->has("late") && microtime(true) < $deadline);
var_dump(Filter::attach("c.bloom")->has("late"));
// Two changes may have the same time, with a look between them. (Of a time that is not past it cannot be known.)
$time = time() + 3600;
usleep(1100000);
touch("c.bloom", $time);
Filter::attach("c.bloom");
$c->add("later");
touch("c.bloom", $time);
usleep(1100000);
var_dump(Filter::attach("c.bloom")->has("later"));
unlink("f.bloom");
do { usleep(50000); try { Filter::attach("f.bloom"); $gone = false; } catch (Exception $e) { $gone = $e->getCode() === Exception::MISSING; } }
while (!$gone && microtime(true) < $deadline);
var_dump($gone, $now->has("three"), attached_rows() <= 2);
// Within a second nobody looks at the file again; a try that took longer says nothing.
for ($try = 0; $try < 50; ++$try) {
    $begin = hrtime(true);
    $first->save("once$try.bloom");
    Filter::attach("once$try.bloom");
    $other->save("once$try.bloom");
    $looked = Filter::attach("once$try.bloom")->has("three");
    if (hrtime(true) - $begin < 900_000_000) break;
}
var_dump($looked);
// Writers share a file, and keep out one that does not.
$w = Filter::attach("w.bloom", writers: true, capacity: 1000, fpr: 0.001);
$also = Filter::open("w.bloom", "w", options: ['shared' => true]);
var_dump($w->add("mine"), $also->has("mine"), $also->add("other"), Filter::attach("w.bloom", true)->has("other"), Filter::attach("w.bloom")->has("mine"));
try { Filter::open("w.bloom", "w"); } catch (Exception $e) { var_dump($e->getCode() === Exception::LOCKED); }
// Other numbers are refused, also where the process has it attached.
foreach ([[5000, 0.001], [1000, 0.01], [null, 0.01], [1000, 0.001], [null, 0.001]] as [$capacity, $fpr]) {
    try { Filter::attach("w.bloom", true, $capacity, $fpr); echo "attached\n"; } catch (Exception $e) { echo $e->getMessage(), "\n"; }
}
// One that was replaced a moment ago has the new numbers, and refuses nothing by its old ones.
(new Filter(100, 0.01))->save("resized.bloom");
Filter::attach("resized.bloom", false, 100, 0.01);
(new Filter(200, 0.01))->save("resized.bloom");
var_dump(Filter::attach("resized.bloom", false, 200, 0.01)->has("one"));
try { Filter::attach("c.bloom", true); } catch (Exception $e) { var_dump($e->getCode() === Exception::LOCKED); }
unset($c);
try { Filter::attach("c.bloom", true); } catch (Exception $e) { var_dump($e->getCode() === Exception::WRONG_KIND); }
try { Filter::attach("none.bloom", true); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
// A process that was forked opens it again.
$child = pcntl_fork();
if ($child === 0) {
    try { $w->add("x"); $code = 1; } catch (Exception $e) { $code = $e->getCode() === Exception::INHERITED ? 0 : 2; }
    if (!Filter::attach("w.bloom", true)->add("child")) $code = 3;
    exec("kill -" . ($code === 0 ? "KILL" : "TERM") . " " . getmypid());
    sleep(60);
}
pcntl_waitpid($child, $status);
var_dump(pcntl_wtermsig($status), $w->has("child"));
// One that was moved away is not what is at the path.
rename("w.bloom", "moved.bloom");
do { usleep(50000); $new = Filter::attach("w.bloom", true, 1000, 0.001); } while ($new->has("mine") && microtime(true) < $deadline);
var_dump($new->has("mine"), $w->has("mine"));
foreach (["redis://127.0.0.1:1?key=k", "Http://h2.org"] as $address)
    try { Filter::attach($address); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
try { Bloomery\WindowFilter::attach("h.bloom", true, 1000, 0.001); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
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
bool(true)
bool(true)
string(23) "Bloomery\CountingFilter"
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
%sw.bloom was made for 1,000 keys, and capacity says 5,000; leave it out, or name another filter
%sw.bloom was made for %s
%sw.bloom was made for %s
attached
attached
bool(false)
bool(true)
bool(true)
%snone.bloom does not exist%s
int(9)
bool(true)
bool(false)
bool(true)
redis 127.0.0.1:1: %s
Http:// is not the beginning of an address; %s
writers share plain filters, and Bloomery\WindowFilter makes none; open it
missing
