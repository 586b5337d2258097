"""People into PostgreSQL, against a hand-written C++ program that COPYs and upserts: Scripts/bench.sh --server.

The server is one of Debian's, started for the run with its settings as they come. Ours are whole processes; the yardstick
measures its two imports itself. The export is compared with `COPY (SELECT …) TO` of the same columns by psql.
"""

import json
import os
import pwd
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import HERE, WORK, fill, importing, measure, megabytes, people_feed, say, verdict

YARDSTICK = WORK / "server"
COLUMNS = '"ticketNumber", "firstName", "lastName", "socialSecurityNumber", salary, "dateOfBirth", active, score, visits, city, zip'
FINGERPRINT = (
    'SELECT count(*), count(DISTINCT "ticketNumber"), count(city), sum(visits), round(sum(score)::numeric, 3),'
    ' round(sum(salary)::numeric, 2), min("dateOfBirth"), max("dateOfBirth"), sum(active::int),'
    ' sum(length("firstName") + length("lastName") + length("socialSecurityNumber") + length(zip)) FROM "Person"'
)


class Server:
    def __init__(self):
        homes = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[4]))
        if not homes:
            sys.exit("There is no PostgreSQL server here.")
        self.home = homes[-1].parent
        self.folder = Path(tempfile.mkdtemp(prefix="dragoman-bench-"))
        self.user = {}
        if os.getuid() == 0:
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self.user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        data = self.folder / "data"
        subprocess.check_call(
            [self.home / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"],
            stdout=subprocess.DEVNULL, cwd=self.folder, **self.user,
        )
        self.process = subprocess.Popen(
            [self.home / "postgres", "-D", data, "-k", self.folder, "-c", "listen_addresses="],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder, **self.user,
        )
        while subprocess.run([self.home / "pg_isready", "-q", "-h", self.folder]).returncode:
            time.sleep(0.1)
        for name in ("yardstick", "dragoman"):
            self.psql("postgres", f"CREATE DATABASE {name}")

    def url(self, name):
        return f"postgresql:///{name}?host={self.folder}&user=postgres"

    def psql(self, name, sql):
        command = [self.home / "psql", "-X", "-q", "-At", "-c", "SET timezone = 'UTC'", "-c", sql, self.url(name)]
        return subprocess.check_output(command, text=True).strip()

    def empty(self, name):
        self.psql(name, "DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO public")
        self.psql(name, "CHECKPOINT")

    def end(self):
        self.process.send_signal(2)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def run(options, tool):
    if not YARDSTICK.exists():
        sys.exit("There is no yardstick to compare with: Scripts/bench.sh builds it with g++ where libpq's headers are.")
    feed = people_feed(options.records, "json")
    server = Server()
    try:
        compare(options, tool, feed, server)
    finally:
        server.end()


def compare(options, tool, feed, server):
    base, base_again, first, again, peak, written, copied = [], [], [], [], 0, [], []
    ours = fill(importing(tool, "people.map.yaml"), feed, server.url("dragoman"))
    for number in range(options.runs):
        say(f"run {number + 1} of {options.runs}: yardstick")
        server.empty("yardstick")
        times = json.loads(measure([YARDSTICK, feed, server.url("yardstick")])[2])
        base.append(times["firstImport"])
        base_again.append(times["again"])
        expected = server.psql("yardstick", FINGERPRINT)
        server.empty("dragoman")
        for name, seconds in (("first", first), ("again", again)):
            say(f"run {number + 1} of {options.runs}: dragoman, {name}")
            elapsed, memory, _ = measure(ours)
            seconds.append(elapsed)
            peak = max(peak, memory)
            found = server.psql("dragoman", FINGERPRINT)
            if found != expected:
                sys.exit(f"the table is\n  {found}, the yardstick's is\n  {expected}")
        say(f"run {number + 1} of {options.runs}: export")
        output = WORK / "server.ndjson"
        output.unlink(missing_ok=True)
        command = [tool, "export", HERE / "people.map.yaml", "-d", server.url("dragoman"), "-q", "-o", output]
        elapsed, memory, _ = measure(command)
        written.append(elapsed)
        peak = max(peak, memory)
        output.unlink()
        copy = f'\\copy (SELECT {COLUMNS} FROM "Person" ORDER BY "ticketNumber") TO \'{output}\''
        copied.append(measure([server.home / "psql", "-X", "-q", "-c", copy, server.url("dragoman")])[0])
        output.unlink()
    say("")
    middle = statistics.median
    print(f"{options.records:,} people into PostgreSQL, medians of {options.runs} runs\n")
    print("| | first import | ratio | again | ratio | peak memory |")
    print("|---|--:|--:|--:|--:|--:|")
    print(f"| yardstick (C++, COPY and one upsert) | {middle(base):.2f} s | 1.00 | {middle(base_again):.2f} s | 1.00 | |")
    print(
        f"| **dragoman** | {middle(first):.2f} s | {middle(first) / middle(base):.2f} | {middle(again):.2f} s"
        f" | {middle(again) / middle(base_again):.2f} | {megabytes(peak)} |"
    )
    print("\n| | ratio | at most | kept |\n|---|--:|--:|---|")
    print(f"| first import to the yardstick | {verdict(middle(first) / middle(base), 1.3)} |")
    print(f"| again | {verdict(middle(again) / middle(base_again), 1.3)} |")
    print(f"| NDJSON export to COPY TO | {verdict(middle(written) / middle(copied), 1.5)} |")
    print(f"\nExport {middle(written):.2f} s, COPY TO {middle(copied):.2f} s.")
