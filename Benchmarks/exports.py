"""People written as a feed, against a hand-written C++ program that prints the same bytes: Scripts/bench.sh --export.

All are whole processes that write a file. The peers print the same values in a form of their own:
plain numbers where the feed has grouped ones.
"""

import filecmp
import json
import shutil
import statistics
import sys

from measuring import HERE, PYTHON, WORK, fill, importing, measure, megabytes, people_feed, python_has, remove, say, verdict

YARDSTICK = WORK / "export"


def run(options, tool):
    if not YARDSTICK.exists():
        sys.exit("There is no yardstick to compare with: Scripts/bench.sh builds it with g++.")
    database, duck = WORK / "export.db", WORK / "export.duckdb"
    remove(database)
    remove(duck)
    feed = people_feed(options.records, "json")
    measure(fill(importing(tool, "people.map.yaml"), feed, database))
    peers = HERE / "peers"
    ours = [tool, "export", HERE / "people.map.yaml", "-d", database, "-q", "-o"]
    programs = {"yardstick (C++)": [YARDSTICK, database], "**dragoman, NDJSON**": ours, "**dragoman, XML**": ours}
    if shutil.which("sqlite3"):
        programs["sqlite3, json_object"] = [peers / "sqlite_json_object.sh", database]
    if python_has("duckdb"):
        measure([PYTHON, peers / "duckdb_read_json.py", feed, duck])
        programs["DuckDB, COPY TO"] = [PYTHON, peers / "duckdb_copy_to.py", duck]
    if python_has("sqlite_utils"):
        programs["sqlite-utils, rows --nl"] = [PYTHON, peers / "sqlite_utils_rows.py", database]
    seconds, peaks = {name: [] for name in programs}, dict.fromkeys(programs, 0)
    sizes = {}
    expected = WORK / "export-0.ndjson"
    for number in range(options.runs):
        for index, (name, command) in enumerate(programs.items()):
            say(f"run {number + 1} of {options.runs}: {name}")
            output = WORK / f"export-{index}.{'xml' if 'XML' in name else 'ndjson'}"
            output.unlink(missing_ok=True)
            elapsed, peak, _ = measure([*command, output])
            seconds[name].append(elapsed)
            peaks[name] = max(peaks[name], peak)
            sizes[name] = output.stat().st_size
            check(name, output, expected, options.records)
            if output != expected:
                output.unlink()
    expected.unlink()
    remove(database)
    remove(duck)
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    base, json_name, xml_name = list(programs)[:3]
    print(f"Export, {options.records:,} people, medians of {options.runs} runs\n")
    print("| | seconds | ratio | size | peak memory |")
    print("|---|--:|--:|--:|--:|")
    for name, value in middle.items():
        print(f"| {name} | {value:.2f} s | {value / middle[base]:.2f} | {megabytes(sizes[name])} | {megabytes(peaks[name])} |")
    print("\n| | ratio | at most | kept |\n|---|--:|--:|---|")
    print(f"| NDJSON to the yardstick | {verdict(middle[json_name] / middle[base], 1.5)} |")
    print(f"| XML to NDJSON | {verdict(middle[xml_name] / middle[json_name], 2)} |")


def check(name, output, expected, records):
    """The tool's NDJSON is the yardstick's byte for byte; everybody else has as many records."""
    if "NDJSON" in name:
        if not filecmp.cmp(output, expected, shallow=False):
            sys.exit(f"{output.name} is not what the yardstick prints")
        return
    if "XML" in name:
        with open(output, "rb") as lines:
            count = sum(line.startswith(b"<person ") for line in lines)
    else:
        with open(output, "rb") as lines:
            first = json.loads(next(lines))
            count = 1 + sum(1 for _ in lines)
        if "address" in first and "zip" not in first["address"]:
            sys.exit(f"{name}: its first record is {first}")
    if count != records:
        sys.exit(f"{name} wrote {count} of {records} records")
