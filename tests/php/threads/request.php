<?php
// A request: files by relative paths in a folder of its own, and a filter that all threads share.
use Bloomery\{Exception, Filter};

function check(bool $right, string $what): void { $right or throw new LogicException($what); }

$root = getenv('SCRATCH');
$id = bin2hex(random_bytes(8));
mkdir("$root/$id");
chdir("$root/$id");
$filter = new Filter(1000, 0.001);
$filter->add($id);
$filter->save('f.bloom');
check(file_exists("$root/$id/f.bloom"), 'save() took the working directory of another thread');
$writer = Filter::open('f.bloom', 'w', options: ['durability' => 'process']);
$writer->add('more');
$writer->close();
check(Filter::open('./f.bloom')->has('more'), 'open() lost a key');
Filter::convert('f.bloom', 'copy.bloom');
check(Filter::attach('copy.bloom')->has($id), 'attach() lost a key');
Filter::mergeLocations(['f.bloom', 'copy.bloom'], 'merged.bloom');
check(Filter::verify('merged.bloom'), 'verify() says no');
try {
  Filter::open('none.bloom');
  check(false, 'open() found a file that is not there');
} catch (Exception $e) {
  check($e->getCode() === Exception::MISSING, $e->getMessage());
}
try {
  Filter::open('rediss://127.0.0.1:1?key=k&cacert=ca.pem');
  check(false, 'open() took a certificate of another thread');
} catch (Exception $e) {
  check($e->getCode() === Exception::INVALID_ARGUMENT, $e->getMessage());
}

$keys = array_map(fn(int $i) => "$id $i", range(1, 300));
$shared = Filter::attach("$root/shared.bloom", writers: true, capacity: 1_000_000, fpr: 0.001);
$shared->addMany($keys);
check(!in_array(false, $shared->hasMany($keys), true), 'a shared filter lost a key at once');
file_put_contents("$root/done", "$id\n", FILE_APPEND | LOCK_EX);
