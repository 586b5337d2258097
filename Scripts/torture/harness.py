"""What all tests of this folder use: running the tool under limits, looking at a store from outside, counting.

A test is a function that takes a `Torture` and records what it tried with `try_`. Nothing here knows
how the tool works: it is a command with exit codes, streams and a SQLite file.
"""

import ast
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

PROMISED_CODES = {0, 1, 3, 64, 65, 66, 69, 73, 74, 75, 77, 129, 130, 143}


@dataclass
class Outcome:
    """How a run of the tool ended."""

    code: int  # negative: the signal that ended it
    out: bytes
    err: bytes
    seconds: float
    peak: int  # bytes of memory
    is_late: bool = False
    processor: float = 0.0  # seconds of all its threads

    @property
    def text(self):
        return (self.err + self.out).decode("utf-8", "replace")

    @property
    def is_crash(self):
        """Ended by a signal that nobody sent, or not at all."""
        return self.is_late or self.code < 0 or self.code not in PROMISED_CODES


@dataclass
class Tally:
    """A line of the report: how often something was tried, and what did not hold."""

    name: str
    promise: str
    tried: int = 0
    cases: int = 0
    failures: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0.0


class Torture:
    """One run of the harness."""

    def __init__(self, tool, seed, is_long, keep, is_small=False, minutes=None, filter=None, jobs=1):
        self.tool = str(Path(tool).resolve())
        self.seed = seed
        self.is_long = is_long
        self.is_small = is_small
        self.keep = keep
        self.minutes = minutes
        self.filter = filter
        self.jobs = jobs
        self.prepared = None  # a tool that is started once: crowd.py
        self.root = Path(tempfile.mkdtemp(prefix="dragoman-torture-"))
        self.tallies = []
        self.tally = None

    # --- Counting ---

    def begin(self, name, promise):
        self.tally = Tally(name, promise)
        self.tallies.append(self.tally)
        self.started = time.monotonic()
        return random.Random(f"{self.seed}:{name}")

    def end(self):
        self.tally.seconds = time.monotonic() - self.started
        state = "skipped: " + self.tally.skipped if self.tally.skipped else f"{self.tally.tried} tried"
        print(f"{self.tally.name}: {state}, {len(self.tally.failures)} failed, {self.tally.seconds:.0f} s", flush=True)
        for note in self.tally.notes:
            print(f"    {note}", flush=True)

    def check(self, holds, case, told=""):
        """Counts a case; says at once what did not hold, with how to see it again."""
        self.tally.tried += 1
        if not holds:
            self.tally.failures.append(case)
            print(f"  FAILED {self.tally.name}: {case}", flush=True)
            for line in str(told).strip().splitlines()[:40]:
                print(f"      {line[:1500]}", flush=True)
        return holds

    def note(self, words):
        self.tally.notes.append(words)

    def skip(self, why):
        self.tally.skipped = why

    def times(self, short, long):
        if self.is_small:
            return max(1, short // 8)
        return long if self.is_long else short

    def drawn(self, number):
        """What a case draws from: it can be tried again alone."""
        return random.Random(f"{self.seed}:{self.tally.name}:{number}")

    def cases(self, short, long, share=1.0):
        """Numbers of cases from 0 on; fewer than asked for where the minutes of a test are over (`--minutes`).

        `share` is the part of these minutes that this loop may take, where a test has several.
        """
        end = None if self.minutes is None else time.monotonic() + self.minutes * 60 * share
        for number in range(self.times(short, long)):
            if end is not None and time.monotonic() > end:
                return
            yield number

    # --- Places ---

    def folder(self, name):
        path = self.root / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def shared(self, name):
        """A folder that stays for the whole run: generated feeds."""
        path = self.root / "shared" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def close(self):
        if not self.keep:
            shutil.rmtree(self.root, ignore_errors=True)

    # --- Running ---

    def start(self, *arguments, prefix=(), env=None, stdin=subprocess.DEVNULL, cwd=None, before=None):
        """A run under way, its output in files so that no pipe fills up."""
        out, err = tempfile.TemporaryFile(dir=self.root), tempfile.TemporaryFile(dir=self.root)
        process = subprocess.Popen(
            [*map(str, prefix), self.tool, *map(str, arguments)],
            stdin=stdin, stdout=out, stderr=err, env=env, cwd=cwd or self.root, preexec_fn=before,
            start_new_session=True,
        )
        process.streams = out, err
        process.began = time.monotonic()
        return process

    def finish(self, process, timeout=60.0):
        """Waits for a run; what takes longer than the timeout is killed with its children."""
        late = threading.Event()

        def stop():
            late.set()
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

        timer = threading.Timer(timeout, stop)
        timer.start()
        peak = 0
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            peak = high_water(process.pid) or peak
            time.sleep(0.004)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - process.began
        texts = []
        for stream in process.streams:
            stream.seek(0)
            texts.append(stream.read())
            stream.close()
        return Outcome(process.returncode, *texts, seconds, peak, late.is_set(), usage.ru_utime + usage.ru_stime)

    def run(self, *arguments, timeout=60.0, **options):
        if self.prepared and not options:
            return self.prepared.run(arguments, timeout)
        return self.finish(self.start(*arguments, **options), timeout)

    def must(self, *arguments, **options):
        """A run that has to succeed, or the harness itself is broken."""
        outcome = self.run(*arguments, **options)
        if outcome.code not in (0, 3):
            raise SystemExit(f"{' '.join(map(str, arguments))}: exit {outcome.code}\n{outcome.text}")
        return outcome


# --- A store, seen through another connection ---


def rows(path):
    """Everything a user put into a store: lists of rows by table.

    Objects are known by their unique keys, links are spelled as the keys of their targets; `_pk`, `_v` and the
    ledger are left out: what an import gives does not depend on them.
    """
    if not Path(path).exists() or Path(path).stat().st_size == 0:
        return {}
    # A connection that stays open would lend what it knows of this file to the next one of its name.
    with closing(sqlite3.connect(f"file:{quoted(path)}?mode=rw", uri=True, timeout=20)) as database:
        return _rows(database)


def contents(path):
    """The rows of a store as values that can be compared, in no order."""
    return {table: sorted(repr(list(row.items())) for row in some) for table, some in rows(path).items()}


def quoted(path):
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _rows(database):
    # text that is no UTF-8 is compared as bytes
    database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    tables = [
        name
        for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        if not name.startswith(("_dragoman", "sqlite_"))
    ]
    links, keys = {}, {}
    for table in tables:
        links[table] = {row[3]: row[2] for row in database.execute(f'PRAGMA foreign_key_list("{table}")')}
        unique = [
            row[1] for row in database.execute(f'PRAGMA index_list("{table}")') if row[2] and "_unique_" in row[1]
        ]
        keys[table] = [
            row[2] for row in database.execute(f'PRAGMA index_info("{sorted(unique)[0]}")')
        ] if unique else []
    rows = {}
    for table in tables:
        cursor = database.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in cursor.description]
        rows[table] = [dict(zip(names, row)) for row in cursor]
    by_pk = {table: {row["_pk"]: row for row in rows[table]} for table in tables if rows[table] and "_pk" in rows[table][0]}

    def name(table, pk, depth=0):
        if pk is None:
            return None
        row = by_pk.get(table, {}).get(pk)
        if row is None:
            return ("missing", table, pk)
        if not keys[table] or depth > 4:
            return (table, pk)
        return tuple(
            name(links[table][column], row[column], depth + 1) if column in links[table] else row[column]
            for column in keys[table]
        )

    dump = {
        table: [
            {
                column: name(links[table][column], value) if column in links[table] else value
                for column, value in row.items()
                if column not in ("_pk", "_v")
            }
            for row in rows[table]
        ]
        for table in tables
    }
    if database.execute("SELECT 1 FROM sqlite_schema WHERE name = '_dragoman_pending'").fetchone():
        waiting = database.execute("SELECT owner, relationship, entity, key FROM _dragoman_pending").fetchall()
        dump["waiting"] = [
            {"owner": name(relationship.split(".")[0], owner), "relationship": relationship, "entity": entity, "key": key}
            for owner, relationship, entity, key in waiting
        ]
    return {table: rows for table, rows in dump.items() if rows}


