#!/usr/bin/env python3
"""Distrusts the tool: kills it, takes its disk away, feeds it rubbish, and looks at the store from outside.

Scripts/torture.sh builds what is needed and calls this. Every test prints what it tried; a failure prints the
case. The same seed tries the same. `--write` puts the table into docs/reliability.md.
"""

import argparse
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import again
import company
import contexts
import differential
import disks
import fuzzing
import growth
import harness
import hostile
import kills
import resuming
import sanitizers
import stopping
import stores
import world

MODULES = {
    "kills": kills, "resuming": resuming, "disks": disks, "stopping": stopping, "company": company, "again": again, "hostile": hostile, "stores": stores,
    "differential": differential, "fuzzing": fuzzing, "growth": growth, "world": world, "contexts": contexts, "sanitizers": sanitizers,
}

# What Scripts/test.sh tries, with an eighth of the short run's cases: a minute.
SMALL = [
    kills.at_random_times, resuming.stop_and_resume, resuming.refusals, stopping.TESTS[0], again.TESTS[0], hostile.TESTS[0],
    differential.fuzz, stores.TESTS[1],
]


PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def write_table(torture):
    """The figures of this run, between two marks of the page."""
    revision = subprocess.run(
        ["git", "-C", PAGE.parent, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    lines = [
        f"{date.today()}, revision {revision}, seed {torture.seed}, {'long' if torture.is_long else 'short'} run"
        f" on {os.cpu_count()} cores:",
        "",
        "| tried | promise | checks | failed |",
        "|---|---|---:|---:|",
    ]
    for tally in torture.tallies:
        checks = f"skipped: {tally.skipped}" if tally.skipped else f"{tally.tried:,}"
        lines.append(f"| {tally.name} | {tally.promise} | {checks} | {len(tally.failures)} |")
    notes = [(tally.name, note) for tally in torture.tallies for note in tally.notes]
    if notes:
        lines += ["", "What was measured on the way:", ""] + [f"- {name}: {note}" for name, note in notes]
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{tail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", required=True, help="the tool, built for release")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--long", action="store_true", help="hours instead of minutes")
    parser.add_argument("--small", action="store_true", help="a minute: what runs with the tests")
    parser.add_argument("--only", action="append", default=[], help=f"{', '.join(MODULES)}, or a test's function")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    parser.add_argument("--keep", action="store_true", help="keep the files")
    options = parser.parse_args()
    torture = harness.Torture(options.tool, options.seed, options.long, options.keep, options.small)
    size = "small" if options.small else "long" if options.long else "short"
    print(f"seed {options.seed}, {size}, {options.tool}", flush=True)
    try:
        for name, module in MODULES.items():
            for test in module.TESTS:
                is_wanted = not options.only or name in options.only or test.__name__ in options.only
                if is_wanted and (not options.small or test in SMALL):
                    test(torture)
    finally:
        torture.close()
    if options.write:
        write_table(torture)
    failed = sum(len(tally.failures) for tally in torture.tallies)
    print(f"{sum(tally.tried for tally in torture.tallies)} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
