"""Once and again, in every order and format: the same contents, and nothing to do the second time."""

import json
import random

from feeds import FORMATS, MAP, items, write
from harness import contents, remove


def report(outcome):
    return json.loads(outcome.out)


def twice(torture):
    torture.begin("the same import twice", "the second inserts, updates and deletes nothing; A, B, A ends like A after B")
    folder = torture.folder("again")
    feeds = torture.shared("feeds")
    for kind in FORMATS:
        for seed in torture.cases(3, 40, 1 / len(FORMATS)):
            store = folder / "again.db"
            remove(store)
            # Without repeated keys: a feed that says two things of one object says the first one again.
            path = feeds / f"plain-{seed}.{kind}"
            path.write_bytes(FORMATS[kind](list({record["id"]: record for record in items(400, seed)}.values())))
            torture.must("import", MAP, path, "-d", store, "-q")
            before = contents(store)
            second = report(torture.must("import", MAP, path, "-d", store, "--json"))
            changed = {name: second[name] for name in ("inserted", "updated", "deleted", "rejected", "pruned") if second[name]}
            torture.check(not changed, f"{kind}, seed {seed}: the second import says {changed}")
            torture.check(contents(store) == before, f"{kind}, seed {seed}: other contents")
    torture.end()


PAIR = """
version: 1
name: pair
entities:
  A:
    unique: id
    attributes: { id: id }
    relationships:
      next: { entity: A, kind: toOne, inverse: last, key: { id: next } }
      last: { entity: A, kind: toOne, inverse: next, key: { id: last } }
sources:
  json: { format: json, entity: A }
"""


def each_time(torture):
    chance = torture.begin("the same command", "the same contents and the same report, in each process")
    store, plan, path = (torture.folder("each") / name for name in ("pair.db", "pair.map.yaml", "pair.json"))
    plan.write_text(PAIR)
    for number in torture.cases(12, 200):
        # Both sides of the pair are read: records contradict themselves and each other.
        records = [{"id": name} for name in "abc"[:chance.randrange(1, 4)]]
        for _ in range(chance.randrange(10, 60)):
            records.append({"id": chance.choice("abc"), **{name: chance.choice("abcx") for name in ("next", "last") if chance.random() < 0.4}})
        path.write_text(json.dumps(records))
        found = []
        for _ in range(6):
            remove(store)
            told = report(torture.run("import", plan, path, "-d", store, "--json"))
            found.append((told["relationships"], told["updated"], told["unchanged"], contents(store)))
        torture.check(all(one == found[0] for one in found), f"case {number}: {path.read_text()}", f"{found}")
    torture.end()


def formats(torture):
    torture.begin("the same records in every format", "equal contents from JSON, NDJSON and XML, compressed or not, however they are cut into batches")
    folder = torture.folder("formats")
    feeds = torture.shared("feeds")
    for seed in torture.cases(3, 60):
        first = None
        for kind in ("json", "ndjson", "xml"):
            path = write(feeds, 300, 100 + seed, kind)
            for extra in ([], ["--commit", "batch", "--batch-size", "1"], ["--commit", "batch", "--batch-size", "7"]):
                store = folder / "format.db"
                remove(store)
                torture.must("import", MAP, path, "-d", store, "-q", *extra)
                found = contents(store)
                first = first or found
                torture.check(found == first, f"seed {seed}, {kind} {' '.join(extra)}")
    torture.end()


def orders(torture):
    chance = torture.begin("records in another order, feeds in parts", "the same contents, where no key occurs twice")
    folder = torture.folder("orders")
    for seed in torture.cases(3, 60):
        records = list({record["id"]: record for record in items(300, 200 + seed)}.values())
        wanted = None
        for number in range(4):
            store = folder / "order.db"
            remove(store)
            parts = [records] if number < 2 else [records[part::7] for part in range(7)]
            paths = []
            for part, some in enumerate(parts):
                path = folder / f"part{part}.ndjson"
                path.write_bytes(FORMATS["ndjson"](some))
                paths.append(path)
            if number == 3:
                for path in paths:
                    torture.must("import", MAP, path, "-d", store, "-q")
            else:
                torture.must("import", MAP, *paths, "-d", store, "-q")
            found = contents(store)
            wanted = wanted or found
            torture.check(found == wanted, f"seed {seed}, {['as it is', 'shuffled', 'in 7 inputs', 'in 7 imports'][number]}")
            chance.shuffle(records)
    torture.end()


def round_trips(torture):
    torture.begin("export and import", "the same store, and the next export byte for byte the same")
    folder = torture.folder("trips")
    feeds = torture.shared("feeds")
    for seed in torture.cases(2, 40):
        for kind in ("json", "ndjson", "xml"):
            first, second = folder / "first.db", folder / "second.db"
            one, two = folder / f"one.{kind}", folder / f"two.{kind}"
            for path in (one, two):
                path.unlink(missing_ok=True)
            remove(first)
            remove(second)
            torture.must("import", MAP, write(feeds, 300, 300 + seed, kind), "-d", first, "-q")
            torture.must("export", MAP, "-d", first, "--entity", "Item", "-f", kind, "-o", one, "--lossy")
            torture.must("import", MAP, one, "-d", second, "-q")
            torture.must("export", MAP, "-d", second, "--entity", "Item", "-f", kind, "-o", two, "--lossy")
            torture.check(one.read_bytes() == two.read_bytes(), f"seed {seed}, {kind}: the exports differ")
            torture.check(
                contents(first).get("Item") == contents(second).get("Item"), f"seed {seed}, {kind}: the items differ"
            )
    torture.end()


def bad_among_good(torture):
    torture.begin("bad records among good ones", "every reject is named with its line; the counts add up; a limit stops with nothing written")
    folder = torture.folder("bad")
    count = torture.times(1000, 10000)
    for bad in (1, 100, count - 1):
        for where in ("start", "middle", "end", "anywhere"):
            chance = random.Random(f"{torture.seed}:{bad}:{where}")
            spots = {
                "start": range(bad), "end": range(count - bad, count),
                "middle": range((count - bad) // 2, (count - bad) // 2 + bad),
                "anywhere": chance.sample(range(count), bad),
            }[where]
            spots = set(spots)
            records = [dict(record, id=number) for number, record in enumerate(items(count, 7))]
            for spot in spots:
                records[spot]["id"] = "x" if spot % 2 else None
            path, store, rejects = folder / "bad.ndjson", folder / "bad.db", folder / "rejects.ndjson"
            path.write_bytes(FORMATS["ndjson"](records))
            remove(store)
            rejects.unlink(missing_ok=True)
            outcome = torture.run("import", MAP, path, "-d", store, "--rejects", rejects, "--json")
            told = report(outcome)
            case = f"{bad} of {count} at the {where}"
            torture.check(outcome.code == 3, f"{case}: exit {outcome.code}", outcome.text)
            parts = [told[name] for name in ("inserted", "updated", "unchanged", "deleted", "skipped", "rejected")]
            torture.check(told["read"] == sum(parts) == count and told["rejected"] == bad, f"{case}: {told['read']} = {parts}")
            lines = {json.loads(line)["line"] for line in rejects.read_text().splitlines()}
            torture.check(lines == {spot + 1 for spot in spots}, f"{case}: other lines in the rejects file")
            remove(store)
            outcome = torture.run("import", MAP, path, "-d", store, "--max-rejects", bad - 1)
            torture.check(outcome.code == 65 and not contents(store), f"{case}, one fewer admitted: exit {outcome.code}", outcome.text)
    torture.end()


TESTS = [twice, each_time, formats, orders, round_trips, bad_among_good]
