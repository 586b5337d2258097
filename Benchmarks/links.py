"""Orders with nested lines and references by key, against a hand-written C++ program: Scripts/bench.sh --links.

Both are whole processes: a first import into a new file and the same import again. The tables are
compared after each. Chinook (eleven entities that refer to one another) is imported where its feed is there.
"""

import statistics
import subprocess
import sys

from measuring import HERE, WORK, fill, importing, measure, megabytes, query, remove, say, verdict

YARDSTICK = WORK / "orders"
CHINOOK = HERE.parent.parent / "shared" / "feeds" / "chinook"
CHECK = (
    "SELECT count(*), sum(l.quantity), sum(CAST(replace(l.price, '.', '') AS INTEGER) * l.no), count(DISTINCT o._pk),"
    " sum(o.number * l.no % 1000), count(DISTINCT p.sku), sum(length(p.sku || p.title)), count(DISTINCT c.id),"
    " sum(length(c.id || c.name || ifnull(c.city, '-'))), sum(length(o.placed || ifnull(o.note, '-')))"
    ' FROM Line l JOIN "Order" o ON o._pk = l."order" JOIN Product p ON p._pk = l.product JOIN Customer c ON c._pk = o.customer'
)


def orders_feed(count):
    path = WORK / f"orders-{count}.json"
    if not path.exists():
        part = WORK / "part.json"
        subprocess.check_call([sys.executable, HERE / "yardstick" / "generate_orders.py", str(count), part])
        part.rename(path)
    return path


def run(options, tool):
    if not YARDSTICK.exists():
        sys.exit("There is no yardstick to compare with: Scripts/bench.sh builds it with g++.")
    print(f"Links, {options.records:,} orders with three lines each, medians of {options.runs} runs\n")
    print("| | first import | again | peak memory |")
    print("|---|--:|--:|--:|")
    programs = {"yardstick (C++)": [YARDSTICK, "FEED", "DB"], "**dragoman**": importing(tool, "orders.map.yaml")}
    feed, database = orders_feed(options.records), WORK / "links.db"
    first, again = {name: [] for name in programs}, {name: [] for name in programs}
    peaks = dict.fromkeys(programs, 0)
    for number in range(options.runs):
        for name, command in programs.items():
            say(f"run {number + 1} of {options.runs}: {name}")
            remove(database)
            for seconds in (first, again):
                elapsed, peak, _ = measure(fill(command, feed, database))
                seconds[name].append(elapsed)
                peaks[name] = max(peaks[name], peak)
                if name == "yardstick (C++)":
                    expected = query(CHECK, database)
                    if not expected.startswith(f"{3 * options.records}|"):
                        sys.exit(f"yardstick: {expected} is not {3 * options.records} lines")
                elif query(CHECK, database) != expected:
                    sys.exit(f"{name} has {query(CHECK, database)}, the yardstick {expected}")
            remove(database)
    times = [{name: statistics.median(all) for name, all in seconds.items()} for seconds in (first, again)]
    for name in programs:
        print(f"| {name} | {times[0][name]:.3f} s | {times[1][name]:.3f} s | {megabytes(peaks[name])} |")
    base, ours = programs
    print("\n| | ratio | at most | kept |\n|---|--:|--:|---|")
    for label, seconds in zip(("first import", "again"), times):
        print(f"| {label} | {verdict(seconds[ours] / seconds[base], 1.6)} |")
    # From 200,000 orders on SQLite's page cache of 64 MB is full.
    say("memory of twice as many orders")
    twice = orders_feed(2 * options.records)
    grown = measure(fill(programs[ours], twice, database))[1] / peaks[ours]
    remove(database)
    twice.unlink()
    print(f"| memory, {2 * options.records:,} orders to {options.records:,} | {verdict(grown, 1.2)} |")
    chinook(options, tool)


def chinook(options, tool):
    feed, oracle = CHINOOK / "ChinookData.json", CHINOOK / "Chinook_Sqlite.sqlite"
    if not feed.exists():
        print("\nChinook is not here.")
        return
    check = (
        "SELECT (SELECT count(*) FROM PlaylistTrack), (SELECT count(*) FROM InvoiceLine l JOIN Invoice i ON {line} JOIN Track t ON {track}),"
        " (SELECT sum(a.ArtistId * t.TrackId) FROM Track t JOIN Album a ON {album}), (SELECT count(*) FROM Employee e JOIN Employee b ON {boss})"
    )
    wanted = query(check.format(
        line="i.InvoiceId = l.InvoiceId", track="t.TrackId = l.TrackId", album="a.AlbumId = t.AlbumId", boss="b.EmployeeId = e.ReportsTo"), oracle)
    ours = check.replace("a.ArtistId", "(SELECT r.ArtistId FROM Artist r WHERE r._pk = a.artist)").format(
        line="i._pk = l.invoice", track="t._pk = l.track", album="a._pk = t.album", boss="b._pk = e.reportsTo")
    first, again = [], []
    for _ in range(options.runs):
        database = WORK / "chinook.db"
        remove(database)
        for seconds in (first, again):
            seconds.append(measure(fill(importing(tool, "chinook.map.yaml"), feed, database))[0])
            found = query(ours, database)
            if found != wanted:
                sys.exit(f"Chinook has {found}, its own database {wanted}")
        remove(database)
    print(f"\nChinook, 15,607 records in 11 tables: {statistics.median(first):.3f} s, again {statistics.median(again):.3f} s.")
