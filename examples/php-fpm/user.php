<?php
// Shows a user (GET) and takes a new one (POST), and asks the database only for users that may be there: a client
// that tries names or numbers at random reaches no table. users.php makes the filter; all workers share it.
declare(strict_types=1);

use Bloomery\Filter;

$data = getenv('DATA') ?: '/var/lib/site';
$users = Filter::attach("$data/users.bloom", writers: true);
$database = fn() => new PDO("sqlite:$data/users.sqlite");
$name = (string)($_GET['name'] ?? '');
header('Content-Type: text/plain; charset=utf-8');

if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    // The filter first: every user in the database must be in it.
    $users->add($name);
    $database()->prepare('INSERT OR REPLACE INTO users VALUES (?, ?)')->execute([$name, file_get_contents('php://input')]);
    exit("Welcome.\n");
}

$mail = false;
if ($users->has($name)) {
    header('X-Database: asked');
    $query = $database()->prepare('SELECT mail FROM users WHERE name = ?');
    $query->execute([$name]);
    $mail = $query->fetchColumn();
}
if ($mail === false) {
    http_response_code(404);
    exit("There is no such user.\n");
}
echo "$mail\n";
