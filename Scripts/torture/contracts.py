"""Contracts: what a feed has otherwise is told or refused as the map says, and the rest of the import is the one without a contract."""

import json
import random

from feeds import as_xml
from harness import can_trace, contents, copy, faults, remove
from mutants import mutant
from undoing import difference

KEYS = ["sku", "price", "stock", "title", "seen", "maker"]
MAP = """
version: 1
name: shelf
entities:
  Article:
CONTRACT
    unique: sku
    attributes:
      sku: sku
      price: { type: decimal, onInvalid: clear }
      stock: { type: int32, onInvalid: keep }
      title: title
      seen: { type: date, onInvalid: clear }
    relationships:
      maker: { entity: Maker, kind: toOne }
  Maker: { unique: name, attributes: { name: name } }
sources:
  json:   { format: json, entity: Article, records: /articles }
  ndjson: { format: ndjson, entity: Article }
  xml:    { format: xml, entity: Article, records: /items/item }
"""


def articles(chance, count, changes):
    """Records; `changes` says what is otherwise than in the first feed: new keys, other types, keys that are gone."""
    for number in range(count):
        record = {
            "sku": f"A{chance.randrange(count)}", "price": chance.randrange(1000), "stock": chance.randrange(50), "title": "a title",
            "seen": f"2026-01-{chance.randrange(1, 29):02}", "maker": {"name": chance.choice("xyz")},
        }
        for kind, key in changes:
            if kind == "new":
                record[key] = chance.choice([number, "text", True, 1.5, "2026-02-03"])
            elif kind == "type" and chance.random() < 0.5:
                record[key] = chance.choice(["many", [1], {"a": 1}, True, "x" * 100])
            elif kind == "gone":
                record.pop(key, None)
        yield record


def spelled(kind, records):
    if kind == "json":
        return json.dumps({"articles": records}).encode()
    if kind == "ndjson":
        return "".join(json.dumps(record) + "\n" for record in records).encode()
    return as_xml([{name: value for name, value in record.items() if not isinstance(value, list)} for record in records])


def random_changes(chance):
    kinds = [("new", "colour"), ("new", "weight"), ("new", "best_before"), ("type", "stock"), ("type", "price"), ("type", "seen"), ("gone", "title"), ("gone", "stock")]
    return chance.sample(kinds, chance.randrange(4))


def drift(torture):
    chance = torture.begin(
        "contracts", "freeze refuses what has changed and nothing else, before anything is written; report and discard import what a map without a contract does"
    )
    folder = torture.folder("contracts")
    plain, strict = folder / "plain.map.yaml", folder / "strict.map.yaml"
    plain.write_text(MAP.replace("CONTRACT\n", ""))
    seen = {"refused": 0, "imported": 0}
    for number in torture.cases(24, 2000):
        one, two = folder / "one.db", folder / "two.db"
        remove(one)
        remove(two)
        word = chance.choice(["freeze", "freeze", "report", "discard"])
        strict.write_text(MAP.replace("CONTRACT", f"    contract: {word}"))
        kind = chance.choice(["json", "ndjson", "xml"])
        options = ["--commit", "batch", "--batch-size", 5] if chance.random() < 0.4 else []
        for step in range(4):
            changes = random_changes(chance) if step else []
            records = list(articles(chance, 30, changes))
            path = folder / f"shelf.{kind}"
            path.write_bytes(spelled(kind, records))
            before = contents(one)
            case = f"case {number}, step {step} ({word}, {kind}, {changes})"
            outcome = torture.run("import", strict, path, "-d", one, "--json", *options)
            torture.check(not faults(one), f"{case}: faults")
            if outcome.code == 65 and "import.contract" in outcome.text:
                seen["refused"] += 1
                torture.check(word == "freeze" and bool(changes) and contents(one) == before, f"{case}: refused", outcome.text)
                continue
            seen["imported"] += 1
            is_new = any(kind == "new" for kind, _ in changes)
            torture.check(outcome.code in (0, 3) and not (word == "freeze" and is_new), f"{case}: exit {outcome.code}", outcome.text)
            torture.run("import", plain, path, "-d", two, "-q", *options)
            # What is discarded of an attribute is kept by `onInvalid: keep`; here attributes say it themselves.
            said = difference(contents(one), contents(two))
            torture.check(not said, f"{case}: not what a map without a contract imports", said)
            told = json.loads(outcome.out).get("drift") or {}
            if is_new and word == "report":
                torture.check(any(change["kind"] == "newKey" or "new" in change["kind"] for change in told.get("changes", [])) or step > 1, f"{case}: nothing is told", outcome.out)
    torture.note(f"{seen['refused']} feeds were refused, {seen['imported']} imported")
    torture.end()


