#!/usr/bin/env python3
"""The PHP lines of docs/migrate.md do what stands beside them, by real PHP on a real server.

usage: php_examples.py MODULE FILE

Each block marked ```php is run between lines of this file, which give it what it speaks of and ask
what came of it; the address in it becomes that of a server with the module. A block for which there are no
such lines fails.
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "module"))
from server import Server  # noqa: E402

ADDRESS = "'10.0.0.7'"
START = """<?php
function must(bool $held, string $what): void {
    if (!$held) { echo "not so: $what\\n"; exit(1); }
}
function server(): Redis {
    $redis = new Redis();
    $redis->connect(ADDRESS);
    return $redis;
}
"""

# A mark in the block, what goes before it, and what is true after it.
BLOCKS = [
    ("function seen", "", """
// Rotates between the first question and the second.
class Rotated extends Redis {
    private int $asked = 0;
    #[\\ReturnTypeWillChange]
    public function pipeline() {
        if (++$this->asked === 2) server()->rename('rptc', '{rptc}:older');
        return parent::pipeline();
    }
}
$redis = server();
must(!seen($redis, [97, 98]), 'nothing is known of a bucket that is not there');
foreach ([97, 98] as $offset) $redis->setBit('rptc', $offset, 1);
must(seen($redis, [97, 98]), 'what is in the key is known');
must(!seen($redis, [97, 99]), 'a bit is missing');
$during = new Rotated();
$during->connect(ADDRESS);
must(seen($during, [97, 98]), 'a rotation between the questions hides nothing');
if ($redis->exists('rptc')) $redis->rename('rptc', '{rptc}:older');
must(seen($redis, [97, 98]), 'what is in the older one is known');
$redis->setBit('rptc', 99, 1);
must(!seen($redis, [98, 99]), 'half of a key in each is not known');
"""),
    ("BF.RESERVE", "$url = 'a'; $urls = ['a', 'b'];\n", """
must($new === true, 'it was new');
must($known === [1, 0], 'an array of 0 and 1');
must($redis->rawCommand('BF.EXISTS', 'urls', 'b') === 1, 'the last line has inserted it');
must($redis->rawCommand('BF.ADD', 'urls', $url) === 0, 'not new any more');
must(in_array(10000000, $redis->rawCommand('BF.INFO', 'urls'), true), 'the capacity');
$redis->del('urls');
must($redis->rawCommand('BF.INSERT', 'urls', 'NOCREATE', 'ITEMS', 'a') === false &&
     str_contains($redis->getLastError(), 'not found'), 'an error if it is gone');
must($redis->rawCommand('BF.EXISTS', 'urls', 'a') === 0, '0 of one that is gone');
must($redis->rawCommand('BF.ADD', 'urls', 'a') === 1, 'made where there is none');
"""),
]


def program(block, address):
    """The whole program, or None if nothing is known of this block."""
    for mark, before, after in BLOCKS:
        if mark in block:
            return (START + before + block + after).replace(ADDRESS, "ADDRESS").replace(
                "ADDRESS", f"'{address}'")
    return None


def main(module, document):
    blocks = re.findall(r"^```php\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)
    failed = 0
    with Server(module) as server:
        for block in blocks:
            server.ask("FLUSHALL")
            text = program(block, server.directory / "socket")
            if text is None:
                said, code = "nothing here says what it does", 1
            else:
                ran = subprocess.run(["php", "-d", "display_errors=stderr", "-d", "error_reporting=-1"],
                                     input=text, text=True, timeout=60, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT)
                said, code = ran.stdout, ran.returncode
            if code != 0 or said:
                failed += 1
                print(f"{document.name}:\n{block}--- {said}")
    print(f"{document.name}: {len(blocks)} blocks of PHP, {failed} not as written")
    return 1 if failed or len(blocks) < len(BLOCKS) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
