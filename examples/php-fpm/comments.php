<?php
// Refuses a comment that was posted before. All workers of php-fpm add to one file, and no server is needed.
//
// A comment is refused by mistake in at most one of a million cases, up to ten million comments (39 MB).
//
//     DATA=/tmp php -S localhost:8000 comments.php & curl -d 'First!' localhost:8000
declare(strict_types=1);

use Bloomery\Filter;

$file = (getenv('DATA') ?: '/var/lib/site') . '/comments.bloom';
$seen = Filter::attach($file, writers: true, capacity: 10_000_000, fpr: 1e-6);

$comment = trim((string)file_get_contents('php://input'));
header('Content-Type: text/plain; charset=utf-8');
header('X-Worker: ' . getmypid());
if ($comment === '') {
    http_response_code(400);
    echo "Say something.\n";
} elseif ($seen->add($comment)) {
    echo "Thank you.\n";
} else {
    http_response_code(409);
    echo "This has been said before.\n";
}
