"""Company: several processes at one store."""

import sqlite3
import threading
import time

from feeds import MAP, write
from harness import contents, copy, faults, remove
from kills import works


def importers(torture):
    chance = torture.begin("importers side by side", "each ends with 0, 3 or 75; the store equals some order of those that ended well")
    folder = torture.folder("company")
    feeds = torture.shared("feeds")
    for number in torture.cases(4, 60):
        crowd = chance.randrange(2, 9)
        kind = chance.choice(["the same feed", "disjoint feeds", "feeds that overlap"])
        first = {"the same feed": lambda n: 0, "disjoint feeds": lambda n: n * 5000, "feeds that overlap": lambda n: n * 100}[kind]
        size = torture.times(400, 4000)
        seed = 1 if kind == "the same feed" else None
        inputs = [write(feeds, size, seed or 10 + n, "ndjson", first(n)) for n in range(crowd)]
        store = folder / "shared.db"
        remove(store)
        halves = []
        stop = threading.Event()

        def watch():
            seen = -1
            while not stop.is_set():
                try:
                    with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=5) as database:
                        count = database.execute("SELECT count(*) FROM _dragoman_imports").fetchone()[0]
                        rows = database.execute("SELECT count(*) FROM Item").fetchone()[0]
                        database.rollback()
                    database.close()
                    if rows < seen or (rows > 0 and count == 0):
                        halves.append((seen, rows, count))
                    seen = rows
                except sqlite3.Error:
                    pass
                time.sleep(0.005)

        reader = threading.Thread(target=watch)
        reader.start()
        running = [torture.start("import", MAP, path, "-d", store) for path in inputs]
        ended = [torture.finish(process, 60) for process in running]
        stop.set()
        reader.join()
        case = f"{crowd} with {kind}, round {number}"
        torture.check(all(one.code in (0, 3, 75) for one in ended), f"{case}: exits {[one.code for one in ended]}", ended[0].text)
        torture.check(not halves, f"{case}: a reader saw a part: {halves[:2]}")
        torture.check(not faults(store), f"{case}: faults")
        # In the order in which the ledger has them the same must come out.
        with sqlite3.connect(store) as database:
            order = [row[0] for row in database.execute("SELECT source FROM _dragoman_imports ORDER BY id")]
        database.close()
        torture.check(len(order) == sum(one.code in (0, 3) for one in ended), f"{case}: the ledger has {len(order)} imports")
        serial = folder / "serial.db"
        remove(serial)
        for path in order:
            torture.must("import", MAP, path, "-d", serial, "-q")
        torture.check(contents(serial) == contents(store), f"{case}: no serial order gives these contents")
    torture.end()


def locked(torture):
    torture.begin("a store that is locked", "waits for a short lock; after the stated five seconds ends with 75")
    folder, all_works = works(torture, 100)
    feed = write(torture.shared("feeds"), 100, 2, "ndjson")
    for seconds, codes in ((2, {0, 3}), (30, {75})):
        store = folder / "locked.db"
        copy(all_works[1].before, store)
        database = sqlite3.connect(store, isolation_level=None)
        database.execute("BEGIN IMMEDIATE")
        process = torture.start("import", MAP, feed, "-d", store)
        if seconds == 2:
            time.sleep(2)
            database.execute("ROLLBACK")
        outcome = torture.finish(process)
        torture.check(outcome.code in codes, f"a lock of {seconds} s: exit {outcome.code}", outcome.text)
        if seconds == 30:
            torture.check(4 < outcome.seconds < 7, f"waited {outcome.seconds:.1f} s", outcome.text)
            database.execute("ROLLBACK")
        database.close()
    torture.end()


def backups(torture):
    torture.begin("backups during an import", "each is a whole store, with the contents before or after")
    folder, all_works = works(torture, torture.times(8000, 60000))
    work = all_works[1]
    store = folder / "busy.db"
    copy(work.before, store)
    before = contents(store)
    process = torture.start(*work.arguments, "-d", store)
    copies = []
    while process.poll() is None and len(copies) < 40:
        target = folder / f"copy{len(copies)}.db"
        outcome = torture.run("backup", "-d", store, target)
        torture.check(outcome.code == 0, f"backup {len(copies)}: exit {outcome.code}", outcome.text)
        copies.append(target)
    for stream in process.streams:
        stream.close()
    after = contents(store)
    for target in copies:
        torture.check(not faults(target) and contents(target) in (before, after), f"{target.name}: contents")
    torture.note(f"{len(copies)} backups in one import")
    torture.end()


TESTS = [importers, locked, backups]