def values(dump):
    """Contents without links: what records say of themselves."""
    return {
        table: sorted(
            repr([(column, value) for column, value in ast.literal_eval(row) if not isinstance(value, tuple) and value is not None])
            for row in rows
        )
        for table, rows in dump.items()
        if table in ("Item", "Category", "Tag")
    }


def faults(path):
    """What SQLite itself finds wrong with a file; empty: nothing."""
    if not Path(path).exists() or Path(path).stat().st_size == 0:
        return []
    try:
        with closing(sqlite3.connect(f"file:{quoted(path)}?mode=rw", uri=True, timeout=20)) as database:
            found = [row[0] for row in database.execute("PRAGMA integrity_check") if row[0] != "ok"]
            found += [repr(row) for row in database.execute("PRAGMA foreign_key_check")]
        return found
    except sqlite3.DatabaseError as error:
        return [str(error)]


def remove(path):
    """A store with everything beside it."""
    for suffix in ("", "-wal", "-shm", "-journal", ".building", ".building-wal", ".building-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def copy(path, target):
    """A store as it lies there, after a kill too: with its log."""
    remove(target)
    for suffix in ("", "-wal", "-shm", "-journal"):
        if Path(f"{path}{suffix}").exists():
            shutil.copyfile(f"{path}{suffix}", f"{target}{suffix}")


def litter(folder, known):
    """Files that a run left behind: everything but the known ones."""
    return sorted(path.name for path in Path(folder).iterdir() if path.name not in known)


def high_water(pid):
    """The most memory that a process has had, in bytes; what its parent had before is not counted, unlike in ru_maxrss."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def has(command):
    return shutil.which(command) is not None


def can_trace():
    """Whether strace may inject faults here."""
    if not has("strace"):
        return False
    trial = subprocess.run(
        ["strace", "-qq", "-o", "/dev/null", "-e", "trace=write", "-e", "inject=write:error=EIO:when=1", "echo", "x"],
        capture_output=True, check=False,
    )
    return trial.returncode != 0


def say(words):
    print(words, file=sys.stderr, flush=True)
