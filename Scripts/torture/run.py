#!/usr/bin/env python3
"""Distrusts the tool: kills it, takes its disk away, feeds it rubbish, and looks at the store from outside.

Scripts/torture.sh builds what is needed and calls this. Every test prints what it tried; a failure prints the
case. The same seed tries the same. `--write` puts what was tried into the table of docs/reliability.md.
"""

import argparse
import os
import signal
import sys

import again
import company
import console
import contracts
import contexts
import differential
import disks
import elements
import fuzzing
import growth
import guesses
import harness
import hostile
import keys
import kills
import linked
import resuming
import retries
import sanitizers
import servers
import stopping
import stores
import table
import undoing
import urls
import ways
import wide
import world

MODULES = {
    "kills": kills, "resuming": resuming, "disks": disks, "stopping": stopping, "company": company, "again": again, "hostile": hostile, "stores": stores,
    "undoing": undoing, "retries": retries, "guesses": guesses, "console": console, "urls": urls, "contracts": contracts, "servers": servers,
    "differential": differential, "linked": linked, "keys": keys, "wide": wide, "ways": ways, "elements": elements,
    "fuzzing": fuzzing, "growth": growth, "world": world, "contexts": contexts, "sanitizers": sanitizers,
}

# What Scripts/test.sh tries, with an eighth of the short run's cases: a minute.
SMALL = [
    kills.at_random_times, resuming.stop_and_resume, resuming.refusals, stopping.TESTS[0], again.TESTS[0], hostile.TESTS[0],
    differential.fuzz, keys.keys, stores.TESTS[1], undoing.refused, retries.retried, console.strangers, urls.secrets,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", required=True, help="the tool, built for release")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--long", action="store_true", help="hours instead of minutes")
    parser.add_argument("--small", action="store_true", help="a minute: what runs with the tests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes try random cases (default: one a processor)")
    parser.add_argument("--minutes", type=float, help="begin no new case of a test after so many minutes")
    parser.add_argument("--filter", help="of the suite under sanitizers, only the tests that match")
    parser.add_argument("--only", action="append", default=[], help=f"{', '.join(MODULES)}, or a test's function")
    parser.add_argument("--write", action="store_true", help="put the rows of what was tried into docs/reliability.md")
    parser.add_argument("--revision", help="what the tool was built from; without it that of the sources")
    parser.add_argument("--keep", action="store_true", help="keep the files")
    options = parser.parse_args()
    # What is ignored here, as behind nohup, the tool ignores, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for one in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)
    torture = harness.Torture(options.tool, options.seed, options.long, options.keep, options.small, options.minutes, options.filter, options.jobs)
    print(f"seed {options.seed}, {table.size(torture)}, {options.tool}", flush=True)
    try:
        for name, module in MODULES.items():
            for test in module.TESTS:
                is_wanted = not options.only or name in options.only or test.__name__ in options.only
                if is_wanted and (not options.small or test in SMALL):
                    test(torture)
                    if options.write:
                        # What is tried is written at once: a night that is broken off has not been for nothing.
                        table.write(torture, options.revision)
    finally:
        torture.close()
    failed = sum(len(tally.failures) for tally in torture.tallies)
    print(f"{sum(tally.tried for tally in torture.tallies)} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
