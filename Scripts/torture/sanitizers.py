"""The whole test suite under the thread and the address sanitizer, each in a build folder of its own."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


# How many suites run in one process: all cases of a process begin at once, and the frames of the sanitizers are large.
TOGETHER = 6


def suites(arguments):
    """The test suites, by `Target.Suite`, and what was said; builds them."""
    said = ""
    # `swift test` would build all of it once more, with flags of its own.
    for command in (["build", "--build-tests"], ["test", "list", "--skip-build"]):
        done = subprocess.run(["swift", *command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        said += done.stdout + done.stderr
    return sorted({line.split("/")[0] for line in done.stdout.splitlines() if re.match(r"\w+\.\w+/", line)}), said


def suite(torture, sanitizer, options, flags=()):
    torture.begin(f"{sanitizer} sanitizer", "the whole suite, 0 reports")
    if not torture.is_long:
        torture.skip("only in --long (two hours)")
        return torture.end()
    arguments = [f"--sanitize={sanitizer}", "--scratch-path", f".build/{sanitizer}", *flags]
    names, said = suites(arguments)
    torture.check(len(names) > 0, "no suites", said[-1500:])
    # Some suites in place of all, where time is short; the note says which.
    if torture.filter:
        names = [name for name in names if re.search(torture.filter, name)]
    ran = tried = 0
    chunks = [names[first:first + TOGETHER] for first in range(0, len(names), TOGETHER)]
    for number in torture.cases(len(chunks), len(chunks)):
        part = chunks[number]
        done = subprocess.run(
            ["swift", "test", "--skip-build", *arguments, "--filter", f"^({'|'.join(map(re.escape, part))})/"],
            cwd=ROOT, capture_output=True, text=True, errors="replace", check=False,
            env={**os.environ, "DRAGOMAN_SANITIZER": sanitizer, **options},
        )
        said = done.stdout + done.stderr
        tests = re.search(r"Test run with ([1-9]\d*) tests?\b", said)
        reports = sorted(set(re.findall(r"SUMMARY: \w+Sanitizer: [^\n]*", said)))
        failures = "\n".join(line for line in said.splitlines() if "✘" in line) or said[-1500:]
        torture.check(done.returncode == 0 and tests is not None, f"{', '.join(part)}: exit {done.returncode}", failures[:3000])
        torture.check(not reports, f"{', '.join(part)}: {len(reports)} reports", "\n".join(reports))
        ran += len(part)
        tried += int(tests.group(1)) if tests else 0
    of = f", of suites that match {torture.filter}" if torture.filter else f", {ran} of {len(names)} suites"
    torture.note(f"{tried} tests{of}")
    torture.end()


def thread(torture):
    # Not optimised: what is done inside of a Mutex has functions of its own then, which the suppressions name.
    suite(torture, "thread", {"TSAN_OPTIONS": f"suppressions={Path(__file__).parent / 'thread.suppressions'}"})


def address(torture):
    # Optimised: the frames of all the cases of a process fit into their stacks.
    suite(torture, "address", {"ASAN_OPTIONS": "detect_leaks=0"}, ["-c", "release", "-Xswiftc", "-enable-testing"])


TESTS = [thread, address]
