--TEST--
Every method of an object without a filter, and every change of a filter that is read only, is an exception
--FILE--
<?php
use Bloomery\{Filter, CountingFilter, ScalableFilter, WindowFilter, Exception};
use Bloomery\Legacy\BloomFilter;
chdir(getenv("SCRATCH"));
const CHANGES = ["add", "addInt", "addMany", "remove", "removeInt", "removeMany", "advance", "merge", "intersect", "clear"];
function argument(ReflectionParameter $of, Filter $other): mixed {
    return match ($of->getName()) {
        "key" => str_ends_with($of->getDeclaringFunction()->getName(), "Int") ? 1 : "k",
        "keys" => ["k"], "other" => $other, "now" => time(), "path" => "out", "data" => ["filter" => ""],
    };
}
function call(object $on, ReflectionMethod $method, Filter $other): string {
    $arguments = array_map(fn($of) => argument($of, $other), array_filter($method->getParameters(), fn($of) => !$of->isOptional()));
    try {
        $method->invokeArgs($on, $arguments);
        return "nothing";
    } catch (Exception $e) {
        return array_flip((new ReflectionClass(Exception::class))->getConstants())[$e->getCode()];
    } catch (Throwable $e) {
        return get_class($e);
    }
}
function methods(string $class): array {
    return array_filter((new ReflectionClass($class))->getMethods(), fn($m) => !$m->isStatic() && !$m->isConstructor());
}
function report(string $class, array $said): void {
    ksort($said);
    foreach ($said as $what => $names) echo "$class: $what: ", implode(" ", $names), "\n";
}
// Objects whose constructor never ran.
foreach ([Filter::class, CountingFilter::class, ScalableFilter::class, WindowFilter::class] as $class) {
    $said = [];
    foreach (methods($class) as $method)
        $said[call((new ReflectionClass($class))->newInstanceWithoutConstructor(), $method, new Filter(10, 0.1))][] = $method->name;
    report($class, $said);
}
foreach ([["addKey", "k"], ["existKey", "k"], ["addKey", 1], ["existKey", 1]] as [$name, $key])
    try {
        (new ReflectionClass(BloomFilter::class))->newInstanceWithoutConstructor()->$name($key);
        echo "$name: nothing\n";
    } catch (Throwable $e) { echo "$name: ", get_class($e), "\n"; }
// Files that are open to read.
Filter::open(Filter::class, "x", 10, 0.1)->close();
CountingFilter::open(CountingFilter::class, "x", 10, 0.1)->close();
ScalableFilter::open(ScalableFilter::class, "x", 10, 0.1)->close();
WindowFilter::open(WindowFilter::class, "x", 10, 0.1, ["window" => 3600])->close();
foreach ([Filter::class, CountingFilter::class, ScalableFilter::class, WindowFilter::class] as $class) {
    $said = [];
    foreach (methods($class) as $method)
        if (in_array($method->name, CHANGES))
            $said[call($class::open($class), $method, Filter::open($class))][] = $method->name;
    report("file of a $class", $said);
}
--EXPECT--
Bloomery\Filter: INVALID_ARGUMENT: add has addInt hasInt addMany hasMany count stats merge intersect clear encode save sync close reload name __serialize
Bloomery\Filter: NOT_A_FILTER: __unserialize
Bloomery\CountingFilter: INVALID_ARGUMENT: remove removeInt removeMany add has addInt hasInt addMany hasMany count stats merge intersect clear encode save sync close reload name __serialize
Bloomery\CountingFilter: NOT_A_FILTER: __unserialize
Bloomery\ScalableFilter: INVALID_ARGUMENT: add has addInt hasInt addMany hasMany count stats merge intersect clear encode save sync close reload name __serialize
Bloomery\ScalableFilter: NOT_A_FILTER: __unserialize
Bloomery\WindowFilter: INVALID_ARGUMENT: advance add has addInt hasInt addMany hasMany count stats merge intersect clear encode save sync close reload name __serialize
Bloomery\WindowFilter: NOT_A_FILTER: __unserialize
addKey: Bloomery\Exception
existKey: Bloomery\Exception
addKey: Bloomery\Exception
existKey: Bloomery\Exception
file of a Bloomery\Filter: READ_ONLY: add addInt addMany merge
file of a Bloomery\Filter: WRONG_KIND: intersect clear
file of a Bloomery\CountingFilter: READ_ONLY: remove removeInt removeMany add addInt addMany merge
file of a Bloomery\CountingFilter: WRONG_KIND: intersect clear
file of a Bloomery\ScalableFilter: READ_ONLY: add addInt addMany
file of a Bloomery\ScalableFilter: WRONG_KIND: merge intersect clear
file of a Bloomery\WindowFilter: READ_ONLY: add addInt addMany
file of a Bloomery\WindowFilter: WRONG_KIND: merge intersect clear
file of a Bloomery\WindowFilter: nothing: advance
