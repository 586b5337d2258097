"""Guessed maps: they are without faults, take the feed that they were guessed from, and nothing makes the guesser fall over."""

import json

from differential import random_case
from feeds import FORMATS, items
from harness import contents, faults, remove
from mutants import mutant
from spelling import spell


def guessed(torture):
    torture.begin("guessed maps of random feeds", "a map without faults, the same each time, that imports its feed; importing again changes nothing; the sample is left alone")
    folder = torture.folder("guesses")
    rejected = 0
    for number in torture.cases(60, 6000):
        seed = f"{torture.seed}:guess:{number}"
        if number % 3 == 0:
            form = ["json", "ndjson", "xml", "csv"][number // 3 % 4]
            data = FORMATS[form](list({record["id"]: record for record in items(30, number)}.values()))
        else:
            _, imports = random_case(seed)
            form, _, _, records = imports[0]
            data = spell(form, records).encode("utf-8", "surrogatepass")
        feed, plan, store = folder / f"feed.{form}", folder / "guess.map.yaml", folder / "guess.db"
        feed.write_bytes(data)
        plan.unlink(missing_ok=True)
        remove(store)
        case = f"case {seed} ({form})"
        outcome = torture.run("guess", feed, "-o", plan)
        if outcome.code == 65:
            torture.check(not plan.exists() and bool(outcome.err), f"{case}: nothing is guessed", outcome.text)
            continue
        if not torture.check(outcome.code == 0 and plan.exists(), f"{case}: exit {outcome.code}", outcome.text):
            continue
        torture.check(torture.run("guess", feed).out == plan.read_bytes().replace(b"", b""), f"{case}: another map the second time")
        outcome = torture.run("check", plan, feed)
        torture.check(outcome.code in (0, 3) and "no faults" in outcome.text, f"{case}: check, exit {outcome.code}", outcome.text + plan.read_text())
        outcome = torture.run("import", plan, feed, "-d", store, "--json")
        torture.check(outcome.code in (0, 3) and not faults(store), f"{case}: import, exit {outcome.code}", outcome.text + plan.read_text())
        if outcome.code == 3:
            rejected += 1
        before = contents(store)
        again = torture.run("import", plan, feed, "-d", store, "-q")
        told = json.loads(outcome.out or b"{}")
        if told.get("updated") == 0 and told.get("rejected") == 0:
            torture.check(again.code in (0, 3) and contents(store) == before, f"{case}: importing again", again.text)
        torture.check(feed.read_bytes() == data, f"{case}: the sample has changed")
    torture.note(f"{rejected} of them reject records of their feed")
    torture.end()


def mutated(torture):
    chance = torture.begin("guesses from mutated feeds", "0 signals, 0 over 5 s, 0 over 200 MB; a map that is written is without faults")
    folder = torture.folder("guess-mutants")
    goods = {kind: FORMATS[kind](items(12, 9)) for kind in FORMATS}
    for number in torture.cases(120, 40000):
        kind = ["json", "ndjson", "xml", "csv"][number % 4]
        feed, plan = folder / f"mutant.{kind}", folder / "mutant.map.yaml"
        feed.write_bytes(mutant(goods[kind], chance))
        plan.unlink(missing_ok=True)
        outcome = torture.run("guess", feed, "-o", plan, timeout=20)
        case = f"mutant {number} ({kind}), seed {torture.seed}"
        torture.check(not outcome.is_crash and outcome.seconds < 5 and outcome.peak < 200 << 20, f"{case}: exit {outcome.code}, {outcome.seconds:.1f} s", outcome.text)
        torture.check(plan.exists() == (outcome.code == 0), f"{case}: exit {outcome.code}, and a map is {'there' if plan.exists() else 'not there'}")
        torture.check("\x1b" not in outcome.text, f"{case}: an escape sequence in what is printed")
        if plan.exists():
            outcome = torture.run("check", plan, timeout=20)
            torture.check(outcome.code == 0, f"{case}: check of the map, exit {outcome.code}", outcome.text + plan.read_text(errors="replace"))
    torture.end()


TESTS = [guessed, mutated]
