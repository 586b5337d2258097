"""An import in batches that ends early, and --resume: contents, ledger and rejects are those of an unbroken run."""

import gzip
import json
import os
import random
import signal
import sqlite3
import time
from contextlib import closing

from feeds import as_xml
from harness import can_trace, contents, faults, remove

MAP = """
version: 1
name: resumed
entities:
  Person:
    unique: id
    version: changed
    deleteWhen: { from: gone, equals: "yes" }
    attributes: { id: { type: int64 }, name: { required: true }, changed: { type: int64 } }
    relationships:
      boss:    { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: pending }
      mentor:  { entity: Person, kind: toOne, key: { id: mentor }, onUnresolved: clear }
      friends: { entity: Person, kind: toMany, key: { id: friends }, ordered: true, onUnresolved: stub }
      admired: { entity: Person, kind: toMany, key: { id: admired }, ordered: true, assign: union }
      needed:  { entity: Person, kind: toOne, key: { id: needed }, onUnresolved: REJECT }
      phones:  { entity: Phone, kind: toMany, inverse: owner, ordered: true, onUnlink: delete }
      parts:   { entity: Part, kind: toMany, inverse: holder, assign: union }
      tags:    { entity: Tag, kind: toMany, assign: union }
  Phone: { unique: number, attributes: { number: number, kind: kind } }
  Part: { unique: id, attributes: { id: { type: int64 }, size: { type: int64, required: true } } }
  Tag: { unique: name, attributes: { name: { from: "." } } }
sources:
  json:   { format: json, entity: Person, records: /people }
  ndjson: { format: ndjson, entity: Person }
  xml:    { format: xml, entity: Person, records: /items/item }
"""
COUNTS = "source, map, status, committed, read, inserted, updated, unchanged, deleted, skipped, rejected, bytes"


def people(chance, count):
    """Records about few people, who refer to each other, forwards too, and to nobody."""
    for _ in range(count):
        person = lambda: chance.randrange(1, count + 4)
        record = {"id": person(), "name": chance.choice(["a", "b", "ç"]), "changed": chance.randrange(3)}
        roll = chance.random()
        if roll < 0.05:
            del record["name"]
        elif roll < 0.1:
            record["id"] = "nobody"
        elif roll < 0.15:
            record["gone"] = "yes"
        for name, likely in (("boss", 0.4), ("mentor", 0.3), ("needed", 0.25)):
            if chance.random() < likely:
                record[name] = person()
        for name in ("friends", "admired"):
            if chance.random() < 0.4:
                record[name] = [person() for _ in range(chance.randrange(1, 5))]
        if chance.random() < 0.5:
            record["phones"] = [
                {"number": str(chance.randrange(20)), "kind": chance.choice("mw")} for _ in range(chance.randrange(1, 4))
            ]
        if chance.random() < 0.5:
            record["parts"] = [
                {"id": chance.randrange(12), **({"size": 1} if chance.random() < 0.4 else {})} for _ in range(chance.randrange(1, 3))
            ]
        if chance.random() < 0.4:
            record["tags"] = [chance.choice("xyz") for _ in range(chance.randrange(1, 3))]
        yield record


class Case:
    """A store, a map and feeds in three formats, one of them packed."""

    def __init__(self, torture, folder, chance, number, count):
        self.torture = torture
        self.folder = folder
        self.map = folder / "resumed.map.yaml"
        # A map whose records may be held cannot say at once what becomes of each.
        self.map.write_text(MAP.replace("REJECT", chance.choice(["reject", "reject", "pending"])))
        records = [list(people(chance, count)) for _ in range(3)]
        self.inputs = [folder / "a.json", folder / "b.xml.gz", folder / "c.ndjson"]
        self.inputs[0].write_text(json.dumps({"people": records[0]}, ensure_ascii=False))
        self.inputs[1].write_bytes(gzip.compress(as_xml(records[1]), mtime=0))
        self.inputs[2].write_text("".join(json.dumps(record) + "\n" for record in records[2]) + ("{broken\n" if number % 2 else ""))
        self.options = ["--commit", "batch", "--batch-size", chance.choice([3, 7, 10])]
        if number % 3 == 0:
            self.options += ["--prune"]
            for path in self.inputs:  # nothing may be rejected where something is to be pruned
                path.unlink()
            good = [
                {name: value for name, value in record.items() if name != "needed"}
                for some in records for record in some if record.get("name") and isinstance(record["id"], int)
            ]
            self.inputs = [folder / "a.json", folder / "c.ndjson"]
            self.inputs[0].write_text(json.dumps({"people": good[:count]}, ensure_ascii=False))
            self.inputs[1].write_text("".join(json.dumps(record) + "\n" for record in good[count:]))
        before = folder / "before.ndjson"
        before.write_text("".join(json.dumps(record) + "\n" for record in people(chance, count)))
        self.before = before

    def prepare(self, name):
        store, rejects = self.folder / f"{name}.db", self.folder / f"{name}.rejects"
        remove(store)
        rejects.unlink(missing_ok=True)
        self.torture.must("import", self.map, self.before, "-d", store, "-q")
        return store, rejects

    def arguments(self, store, rejects):
        return ["import", self.map, *self.inputs, "-d", store, "--rejects", rejects, *self.options]

    def outcome(self, store, rejects):
        """All that an import leaves."""
        with closing(sqlite3.connect(store)) as database:
            ledger = database.execute(f"SELECT {COUNTS} FROM _dragoman_imports ORDER BY id").fetchall()
            kept = database.execute("SELECT name FROM sqlite_schema WHERE name GLOB '_dragoman_run*'").fetchall()
        return contents(store), ledger, kept, rejects.read_bytes() if rejects.exists() else b""


