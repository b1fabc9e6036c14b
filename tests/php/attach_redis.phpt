--TEST--
An attached filter on a server keeps its connection for a second, and is then opened again
--FILE--
<?php
use Bloomery\{Exception, Filter};
$server = "redis://127.0.0.1:" . getenv("REDIS_PORT") . "?key=";
$redis = new Redis();
$redis->connect("127.0.0.1", (int)getenv("REDIS_PORT"));
$redis->flushAll(); // run-tests.php repeats a test that sleeps and fails
function connections(): int { global $redis; return (int)$redis->info("stats")["total_connections_received"]; }
// How many connections the calls make, in a try that took less than a second.
function made(callable $calls): int {
    for ($try = 0; ; ++$try) {
        usleep(1100000);
        $before = connections();
        $begin = hrtime(true);
        $calls();
        $made = connections() - $before;
        if (hrtime(true) - $begin < 900_000_000 || $try == 50) return $made;
    }
}
$add = fn(string $key) => Filter::attach("{$server}f", writers: true, capacity: 1000, fpr: 0.001)->add($key);
try { Filter::attach("{$server}f"); } catch (Exception $e) { var_dump($e->getCode() === Exception::MISSING); }
var_dump($add("one"), $add("one"), Filter::attach("{$server}f")->has("one"));
var_dump(made(function () use ($add) { foreach (range(1, 20) as $i) $add("key $i"); }),
         made(function () use ($server) { foreach (range(1, 20) as $i) Filter::attach("{$server}f")->has("key $i"); }),
         made(function () use ($add, $server) { $add("one"); Filter::attach("{$server}f")->has("one"); }));
// Other numbers are refused at once, and the same ones are not.
foreach ([[5000, 0.001], [null, 0.01], [1000, null], [null, null]] as [$capacity, $fpr])
    try { Filter::attach("{$server}f", true, $capacity, $fpr); echo "attached\n"; } catch (Exception $e) { echo $e->getMessage(), "\n"; }
try { Filter::attach("{$server}f")->add("x"); } catch (Exception $e) { var_dump($e->getCode() === Exception::READ_ONLY); }
// A filter that is gone is an error, and a later second finds what is there.
$old = Filter::attach("{$server}f", true);
$redis->del("f");
try { $old->add("two"); } catch (Exception $e) { var_dump($e->getCode() === Exception::MISSING); }
usleep(1100000);
var_dump($add("one"), $add("one"));
try { $old->has("one"); } catch (Exception $e) { var_dump($e->getCode() === Exception::MISMATCH); }
// close() leaves the connection to the others.
$mine = Filter::attach("{$server}f", true);
$mine->close();
var_dump($add("three"), $mine->has("three"));
// A process that was forked has a connection of its own, and both go on.
$add("parent");
$child = pcntl_fork();
if ($child === 0) {
    for ($i = 0; $i < 500; ++$i) if (!$add("child $i") || !Filter::attach("{$server}f")->has("child $i")) exit(1);
    exec("kill -KILL " . getmypid());
    sleep(60);
}
for ($i = 0; $i < 500; ++$i) if (!$add("parent $i") || !Filter::attach("{$server}f")->has("parent $i")) echo "lost\n";
pcntl_waitpid($child, $status);
var_dump(pcntl_wtermsig($status), Filter::attach("{$server}f")->has("child 499"));
// Two generations.
Filter::open("{$server}news", "x", 1000, 0.001, ['rotating' => true])->add("old");
var_dump(Filter::attach("{$server}news", true)->add("new"), Filter::rotate("{$server}news"), Filter::attach("{$server}news")->has("old"),
         Filter::rotate("{$server}news"), Filter::attach("{$server}news")->has("old"));
// Connections that nobody uses are closed, however many addresses there are.
$clients = fn() => (int)$redis->info("clients")["connected_clients"];
usleep(1100000);
Filter::attach("{$server}f");
$before = $clients();
foreach (range(1, 20) as $i) Filter::attach("{$server}f$i", true, 100, 0.01);
var_dump($clients() > $before);
usleep(1100000);
Filter::attach("{$server}f");
for ($try = 0; $clients() > $before && $try < 600; ++$try) usleep(100000);
var_dump($clients() <= $before);
--EXPECTF--
bool(true)
bool(true)
bool(false)
bool(true)
int(1)
int(1)
int(2)
redis://127.0.0.1:%d/0?key=f was made for 1,000 keys, and capacity says 5,000; leave it out, or name another filter
redis://127.0.0.1:%d/0?key=f was made for a false-positive rate of 0.001, and false-positive rate says 0.01; leave it out, or name another filter
attached
attached
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
int(9)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
