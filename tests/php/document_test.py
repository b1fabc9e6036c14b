#!/usr/bin/env python3
"""The PHP in a document prints what stands below it: document_test.py EXTENSION FILE

Each block marked ```php is a program of its own, and all run in one folder. A block marked ```text after it is what it
prints. PORT is that of a Redis server.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from phpt import Redis

BLOCK = re.compile(r"^```php\n(.*?)^```\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(extension, document):
    text = pathlib.Path(document).read_text()
    # On a busy machine a server takes seconds to make a string of 512 MB.
    patient = "'port' => PORT, 'timeout' => 60]"
    blocks = BLOCK.findall(text)
    failed = text.count("```php\n") - len(blocks)
    with tempfile.TemporaryDirectory() as scratch, Redis() as server:
        for program, expected in blocks:
            program = program.replace("'port' => PORT]", patient)
            own = ["-n", "-d", f"extension={extension}", "-d", "error_reporting=-1"]
            ran = subprocess.run(["php", *own], input=f"<?php const PORT = {server.port}; ?><?php\n{program}", cwd=scratch,
                                 text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
            if ran.stdout != expected or ran.returncode != 0:
                failed += 1
                print(f"{program}--- it says\n{expected}--- but prints\n{ran.stdout}")
    print(f"{len(blocks)} programs, {failed} not as written")
    return 1 if failed or not blocks else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
