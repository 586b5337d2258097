"""libFuzzer on the readers, the map decoder, the predicate parser, date and number readers, and the store opener.

The targets are a package of their own, `fuzz`, built with libFuzzer and the address sanitizer into `.build/fuzz`: by --long, or by

    swift build --package-path Scripts/torture/fuzz --scratch-path .build/fuzz -c release \\
      --sanitize address --sanitize fuzzer -Xswiftc -enable-testing

What a target finds is printed with its bytes; each such input becomes a test.
"""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import differential
from feeds import FORMATS, MAP, items

ROOT = Path(__file__).parents[2]
BINARY = ROOT / ".build/fuzz/release/Fuzz"
BUILD = [
    "swift", "build", "--package-path", ROOT / "Scripts/torture/fuzz", "--scratch-path", ROOT / ".build/fuzz", "-c", "release",
    "--sanitize", "address", "--sanitize", "fuzzer", "-Xswiftc", "-enable-testing",
]
TARGETS = ["json", "ndjson", "xml", "csv", "map", "predicate", "dates", "numbers", "store"]
PREDICATES = [
    'name == "x" AND age > 3', 'NOT (a.b BEGINSWITH[cd] "é" OR c IN {1, 2.5, "x"})', "ANY phones.kind == 'work'", "phones.@count >= 2",
    "born BETWEEN {'2024-01-01', $to}", 'name LIKE "a*?"', "name MATCHES 'a[0-9]+'", "x == nil || y != NULL", "TRUEPREDICATE", "a + b * -3 < 10 / c",
    "SUBQUERY(a, $x, $x.b == 1).@count > 0", "CAST(d, 'NSDate') > now()", "name ENDSWITH[c] \"\\u00e9\\n\"", "SELF IN %@", "NONE a.b == 1",
]
PATTERNS = ["yyyy-MM-dd", "dd/MM/yy HH:mm:ss.SSS", "EEE, d MMM yyyy h:mm a Z", "yyyyDDD", "YYYY-'W'ww-e", "HH:mm:ss XXX", "QQQ yyyy", "''yyyy''"]


def seeds(torture, name, folder):
    """What a target begins with."""
    def write(number, data):
        (folder / str(number)).write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))

    found = []
    if name in FORMATS:
        found = [FORMATS[name](items(count, 1)) for count in (1, 3)]
        found += [path.read_bytes()[:4096] for path in sorted((ROOT / "SampleData").glob(f"*.{name}"))]
    elif name == "map":
        found = [MAP.read_bytes()] + [path.read_bytes() for path in sorted((ROOT / "Maps").glob("*.yaml"))]
        found += [differential.map_text(differential.random_case(f"fuzz:{number}")[0]) for number in range(10)]
    elif name == "predicate":
        found = PREDICATES
    elif name == "dates":
        found = [f"{pattern}\n{text}" for pattern in PATTERNS for text in differential.MOMENTS + differential.DAYS + ["P1Y2M3DT4H5M6.5S"]]
    elif name == "numbers":
        found = [f",.{text}" for text in differential.WHOLE[:8] + differential.REAL + ["1.234,5", "12,5 %", "(1,20 €)", "EUR 3"]]
    elif name == "store":
        store = folder.parent / "seed.db"
        feed = folder.parent / "seed.json"
        feed.write_bytes(FORMATS["json"](items(3, 1)))
        torture.must("import", MAP, feed, "-d", store, "-q")
        found = [store.read_bytes()]
    for number, data in enumerate(found):
        write(number, data)


def libfuzzer(torture):
    torture.begin("coverage-guided fuzzing", "readers, maps, predicates, dates, numbers, files: no crash, no hang, no byte out of bounds")
    if torture.is_long:
        done = subprocess.run(BUILD, capture_output=True, text=True, check=False)
        if not torture.check(done.returncode == 0, "the targets are built", done.stdout[-1500:] + done.stderr[-1500:]):
            return torture.end()
    if not BINARY.exists():
        torture.skip("the targets are not built (fuzzing.py says how)")
        return torture.end()
    # --minutes is for all of them together.
    seconds = torture.times(5, 3600)
    if torture.minutes:
        seconds = min(seconds, int(torture.minutes * 60 * torture.jobs / len(TARGETS)))

    def fuzz(name):
        folder = torture.folder(f"libfuzzer/{name}/seeds")
        corpus = torture.folder(f"libfuzzer/{name}/corpus")
        seeds(torture, name, folder)
        done = subprocess.run(
            [
                BINARY, corpus, folder, f"-max_total_time={seconds}", f"-seed={torture.seed}", "-timeout=10", "-rss_limit_mb=3000",
                f"-max_len={65536 if name == 'store' else 4096}", f"-artifact_prefix={corpus.parent}/", "-print_final_stats=1",
            ],
            capture_output=True, text=True, errors="replace", check=False, cwd=corpus.parent,
            env={**os.environ, "DRAGOMAN_FUZZ": name, "ASAN_OPTIONS": "detect_leaks=0"},
        )
        return name, corpus, done

    with ThreadPoolExecutor(torture.jobs) as crowd:
        outcomes = list(crowd.map(fuzz, TARGETS))
    for name, corpus, done in outcomes:
        told = done.stderr
        runs = re.search(r"number_of_executed_units: (\d+)", told)
        covered = re.findall(r"cov: (\d+)", told)
        # An earlier build without coverage that is taken up again has those of the target alone: libFuzzer is blind then.
        counters = re.search(r"\((\d+) inline 8-bit counters\)", told)
        torture.check(counters and int(counters.group(1)) > 100_000, f"{name}: the library has coverage counters: {counters and counters.group(1)}")
        found = [path for path in corpus.parent.iterdir() if path.is_file() and path.name.startswith(("crash-", "timeout-", "oom-"))]
        for path in found:
            told += f"\n{path.name}: {path.read_bytes()[:2000]!r}"
        reason = re.search(r"Fatal error: [^\n]*|ERROR: [^\n]*", told)
        said = (reason.group(0) + "\n" if reason else "") + told[-1500:]
        torture.check(done.returncode == 0 and not found, f"{name}: exit {done.returncode}", said)
        torture.note(f"{name}: {int(runs.group(1)) if runs else 0:,} inputs, {covered[-1] if covered else 0} edges")
    torture.end()


TESTS = [libfuzzer]
