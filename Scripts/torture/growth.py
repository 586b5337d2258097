"""Memory and time: both are a matter of the records, not of how many there are."""

import json
import math
import random
import re
import sqlite3
import statistics
import time
from contextlib import closing
from itertools import islice
from pathlib import Path

from console import phase, serving
from feeds import FORMATS, MAP, items, write
from harness import contents, faults, quoted, remove


def generated(torture, kind, count):
    path = torture.shared("growth") / f"big-{count}.{kind}"
    if path.exists():
        return path
    head, between, tail = {
        "json": (b'{"items": [', b",", b"]}"), "ndjson": (b"", b"", b""), "xml": (b"<items>", b"", b"</items>"), "csv": (b"", b"", b""),
    }[kind]
    # Drawn once; what follows are the same records with other keys: millions that are drawn take minutes.
    size = 5000
    drawn = list(items(size, 11))

    def moved(record, first):
        return {name: value + first if name in ("id", "replaces") else value for name, value in record.items()}

    with open(path, "wb") as file:
        file.write(head)
        for first in range(0, count, size):
            records = [moved(record, first) for record in drawn[:count - first]]
            data = FORMATS[kind](records)
            if kind == "json":
                data = data[data.index(b"[") + 1:data.rindex(b"]")]
            elif kind == "xml":
                data = data[data.index(b"<items>") + 7:data.rindex(b"</items>")]
            elif kind == "csv" and first:
                data = data[data.index(b"\n") + 1:]
            file.write((between if first else b"") + data)
        file.write(tail)
    return path


def memory(torture):
    torture.begin("memory", "100 MB for a feed of any size, of every format")
    folder = torture.folder("growth")
    # As many records as make a gigabyte; rows of CSV are small, and growth shows where the smaller feed is more than the
    # batches that are under way at a time.
    giga = {"json": 2900000, "ndjson": 3450000, "xml": 2960000, "csv": 7300000}
    for kind in FORMATS:
        peaks = []
        factor = 4 if kind == "csv" else 1
        for count in (torture.times(20000, 200000) * factor, torture.times(80000 * factor, giga[kind])):
            path, store = generated(torture, kind, count), folder / "big.db"
            remove(store)
            outcome = torture.must("import", MAP, path, "-d", store, "-q", timeout=3600)
            peaks.append(outcome.peak)
            size = path.stat().st_size
            torture.note(f"{kind}, {count:,} records, {size / 1e6:.0f} MB: {outcome.peak / 1e6:.0f} MB, {outcome.seconds:.1f} s")
            torture.check(outcome.peak < 100e6, f"{kind}, {count} records: {outcome.peak / 1e6:.0f} MB")
        torture.check(peaks[1] < peaks[0] * 1.35, f"{kind}: grows from {peaks[0] / 1e6:.0f} to {peaks[1] / 1e6:.0f} MB")
    torture.end()


def begun(torture, counts):
    """Feeds of so many lines, each the beginning of the largest; and the same records with another value in each."""
    feeds, others = {}, {}
    whole = generated(torture, "ndjson", max(counts))
    for count in counts:
        feeds[count], others[count] = whole.with_name(f"begun-{count}.ndjson"), whole.with_name(f"changed-{count}.ndjson")
        with open(whole, "rb") as file, open(feeds[count], "wb") as same, open(others[count], "wb") as other:
            for line in islice(file, count):
                same.write(line)
                other.write(line.replace(b'"note": "', b'"note": "+', 1))
    return feeds, others


def doubling(torture):
    torture.begin(
        "time", "at most 2.1 (here 2.4 in short runs, which are noisy) times for twice the records, by the processor and by the clock, over all"
        " doublings, also the second time and for updates; no single one takes 3 times (a quadratic step: 4)"
    )
    store = torture.folder("doubling") / "time.db"
    counts = torture.times((20000, 40000, 80000), (500000, 1000000, 2000000, 4000000, 8000000))
    feeds, others = begun(torture, counts)
    taken = {"first": [], "again": [], "updates": []}
    for count in counts:
        runs = {name: [] for name in taken}
        for _ in range(torture.times(3, 1)):
            remove(store)
            for name, path in (("first", feeds[count]), ("again", feeds[count]), ("updates", others[count])):
                outcome = torture.must("import", MAP, path, "-d", store, "-q", timeout=3600)
                runs[name].append((outcome.processor, outcome.seconds))
        for name, times in runs.items():
            taken[name].append([min(each) for each in zip(*times)])
    judge(torture, counts, taken)
    torture.end()