def evolving(torture):
    chance = torture.begin("contracts that evolve", "a kill leaves the contents of before or all, and running it again ends well; undo takes the values back; the values come in")
    folder = torture.folder("evolving")
    plan = folder / "evolve.map.yaml"
    plan.write_text(MAP.replace("CONTRACT", "    contract: evolve"))
    first, second = folder / "first.json", folder / "second.json"
    for number in torture.cases(2, 40):
        base, store = folder / "base.db", folder / "evolving.db"
        remove(base)
        first.write_bytes(spelled("json", list(articles(chance, 40, []))))
        records = list(articles(chance, 40, [("new", "colour"), ("new", "best_before")]))
        second.write_bytes(spelled("json", records))
        torture.must("import", plan, first, "-d", base, "-q")
        before = contents(base)
        copy(base, store)
        torture.must("import", plan, second, "-d", store, "-q")
        after = contents(store)
        last = {record["sku"]: record for record in records}
        fetched = {row["sku"]: row for row in json.loads(torture.must("fetch", "Article", "-d", store, "-f", "json").out)}
        torture.check(all(fetched[sku].get("colour") is not None for sku in last), f"case {number}: the new values are not there", fetched)
        outcome = torture.run("undo", "-d", store)
        # The columns stay, without values.
        values = [sorted(repr([pair for pair in eval(row) if pair[1] is not None]) for row in some.get("Article", [])) for some in (contents(store), before)]
        torture.check(outcome.code == 0 and values[0] == values[1], f"case {number}: undo", outcome.text)
        if not can_trace():
            continue
        place = 1
        while True:
            copy(base, store)
            outcome = torture.run(
                "import", plan, second, "-d", store, "-q",
                prefix=["strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=pwrite64,fdatasync", "-e", f"inject=pwrite64,fdatasync:signal=KILL:when={place}"],
            )
            if outcome.code in (0, 3):
                break
            found = contents(store)
            torture.check(not faults(store) and found in (before, after), f"case {number}, kill {place}: contents")
            again = torture.run("import", plan, second, "-d", store, "-q")
            torture.check(again.code in (0, 3) and contents(store) == after, f"case {number}, kill {place}: once more", again.text)
            place += torture.times(9, 1)
    torture.end()


def mutated(torture):
    chance = torture.begin("mutated feeds under contracts", "0 signals, 0 over 5 s; what is refused has written nothing, in batches either")
    folder = torture.folder("contract-mutants")
    base, store = folder / "base.db", folder / "mutant.db"
    for number in torture.cases(90, 40000):
        word = ["freeze", "report", "discard", "evolve"][number % 4]
        plan = folder / f"{word}.map.yaml"
        plan.write_text(MAP.replace("CONTRACT", f"    contract: {word}"))
        kind = chance.choice(["json", "ndjson", "xml"])
        records = list(articles(random.Random(7), 12, []))
        path = folder / f"good.{kind}"
        path.write_bytes(spelled(kind, records))
        remove(base)
        torture.must("import", plan, path, "-d", base, "-q")
        before = contents(base)
        path.write_bytes(mutant(spelled(kind, list(articles(random.Random(8), 12, random_changes(chance)))), chance))
        copy(base, store)
        options = ["--commit", "batch", "--batch-size", 2] if number % 3 == 0 else []
        outcome = torture.run("import", plan, path, "-d", store, "--source", kind, *options, timeout=20)
        case = f"mutant {number} ({word}, {kind}), seed {torture.seed}"
        torture.check(not outcome.is_crash and outcome.seconds < 5, f"{case}: exit {outcome.code}, {outcome.seconds:.1f} s", outcome.text)
        torture.check(not faults(store), f"{case}: faults")
        if outcome.code not in (0, 3):
            # Under a contract the feed is read once before a record of it is imported.
            torture.check(contents(store) == before, f"{case}: exit {outcome.code} and other contents", outcome.text)
    torture.end()


TESTS = [drift, evolving, mutated]
