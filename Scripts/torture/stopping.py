"""Signals: an answer within a second, the promised exit code, a store and outputs that are whole."""

import os
import signal
import subprocess
import time

from feeds import MAP
from harness import contents, copy, faults, litter, remove
from kills import unbroken, works

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def stopping(torture):
    chance = torture.begin("INT, TERM, HUP at random times", "ends within 1 s with 130, 143, 129; contents before or after")
    folder, all_works = works(torture, torture.times(6000, 60000))
    slowest = 0.0
    for work in all_works:
        before, after, between, seconds = unbroken(torture, folder, work)
        for number in torture.cases(6, 60, 1 / len(all_works)):
            sent = chance.choice(list(CODES))
            twice = chance.random() < 0.3
            store = folder / "stopped.db"
            copy(work.before, store)
            process = torture.start(*work.arguments, "-d", store)
            time.sleep(chance.random() * seconds)
            began = time.monotonic()
            os.kill(process.pid, sent)
            if twice:
                try:
                    os.kill(process.pid, sent)
                except ProcessLookupError:
                    pass
            outcome = torture.finish(process)
            took = time.monotonic() - began
            slowest = max(slowest, took)
            case = f"{work.name}, {sent.name}{' twice' if twice else ''} {number}"
            # Before the tool has started up, the signal's own action ends it: the same to a shell.
            codes = {0, 3, CODES[sent], -sent}
            torture.check(outcome.code in codes, f"{case}: exit {outcome.code}", outcome.text)
            torture.check(took < 1, f"{case}: {took:.2f} s", outcome.text)
            found = contents(store)
            torture.check(
                found == after if outcome.code in (0, 3) else found in (before, after) or work.batch, f"{case}: contents"
            )
            torture.check(not faults(store), f"{case}: faults")
            if outcome.code == CODES[sent] and not twice:
                torture.check(outcome.err.strip() != b"", f"{case}: nothing was said")
            remove(store)
    torture.note(f"slowest answer {slowest:.2f} s")
    torture.end()


def exports(torture):
    chance = torture.begin("an export that is stopped", "the final name has the old file or the whole new one; nothing beside it")
    folder, all_works = works(torture, torture.times(6000, 60000))
    store, target = all_works[1].before, folder / "out.json"
    arguments = ["export", MAP, "-d", store, "--entity", "Item", "-f", "json", "--overwrite", "-o", target]
    began = time.monotonic()
    torture.must(*arguments)
    seconds = time.monotonic() - began
    whole = target.read_bytes()
    known = {path.name for path in folder.iterdir()}
    for number in torture.cases(10, 200):
        target.write_text("[]")
        process = torture.start(*arguments)
        time.sleep(chance.random() * seconds)
        os.kill(process.pid, chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
        outcome = torture.finish(process)
        torture.check(target.read_bytes() in (b"[]", whole), f"export {number}: a part of it stands under the final name")
        torture.check(
            not litter(folder, known) or outcome.code < 0, f"export {number}: litter {litter(folder, known)}"
        )
        for name in litter(folder, known):
            (folder / name).unlink()
    torture.end()


def closed_pipe(torture):
    torture.begin("a pipe that is closed", "head -1 behind export and fetch: quiet, and no failure of the tool's own")
    _, all_works = works(torture, 3000)
    store = all_works[1].before
    for name, arguments in {
        "export": ["export", MAP, "-d", store, "--entity", "Item", "-f", "ndjson"],
        "fetch": ["fetch", "Item", "-d", store],
    }.items():
        tool = subprocess.Popen([torture.tool, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        head = subprocess.run(["head", "-1"], stdin=tool.stdout, capture_output=True, check=False)
        tool.stdout.close()
        said = tool.stderr.read()
        code = tool.wait(timeout=20)
        torture.check(head.stdout.count(b"\n") == 1, f"{name}: no line")
        torture.check(code in (0, 141, -signal.SIGPIPE) and said == b"", f"{name}: exit {code}", said.decode())
    torture.end()


TESTS = [stopping, exports, closed_pipe]