def judge(torture, counts, taken):
    """Whether times (processor, clock) grow as the counts do.

    The same import takes half as long again in another hour of a machine that others share, and the time of its processor, too. So one
    step says little; all of them together do.
    """
    limit = torture.times(2.4, 2.1)
    for name, times in taken.items():
        steps = [[after / before for after, before in zip(*pair)] for pair in zip(times[1:], times)]
        for kind, word in enumerate(("processor", "clock")):
            ratios = [step[kind] for step in steps]
            mean = math.prod(ratios) ** (1 / len(ratios))
            words = f"{mean:.2f} a doubling: {', '.join(f'{ratio:.2f}' for ratio in ratios)}"
            torture.check(mean <= limit and max(ratios) < 3, f"{name}: {word} {words}")
            torture.note(f"{name}, {word}: {', '.join(f'{n:,}: {each[kind]:.1f} s' for n, each in zip(counts, times))}; {words}")


def hubs(torture):
    torture.begin("few owners with many links", "10,000 owners of 1,000 links each (short: 100 of 1,000) without a quadratic step")
    folder = torture.folder("hubs")
    owners = torture.times(100, 10000)
    path, store, plan = folder / "hubs.ndjson", folder / "hubs.db", folder / "hubs.map.yaml"
    plan.write_text(
        "version: 1\nname: hubs\nentities:\n  Member: { unique: id, attributes: { id: { from: '.' } } }\n"
        "  Hub:\n    unique: id\n    attributes: { id: id }\n    relationships:\n      members: { entity: Member, kind: toMany }\n"
        "sources:\n  hubs: { format: ndjson, entity: Hub }\n"
    )
    seconds = []
    for count in (owners // 2, owners):
        with open(path, "w") as file:
            for owner in range(count):
                members = ",".join(f'"m{(owner * 7 + n) % 5000}"' for n in range(1000))
                file.write(f'{{"id":"h{owner}","members":[{members}]}}\n')
        remove(store)
        seconds.append(torture.must("import", plan, path, "-d", store, "-q", timeout=3600).seconds)
        # Ten million links are counted where they are: as rows of Python's they would not fit.
        with closing(sqlite3.connect(f"file:{quoted(store)}?mode=ro", uri=True)) as database:
            links = database.execute("SELECT count(*) FROM Hub_members").fetchone()[0]
            members = database.execute("SELECT count(*), min(n), max(n) FROM (SELECT count(*) AS n FROM Hub_members GROUP BY owner)").fetchone()
        torture.check((links, members) == (count * 1000, (count, 1000, 1000)), f"{count} owners: {links} links, {members}")
    torture.check(seconds[1] / seconds[0] < 2.6, f"ratio {seconds[1] / seconds[0]:.2f}")
    torture.note(f"{owners:,} owners, {owners * 1000:,} links: {seconds[1]:.1f} s")
    torture.end()


def rejects(torture):
    torture.begin("many rejects", "a million of them (short: 50,000): bounded memory, all in the rejects file")
    folder = torture.folder("rejects")
    count = torture.times(50000, 1000000)
    path, store, out = folder / "bad.ndjson", folder / "bad.db", folder / "rejects.ndjson"
    with open(path, "w") as file:
        for number in range(count):
            file.write(f'{{"id":"x{number}","name":"n"}}\n')
    outcome = torture.run("import", MAP, path, "-d", store, "--rejects", out, timeout=3600)
    torture.check(outcome.code == 3, f"exit {outcome.code}", outcome.text[-400:])
    torture.check(sum(1 for _ in open(out, "rb")) == count, "lines in the rejects file")
    torture.check(outcome.peak < 150e6, f"{outcome.peak / 1e6:.0f} MB")
    torture.note(f"{count:,} rejects: {outcome.peak / 1e6:.0f} MB, {outcome.seconds:.1f} s")
    torture.end()


def big(torture):
    torture.begin("a store over 4 GiB", "what no 32 bits count (short: 40 MB): all of it comes in and comes back, again changes nothing, updates are undone, backups are whole")
    folder = torture.folder("big")
    count = torture.times(5000, 480000)
    path, store, plan, spare = folder / "big.ndjson", folder / "big.db", folder / "big.map.yaml", folder / "spare.db"
    plan.write_text(
        "version: 1\nname: big\nentities:\n  Page:\n    unique: id\n    attributes: { id: { type: int64 }, text: text }\n"
        "sources:\n  pages: { format: ndjson, entity: Page }\n"
    )

    def text(number, word):
        return f"{word}{number:09} " * 730

    def feed(numbers, word):
        with open(path, "w") as file:
            for number in numbers:
                file.write(f'{{"id":{number},"text":"{text(number, word)}"}}\n')

    def holds(place, changed, case):
        """Whether a store has every page with its text, and nothing else."""
        wrong, seen = 0, 0
        with closing(sqlite3.connect(f"file:{quoted(place)}?mode=ro", uri=True)) as database:
            for number, found in database.execute("SELECT id, text FROM Page"):
                seen += 1
                wrong += found != text(number, "new" if number in changed else "old")
        torture.check((seen, wrong) == (count, 0), f"{case}: {seen} pages, {wrong} of them with another text")
        torture.check(not faults(place), f"{case}: faults", faults(place)[:5])

    def imports(case, **counts):
        outcome = torture.run("import", plan, path, "-d", store, "--json", timeout=3600)
        torture.check(outcome.code == 0, f"{case}: exit {outcome.code}", outcome.text[-400:])
        told = json.loads(outcome.out) if outcome.code == 0 else {}
        torture.check(all(told.get(name) == number for name, number in counts.items()), f"{case}: counts", told)
        torture.check(outcome.peak < 100e6, f"{case}: {outcome.peak / 1e6:.0f} MB")
        torture.note(f"{case}: {store.stat().st_size / 2**30:.2f} GiB, {outcome.peak / 1e6:.0f} MB of memory, {outcome.seconds:.0f} s")

    feed(range(count), "old")
    imports("first", read=count, inserted=count)
    torture.check(store.stat().st_size > torture.times(40 << 20, 1 << 32), f"{store.stat().st_size} bytes")
    holds(store, (), "first")
    imports("again", read=count, unchanged=count)
    chance = random.Random(torture.seed)
    changed = set(chance.sample(range(count), count // 100)) | {0, count - 1}
    feed(sorted(changed, reverse=True), "new")
    imports("updates", read=len(changed), updated=len(changed))
    path.unlink()
    holds(store, changed, "updates")
    outcome = torture.run("backup", "-d", store, spare, timeout=3600)
    torture.check(outcome.code == 0, f"backup: exit {outcome.code}", outcome.text)
    holds(spare, changed, "backup")
    remove(spare)
    outcome = torture.run("undo", "-d", store, timeout=3600)
    torture.check(outcome.code == 0, f"undo: exit {outcome.code}", outcome.text)
    holds(store, (), "undo")
    for number in (0, count // 2, count - 1):
        outcome = torture.run("fetch", "Page", "-d", store, "--where", f"id == {number}", "-f", "json")
        told = json.loads(outcome.out or b"[]")
        torture.check([page["text"] for page in told] == [text(number, "old")], f"fetch {number}: exit {outcome.code}", outcome.text[:300])
    remove(store)
    torture.end()


def resident(pid):
    """The memory that a process has now, in bytes."""
    return next(int(line.split()[1]) * 1024 for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))


def again_and_again(torture):
    torture.begin("1,000 imports in a process", "the console imports feeds of every format (short: 80 times): each ends well, the second half takes less than 1 MB more memory")
    folder, feeds = torture.folder("thousand"), torture.shared("feeds")
    store = folder / "thousand.db"
    paths = [write(feeds, 100, seed, kind) for seed in (1, 2) for kind in ("json", "ndjson", "xml", "csv")]
    torture.must("import", MAP, paths[0], "-d", store, "-q")
    count = torture.times(80, 1000)
    sizes = []
    began = time.monotonic()
    with serving(torture, store, "--allow-import") as process:
        for number in range(count):
            head, _ = process.browser.post("/import", map="0", path=paths[number % len(paths)])
            found = re.search(rb"ocation: (\S+)", head)
            if not torture.check(found, f"import {number}: begun", head):
                break
            address = found[1].decode()
            phase(process.browser, address, "checked", "failed")
            process.browser.post(address + "/run")
            told = phase(process.browser, address, "done", "failed")
            torture.check(told.get("phase") == "done", f"import {number}: {told.get('phase')}", told)
            sizes.append(resident(process.pid))
    torture.check(not faults(store), "faults")
    # What is used once for all (types, arenas of threads, caches) is there behind the first half.
    half = len(sizes) // 2
    eighth = len(sizes) // 8
    grown = statistics.median(sizes[-eighth:]) - statistics.median(sizes[half - eighth:half])
    torture.check(grown < 1 << 20, f"the second half takes {grown / 1e6:.1f} MB more than the first")
    marks = [sizes[place] / 1e6 for place in (0, len(sizes) // 4, half, len(sizes) * 3 // 4, -1)]
    torture.note(f"{count:,} imports, {time.monotonic() - began:.0f} s: {', '.join(f'{size:.1f}' for size in marks)} MB at their quarters")
    torture.end()


TESTS = [memory, doubling, hubs, rejects, big, again_and_again]
