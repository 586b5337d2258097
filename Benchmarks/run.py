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
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import console
import contexts
import exports
import links
import servers
from measuring import (
    BUILD,
    FINGERPRINT,
    HERE,
    PYTHON,
    WORK,
    fill,
    header,
    importing,
    measure,
    megabytes,
    people_feed,
    processor_seconds,
    python_has,
    query,
    remove,
    say,
    tell_neighbours,
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
        Peer("dlt", "dlt, merge into SQLite", script("dlt_merge.py"),
             [("dlt[sqlalchemy] (pip)", python_has("dlt", "sqlalchemy", "orjson"))]),
    ]


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
    """People with random keys, doubling, against the yardstick in turn: a first import, and the same again."""
    limit = WORK / "limit"
    if not limit.exists():
        sys.exit("There is no yardstick to compare with: Scripts/bench.sh builds it with g++.")
    print(f"Growth, people as JSON with random keys, medians of {options.runs} runs: seconds, ratio to the yardstick, and to half the records\n")
    print("| records | first import | ratio | to half | again | ratio | to half | peak memory | yardstick |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    before = None
    for records in options.sizes:
        first, again, base, base_again, peak = [], [], [], [], 0
        feed = people_feed(records, "json")
        for number in range(options.runs):
            say(f"{records:,} records, run {number + 1} of {options.runs}")
            database = WORK / "growth.db"
            remove(database)
            times = json.loads(measure([limit, feed, database])[2])
            base.append(times["firstImport"])
            base_again.append(times["load"] + times["parse"] + times["again"])
            remove(database)
            command = fill(importing(tool, "people.map.yaml"), feed, database)
            for seconds in (first, again):
                elapsed, memory, _ = measure(command)
                seconds.append(elapsed)
                peak = max(peak, memory)
                rows = query("SELECT count(*) FROM Person", database)
                if rows != str(records):
                    sys.exit(f"{rows} rows of {records} records")
            remove(database)
        if records > 2_000_000:
            feed.unlink()
        now = [statistics.median(seconds) for seconds in (first, again)]
        ratios = [f"{mine / statistics.median(theirs):.2f}" for mine, theirs in zip(now, (base, base_again))]
        halves = [f"{mine / half:.2f}" for mine, half in zip(now, before)] if before else ["", ""]
        say("")
        print(
            f"| {records:,} | {now[0]:.2f} s | {ratios[0]} | {halves[0]} | {now[1]:.2f} s | {ratios[1]} | {halves[1]}"
            f" | {megabytes(peak)} | {statistics.median(base):.2f} s, {statistics.median(base_again):.2f} s |",
            flush=True,
        )
        before = now


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, help="records of the feed (200000)")
    parser.add_argument("--runs", type=int, default=5, help="runs of which the median is taken (5); --big is one run")
    parser.add_argument("--only", action="append", metavar="NAME", help="this peer only, besides the yardstick; repeatable")
    parser.add_argument("--big", action="store_true", help="big feeds instead of the comparison: time and memory")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100, 1000], help="sizes for --big (100 1000)")
    parser.add_argument("--contexts", action="store_true", help="objects: dictionaries imported, fetches, faults, saves, memory")
    parser.add_argument("--links", action="store_true", help="orders with lines, customers and products instead of people")
    parser.add_argument("--export", action="store_true", help="people written as NDJSON and XML instead (1000000 unless --records)")
    parser.add_argument("--console", action="store_true", help="pages of dragoman serve (1000000 unless --records)")
    parser.add_argument("--server", action="store_true", help="people into PostgreSQL and out again")
    parser.add_argument("--growth", action="store_true", help="doubling feeds against the yardstick instead of the comparison")
    parser.add_argument("--sizes", type=int, nargs="+", help="records for --growth, each twice the one before",
                        default=[125_000, 250_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000])
    parser.add_argument("--tool", type=Path, default=BUILD / "release" / "dragoman", help="the dragoman to measure")
    parser.add_argument("--stored", type=int, nargs="+", default=[1000, 100_000, 1_000_000],
                        help="rows in the file while --contexts saves (1000 100000 1000000)")
    options = parser.parse_args()
    if options.records is None:
        options.records = 1_000_000 if options.export or options.console else 200_000
    if options.runs < 1 or options.records < 1:
        parser.error("--runs and --records want a number above 0")
    WORK.mkdir(parents=True, exist_ok=True)
    header(options.tool)
    before, start = processor_seconds(), time.perf_counter()
    if options.big:
        big(options, options.tool)
    elif options.growth:
        growth(options, options.tool)
    elif options.contexts:
        contexts.run(options, options.tool)
    elif options.links:
        links.run(options, options.tool)
    elif options.server:
        servers.run(options, options.tool)
    elif options.console:
        console.run(options, options.tool)
    elif options.export:
        exports.run(options, options.tool)
    else:
        compare(options, options.tool)
    tell_neighbours(before, start)


if __name__ == "__main__":
    main()
