--TEST--
What a server does not tell is null; a closed filter on a server says so
--FILE--
<?php
use Bloomery\{Exception, Filter};
$server = "://127.0.0.1:" . getenv("REDIS_PORT") . "?key=";
function said(callable $call): string {
    try { return json_encode($call()); } catch (Exception $e) { return $e->getCode() . strstr($e->getMessage(), ": "); }
}
foreach (["redis", "redis+module"] as $scheme)
    foreach ($scheme === "redis" ? ["plain"] : ["plain", "scalable", "counting", "window"] as $kind) {
        $window = $kind === "window" ? ["window" => 3600] : [];
        $f = Filter::open("$scheme$server$kind$scheme", "x", 1000, 0.01, ["kind" => $kind] + $window);
        $f->addMany(["one", "two", "three"]);
        $s = $f->stats();
        printf("%s %s: %s of %s inserted, about %s, %s, %s\n", $scheme, $s["kind"], said(fn() => count($f)),
               json_encode($s["inserted"]), json_encode($s["estimated_items"] ? round($s["estimated_items"]) : null),
               gettype($s["current_fpr"]), gettype($s["hashes"]));
        echo json_encode(["layout" => $s["layout"]] + array_slice($s, 12)), "\n";
        $f->close();
        echo said(fn() => $f->add("four")), ", ", said(fn() => $f->has("one")), "\n";
    }
--EXPECT--
redis plain: 3 of null inserted, about 3, double, integer
{"layout":"blocked"}
12: is closed; open it again, 12: is closed; open it again
redis+module plain: 3 of 3 inserted, about 3, double, NULL
{"layout":null}
12: is closed; open it again, 12: is closed; open it again
redis+module scalable: 3 of 3 inserted, about 3, double, NULL
{"layout":null,"sub_filters":null}
12: is closed; open it again, 12: is closed; open it again
redis+module counting: 8: its server does not tell how many keys are in it, only stats()['inserted'] of 3 inserted, about null, NULL, NULL
{"layout":null,"counter_bits":null,"saturated_counters":null}
12: is closed; open it again, 12: is closed; open it again
redis+module window: 8: its server does not tell how many keys are in it, only stats()['inserted'] of 3 inserted, about null, NULL, NULL
{"layout":null,"window":null,"window_unit":null,"slices":null}
12: is closed; open it again, 12: is closed; open it again
