"""The whole test suite under the thread and the address sanitizer, each in a build folder of its own."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def suite(torture, sanitizer, options):
    torture.begin(f"{sanitizer} sanitizer", "the whole suite, 0 reports")
    if not torture.is_long:
        torture.skip("only in --long (an hour)")
        return torture.end()
    # Some suites in place of all, where time is short; the note says which.
    part = ["--filter", torture.filter] if torture.filter else []
    done = subprocess.run(
        ["swift", "test", f"--sanitize={sanitizer}", "--scratch-path", f".build/{sanitizer}", *part],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, **options},
    )
    said = done.stdout + done.stderr
    reports = re.findall(r"(?:WARNING: ThreadSanitizer|ERROR: AddressSanitizer|ERROR: LeakSanitizer): [^\n]*", said)
    tests = re.search(r"Test run with ([1-9]\d*) tests?\b", said)
    torture.check(done.returncode == 0 and tests is not None, f"exit {done.returncode}", said[-1500:])
    torture.check(not reports, f"{len(reports)} reports", "\n".join(sorted(set(reports))))
    torture.note(f"{tests.group(1) if tests else 'no'} tests" + (f", of suites that match {torture.filter}" if torture.filter else ""))
    torture.end()


def thread(torture):
    suite(torture, "thread", {"TSAN_OPTIONS": f"suppressions={Path(__file__).parent / 'thread.suppressions'}"})


def address(torture):
    suite(torture, "address", {"ASAN_OPTIONS": "detect_leaks=0"})


TESTS = [thread, address]
