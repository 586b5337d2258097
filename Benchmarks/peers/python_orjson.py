"""Peer: Python's sqlite3 with orjson. usage: python_orjson.py FEED DB"""

import sqlite3
import sys

import orjson

CREATE = """CREATE TABLE IF NOT EXISTS Person(
  _pk INTEGER PRIMARY KEY, ticketNumber TEXT UNIQUE, firstName TEXT, lastName TEXT,
  socialSecurityNumber TEXT, salary REAL, dateOfBirth TEXT, active INTEGER, score REAL,
  visits INTEGER, city TEXT, zip TEXT)"""
UPSERT = """INSERT INTO Person(ticketNumber, firstName, lastName, socialSecurityNumber, salary,
  dateOfBirth, active, score, visits, city, zip) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT(ticketNumber) DO UPDATE SET firstName = excluded.firstName,
  lastName = excluded.lastName, socialSecurityNumber = excluded.socialSecurityNumber,
  salary = excluded.salary, dateOfBirth = excluded.dateOfBirth, active = excluded.active,
  score = excluded.score, visits = excluded.visits, city = excluded.city, zip = excluded.zip"""


def row(person):
    address = person["address"]
    return (
        person["ticket_number"], person["first_name"], person["last_name"], person["ss_num"],
        float(person["salary"].replace(",", "")), person["dob"][:19].replace("T", " "),
        person["active"], person["score"], person["visits"], address["city"], address["zip"],
    )


with open(sys.argv[1], "rb") as feed:
    people = orjson.loads(feed.read())
database = sqlite3.connect(sys.argv[2])
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = NORMAL")
with database:
    database.execute(CREATE)
    database.executemany(UPSERT, map(row, people))
database.close()
