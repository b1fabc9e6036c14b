"""usage: scale_test.py SOURCE_DIR [TOOL]

The pure functions of the simulator in bench/scale/: the slots of a Redis server, the shards of the library, and
sums that must come out. With TOOL, the program bloomery, the bits per key are compared with its plans.
"""

import os
import pathlib
import random
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
NIGHTLY = os.environ.get("BLOOMERY_NIGHTLY")
sys.path.insert(0, str(SOURCE / "bench" / "scale"))
sys.dont_write_bytecode = True

import batches  # noqa: E402
import calibrate  # noqa: E402
import costs  # noqa: E402
import engine  # noqa: E402
import plans  # noqa: E402
import simulate  # noqa: E402
import slots  # noqa: E402


def expect(what, said, wanted):
    if said != wanted:
        raise AssertionError(f"{what}: {said!r}, not {wanted!r}")


def expect_near(what, said, wanted, share):
    if abs(said - wanted) > share * abs(wanted):
        raise AssertionError(f"{what}: {said!r}, not within {share} of {wanted!r}")


def slots_are_redis():
    # CRC16 of the nine digits is in Redis' own documentation; the others were printed by CLUSTER KEYSLOT.
    expect("CRC16", slots.crc16(b"123456789"), 0x31C3)
    for key, slot in {"0": 13907, "urls:{0}": 13907, "foo": 12182, "{user}.a": 5474, "a{}b": 13694, "x{": 3596,
                      "": 0, "{}{0}": 2268}.items():
        expect(f"the slot of {key!r}", slots.slot_of(key), slot)


def shards_are_the_librarys():
    # docs/redis-cluster.md, which is what the library prints.
    for shards, tags in {1: [0], 3: [0, 3, 1], 6: [0, 3, 11, 2, 1, 13]}.items():
        expect(f"the tags of {shards} shards", slots.shard_tags(shards), tags)
    # src/redis/shards/shard_plan.cpp: four for each master, more where one would be above 256 MiB.
    for bits, masters, shards in ((10**9, 6, 24), (2**31 * 100, 6, 102), (10**9, 1, 1), (2**40, 3, 513)):
        expect(f"shards of {bits} bits on {masters}", slots.shards_for(bits, masters), shards)
    for shards in (7, 96, 1024):
        tags = slots.shard_tags(shards)
        expect(f"different tags of {shards}", len(set(tags)), shards)
        ranges = sorted(slots.slot_of(str(tag)) * shards // slots.SLOTS for tag in tags)
        expect(f"a shard in each range of {shards}", ranges, list(range(shards)))


def shards_are_spread():
    for servers in (1, 3, 6, 13):
        owners = slots.even(servers)
        expect("slots", len(owners), slots.SLOTS)
        counts = slots.shards_of_servers(4 * servers, owners)
        expect(f"shards of {servers} servers", counts, [4] * servers)
    expect("the skew of uneven ones", slots.skew(slots.shards_of_servers(7, slots.even(6), 6)), 2 / (7 / 6))
    expect("slots by weight", slots.weighted([3, 1]).count(0), 3 * slots.SLOTS // 4)


def slots_grow():
    for before, after in ((3, 4), (12, 15), (6, 12)):
        old = slots.even(before)
        new = slots.grown(old, after)
        counts = [new.count(server) for server in range(after)]
        expect(f"all slots of {before} to {after}", sum(counts), slots.SLOTS)
        if max(counts) - min(counts) > 1:
            raise AssertionError(f"{before} to {after} servers: {counts}")
        expect("what is not new stays", sum(a != b and b < before for a, b in zip(old, new)), 0)
    expect("nothing moves", slots.moved(48, slots.even(6), slots.even(6)), 0)


def filter_of(place, shards=24):
    return batches.Filter(place, shards, 512 * shards * 10_000, 6, 0.01)


def batches_keep_every_key():
    for place in ("strings", "module"):
        for call in (1, 63, 5_000, 12_345, 300_000):
            it = filter_of(place)
            groups = batches.batches(it, 6, call)
            expect(f"keys of a call of {call}", sum(map(sum, groups)), call)
            expect("none is too large", max(map(max, groups)) <= batches.most_keys(6, 24), True)
            for operation in ("insert", "look-up"):
                loads = batches.call_loads(it, operation, [4] * 6, call)
                expect_near("keys of servers", sum(each.keys + each.blocks for each in loads), call, 1e-9)


def parts_are_those_of_random_keys():
    """An exact count over 2,000 drawn batches: the mean of so many has a standard deviation below 0.5 %."""
    draw, shards, keys = random.Random(7), 24, 50
    parts = blocks = 0
    for _ in range(2_000):
        counts = [0] * shards
        for _ in range(keys):
            counts[draw.randrange(shards)] += 1
        parts += sum(count > 0 for count in counts)
        blocks += sum(count for count in counts if count >= batches.FEWEST_BLOCK_READS)
    loads = batches.loads(filter_of("strings"), "look-up", [4] * 6, keys)
    expect_near("parts", sum(each.parts for each in loads), parts / 2_000, 0.02)
    # One key in 500 is in such a part: 200 of them were drawn.
    expect_near("keys by blocks", sum(each.blocks for each in loads), blocks / 2_000, 0.25)


def bytes_are_those_of_the_protocol():
    """One key in one part, against a command that is written out."""
    it = batches.Filter("module", 1, 512 * 100, 6, 0.01, item=3)
    load = batches.loads(it, "look-up", [1], 1)[0]
    question = [b"BF.MEXISTS", b"urls:{0}"] + [b"m" * 24] * 16

    def sent(*commands):
        return sum(len(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(each), each) for each in words))
                   for words in commands)
    expect("bytes of a look-up", load.sent, sent([*question, b"abc"]))
    expect("bytes of its reply", load.received, len(b"*17\r\n" + b":1\r\n" * 17))
    load = batches.loads(it, "insert", [1], 1)[0]
    insert = [b"BF.INSERT", b"urls:{0}", b"NOCREATE", b"ITEMS", b"abc"]
    expect("bytes of an insert", load.sent, sent([b"MULTI"], insert, question, [b"EXEC"]))
    expect("bytes of its replies", load.received,
           len(b"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n*1\r\n:1\r\n*16\r\n" + b":1\r\n" * 16))


