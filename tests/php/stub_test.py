#!/usr/bin/env python3
"""bloomery_arginfo.h is what PHP's gen_stub.php makes of bloomery.stub.php, and an editor that reads the stub sees what
the extension has: stub_test.py EXTENSION SOURCE
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from phpt import run_tests

PARSER = pathlib.Path("/usr/share/php/PhpParser")  # of Debian's php-parser
CLASSES = r"""
foreach (array_merge(get_declared_classes(), get_declared_interfaces()) as $name) {
    if (!str_starts_with($name, "Bloomery\\")) continue;
    $class = new ReflectionClass($name);
    echo implode(" ", Reflection::getModifierNames($class->getModifiers())), " $name ", $class->getParentClass() ? $class->getParentClass()->name : "", "\n";
    foreach (array_keys($class->getConstants()) as $constant) echo "  $constant\n";
    foreach ($class->getProperties() as $property) if ($property->class === $name) echo "  $property->name\n";
    foreach ($class->getMethods() as $method) {
        if ($method->class !== $name) continue;
        echo "  ", implode(" ", Reflection::getModifierNames($method->getModifiers())), " $method->name: ", $method->getReturnType() ?? $method->getTentativeReturnType(), "\n";
        foreach ($method->getParameters() as $parameter)
            echo "    ", str_replace("Traversable|array", "iterable", (string)$parameter->getType()), $parameter->isPassedByReference() ? " &" : " ", $parameter->name,
                $parameter->isDefaultValueAvailable() ? " = " . json_encode($parameter->getDefaultValue()) : "", "\n";
    }
}
"""


def php(*words, **more):
    done = subprocess.run(["php", "-n", *map(str, words)], capture_output=True, text=True, timeout=120, **more)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def made_of(stub):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        shutil.copy(run_tests().parent / "gen_stub.php", scratch)
        # Where it looks before it would download one.
        version = re.search(r'\$version = "([\d.]+)"', (scratch / "gen_stub.php").read_text())[1]
        (scratch / f"PHP-Parser-{version}/lib").mkdir(parents=True)
        (scratch / f"PHP-Parser-{version}/lib/PhpParser").symlink_to(PARSER)
        shutil.copy(stub, scratch)
        php("-d", "extension=tokenizer", scratch / "gen_stub.php", "-f", scratch / stub.name)
        return (scratch / "bloomery_arginfo.h").read_text()


def main(extension, source):
    stub = pathlib.Path(source) / "php/bloomery.stub.php"
    if made_of(stub) != stub.with_name("bloomery_arginfo.h").read_text():
        sys.exit("bloomery_arginfo.h is not what gen_stub.php makes of bloomery.stub.php; make it again")
    compiled = php("-d", f"extension={extension}", "-r", CLASSES)
    written = php("-r", f"const UNKNOWN = 0; require '{stub}';" + CLASSES)
    if sorted(compiled.split("\n")) != sorted(written.split("\n")) or compiled.count("\n") < 100:
        sys.exit(f"the extension has\n{compiled}\nand its stub\n{written}")
    listed = php("-d", f"extension={extension}", "--re", "bloomery")
    missing = [line for line in compiled.split("\n") if line.startswith("  public ") and line.split(":")[0].split()[-1] not in listed]
    if missing or "Extension [ <persistent> extension #" not in listed:
        sys.exit(f"php --re does not list {missing}:\n{listed}")
    print(f"{compiled.count(chr(10))} lines of classes, constants, methods and parameters agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