def differs(case, told, wanted, found, code, wanted_code):
    words = ["contents", "ledger", "kept tables", "rejects"]
    wrong = [f"{word}: {one!r}, not {other!r}" for word, one, other in zip(words[1:], found[1:], wanted[1:]) if one != other]
    for table in set(found[0]) | set(wanted[0]):
        left, right = found[0].get(table, []), wanted[0].get(table, [])
        wrong += [f"{table} has {row}" for row in left if row not in right][:2] + [f"{table} lacks {row}" for row in right if row not in left][:2]
    if code != wanted_code:
        wrong.append(f"exit {code}, not {wanted_code}")
    return "\n".join(wrong + [told]) if wrong else ""


def kill_and_resume(torture):
    chance = torture.begin(
        "--resume after kill -9", "contents, ledger, rejects and exit code of an unbroken run, however often it is killed"
    )
    if not can_trace():
        torture.skip("strace cannot inject faults here")
        return torture.end()
    resumed = 0
    for number in torture.cases(4, 60):
        folder = torture.folder("resumed")
        case = Case(torture, folder, chance, number, torture.times(25, 60))
        store, rejects = case.prepare("whole")
        unbroken = torture.run(*case.arguments(store, rejects))
        wanted = case.outcome(store, rejects)
        place, is_done = 1, False
        while not is_done:
            store, rejects = case.prepare("killed")
            arguments = case.arguments(store, rejects)
            outcome = None
            # The first run, and the one that goes on, are killed; every third case once more.
            for attempt in range(chance.choice([1, 1, 2, 3])):
                when = place if attempt == 0 else chance.randrange(1, 40)
                outcome = torture.run(
                    *arguments, *(["--resume"] if attempt else []),
                    prefix=["strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=pwrite64,fdatasync",
                            "-e", f"inject=pwrite64,fdatasync:signal=KILL:when={when}"],
                )
                if attempt == 0:
                    is_done = outcome.code in (0, 3, 65)
                if outcome.code in (0, 3, 65):
                    break
            if is_done:
                break
            wrong = faults(store)
            if torture.check(not wrong, f"case {number}, kill {place}: SQLite finds faults", "\n".join(wrong)):
                if outcome.code not in (0, 3, 65):
                    outcome = torture.run(*arguments, "--resume")
                resumed += b"went on behind" in outcome.err
                said = differs(case, outcome.text, wanted, case.outcome(store, rejects), outcome.code, unbroken.code)
                torture.check(not said, f"case {number}, kill {place}", said)
            place += torture.times(37, 1)
    torture.note(f"{resumed} runs went on behind a committed record")
    torture.end()


