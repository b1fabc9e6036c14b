<?php
// Makes the filter of user.php from the table: php users.php DIRECTORY, while no worker has the filter open.
declare(strict_types=1);

use Bloomery\Filter;

$data = $argv[1];
$database = new PDO("sqlite:$data/users.sqlite");
$count = (int)$database->query('SELECT COUNT(*) FROM users')->fetchColumn();
$users = new Filter(2 * $count + 1000, 0.001);
$users->addMany($database->query('SELECT name FROM users', PDO::FETCH_COLUMN, 0));
$users->save("$data/users.bloom");
echo "$count users\n";
