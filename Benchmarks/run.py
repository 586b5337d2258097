#!/usr/bin/env python3
"""Compares Dragoman with its peers: one table of ratios from one run. Scripts/bench.sh builds what it needs.

Every figure is the median of whole processes, the peers taken in turn (A B C A B C …), each against
a file of its own: a first import into a new file, then the same import again. Every peer's table is
compared with the yardstick's after both. The yardstick is yardstick/limit.cpp, a hand-written C++
program for this one feed; its figures are the ones it measures itself (load + parse + insert, and
load + parse + the same upsert again), without start and end of its process.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / ".build"
WORK = BUILD / "bench"
PYTHON = BUILD / "bench-venv" / "bin" / "python"
FINGERPRINT = (
    "SELECT count(*), count(DISTINCT ticketNumber), count(city), sum(visits), round(sum(score), 3),"
    " round(sum(salary), 2), min(dateOfBirth), max(dateOfBirth), sum(CAST(active AS INTEGER)),"
    " sum(length(firstName) + length(lastName) + length(socialSecurityNumber) + length(zip))"
    " FROM Person"
)


@dataclass
class Peer:
    name: str
    label: str
    command: list
    needs: list
    feed: str = "json"
    first: list = field(default_factory=list)
    again: list = field(default_factory=list)
    peak: int = 0

    @property
    def missing(self):
        return [name for name, there in self.needs if not there]


def measure(command):
    """Seconds, peak resident bytes and output of one process."""
    with open(WORK / "stdout", "w+b") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command], stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read()
        if process.returncode != 0:
            line = " ".join(str(part) for part in command)
            sys.exit(f"exit code {process.returncode} of {line}\n{printed.decode()}")
        unit = 1 if sys.platform == "darwin" else 1024
        return seconds, usage.ru_maxrss * unit, printed


def processor_seconds():
    """Seconds that the cores were busy since the machine started, and those of this process and its children."""
    try:
        with open("/proc/stat", encoding="utf-8") as lines:
            ticks = [int(word) for word in next(lines).split()[1:]]
    except OSError:
        return None
    idle = ticks[3] + ticks[4]  # idle and waiting for I/O
    times = os.times()
    own = times.user + times.system + times.children_user + times.children_system
    return (sum(ticks[:8]) - idle) / os.sysconf("SC_CLK_TCK"), own


def tell_neighbours(before, start):
    """Says when other processes took a share of the cores that makes the figures doubtful."""
    after = processor_seconds()
    if before is None or after is None:
        return
    others = (after[0] - before[0]) - (after[1] - before[1])
    share = others / ((time.perf_counter() - start) * os.cpu_count())
    if share > 0.02:
        print(f"\nDoubtful: other processes took {share:.0%} of the cores meanwhile.")


def remove(database):
    for suffix in ("", "-wal", "-shm", ".wal"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)


def query(sql, database):
    """One row of a SQLite database, in a process of its own so that this one stays small."""
    script = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[2]).execute(sys.argv[1]).fetchone(), sep='|')"
    return subprocess.check_output([sys.executable, "-c", script, sql, str(database)], text=True).strip()


def version(command):
    try:
        return subprocess.check_output(command, text=True, stderr=subprocess.STDOUT).strip().split("\n")[0]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def python_has(*modules):
    script = "import " + ", ".join(modules)
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", script], stderr=subprocess.DEVNULL).returncode == 0


def people_feed(records, kind):
    """The path of the people feed, made when it is not there."""
    path = WORK / f"people-{records}.{kind}"
    if path.exists():
        return path
    part = WORK / f"part.{kind}"
    if kind == "json":
        subprocess.check_call([sys.executable, HERE / "yardstick" / "generate_people.py", str(records), part])
    elif kind == "xml":
        subprocess.check_call(
            [sys.executable, HERE / "yardstick" / "people_to_xml.py", people_feed(records, "json"), part]
        )
    else:
        with open(people_feed(records, "json"), encoding="utf-8") as feed, open(part, "w", encoding="utf-8") as out:
            out.writelines(line.rstrip(",\n") + "\n" for line in feed if line.startswith("{"))
    return part.rename(path)


def importing(tool, map_name, *options):
    return [tool, "import", HERE / map_name, "FEED", "-d", "DB", "--progress", "none", *options]


def all_peers(tool):
    peers = HERE / "peers"
    dragoman = [("dragoman", tool.exists())]
    ours = importing(tool, "people.map.yaml")
    python = [PYTHON, "SCRIPT", "FEED", "DB"]
    grdb = HERE / "GRDBCodable" / ".build" / "release" / "GRDBCodable"
    limit = WORK / "limit"

    def script(name):
        return [peers / name if part == "SCRIPT" else part for part in python]

    return [
        Peer("yardstick", "yardstick (C++, this feed only)", [limit, "FEED", "DB"], [("g++", limit.exists())]),
        Peer("dragoman", "**dragoman, JSON**", ours, dragoman),
        Peer("dragoman-ndjson", "**dragoman, NDJSON**", ours, dragoman, feed="ndjson"),
        Peer("dragoman-xml", "**dragoman, XML**", ours, dragoman, feed="xml"),
        Peer("duckdb", "DuckDB, read_json", script("duckdb_read_json.py"), [("duckdb (pip)", python_has("duckdb"))]),
        Peer("python", "Python sqlite3 + orjson", script("python_orjson.py"), [("orjson (pip)", python_has("orjson"))]),
        Peer("sqlite3", "sqlite3, json_each", [peers / "sqlite_json_each.sh", "FEED", "DB"],
             [("sqlite3", shutil.which("sqlite3") is not None)]),
        Peer("grdb", "GRDB, Codable + JSONDecoder", [grdb, "FEED", "DB"], [("GRDBCodable", grdb.exists())]),
        Peer("sqlite-utils", "sqlite-utils, upsert_all", script("sqlite_utils_upsert.py"),
             [("sqlite-utils (pip)", python_has("sqlite_utils"))]),
    ]


def fill(command, feed, database):
    return [{"FEED": feed, "DB": database}.get(part, part) if isinstance(part, str) else part for part in command]


def fingerprint(peer, database):
    if peer.name == "duckdb":
        command = [PYTHON, HERE / "peers" / "duckdb_read_json.py", "--query", FINGERPRINT, database]
        return subprocess.check_output(command, text=True).strip()
    return query(FINGERPRINT, database)


def run_once(peer, records, expected):
    """One first import and one import again; gives the fingerprint of the table."""
    database = WORK / f"{peer.name}.db"
    command = fill(peer.command, people_feed(records, peer.feed), database)
    remove(database)
    if peer.name == "yardstick":
        _, peak, output = measure(command)
        times = json.loads(output)
        peer.first.append(times["firstImport"])
        peer.again.append(times["load"] + times["parse"] + times["again"])
        peer.peak = max(peer.peak, peak)
        found = fingerprint(peer, database)
        if not found.startswith(f"{records}|{records}|"):
            sys.exit(f"yardstick: {found} is not {records} rows")
        return found
    for seconds in (peer.first, peer.again):
        elapsed, peak, _ = measure(command)
        seconds.append(elapsed)
        peer.peak = max(peer.peak, peak)
        found = fingerprint(peer, database)
        if found != expected:
            sys.exit(f"{peer.name} cheats: its table is\n  {found}, the yardstick's is\n  {expected}")
    remove(database)
    return expected


def header(tool):
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    revision = version(["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"])
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({model}), {platform.system()}, revision {revision}\n")


def compare(options, tool):
    peers = all_peers(tool)
    if options.only:
        unknown = set(options.only) - {peer.name for peer in peers}
        if unknown:
            sys.exit(f"no peer {', '.join(sorted(unknown))}; there are {', '.join(peer.name for peer in peers)}")
        peers = [peer for peer in peers if peer.name in options.only or peer.name == "yardstick"]
    if peers[0].missing:
        sys.exit("There is no yardstick to compare with: Scripts/bench.sh builds it with g++.")
    ready = [peer for peer in peers if not peer.missing]
    for peer in ready:
        people_feed(options.records, peer.feed)
    expected = ""
    for number in range(options.runs):
        for peer in ready:
            print(f"\rrun {number + 1} of {options.runs}: {peer.name:<20}", end="", file=sys.stderr, flush=True)
            expected = run_once(peer, options.records, expected)
    print(f"\r{'':<40}\r", end="", file=sys.stderr)
    print(f"{options.records:,} records, medians of {options.runs} runs, seconds and ratio to the yardstick\n")
    print("| | first import | ratio | again | ratio | peak memory |")
    print("|---|--:|--:|--:|--:|--:|")
    base = peers[0]
    for peer in peers:
        if peer.missing:
            print(f"| {peer.label} | not installed: {', '.join(peer.missing)} | | | | |")
            continue
        first, again = statistics.median(peer.first), statistics.median(peer.again)
        print(
            f"| {peer.label} | {first:.2f} s | {first / statistics.median(base.first):.2f}"
            f" | {again:.2f} s | {again / statistics.median(base.again):.2f} | {peer.peak / 1e6:.0f} MB |"
        )
    done = {peer.name: peer for peer in ready}
    if "dragoman" in done and "dragoman-xml" in done:
        ratio = statistics.median(done["dragoman-xml"].first) / statistics.median(done["dragoman"].first)
        print(f"\nXML takes {ratio:.2f} times as long as JSON (first import).")


def big_feed(kind, megabytes):
    """The path of a big feed and the number of its distinct keys, made when it is not there."""
    path = WORK / f"big-{megabytes}.{kind}"
    facts = path.with_suffix(f".{kind}.facts")
    if not facts.exists():
        print(f"making {path.name} …", file=sys.stderr)
        with open(path, "wb") as out:
            command = [sys.executable, HERE / "gen_big.py", kind, str(megabytes)]
            said = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, check=True, text=True).stderr
        facts.write_text(said)
    words = dict(word.split("=") for word in facts.read_text().split())
    return path, int(words["distinct"])


def big(options, tool):
    print("Big feeds, `--commit batch`, into a new file: seconds, rate, peak memory\n")
    print("| feed | size | seconds | MB/s | peak memory |")
    print("|---|--:|--:|--:|--:|")
    for kind in ("json", "ndjson", "xml"):
        for megabytes in options.megabytes:
            path, distinct = big_feed(kind, megabytes)
            database = WORK / "big.db"
            remove(database)
            command = fill(importing(tool, "items.map.yaml", "--commit", "batch"), path, database)
            seconds, peak, _ = measure(command)
            rows = query("SELECT count(*) FROM Item", database)
            if rows != str(distinct):
                sys.exit(f"{path.name}: {rows} rows, {distinct} distinct keys in the feed")
            rate = path.stat().st_size / 1e6 / seconds
            print(f"| {kind} | {megabytes} MB | {seconds:.1f} s | {rate:.0f} | {peak / 1e6:.0f} MB |", flush=True)
            remove(database)


def growth(options, tool):
    sizes = (125_000, 250_000, 500_000, 1_000_000, 2_000_000)
    seconds = {records: [] for records in sizes}
    peaks = dict.fromkeys(sizes, 0)
    for _ in range(options.runs):
        for records in sizes:
            database = WORK / "growth.db"
            remove(database)
            command = fill(importing(tool, "people.map.yaml"), people_feed(records, "json"), database)
            elapsed, peak, _ = measure(command)
            seconds[records].append(elapsed)
            peaks[records] = max(peaks[records], peak)
            rows = query("SELECT count(*) FROM Person", database)
            if rows != str(records):
                sys.exit(f"{rows} rows of {records} records")
            remove(database)
    print(f"Growth, people as JSON, first import, medians of {options.runs} runs: ratio to half the records\n")
    print("| records | seconds | ratio | peak memory |")
    print("|--:|--:|--:|--:|")
    before = None
    for records in sizes:
        middle = statistics.median(seconds[records])
        ratio = f"{middle / before:.2f}" if before else ""
        print(f"| {records:,} | {middle:.2f} s | {ratio} | {peaks[records] / 1e6:.0f} MB |")
        before = middle


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=200_000, help="records of the people feed (200000)")
    parser.add_argument("--runs", type=int, default=5, help="runs of which the median is taken (5); --big is one run")
    parser.add_argument("--only", action="append", metavar="NAME", help="this peer only, besides the yardstick; repeatable")
    parser.add_argument("--big", action="store_true", help="big feeds instead of the comparison: time and memory")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100, 1000], help="sizes for --big (100 1000)")
    parser.add_argument("--growth", action="store_true", help="doubling feeds instead of the comparison, up to 2 million records")
    parser.add_argument("--tool", type=Path, default=BUILD / "release" / "dragoman", help="the dragoman to measure")
    options = parser.parse_args()
    if options.runs < 1 or options.records < 1:
        parser.error("--runs and --records want a number above 0")
    WORK.mkdir(parents=True, exist_ok=True)
    header(options.tool)
    before, start = processor_seconds(), time.perf_counter()
    if options.big:
        big(options, options.tool)
    elif options.growth:
        growth(options, options.tool)
    else:
        compare(options, options.tool)
    tell_neighbours(before, start)


if __name__ == "__main__":
    main()