def stop_and_resume(torture):
    chance = torture.begin(
        "--resume after other ends", "the same after a signal, a full disk, a feed that breaks off, too many rejects"
    )
    resumed = 0
    for number in torture.cases(24, 400):
        folder = torture.folder("resumed")
        case = Case(torture, folder, chance, number, 40)
        store, rejects = case.prepare("whole")
        unbroken = torture.run(*case.arguments(store, rejects))
        wanted = case.outcome(store, rejects)
        store, rejects = case.prepare("stopped")
        arguments = case.arguments(store, rejects)
        way = number % 4
        if way == 0:
            process = torture.start(*arguments)
            time.sleep(chance.random() * unbroken.seconds)
            os.killpg(process.pid, chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
            torture.finish(process)
        elif way == 1:
            torture.run(*arguments, "--max-rejects", chance.randrange(4))
        elif way == 2:
            feed = chance.choice([path for path in case.inputs if path.suffix != ".gz"])
            whole = feed.read_bytes()
            feed.write_bytes(whole[: chance.randrange(2, len(whole))])
            torture.run(*arguments)
            feed.write_bytes(whole)
        else:
            limit = chance.randrange(60_000, 400_000)
            torture.run(*arguments, prefix=["prlimit", f"--fsize={limit}", "--"])
        outcome = torture.run(*arguments, "--resume")
        resumed += b"went on behind" in outcome.err
        found = case.outcome(store, rejects)
        # What came to its end has a row of its own: it is not resumed, but imported again.
        if b"nothing to resume" in outcome.err and len(found[1]) == 3:
            again = case.folder / "whole.db", case.folder / "whole.rejects"
            unbroken = torture.run(*case.arguments(*again))
            wanted = case.outcome(*again)
        said = differs(case, outcome.text, wanted, found, outcome.code, unbroken.code)
        torture.check(not said, f"case {number}, way {way}", said)
    torture.note(f"{resumed} runs went on behind a committed record")
    torture.end()


def refusals(torture):
    chance = torture.begin("--resume of something else", "refused with its reason, and the store stays as it was")
    folder = torture.folder("resumed")
    for number in torture.cases(2, 20):
        case = Case(torture, folder, chance, 1, 40)
        store, rejects = case.prepare("stopped")
        arguments = case.arguments(store, rejects)
        feed = case.inputs[2]
        whole, plan = feed.read_bytes(), case.map.read_text()
        feed.write_bytes(whole + b'{"id": 1, "name": "z"')
        torture.run(*arguments)
        before = contents(store)

        def refused(words, *arguments):
            outcome = torture.run(*arguments, "--resume")
            holds = outcome.code in (64, 65) and words in outcome.text and contents(store) == before
            torture.check(holds, f"{number}: {words}", outcome.text)

        first = case.inputs[0].read_text()
        case.inputs[0].write_text(first.replace('"changed": 1', '"changed": 3', 1))
        refused("feed has changed", *arguments)
        feed.write_bytes(whole)
        case.inputs[0].write_text(json.dumps({"people": json.loads(first)["people"][1:]}))
        refused("feed has changed", *arguments)
        case.inputs[0].write_text(first)
        feed.write_bytes(b"\n".join(whole.split(b"\n")[:4]) + b"\n")
        refused("feed has changed", *arguments)
        feed.write_bytes(whole)
        case.map.write_text(plan + "# only a remark\n")
        case.map.write_text(plan.replace("kind: kind", "kind: { from: kind, coerce: true }"))
        refused("map has changed", *arguments)
        case.map.write_text(plan)
        refused("other options", *arguments, "--mode", "ignore")
        refused("other options", *arguments, "--prune")
        refused("not of", *[one for one in arguments if one != feed])
        refused("--resume", *arguments, "--dry-run")
        refused("--resume", *[one if one != "batch" else "all" for one in arguments])
        # As it was, it goes on.
        outcome = torture.run(*arguments, "--resume")
        torture.check(outcome.code in (0, 3) and b"went on behind" in outcome.err, f"{number}: goes on", outcome.text)
        outcome = torture.run(*arguments, "--resume")
        torture.check(outcome.code in (0, 3) and b"nothing to resume" in outcome.err, f"{number}: is complete", outcome.text)
    torture.end()


def side_by_side(torture):
    chance = torture.begin("imports in batches side by side", "each ends well or busy, and an import that runs is not resumed")
    refused = 0
    for number in torture.cases(12, 400):
        folder = torture.folder("resumed")
        store = folder / "beside.db"
        plan = folder / "resumed.map.yaml"
        plan.write_text(MAP.replace("REJECT", "pending"))
        # Much about each of few people, or little about each of many: batches meet in the lists of the same owners.
        is_dense = number % 3 != 0
        crowd = chance.randrange(2, 5) if is_dense else 2
        size = chance.choice([1, 3, 20]) if is_dense else 20
        feeds = []
        for first in range(crowd):
            feeds.append(folder / f"{first}.ndjson")
            ours = random.Random(f"{torture.seed}:{number}:{first}")
            some = [people(ours, 40) for _ in range(5)] if is_dense else [people(ours, torture.times(1500, 5000))]
            feeds[-1].write_text("".join(json.dumps(record) + "\n" for records in some for record in records))
        runs = [torture.start("import", plan, feed, "-d", store, "--commit", "batch", "--batch-size", size) for feed in feeds]
        time.sleep(chance.random() * 0.5)
        third = torture.run("import", plan, feeds[0], "-d", store, "--commit", "batch", "--resume")
        is_right = b"still running" in third.err and third.code == 75 or third.code in (0, 3, 75)
        refused += b"still running" in third.err
        torture.check(is_right, f"{number}: one more", third.text)
        ended = [torture.finish(run) for run in runs]
        for outcome in ended:
            torture.check(outcome.code in (0, 3, 75), f"{number}: exit {outcome.code}", outcome.text)
        with closing(sqlite3.connect(store)) as database:
            kept = database.execute("SELECT name FROM sqlite_schema WHERE name GLOB '_dragoman_run*'").fetchall()
            running = database.execute("SELECT count(*) FROM _dragoman_imports WHERE status = 'running'").fetchone()[0]
        # Who gave up, busy, may be resumed; what he has kept stays for it.
        busy = sum(outcome.code == 75 for outcome in [*ended, third])
        torture.check((not kept or busy) and not faults(store), f"{number}: left {kept}")
        torture.check(running <= busy, f"{number}: {running} imports run for ever in the history, {busy} gave up")
    torture.note(f"{refused} runs were refused because another one was under way")
    torture.end()


TESTS = [kill_and_resume, stop_and_resume, refusals, side_by_side]
