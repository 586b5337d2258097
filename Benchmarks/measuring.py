"""What the benchmarks share: processes measured from outside, feeds made on demand, the machine's facts."""

import os
import platform
import subprocess
import sys
import time
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


def fill(command, feed, database):
    return [{"FEED": feed, "DB": database}.get(part, part) if isinstance(part, str) else part for part in command]


def header(tool):
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    revision = version(["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"])
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({model}), {platform.system()}, revision {revision}\n")


def say(text):
    """A line on standard error that the next one takes the place of."""
    print(f"\r{text:<60}\r", end="", file=sys.stderr, flush=True)


def megabytes(size):
    return f"{size / 1e6:.0f} MB"


def verdict(value, limit):
    """A ratio beside what it should be, and whether it is."""
    return f"{value:.2f} | {limit} | {'yes' if value <= limit else '**no**'}"
