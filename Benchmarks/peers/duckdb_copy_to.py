"""Peer: DuckDB, COPY TO from its own file. usage: duckdb_copy_to.py DB OUT"""

import sys

import duckdb

QUERY = """SELECT ticketNumber AS ticket_number, firstName AS first_name, lastName AS last_name,
  socialSecurityNumber AS ss_num, salary, strftime(dateOfBirth, '%Y-%m-%dT%H:%M:%SZ') AS dob, active,
  score, visits, {'city': city, 'zip': zip} AS address
  FROM Person ORDER BY ticketNumber"""

with duckdb.connect(sys.argv[1], read_only=True) as database:
    database.execute(f"COPY ({QUERY}) TO '{sys.argv[2]}' (FORMAT json)")
