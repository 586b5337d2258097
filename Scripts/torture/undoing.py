"""What was done is taken back: the contents of before, and by taking that back those of behind it."""

import json

from differential import map_text, random_case
from feeds import FORMATS, MAP, items, write
from harness import contents, copy, faults, remove
from spelling import spell


def steps(torture, folder, store, path, imports):
    """Runs imports one behind the other; what each is told to be by the history, and the contents behind it."""
    chance = torture.chance
    known = [contents(store)]
    codes = []
    for number, (form, mode, batch, records) in enumerate(imports):
        feed = folder / f"undo{number}.{form}"
        feed.write_text(spell(form, records), newline="")
        options = ["--commit", "batch", "--batch-size", batch] if batch else []
        if chance.random() < 0.2 and mode == "upsert":
            options += ["--prune", "--prune-max", "100"]
        outcome = torture.run("import", path, feed, "-d", store, "--mode", mode, "--source", form, "-q", *options)
        codes.append(outcome.code)
        if outcome.code not in (0, 3):
            break
        known.append(contents(store))
    return known, codes


def runs(torture, store):
    """The history: number, source, and whether it was taken back."""
    outcome = torture.run("history", "-d", store, "--json")
    return json.loads(outcome.out)["imports"] if outcome.code == 0 else []


def random_imports(torture):
    torture.chance = torture.begin(
        "undo of random imports", "each undo gives the contents of before, the undo of that those of behind; what was refused changes nothing"
    )
    folder = torture.folder("undo")
    store, path = folder / "undo.db", folder / "undo.map.json"
    undone = 0
    for number in torture.cases(60, 5000):
        seed = f"{torture.seed}:undo:{number}"
        plan, imports = random_case(seed)
        remove(store)
        path.write_text(map_text(plan))
        known, codes = steps(torture, folder, store, path, imports)
        if len(known) < 2:
            continue
        ids = [run["id"] for run in runs(torture, store)]
        # An import that was refused has left no line, unless it was in batches.
        if not torture.check(len(ids) >= len(known) - 1, f"case {seed}: the history has {ids}, exits {codes}"):
            continue
        ids = ids[:len(known) - 1]
        if codes[-1] not in (0, 3) and contents(store) != known[-1]:
            continue  # batches of a refused import are no moment that is known
        for place in reversed(range(len(ids))):
            before = contents(store)
            dry = torture.run("undo", ids[place], "-d", store, "--dry-run")
            torture.check(dry.code == 0 and contents(store) == before, f"case {seed}: a dry undo of {ids[place]}", dry.text)
            outcome = torture.run("undo", ids[place], "-d", store)
            if not torture.check(outcome.code == 0, f"case {seed}: undo of import {ids[place]}: exit {outcome.code}", outcome.text):
                break
            undone += 1
            said = difference(contents(store), known[place])
            if not torture.check(not said and not faults(store), f"case {seed}: behind the undo of import {ids[place]}", said):
                break
        else:
            redo(torture, store, seed, known)
    torture.note(f"{undone} imports were taken back")
    torture.end()


def redo(torture, store, seed, known):
    """Takes the undos back, the last one first."""
    ids = [run["id"] for run in runs(torture, store) if run["source"].startswith("undo of")]
    for step, one in enumerate(reversed(ids), 1):
        outcome = torture.run("undo", one, "-d", store)
        said = difference(contents(store), known[step])
        if not torture.check(outcome.code == 0 and not said, f"case {seed}: the undo of undo {one}: exit {outcome.code}", said + outcome.text):
            return


def difference(found, wanted):
    words = []
    for table in sorted(set(found) | set(wanted)):
        left, right = found.get(table, []), wanted.get(table, [])
        words += [f"{table} has {row}" for row in left if row not in right][:3] + [f"{table} lacks {row}" for row in right if row not in left][:3]
        if len(left) != len(right):
            words.append(f"{table}: {len(left)} rows, not {len(right)}")
    return "\n".join(words)


def looking_back(torture):
    chance = torture.begin(
        "--as-of and history --changes", "each moment behind an import is told as it was, byte for byte; telling it changes nothing"
    )
    folder = torture.folder("asof")
    feeds = torture.shared("feeds")
    for number in torture.cases(3, 60):
        store = folder / "asof.db"
        remove(store)
        told = []
        for step in range(chance.randrange(2, 6)):
            kind = chance.choice(["import", "import", "prune", "delete", "batch"]) if told else "import"
            feed = write(feeds, 200, 500 + chance.randrange(40), chance.choice(list(FORMATS)), chance.choice([0, 50, 100]))
            arguments = {
                "import": ["import", MAP, feed], "prune": ["import", MAP, feed, "--prune", "--prune-max", "100"],
                "batch": ["import", MAP, feed, "--commit", "batch", "--batch-size", 30],
                "delete": ["delete", "Item", "--where", f"weight > {chance.randrange(8000, 16000)}", "--yes"],
            }[kind]
            torture.run(*arguments, "-d", store, "-q")
            fetched = [torture.must("fetch", entity, "-d", store, "-f", "json").out for entity in ("Item", "Category", "Tag")]
            run = runs(torture, store)[-1]["id"]
            if not told or told[-1][0] != run:
                told.append((run, fetched))
        before = contents(store)
        for run, fetched in told:
            found = [torture.run("fetch", entity, "-d", store, "-f", "json", "--as-of", run) for entity in ("Item", "Category", "Tag")]
            case = f"case {number}, as of {run} of {told[-1][0]}"
            torture.check([one.out for one in found] == fetched, f"{case}: exits {[one.code for one in found]}", found[0].err.decode())
            outcome = torture.run("history", "-d", store, "--changes", run, "--json")
            torture.check(outcome.code == 0, f"{case}: changes, exit {outcome.code}", outcome.text[:500])
        torture.check(contents(store) == before, f"case {number}: telling it has changed the database")
    torture.end()


def refused(torture):
    torture.begin("undo where others were since", "refused with the objects at fault named, the store as it was; once they are as they were, it goes")
    folder = torture.folder("refused")
    store, saved = folder / "refused.db", folder / "saved.db"
    for number in torture.cases(3, 60):
        remove(store)
        records = list({record["id"]: record for record in items(60, number)}.values())
        first, second, third = folder / "first.ndjson", folder / "second.ndjson", folder / "third.ndjson"
        first.write_bytes(FORMATS["ndjson"](records))
        second.write_bytes(FORMATS["ndjson"]([dict(record, name="second") for record in records[:30]]))
        third.write_bytes(FORMATS["ndjson"]([dict(record, name="third") for record in records[20:40]]))
        torture.must("import", MAP, first, "-d", store, "-q")
        before = contents(store)
        torture.must("import", MAP, second, "-d", store, "-q")
        torture.must("import", MAP, third, "-d", store, "-q")
        copy(store, saved)
        now = contents(store)
        outcome = torture.run("undo", 2, "-d", store)
        named = sum(f"Item id {record['id']} was changed since" in outcome.text for record in records[20:30])
        torture.check(outcome.code == 65 and contents(store) == now and named == 10, f"case {number}: exit {outcome.code}, {named} named", outcome.text)
        torture.must("undo", 3, "-d", store)
        torture.must("undo", 2, "-d", store)
        said = difference(contents(store), before)
        torture.check(not said, f"case {number}: one behind the other", said)
        for one in (2, 3, 99, -1):
            told = torture.run("undo", "-d", store, "--", one)
            torture.check(told.code in (64, 65) and contents(store) == before, f"case {number}: undo {one} again: exit {told.code}", told.text)
    torture.end()


TESTS = [random_imports, looking_back, refused]
