"""Peer: DuckDB, read_json into a keyed table. usage: duckdb_read_json.py FEED DB | --query SQL DB"""

import sys

import duckdb

CREATE = """CREATE TABLE IF NOT EXISTS Person(
  ticketNumber TEXT PRIMARY KEY, firstName TEXT, lastName TEXT, socialSecurityNumber TEXT,
  salary DOUBLE, dateOfBirth TIMESTAMP, active BOOLEAN, score DOUBLE, visits BIGINT, city TEXT,
  zip TEXT)"""
UPSERT = """INSERT INTO Person
  SELECT ticket_number, first_name, last_name, ss_num, CAST(replace(salary, ',', '') AS DOUBLE), dob,
    active, score, visits, address.city, address.zip
  FROM read_json(?, format = 'array', columns = {ticket_number: 'TEXT', first_name: 'TEXT',
    last_name: 'TEXT', ss_num: 'TEXT', salary: 'TEXT', dob: 'TIMESTAMP', active: 'BOOLEAN',
    score: 'DOUBLE', visits: 'BIGINT', address: 'STRUCT(city TEXT, zip TEXT)'})
  ON CONFLICT (ticketNumber) DO UPDATE SET firstName = excluded.firstName,
  lastName = excluded.lastName, socialSecurityNumber = excluded.socialSecurityNumber,
  salary = excluded.salary, dateOfBirth = excluded.dateOfBirth, active = excluded.active,
  score = excluded.score, visits = excluded.visits, city = excluded.city, zip = excluded.zip"""

if sys.argv[1] == "--query":
    with duckdb.connect(sys.argv[3], read_only=True) as database:
        print(*database.execute(sys.argv[2]).fetchone(), sep="|")
else:
    with duckdb.connect(sys.argv[2]) as database:
        database.execute("BEGIN")
        database.execute(CREATE)
        database.execute(UPSERT, [sys.argv[1]])
        database.execute("COMMIT")
