--TEST--
Each kind does what it can; clone, merge, serialize and encode keep its keys
--FILE--
<?php
use Bloomery\{Filter, CountingFilter, ScalableFilter, WindowFilter};
function said(callable $call): string {
    try { $call(); return "nothing"; } catch (Bloomery\Exception $e) { return $e->getCode() . " " . $e->getMessage(); }
}
$kinds = [new Filter(1000, 0.001), new CountingFilter(1000, 0.001), new ScalableFilter(100, 0.001),
          new WindowFilter(3600, 1000, 0.001)];
class Own extends CountingFilter { public $more = 1; }
$kinds[] = new Own(1000, 0.001, ['counter_bits' => 8]);
foreach ($kinds as $f) {
    $f->addMany(range(1, 300));
    $copy = clone $f;
    $copy->add("only there");
    if ($f->has("only there") || !$copy->has(300)) echo "not a copy\n";
    foreach ([unserialize(serialize($f)), $f::decode($f->encode()), Filter::decode($f->encode())] as $again)
        if (array_sum($again->hasMany(range(1, 300))) !== 300 || $again->stats()['kind'] !== $f->stats()['kind'])
            echo get_class($f), " lost keys\n";
    $s = $f->stats(true);
    printf("%s: %s of %s, %d keys, about %d, copy is %s\n", get_class($f), $s['kind'], get_class(Filter::decode($f->encode())),
           $s['inserted'], round($s['estimated_items'], -2), get_class($copy));
}
echo $kinds[2]->stats()['sub_filters'] > 1 ? "it has grown\n" : "it has not grown\n";
[$plain, $counting, $scalable, $window] = $kinds;
$other = new Filter(1000, 0.001);
$other->addMany([300, 301]);
$plain->merge($other);
var_dump($plain->has(301));
$plain->intersect($other);
var_dump($plain->has(301), $plain->has(1));
$plain->clear();
var_dump($plain->has(301), count($plain));
echo said(fn() => $plain->merge($counting)), "\n", said(fn() => $plain->merge($scalable)), "\n",
     said(fn() => $counting->intersect($counting)), "\n", said(fn() => CountingFilter::decode($other->encode())), "\n";
echo said(fn() => new Filter(10, 0.1, ['kind' => 'counting'])), "\n", said(fn() => new Filter(10, 0.1, ['kinds' => 'counting'])), "\n";
var_dump($window->has(5));
$window->advance(time() + 7200);
var_dump($window->has(5));
$lines = new WindowFilter(100, 100, 0.001, ['window_unit' => 'insertions']);
for ($i = 0; $i < 500; ++$i) $lines->add($i);
var_dump($lines->has(499), $lines->has(1), $lines->stats()['window_unit']);
// Without the clock, advance() alone sets the time; so it does after a copy.
chdir(getenv("SCRATCH"));
$still = [new WindowFilter(100, 100, 0.001, ['clock' => false, 'slices' => 4]),
          Filter::open("still", "x", 100, 0.001, ['kind' => 'window', 'window' => 100, 'slices' => 4, 'clock' => false])];
$still[] = unserialize(serialize($still[0]));
$still[] = clone $still[0];
foreach ($still as $filter) {
    $filter->advance(1000);
    $filter->addMany(['one']);
    $filter->addInt(2);
    $filter->advance(1060);
    $known = [$filter->has('one'), $filter->hasInt(2), $filter->hasMany(['one'])[0]];
    $filter->advance(1300);
    echo json_encode([$known, $filter->has('one'), $filter->hasInt(2), count($filter)]), "\n";
}
foreach ([fn() => new WindowFilter(100, 100, 0.001, ['clock' => 1]), fn() => $still[0]->advance(-5), fn() => $lines->advance(5)] as $call) echo said($call), "\n";
class Cloned extends Filter {
    function __clone() {
        $this->add('clone');
        echo said(fn() => $this->__construct(10, 0.1)), "\n";
    }
}
$original = new Cloned(1000, 0.001);
$original->add('original');
$clone = clone $original;
var_dump($clone->has('original'), $clone->has('clone'), $original->has('clone'), count($clone));
class Tenant extends Filter {
    public string $tenant = 'none';
    protected array $shared = [];
    private ?Filter $inner = null;
    public int $unset;
    function fill() { [$this->tenant, $this->shared, $this->inner] = ['acme', [1 => 'one'], new Filter(10, 0.1)]; }
    function all() { return [$this->tenant, $this->shared, get_class($this->inner), isset($this->unset)]; }
}
$tenant = new Tenant(1000, 0.001);
$tenant->fill();
$tenant->add('key');
$again = unserialize(serialize($tenant));
echo json_encode([$again->all(), $again->has('key')]), "\n";
// Older payloads have no properties.
$before = $tenant->__serialize();
unset($before['members']);
$old = (new ReflectionClass('Tenant'))->newInstanceWithoutConstructor();
$old->__unserialize($before);
echo json_encode([$old->tenant, $old->has('key')]), "\n";
$bad = (new ReflectionClass('Tenant'))->newInstanceWithoutConstructor();
echo said(fn() => $bad->__unserialize(['members' => 1] + $before)), "\n", said(fn() => $bad->has('key')), "\n";
try { $bad->__unserialize(['members' => ['tenant' => []]] + $before); } catch (TypeError $e) { echo $e->getMessage(), "\n"; }
var_dump(isset($bad->tenant));
$text = 'text';
$bad = (new ReflectionClass('Tenant'))->newInstanceWithoutConstructor();
$bad->__unserialize(['members' => ['tenant' => &$text]] + $before);
$text = [];
var_dump($bad->tenant);
// A plan says what the constructor of the same class makes.
foreach ([[Filter::plan(1000, 0.001), $plain], [CountingFilter::plan(1000, 0.001), $kinds[1]],
          [Own::plan(1000, 0.001, ['counter_bits' => 8]), $kinds[4]], [ScalableFilter::plan(100, 0.001), new ScalableFilter(100, 0.001)],
          [WindowFilter::plan(1000, 0.001, ['window' => 3600]), new WindowFilter(3600, 1000, 0.001)]] as [$plan, $made])
    if (array_intersect_key($plan, $made->stats()) !== array_intersect_key($made->stats(), $plan)) echo json_encode([$plan, $made->stats()]), "\n";
