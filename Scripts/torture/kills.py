"""A command that is killed: the store holds what it held before, or all of what was asked, never a part."""

import os
import signal
import time

from feeds import MAP, write
from harness import can_trace, contents, copy, faults, litter, remove, values

WRITES = "pwrite64,fdatasync,fsync,ftruncate,link,unlink,rename"


class Work:
    """A command on a store: what is there before, what after, and how to run it."""

    def __init__(self, name, before, arguments, batch=0, count=0, is_new=False, is_once=False):
        self.name = name
        self.before = before
        self.arguments = arguments
        self.batch = batch
        self.count = count
        self.is_new = is_new
        # What is done cannot be done again, and says so with 65.
        self.is_once = is_once


def works(torture, count):
    """Commands that write, on a store with earlier contents, and what each leaves after an unbroken run."""
    folder = torture.folder("works")
    feeds = torture.shared("feeds")
    old = write(feeds, count // 2, 1)
    new = write(feeds, count, 2, "ndjson")
    renamed = folder / "renamed.map.yaml"
    renamed.write_text(MAP.read_text().replace("      note:    note", "      remark:  { from: note, renamedFrom: note }"))
    empty, filled, twice = folder / "empty.db", folder / "filled.db", folder / "twice.db"
    torture.must("import", MAP, old, "-d", filled, "-q")
    copy(filled, twice)
    torture.must("import", MAP, new, "-d", twice, "-q")
    return folder, [
        Work("import into a new file", empty, ["import", MAP, new], is_new=True),
        Work("import into a filled file", filled, ["import", MAP, new]),
        Work("import in batches", filled, ["import", MAP, new, "--commit", "batch", "--batch-size", count // 6], count // 6, count),
        Work("import --prune", filled, ["import", MAP, new, "--prune", "--prune-max", "100"]),
        Work("migrate", filled, ["migrate", renamed]),
        Work("undo", twice, ["undo", "2"], is_once=True),
        Work("delete", filled, ["delete", "Item", "--where", "price > 50", "--yes"]),
    ]


def unbroken(torture, folder, work):
    """The contents before and after, those at the ends of batches, and how long the work takes."""
    store = folder / "unbroken.db"
    copy(work.before, store)
    began = time.monotonic()
    torture.must(*work.arguments, "-d", store)
    seconds = time.monotonic() - began
    after = contents(store)
    between = []
    if work.batch:
        # After so many batches the store has the values that a feed of so many records gives; links to
        # later records are made at the end.
        for limit in range(work.batch, work.count, work.batch):
            copy(work.before, store)
            torture.must(*work.arguments, "-d", store, "--limit", limit)
            between.append(values(contents(store)))
        between.append(values(after))  # all records, and not yet all links
    remove(store)
    return contents(work.before), after, between, seconds


def judge(torture, folder, work, case, before, after, between, store):
    """Looks at a store after a kill, then runs the work again."""
    wrong = faults(store)
    if not torture.check(not wrong, f"{case}: SQLite finds faults", "\n".join(wrong)):
        return
    found = contents(store)
    is_whole = found in (before, after) or between and values(found) in between
    if not torture.check(is_whole, f"{case}: contents are neither those before nor after"):
        return
    again = torture.run(*work.arguments, "-d", store)
    ends = (0, 3, 65) if work.is_once and found == after else (0, 3)
    torture.check(
        again.code in ends and contents(store) == after, f"{case}: not what an unbroken run gives after running it again", again.text
    )
    left = [name for name in litter(folder, ()) if name.startswith("killed") and not name.startswith("killed.db")]
    # A database that was being built is taken over by the next import, or its second name removed.
    left += [name for name in litter(folder, ()) if ".building" in name]
    torture.check(not left, f"{case}: litter: {left}")


def at_random_times(torture):
    chance = torture.begin("kill -9 at random times", "contents before or after, never between; running it again ends well")
    folder, all_works = works(torture, torture.times(4000, 40000))
    for work in all_works:
        before, after, between, seconds = unbroken(torture, folder, work)
        for number in torture.cases(6, 200, 1 / len(all_works)):
            store = folder / "killed.db"
            copy(work.before, store)
            process = torture.start(*work.arguments, "-d", store)
            time.sleep(chance.random() * seconds)
            os.killpg(process.pid, signal.SIGKILL)
            torture.finish(process)
            judge(torture, folder, work, f"{work.name}, kill {number}", before, after, between, store)
            remove(store)
    torture.end()


def at_every_write(torture):
    torture.begin("kill -9 at write calls", "the same, at every call that writes, syncs, cuts, removes or renames")
    if not can_trace():
        torture.skip("strace cannot inject faults here")
        return torture.end()
    folder, all_works = works(torture, torture.times(60, 300))
    for work in all_works:
        # A new file is built in a few calls: each is tried.
        step = 1 if work.is_new else torture.times(9, 1)
        before, after, between, _ = unbroken(torture, folder, work)
        reached = 0
        for call in WRITES.split(","):
            number = 1
            while True:
                store = folder / "killed.db"
                copy(work.before, store)
                outcome = torture.run(
                    *work.arguments, "-d", store,
                    prefix=["strace", "-qq", "-f", "-o", "/dev/null", "-e", f"trace={call}",
                            "-e", f"inject={call}:signal=KILL:when={number}"],
                )
                if outcome.code == 0:
                    break
                reached += 1
                judge(torture, folder, work, f"{work.name}, {call} {number}", before, after, between, store)
                remove(store)
                number += step
        torture.note(f"{work.name}: killed at {reached} calls")
    torture.end()


def while_recovering(torture):
    chance = torture.begin("kill -9 while recovering", "a store whose recovery was killed, twice, is whole")
    if not can_trace():
        torture.skip("strace cannot inject faults here")
        return torture.end()
    folder, all_works = works(torture, torture.times(60, 300))
    # Runs in batches that are killed after each other mix their batches: only whole runs are tried.
    whole = [work for work in all_works if not work.batch]
    for work in whole:
        before, after, between, _ = unbroken(torture, folder, work)
        for number in torture.cases(4, 100, 1 / len(whole)):
            store = folder / "killed.db"
            copy(work.before, store)
            for _ in range(3):
                call = chance.choice(["pwrite64", "fdatasync"])
                torture.run(
                    *work.arguments, "-d", store,
                    prefix=["strace", "-qq", "-f", "-o", "/dev/null", "-e", f"trace={call}",
                            "-e", f"inject={call}:signal=KILL:when={chance.randrange(1, 12)}"],
                )
            judge(torture, folder, work, f"{work.name}, round {number}", before, after, between, store)
            remove(store)
    torture.end()


def lost_power(torture):
    chance = torture.begin(
        "log cut or zeroed after a kill", "the file opens, with contents of a committed moment"
    )
    folder, all_works = works(torture, torture.times(400, 4000))
    for work in all_works[:4]:
        before, after, between, seconds = unbroken(torture, folder, work)
        for number in torture.cases(8, 250, 1 / 4):
            store = folder / "killed.db"
            copy(work.before, store)
            process = torture.start(*work.arguments, "-d", store)
            time.sleep(chance.random() * seconds)
            os.killpg(process.pid, signal.SIGKILL)
            torture.finish(process)
            log = folder / "killed.db-wal"
            if log.exists() and log.stat().st_size > 0:
                place = chance.randrange(log.stat().st_size)
                with open(log, "r+b") as file:
                    if chance.random() < 0.5:
                        file.truncate(place)
                    else:
                        file.seek(place)
                        file.write(bytes(log.stat().st_size - place))
            (folder / "killed.db-shm").unlink(missing_ok=True)
            judge(torture, folder, work, f"{work.name}, cut {number}", before, after, between, store)
            remove(store)
    torture.end()


def lost_power_while_building(torture):
    torture.begin(
        "a new file and the disk", "it has its name only when all of it is on the disk, and nothing is written behind that"
    )
    if not can_trace():
        torture.skip("strace cannot look here")
        return torture.end()
    folder, all_works = works(torture, torture.times(4000, 40000))
    work = next(work for work in all_works if work.is_new)
    store, trace = folder / "powerless.db", folder / "trace"
    remove(store)
    outcome = torture.run(
        *work.arguments, "-d", store,
        prefix=["strace", "-qq", "-f", "-y", "-o", trace, "-e", "trace=pwrite64,write,ftruncate,fsync,fdatasync,link,linkat,rename,unlink"],
    )
    torture.check(outcome.code in (0, 3), f"exit {outcome.code}", outcome.text)
    calls = [line.split(None, 1)[1] for line in trace.read_text().splitlines() if "powerless.db" in line or f"<{folder}>" in line]
    named = [place for place, call in enumerate(calls) if call.startswith(("link(", "linkat(", "rename("))]
    if torture.check(len(named) == 1, f"named {len(named)} times", "\n".join(calls)):
        changes = [call for call in calls[:named[0]] if call.startswith(("pwrite64", "write", "ftruncate", "fsync")) and "-wal" not in call]
        torture.check(changes[-1].startswith("fsync"), "the last call before the name is no fsync", "\n".join(calls))
        behind = [call.split("(")[0] for call in calls[named[0] + 1:]]
        torture.check(behind == ["unlink", "fsync"], f"behind the name: {behind}", "\n".join(calls))
    remove(store)
    torture.end()


def outputs_killed(torture):
    torture.begin("kill -9 while an output is written", "at every call: the final name has the old file or the whole new one, and the next run ends well")
    if not can_trace():
        torture.skip("strace cannot inject faults here")
        return torture.end()
    folder, all_works = works(torture, torture.times(300, 3000))
    old, new = all_works[1].before, all_works[5].before
    target = folder / "killed.out"
    reached = 0
    for name, arguments in {
        "export": lambda store: ["export", MAP, "-d", store, "--entity", "Item", "-f", "json", "--lossy", "-o", target],
        "export, compressed": lambda store: ["export", MAP, "-d", store, "--entity", "Item", "-f", "xml", "--lossy", "--overwrite", "-o", f"{target}.gz"],
        "fetch": lambda store: ["fetch", "Item", "-d", store, "-f", "csv", "-o", target],
        "backup": lambda store: ["backup", "-d", store, target],
    }.items():
        place = folder / "killed.out.gz" if "compressed" in name else target
        place.unlink(missing_ok=True)
        torture.must(*arguments(old))
        former = place.read_bytes()
        torture.must(*arguments(new))
        whole = (place.read_bytes(), contents(place) if name == "backup" else None)
        known = {path.name for path in folder.iterdir()}
        for call in f"{WRITES},write".split(","):
            number = 1
            while True:
                remove(place)
                torture.must(*arguments(old))
                prefix = ["strace", "-qq", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"]
                outcome = torture.run(*arguments(new), prefix=prefix)
                if outcome.code in (0, 3):
                    break
                reached += 1
                case = f"{name}, {call} {number}"
                found = place.read_bytes()
                is_whole = contents(place) in (contents(old), whole[1]) and not faults(place) if name == "backup" else found in (former, whole[0])
                torture.check(is_whole, f"{case}: a part of it stands under the final name")
                again = torture.run(*arguments(new))
                is_whole = contents(place) == whole[1] if name == "backup" else place.read_bytes() == whole[0]
                torture.check(again.code in (0, 3) and is_whole, f"{case}: once more, exit {again.code}", again.text)
                for left in litter(folder, known):
                    (folder / left).unlink()
                number += torture.times(5, 1)
        remove(place)
    torture.note(f"killed at {reached} calls")
    torture.end()


TESTS = [at_random_times, at_every_write, while_recovering, lost_power, lost_power_while_building, outputs_killed]