def cores_are_shared():
    def took(cores, threads):
        events = engine.Events()
        machine, ends = engine.Machine(events, cores), []
        for seconds in threads:
            machine.run(seconds, lambda: ends.append(events.now))
        events.run()
        return [round(end, 9) for end in ends]
    expect("two on two cores", took(2, [1, 2]), [1, 2])
    expect("two on one core", took(1, [1, 2]), [2, 3])
    expect("four on two cores", took(2, [1] * 4), [2] * 4)


def links_pass_bytes_one_after_the_other():
    events = engine.Events()
    one, two, arrived = engine.Machine(events, 1, 100), engine.Machine(events, 1, 100), []
    for size in (50, 100):
        engine.send(events, 0.25, one, two, size, lambda: arrived.append(events.now))
    events.run()
    expect("arrivals", arrived, [0.75, 1.75])


def costs_are_found_again():
    """A fit of exact sums gives the costs that made them."""
    draw = random.Random(11)
    true = {"key": 3e-6, "part": 2e-5, "visit": 0.0}
    rows = []
    for _ in range(12):
        counts = {name: draw.randrange(1, 1000) for name in true}
        rows.append((counts, costs.seconds(true, counts)))
    found, worst = calibrate.fit(rows, tuple(true))
    expect("it explains all", worst < 1e-6, True)
    for name in ("key", "part"):
        expect_near(name, found[name], true[name], 1e-4)


def servers_work_as_long_as_their_costs():
    model = costs.load()
    it, shards_of = filter_of("module"), [4] * 6
    rate, used, _ = costs.run(model, it, "insert", shards_of, 5_000, 4, 2, costs.one_machine(2, 2, 6), 0)
    loads = batches.call_loads(it, "insert", shards_of, 5_000)
    of = model["module"]["insert"]
    expected = 8 * sum(costs.seconds(of["server"], costs.counts_of(it, load)) for load in loads)
    expect_near("seconds of servers", sum(used), expected, 1e-9)
    client = {name: sum(costs.counts_of(it, load)[name] for load in loads) for name in costs.SERVER}
    client |= {"batch": 1, "call": 1}
    # Two clients and six servers on two cores: no faster than all of their work on both.
    most = 2 * 40_000 / (expected + 8 * costs.seconds(of["client"], client))
    expect("not faster than the cores", rate <= most * (1 + 1e-9), True)


