#!/usr/bin/env bash
# Peer: the sqlite3 command line, json_each and an upsert. usage: sqlite_json_each.sh FEED DB
set -euo pipefail

exec sqlite3 -batch "$2" <<SQL
.output /dev/null
PRAGMA journal_mode = WAL;
.output
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS Person(
  _pk INTEGER PRIMARY KEY, ticketNumber TEXT UNIQUE, firstName TEXT, lastName TEXT,
  socialSecurityNumber TEXT, salary REAL, dateOfBirth TEXT, active INTEGER, score REAL,
  visits INTEGER, city TEXT, zip TEXT);
BEGIN IMMEDIATE;
INSERT INTO Person(ticketNumber, firstName, lastName, socialSecurityNumber, salary, dateOfBirth,
  active, score, visits, city, zip)
SELECT value ->> 'ticket_number', value ->> 'first_name', value ->> 'last_name', value ->> 'ss_num',
  CAST(replace(value ->> 'salary', ',', '') AS REAL),
  replace(substr(value ->> 'dob', 1, 19), 'T', ' '),
  value ->> 'active', value ->> 'score', value ->> 'visits',
  value ->> '\$.address.city', value ->> '\$.address.zip'
FROM json_each(CAST(readfile('$1') AS TEXT)) WHERE true
ON CONFLICT(ticketNumber) DO UPDATE SET firstName = excluded.firstName,
  lastName = excluded.lastName, socialSecurityNumber = excluded.socialSecurityNumber,
  salary = excluded.salary, dateOfBirth = excluded.dateOfBirth, active = excluded.active,
  score = excluded.score, visits = excluded.visits, city = excluded.city, zip = excluded.zip;
COMMIT;
SQL
