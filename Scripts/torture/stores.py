"""Damaged and strange stores: told apart, never a crash, never changed."""

import hashlib
import sqlite3

from crowd import spread
from feeds import MAP, write
from harness import contents, copy, remove
from kills import works


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def damaged(torture):
    torture.begin("damaged stores", "a message or correct data; no signal, no hang; reading changes nothing")
    spread(torture, damages, 60, 10000)
    torture.note(f"{torture.tally.cases:,} stores, nine commands each")
    torture.end()


def damages(torture):
    folder, all_works = works(torture, 400)
    whole = folder / "whole.db"
    copy(all_works[1].before, whole)
    database = sqlite3.connect(whole)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    good = whole.read_bytes()
    feed = write(torture.shared("feeds"), 50, 2, "ndjson")

    def case(number):
        chance = torture.drawn(number)
        data = bytearray(good)
        kind = chance.choice(["a byte", "a page of zeros", "a random page", "cut", "a field of the header", "ten bytes"])
        if kind == "a byte":
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        elif kind == "ten bytes":
            for _ in range(10):
                data[chance.randrange(len(data))] = chance.randrange(256)
        elif kind == "a field of the header":
            data[chance.randrange(100)] = chance.randrange(256)
        elif kind == "cut":
            del data[chance.randrange(len(data)):]
        else:
            page = chance.randrange(len(data) // 4096)
            data[page * 4096:page * 4096 + 4096] = bytes(4096) if "zeros" in kind else chance.randbytes(4096)
        store = folder / "damaged.db"
        for arguments in (
            ["fetch", "Item", "--limit", "50", "-f", "json"], ["info"], ["history"], ["schema"],
            ["export", MAP, "--entity", "Item", "-f", "json", "--lossy"], ["diff", MAP, feed], ["import", MAP, feed],
            ["migrate", MAP], ["backup", folder / "copy.db"],
        ):
            remove(store)
            (folder / "copy.db").unlink(missing_ok=True)
            store.write_bytes(data)
            before = digest(store)
            outcome = torture.run(*arguments, "-d", store, timeout=20)
            told = f"store {number} ({kind}), {arguments[0]}"
            torture.check(not outcome.is_crash, f"{told}: exit {outcome.code}", outcome.text[-800:])
            if arguments[0] not in ("import", "migrate"):
                torture.check(digest(store) == before, f"{told}: the file was changed")

    return case


def strange(torture):
    torture.begin("files that are no stores", "refused by name: 65 or its kin; the file is untouched")
    folder = torture.folder("strange")
    feed = write(torture.shared("feeds"), 50, 2, "ndjson")
    other = folder / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE Item (id INTEGER PRIMARY KEY, name TEXT)")
        database.execute("PRAGMA application_id = 1234")
    database.close()
    newer = folder / "newer.db"
    torture.must("import", MAP, feed, "-d", newer, "-q")
    with sqlite3.connect(newer) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    (folder / "text.db").write_text("id,name\n1,a\n" * 500)
    (folder / "binary.db").write_bytes(bytes(range(256)) * 64)
    (folder / "half.db").write_bytes(b"SQLite format 3\x00" + bytes(20))
    for name in ("other.db", "newer.db", "text.db", "binary.db", "half.db"):
        for arguments in (["import", MAP, feed], ["fetch", "Item"], ["info"], ["migrate", MAP], ["export", MAP, "--entity", "Item"]):
            path = folder / name
            before = digest(path)
            outcome = torture.run(*arguments, "-d", path)
            case = f"{name}, {arguments[0]}"
            torture.check(outcome.code in (65, 69), f"{case}: exit {outcome.code}", outcome.text)
            torture.check(name in outcome.text, f"{case}: not named", outcome.text)
            torture.check(digest(path) == before, f"{case}: the file was changed")
    # An empty file is a store that nobody has filled yet.
    (folder / "empty.db").write_bytes(b"")
    outcome = torture.run("import", MAP, feed, "-d", folder / "empty.db")
    torture.check(outcome.code == 0 and contents(folder / "empty.db"), "an empty file", outcome.text)
    torture.end()


TESTS = [damaged, strange]
