#!/usr/bin/env bash
# Peer: the sqlite3 command line and json_object. usage: sqlite_json_object.sh DB OUT
set -euo pipefail

exec sqlite3 -batch -list -noheader -readonly "$1" >"$2" <<SQL
SELECT json_object('ticket_number', ticketNumber, 'first_name', firstName, 'last_name', lastName,
  'ss_num', socialSecurityNumber, 'salary', salary, 'dob', replace(dateOfBirth, ' ', 'T') || 'Z',
  'active', json(CASE active WHEN 1 THEN 'true' WHEN 0 THEN 'false' END), 'score', score,
  'visits', visits, 'address', json_object('city', city, 'zip', zip))
FROM Person ORDER BY ticketNumber;
SQL
