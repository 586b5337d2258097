#!/usr/bin/env python3
"""What the peers make of feeds that are not clean: one table, from what they do and not from what they say.

usage: facts.py DRAGOMAN      (needs sqlite-utils, duckdb and dlt[sqlalchemy] of pip)
"""

import json
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

warnings.simplefilter("ignore")
MAP = """
version: 1
entities:
  Reading:
    unique: id
    attributes:
      id: { type: int64 }
      level: { type: double }
      day: { type: date, dates: [dd/MM/yyyy] }
      code: code
      big: { type: int64 }
"""
FIRST = [
    {"id": 1, "level": 1.5, "day": "03/04/2025", "code": "007", "big": 9007199254740993},
    {"id": 2, "level": 2.5, "day": "28/02/2025", "code": "12", "big": 2},
]
CASES = [
    ("a record that comes again without `level`", [{"id": 1, "code": "8"}], "level, code"),
    ("the same beside a record that has it", [{"id": 1, "code": "8"}, {"id": 2, "level": 9.5}], "level, code"),
    ("a number that is a text, in one record of two", [{"id": 1, "level": "strong"}, {"id": 2, "level": 9.5}], "level"),
    ("the day 03/04/2025, of a feed that writes the day first", None, "day"),
    ("the code `\"007\"`", None, "code"),
    ("the number 9007199254740993", None, "big"),
    ("the same record again as `id` `\"1\"`", [{"id": "1", "level": 7.5}], "id, level"),
    ("a feed that is cut off behind its first record", '[{"id":1,"level":8.5},{"id":2,"lev', "level"),
]


def rows(database, columns):
    script = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())"
    sql = f"SELECT {columns} FROM Reading ORDER BY id"
    return subprocess.check_output([sys.executable, "-c", script, database, sql], text=True).strip()


class Dragoman:
    def __init__(self, tool):
        self.name, self.tool = f"Dragoman {subprocess.check_output([tool, '--version'], text=True).strip()}", tool

    def load(self, feed, folder):
        (folder / "map.map.yaml").write_text(MAP)
        run = subprocess.run(
            [self.tool, "import", folder / "map.map.yaml", feed, "-d", folder / "peer.db"], capture_output=True, text=True
        )
        if run.returncode:
            raise ValueError(f"exit {run.returncode}")

    def rows(self, folder, columns):
        return rows(folder / "peer.db", columns)


class SQLiteUtils:
    name = "sqlite-utils " + version("sqlite-utils")

    def load(self, feed, folder):
        run = subprocess.run(
            [sys.executable, "-m", "sqlite_utils", "upsert", folder / "peer.db", "Reading", feed, "--pk", "id", "--alter"],
            capture_output=True, text=True,
        )
        if run.returncode:
            raise ValueError(run.stderr.strip().split("\n")[-1])

    rows = Dragoman.rows


class DuckDB:
    name = "DuckDB " + version("duckdb")

    def load(self, feed, folder):
        import duckdb

        with duckdb.connect(str(folder / "peer.duckdb")) as database:
            read = f"SELECT * FROM read_json('{feed}')"
            if not database.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'Reading'").fetchone():
                database.execute(f"CREATE TABLE Reading AS {read}")
                database.execute("ALTER TABLE Reading ADD PRIMARY KEY (id)")
            else:
                database.execute(f"INSERT OR REPLACE INTO Reading BY NAME {read}")

    def rows(self, folder, columns):
        import duckdb

        with duckdb.connect(str(folder / "peer.duckdb")) as database:
            found = database.execute(f"SELECT {columns} FROM Reading ORDER BY id").fetchall()
            return str([tuple(str(value) if hasattr(value, "year") else value for value in row) for row in found])


class DLT:
    name = "dlt " + version("dlt")

    def load(self, feed, folder):
        script = """
import json, os, sys
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
import dlt
records = json.load(open(sys.argv[1]))
@dlt.resource(name="Reading", primary_key="id", write_disposition="merge")
def readings(): yield from records
schema = dlt.Schema("r", normalizers={"names": "direct", "json": {"module": "dlt.common.normalizers.json.relational"}})
dlt.pipeline("r", pipelines_dir=sys.argv[2], dataset_name="main",
  destination=dlt.destinations.sqlalchemy("sqlite:///" + sys.argv[3])).run(readings(), schema=schema)
"""
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script, feed, folder / "dlt", folder / "peer.db"], capture_output=True, text=True
        )
        if run.returncode:
            raise ValueError(run.stderr.strip().split("\n")[-1])

    rows = Dragoman.rows


def outcome(peer, records, columns):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        feed = folder / "feed.json"
        feed.write_text(json.dumps(FIRST))
        peer.load(feed, folder)
        said = ""
        if records is not None:
            feed.write_text(records if isinstance(records, str) else json.dumps(records))
            try:
                peer.load(feed, folder)
            except Exception as error:
                said = " – " + str(error).split("\n")[0].replace(str(folder), "")[:90]
        return peer.rows(folder, columns) + said


peers = [Dragoman(sys.argv[1]), SQLiteUtils(), DuckDB(), DLT()]
print("| | " + " | ".join(peer.name for peer in peers) + " |")
print("|---" * (len(peers) + 1) + "|")
for label, records, columns in CASES:
    print(f"| {label} | " + " | ".join(outcome(peer, records, columns).replace("|", "\\|") for peer in peers) + " |")