def more_is_not_slower():
    model, moves = costs.load(), simulate.bulk.load()
    # So many clients that servers are the limit.
    for place, clients in (("strings", 64), ("module", 128)):
        rates = []
        for nodes in (3, 6, 12) if NIGHTLY else (3, 6):
            fleet = plans.Fleet(clients=clients)
            it = plans.spread(10**10, 0.001, place, fleet)
            masters = nodes * 4
            shards = masters * 4
            owners = tuple(slots.shards_of_servers(shards, slots.even(masters), masters))
            wider = plans.Spread(1, batches.Filter(place, shards, it.filter_.bits, 9, 0.001), it.keys, it.bytes, nodes,
                                 masters, owners)
            rates.append(simulate.reach(model, moves, wider, "look-up", fleet).rate)
        if sorted(rates) != rates:
            raise AssertionError(f"{place}: more nodes are slower: {rates}")


def sets_are_split():
    fleet = plans.Fleet()
    for keys, filters in ((10**10, 1), (10**11, 2), (10**12, 15)):
        it = plans.spread(keys, 0.001, "strings", fleet)
        expect(f"filters of {keys}", it.filters, filters)
        expect("each is below the limit", it.filter_.bits <= plans.MOST_BITS, True)
        expect("shards of masters", sum(it.shards_of), it.filter_.shards)
        expect("what has to be there fits", it.bytes * 2 <= it.nodes * fleet.memory * fleet.used, True)


def plans_are_the_tools(tool):
    """The bits per key that the tables are made with."""
    for rate, (bits, hashes) in plans.PLAIN.items():
        said = subprocess.run([tool, "plan", "-n", "10G", "-p", str(rate)], text=True, capture_output=True, check=True)
        words = next(line for line in said.stdout.splitlines() if line.startswith("blocked *")).split()
        expect_near("bits per key", bits, int(words[2].replace(",", "")) / 1e10, 1e-3)
        expect("hashes", hashes, int(words[5]))
        said = subprocess.run([tool, "plan", "--kind", "frozen", "-n", "10G", "-p", str(rate)], text=True,
                              capture_output=True, check=True)
        words = next(line for line in said.stdout.splitlines() if line.startswith("fuse *")).split()
        expect_near("bits per key, frozen", plans.FROZEN[rate], int(words[2].replace(",", "")) / 1e10, 1e-3)


def printed(*words):
    said = subprocess.run([sys.executable, "-B", SOURCE / "bench" / "scale" / "simulate.py", *words], text=True,
                          capture_output=True, check=True).stdout
    return said.splitlines()


def document_has_what_is_printed():
    """The tables of docs/scale.md are those of the commands below them, line by line. By day those of 10^10 keys alone:
    10^12 take a minute."""
    document = (SOURCE / "docs" / "scale.md").read_text()
    sets = {"1e10": r"10\^10"} | ({"1e11": r"10\^11", "1e12": r"10\^12"} if NIGHTLY else {})
    tables = {("tables", "--keys", keys): rf"\| {power} keys" for keys, power in sets.items()}
    for words, table in (tables | {("skew",): r"\| shards \| most"}).items():
        written = re.findall(rf"^{table}.*\n(?:\|.*\n)*", document, re.MULTILINE)
        expect(f"docs/scale.md; paste what simulate.py {' '.join(words)} prints", "".join(written).splitlines(),
               [line for line in printed(*words) if line.startswith("|")])
    down = "\n".join(printed("down"))
    for figure in re.findall(r"\| 10 \| (.*)% \||errors for ([\d.]+) s", down):
        expect(f"{figure} of simulate.py down in docs/scale.md", "".join(figure) in document, True)


for test in (slots_are_redis, shards_are_the_librarys, shards_are_spread, slots_grow, batches_keep_every_key,
             parts_are_those_of_random_keys, bytes_are_those_of_the_protocol, cores_are_shared,
             links_pass_bytes_one_after_the_other, costs_are_found_again, servers_work_as_long_as_their_costs,
             more_is_not_slower, sets_are_split, document_has_what_is_printed):
    test()
if len(sys.argv) > 2:
    plans_are_the_tools(sys.argv[2])
print("the simulator counts as it should")
