"""The rights that the documents name are exactly enough: rights.py BLOOMERY MODULE PROJECT.

For each row of the tables of rights in docs/configuration.md and docs/redis-cluster.md a user has these rights and no
others, and runs the verbs of the row. All of them must work; and without any single right one of them must fail, unless
RARE says when that right is needed.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOOL, MODULE, PROJECT = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
sys.path.insert(0, str(PROJECT / "tests" / "module"))
sys.dont_write_bytecode = True
from server import Server, free_port, wait_until  # noqa: E402

# Needed only in moments that the verbs here do not meet.
RARE = {
    "DEL": "a filter that was deleted meanwhile must not be left as a few bits",
    "UNLINK": "a maker that fails removes what it made",
    "COPY": "a shard is full",
    "EXISTS": "a string is made where there is nothing",
    "TYPE": "something else is in the place",
    "INFO": "a server has become a replica and a master again",
    ("add", "EVAL"): "the bucket of a PHP class; a filter that was deleted meanwhile",
}


def table(document, heading):
    """Cells of the rows below the heading, without the head of the table."""
    text = (PROJECT / "docs" / document).read_text()
    rows = re.search(rf"^#+ {heading}\n.*?((?:^\|.*\n)+)", text, re.MULTILINE | re.DOTALL).group(1).splitlines()[2:]
    return {cells[0]: cells[1:] for cells in ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)}


def commands(cell):
    return [word for word in re.findall(r"`([A-Z_.* ]+)`", cell)]


class Users:
    def __init__(self, server, scheme, scratch):
        self.server, self.scheme, self.scratch, self.failed = server, scheme, scratch, 0

    def address(self, key, user="bob:word@"):
        return f"{self.scheme}://{user}127.0.0.1:{self.server.port}?key={key}"

    def run(self, *words, keys=""):
        said = subprocess.run([TOOL, words[0], "-q", *words[1:]], input=keys, text=True, cwd=self.scratch, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return None if said.returncode in (0, 1) else f"{' '.join(map(str, words))}: {said.stdout}"

    def refusal(self, rights, prepare, verbs):
        """What the first verb said that was refused, or None."""
        self.server.ask("FLUSHALL")
        prepare()
        self.server.ask("ACL", "SETUSER", "bob", "reset", "on", ">word", "~*",
                        *(f"+{right.lower().replace(' ', '|')}" for right in rights))
        for verb in verbs:
            # A few keys are looked up in another way than many.
            for keys in ("a\n", "a\nb\nc\n" * 20) if verb[0] in ("check", "add", "dedup") else ("a\n",):
                if (said := self.run(*verb, keys=keys)) is not None:
                    return said
        return None

    def exactly(self, what, rights, prepare, verbs):
        if (said := self.refusal(rights, prepare, verbs)) is not None:
            self.failed += 1
            print(f"{what}: {', '.join(rights)} are not enough: {said}")
        for right in rights:
            rest = [other for other in rights if other != right]
            if right not in RARE and (what, right) not in RARE and self.refusal(rest, prepare, verbs) is None:
                self.failed += 1
                print(f"{what}: {right} is not needed")


def of_module(users, rows):
    grows, counts, new = users.address("grows"), users.address("counts"), users.address("new")
    size = ["-n", "1000", "-p", "1%"]

    def prepare():
        for address, kind in ((grows, "scalable"), (counts, "counting")):
            open_to_all = address.replace("bob:word@", "")
            said = users.run("create", open_to_all, *size, "--kind", kind)
            said = said or users.run("add", open_to_all, keys="a\nz\n")
            if said:
                raise AssertionError(said)

    check = commands(rows["`check`"])
    users.exactly("check", check, prepare, [["check", grows], ["check", counts]])
    users.exactly("add", check + commands(rows["`add`, `dedup --filter`"]), prepare,
                  [["add", grows], ["add", counts], ["dedup", "--filter", grows]])
    users.exactly("remove", commands(rows["`remove`"]), prepare, [["remove", counts]])
    users.exactly("info", commands(rows["`info`"].split(";")[0]), prepare, [["info", grows]])
    users.exactly("create", commands(rows["`create`"].split(";")[0]), prepare, [["create", new, *size]])
    users.exactly("create one that counts", commands(rows["`create`"]), prepare,
                  [["create", new, *size, "--kind", "counting"]])
    out, into = map(commands, rows["`convert`"].split("into it"))
    users.exactly("convert from", out, prepare, [["convert", grows, "grows.dump", "--force"]])
    users.exactly("convert into", into, prepare, [["convert", "grows.dump", new],
                                                  ["convert", "--force", "grows.dump", grows]])


def of_strings(scratch):
    rows = table("configuration.md", "Rights of the Redis user")
    with Server(MODULE, port=free_port()) as server:
        users = Users(server, "redis", scratch)
        one, turns = users.address("urls"), users.address("turns")

        def prepare():
            for key, words in (("urls", ()), ("turns", ("--rotating",))):
                said = users.run("create", users.address(key, ""), "-n", "1000", "-p", "1%", *words)
                said = said or users.run("add", users.address(key, ""), keys="a\nz\n")
                if said:
                    raise AssertionError(said)

        check = commands(rows["`check`"][0])
        users.exactly("check", check, prepare, [["check", one], ["check", turns]])
        add = check + commands(rows["`add`, `dedup --filter`"][0])
        users.exactly("add", add, prepare, [["add", one], ["add", turns], ["dedup", "--filter", one]])
        users.exactly("info", commands(rows["`info`"][0]), prepare, [["info", one], ["info", turns]])
        row = next(rights for what, (rights,) in rows.items() if what.startswith("`create`"))
        create, force = map(commands, row.split("with `--force`"))
        size = ["-n", "99", "-p", "1%"]
        new = ["create", users.address("new"), *size]
        users.exactly("create", create, prepare, [new])
        users.exactly("create --rotating", create, prepare, [[*new, "--rotating"]])
        users.exactly("create --force", create + force, prepare, [[*new, "--force"], ["create", "--force", one, *size],
                                                                  ["create", "--force", "--rotating", turns, *size]])
        rotate = commands(rows["`rotate`"][0])
        users.exactly("rotate", rotate, prepare, [["rotate", turns]])
        convert = rotate + commands(rows["`convert`, `merge`, `rebuild`"][0])
        users.exactly("convert", convert, prepare, [["convert", "file.bloom", users.address("new")],
                                                    ["convert", "--force", "file.bloom", one],
                                                    ["merge", "--force", one, "file.bloom", "file.bloom"],
                                                    ["rebuild", one]])
        users.scheme = "redis+module"
        row = "module filters: "
        of_module(users, {what.removeprefix(row): cells[0] for what, cells in rows.items() if what.startswith(row)})
    return users.failed


def of_shards(scratch):
    rows = table("redis-cluster.md", "Rights of the Redis user")
    failed = 0
    with Server(MODULE, port=free_port(), config=("--cluster-enabled", "yes")) as server:
        server.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until("a cluster", lambda: b"cluster_state:ok" in server.ask("CLUSTER", "INFO"))
        for column, scheme in enumerate(("redis+cluster", "redis+module+cluster")):
            users = Users(server, scheme, scratch)
            one, two, new = (users.address(key) for key in ("one", "two", "new"))

            def prepare():
                for key in ("one", "two"):
                    said = users.run("create", users.address(key, "") + "&shards=2", "-n", "1000", "-p", "1%")
                    said = said or users.run("add", users.address(key, ""), keys="a\nz\n")
                    if said:
                        raise AssertionError(said)

            all_ = commands(rows["all commands"][column])
            more = commands(next(cells[column] for name, cells in rows.items() if name.startswith("also for `rebuild`")))
            plain = [["create", new + "&shards=2", "-n", "99", "-p", "1%"], ["add", new], ["check", new], ["info", new]]
            replace = [["convert", one, new], ["merge", "--force", two, one, two], ["convert", "--force", one, two]]
            more_to_rotate, turns = commands(rows["also for `rotate`"][0]), users.address("turns")
            cases = [("all commands", all_, all_, plain), ("replacing", all_ + more, more, replace)]
            if column == 0:
                plain += [["create", turns + "&shards=2", "--rotating", "-n", "99", "-p", "1%"],
                          *([verb, turns] for verb in ("add", "check", "info"))]
                cases.append(("rotate", all_ + more_to_rotate, more_to_rotate, [*plain, ["rotate", turns]]))
                replace += [["rebuild", one], ["convert", one, "file-of-shards.bloom", "--force"]]
            for what, rights, tried, verbs in cases:
                if said := users.refusal(rights, prepare, verbs):
                    failed += 1
                    print(f"{scheme}, {what}: not enough: {said}")
                for right in tried:
                    rest = [other for other in rights if other != right]
                    if right not in RARE and users.refusal(rest, prepare, verbs) is None:
                        failed += 1
                        print(f"{scheme}, {what}: {right} is not needed")
    return failed


def main():
    os.environ.pop("BLOOMERY_REDIS_PASSWORD", None)
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([TOOL, "create", "-q", "file.bloom", "-n", "1000", "-p", "1%"], cwd=scratch, check=True)
        failed = of_strings(scratch) + of_shards(scratch)
    print(f"{failed} rights are missing in the documents, or not needed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
