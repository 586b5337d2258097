"""The table of docs/reliability.md: each row tells when, on which revision, how long and with which seed it was tried.

A run replaces the rows of what it tried, and leaves the others as an earlier run has written them; so a part that takes a
night need not be tried again because another one was. What all runs have tried is added up beside: a short run behind a
long one hides neither its cases nor what failed of them.
"""

import re
import subprocess
from datetime import date
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
HEAD = ["| tried | promise | checks | failed | in all runs | failed | when, and with what |", "|---|---|---:|---:|---:|---:|---|"]
MEASURED = "What was measured on the way:"


def size(torture):
    """How much a run tries, in a few words."""
    words = "small" if torture.is_small else "long" if torture.is_long else "short"
    return words if torture.minutes is None else f"{words}, {torture.minutes:g} min a test"


def written(text):
    """What is on the page: rows and notes by the name of their test, in their order."""
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| tried |")}
    notes = {}
    for line in text.splitlines():
        match = re.fullmatch(r"- (.+?): (.+)", line)
        if match and (name := next((name for name in rows if line.startswith(f"- {name}: ")), None)):
            notes.setdefault(name, []).append(line)
    return rows, notes


def of_others(row, words):
    """Checks and failures of all runs behind a row of the page but this one, which may have written it before."""
    if not row:
        return 0, 0
    cells = [cell.strip() for cell in row.split("|")]
    own_tried, own_failed, tried, failed = (int(cell.replace(",", "")) if cell[0].isdigit() else 0 for cell in cells[3:7])
    return (tried - own_tried, failed - own_failed) if cells[7] == words else (tried, failed)


def merged(rows, notes, tallies, words):
    """The rows and notes with those of a run in their places."""
    order = list(rows)
    rows, notes = dict(rows), dict(notes)
    last = None
    for tally in tallies:
        name = tally.name
        if name not in order:
            order.insert(order.index(last) + 1 if last else len(order), name)
        last = name
        # What could not be tried takes the figures of an earlier run away from nobody.
        if tally.skipped and name in rows and "skipped" not in rows[name]:
            continue
        checks = f"skipped: {tally.skipped}" if tally.skipped else f"{tally.tried:,}"
        failed = len(tally.failures)
        others_tried, others_failed = of_others(rows.get(name), words)
        cells = [name, tally.promise, checks, f"{failed:,}", f"{others_tried + tally.tried:,}", f"{others_failed + failed:,}", words]
        rows[name] = f"| {' | '.join(cells)} |"
        notes[name] = [f"- {name}: {note}" for note in tally.notes]
    return [rows[name] for name in order], [note for name in order for note in notes.get(name, [])]


def write(torture, revision=None, page=PAGE):
    """Puts the figures of a run between the two marks of the page."""
    revision = revision or subprocess.run(
        ["git", "-C", page.parent, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    text = page.read_text()
    head, rest = text.split(BEGIN)
    former, tail = rest.split(END)
    words = f"{date.today()}, {revision}, {size(torture)}, seed {torture.seed}"
    rows, notes = merged(*written(former), torture.tallies, words)
    lines = HEAD + rows + (["", MEASURED, ""] + notes if notes else [])
    page.write_text(f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{tail}")