echo json_encode(Filter::plan(1_000_000, 0.01)), "\n", json_encode(Filter::plan(1_000_000, 0.01, ['kind' => 'frozen'])), "\n",
     Filter::plan(options: ['bits' => 8192, 'hashes' => 7, 'layout' => 'standard'])['capacity'], "\n",
     said(fn() => Filter::plan(1000)), "\n", said(fn() => Filter::plan(0, 0.1)), "\n", said(fn() => Filter::plan(10, 0.0)), "\n",
     said(fn() => CountingFilter::plan(10, 0.1, ['kind' => 'plain'])), "\n";
// What it predicts for a class is what a filter of that class, as full as that, has.
foreach ([[CountingFilter::predictedFpr(3000, 3000, 0.01), new CountingFilter(3000, 0.01)], [Filter::predictedFpr(3000.0, 1000, 0.01), new Filter(1000, 0.01)],
          [ScalableFilter::predictedFpr(3000, 100, 0.01), new ScalableFilter(100, 0.01)]] as [$predicted, $made]) {
    $made->addMany(range(1, 3000));
    var_dump(abs($made->stats(true)['current_fpr'] / $predicted - 1) < 0.25);
}
echo said(fn() => Filter::predictedFpr(-1, 1000, 0.01)), "\n", said(fn() => Filter::predictedFpr(1)), "\n", said(fn() => Filter::predictedFpr(1, 10, 0.0)), "\n";
// PHP compares properties, and a filter has none.
var_dump($plain == $plain, $plain == new Filter(1000, 0.001), new Bloomery\Legacy\BloomFilter(100, 10) == new Bloomery\Legacy\BloomFilter(200, 10));
--EXPECT--
Bloomery\Filter: plain of Bloomery\Filter, 300 keys, about 300, copy is Bloomery\Filter
Bloomery\CountingFilter: counting of Bloomery\CountingFilter, 300 keys, about 300, copy is Bloomery\CountingFilter
Bloomery\ScalableFilter: scalable of Bloomery\ScalableFilter, 300 keys, about 300, copy is Bloomery\ScalableFilter
Bloomery\WindowFilter: window of Bloomery\WindowFilter, 300 keys, about 300, copy is Bloomery\WindowFilter
Own: counting of Bloomery\CountingFilter, 300 keys, about 300, copy is Own
it has grown
bool(true)
bool(true)
bool(false)
bool(false)
int(0)
8 a filter in memory: is a plain filter; no counting filter can be merged into it; in C++ merge its to_plain()
8 a filter in memory: only plain and counting filters in memory or in files are merged; insert the keys themselves
8 a filter in memory: only plain filters in memory or in files are intersected
8 a filter in memory: is a filter of the class Bloomery\Filter, and not of Bloomery\CountingFilter; open it as that
1 the option 'kind' is for open(); a filter in memory has it by its class, or not at all
1 there is no option 'kinds'; check its name
bool(true)
bool(false)
bool(true)
bool(false)
string(10) "insertions"
[[true,true,true],false,false,0]
[[true,true,true],false,false,0]
[[true,true,true],false,false,0]
[[true,true,true],false,false,0]
1 clock is true or false
1 now is at least 1, and not -5
nothing
7 the filter has been made already; make another one
bool(true)
bool(true)
bool(false)
int(2)
[["acme",{"1":"one"},"Bloomery\\Filter",false],true]
["none",true]
5 the serialized bytes are not a filter
1 the filter has not been made; call parent::__construct()
Cannot assign array to property Tenant::$tenant of type string
bool(false)
string(4) "text"
{"kind":"plain","capacity":1000000,"fpr":0.01,"bytes":1243264,"hashes":6,"layout":"blocked","bits_per_key":9.946112}
{"kind":"frozen","capacity":1000000,"fpr":0.01,"bytes":981888,"hashes":3,"layout":null,"bits_per_key":7.855104}
811
1 give two of capacity, false-positive rate, bits and hashes
1 capacity is at least 1, and not 0
1 a false-positive rate of 0 is impossible; give one from 1e-15 to 0.5
8 an object of Bloomery\CountingFilter has no filter of the kind plain; use another class
bool(true)
bool(true)
bool(true)
1 the number of keys must be finite and not negative
1 give two of capacity, false-positive rate, bits and hashes
1 a false-positive rate of 0 is impossible; give one from 1e-15 to 0.5
bool(true)
bool(false)
bool(false)
