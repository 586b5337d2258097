"""Objects in contexts, against the yardstick and GRDB's Codable records: Scripts/bench.sh --contexts.

Times are those that the programs measure themselves: the feed is parsed beforehand, files are open
and their pages in the cache of the connection. Fetches are medians of five rounds, each with a context of its own.
"""

import json
import statistics
import sys

from measuring import FINGERPRINT, HERE, WORK, fill, importing, measure, people_feed, query, remove, say, verdict

BENCH = HERE / "Contexts" / ".build" / "release" / "contexts-bench"
GRDB = HERE / "GRDBCodable" / ".build" / "release" / "GRDBCodable"
MAP = HERE / "people.map.yaml"


def figures(command):
    """The figures that a program prints on its last line."""
    return json.loads(measure(command)[2].decode().strip().split("\n")[-1])


def run(options, tool):
    if not BENCH.exists():
        sys.exit("There is no contexts-bench: Scripts/bench.sh --contexts builds it.")
    records, count = options.records, max(1, options.records // 2)
    feed = people_feed(records, "json")
    limit_file, database = WORK / "limit.db", WORK / "contexts.db"
    names = ("insert", "read", "import", "fetch", "fetchAndRead", "faults", "ids", "grdb", "memory", "values", "valuesAndRead",
             "box", "boxBase", "tenThousand", "thousand", "change")
    got = {name: [] for name in names}
    for number in range(options.runs):
        say(f"run {number + 1} of {options.runs}")
        base = figures([WORK / "limit", feed, limit_file])
        remove(database)
        ours = figures([BENCH, "import", MAP, feed, database])
        if query(FINGERPRINT, database) != query(FINGERPRINT, limit_file):
            sys.exit("contexts-bench cheats: its table is not the yardstick's.")
        fetched = figures([BENCH, "fetch", MAP, database, str(count)])
        got["insert"].append(base["insert"])
        got["read"].append(base["read"] / records * count)
        got["import"].append(ours["import"])
        for name in ("fetch", "fetchAndRead", "faults", "ids"):
            got[name].append(fetched[name])
        if GRDB.exists():
            peer = figures([GRDB, "--fetch", database, str(count)])
            if peer["sum"] != fetched["sum"]:
                sys.exit(f"GRDB reads other values: {peer['sum']:.0f}, not {fetched['sum']:.0f}")
            got["grdb"].append(peer["fetchAndRead"])
        unboxed = figures([BENCH, "values", MAP, database, str(count)])
        for name in ("values", "valuesAndRead", "tenThousand"):
            got[name].append(unboxed[name])
        if GRDB.exists() and unboxed["sum"] != peer["sum"]:
            sys.exit(f"values are not GRDB's: {unboxed['sum']:.0f}, not {peer['sum']:.0f}")
        boxed_file = WORK / "boxed.db"
        remove(boxed_file)
        boxed = figures([BENCH, "box", MAP, database, str(count), boxed_file])
        for name in ("box", "thousand", "change"):
            got[name].append(boxed[name])
        got["boxBase"].append(base["insert"] / records * count)
        remove(boxed_file)
        got["memory"].append(figures([BENCH, "memory", MAP, database, str(count)])["beyondText"])
        for name, value in figures([BENCH, "live", MAP, database, str(min(count, 100_000))]).items():
            got.setdefault(name, []).append(value)
    remove(limit_file)
    remove(database)
    middle = {name: statistics.median(values) for name, values in got.items() if values}
    print(f"Contexts, {records:,} people, {count:,} fetched; medians of {options.runs} runs\n")
    print("| | seconds | compared with | ratio | at most | kept |")
    print("|---|--:|---|--:|--:|---|")

    def row(label, name, other, base, limit):
        print(f"| {label} | {middle[name]:.4f} | {other} {base:.4f} | {verdict(middle[name] / base, limit)} |")

    row(f"{records:,} dictionaries to stored objects", "import", "yardstick, insert", middle["insert"], 2.5)
    row("fetch of objects with all attributes", "fetch", "yardstick, read", middle["read"], 1.5)
    row("the same, and each value asked for by name", "fetchAndRead", "yardstick, read", middle["read"], 1.5)
    if "grdb" in middle:
        row("the same, against records", "fetchAndRead", "GRDB Codable", middle["grdb"], 0.5)
    row("values of a Swift type, twelve properties", "values", "yardstick, read", middle["read"], 1.4)
    if "grdb" in middle:
        row("the same, and each property read", "valuesAndRead", "GRDB Codable", middle["grdb"], 1 / 3)
    row(f"{count:,} values boxed and saved", "box", "yardstick, insert", middle["boxBase"], 3)
    row("fetch of faults", "faults", "the fetch with all attributes", middle["fetch"], 0.2)
    row("fetch of ids", "ids", "the fetch with all attributes", middle["fetch"], 0.2)
    print("\nSwiftyCoreData's headlines:\n")
    print("| | milliseconds |")
    print("|---|--:|")
    print(f"| 10,000 objects fetched as values | {middle['tenThousand'] * 1e3:.1f} |")
    print(f"| 1,000 new values written in one save | {middle['thousand'] * 1e3:.1f} |")
    print(f"| 1,000 values with ids changed and saved | {middle['change'] * 1e3:.1f} |")
    print(f"\nMemory: {middle['memory']:.0f} bytes an object beyond its text (at most 268).\n")
    live(middle)
    save(options, tool)


def live(middle):
    """Results that are followed: from the change to the difference."""
    print(f"| {middle['rows']:,.0f} rows followed | time to the difference | at most | kept |")
    print("|---|--:|--:|---|")
    for changed, limit in ((1, 5), (1000, 50)):
        for name, what in (("stored", "results of the store"), ("main", "results of main")):
            milliseconds = middle[f"{name}{changed}"] * 1e3
            kept = "yes" if milliseconds <= limit else "no"
            print(f"| {changed:,} changed, {what} | {milliseconds:.2f} ms | {limit} ms | {kept} |")
    print(f"\nA followed row takes {middle['beyondKeys']:.0f} bytes beyond its id and sort keys (at most 64).\n")


def save(options, tool):
    """Saves a thousand changed objects of files that hold more and more: side by side, and each in a page of its own."""
    print("| stored rows | saving 1,000 changed objects | milliseconds | at most | kept | the yardstick's UPDATEs | ratio |")
    print("|--:|---|--:|--:|---|--:|--:|")
    for stored in options.stored:
        say(f"saving in {stored:,} rows")
        database = WORK / "save.db"
        remove(database)
        measure(fill(importing(tool, "people.map.yaml"), people_feed(stored, "json"), database))
        for where, words in (("side by side", ["together"]), ("spread over the file", [])):
            ours, theirs = [], []
            for _ in range(options.runs):
                ours.append(figures([BENCH, "save", MAP, database, "1000", *words])["save"])
                theirs.append(figures([WORK / "update", database, "1000", *words])["save"])
            middle, base = statistics.median(ours), statistics.median(theirs)
            print(
                f"| {stored:,} | {where} | {verdict(middle * 1e3, 20)} | {base * 1e3:.1f} | {middle / base:.2f} |",
                flush=True,
            )
        remove(database)
