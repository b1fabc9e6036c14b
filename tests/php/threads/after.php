<?php
// What all requests have added is there.
$shared = Bloomery\Filter::open(getenv('SCRATCH') . '/shared.bloom');
$requests = file(getenv('SCRATCH') . '/done', FILE_IGNORE_NEW_LINES);
foreach ($requests as $id)
  foreach (range(1, 300) as $i)
    $shared->has("$id $i") or exit("$id $i is lost");
echo count($requests), " requests";
