"""Peer: sqlite-utils, upsert_all with a key. usage: sqlite_utils_upsert.py FEED DB"""

import json
import sys

import sqlite_utils


def record(person):
    address = person["address"]
    return {
        "ticketNumber": person["ticket_number"],
        "firstName": person["first_name"],
        "lastName": person["last_name"],
        "socialSecurityNumber": person["ss_num"],
        "salary": float(person["salary"].replace(",", "")),
        "dateOfBirth": person["dob"][:19].replace("T", " "),
        "active": person["active"],
        "score": person["score"],
        "visits": person["visits"],
        "city": address["city"],
        "zip": address["zip"],
    }


with open(sys.argv[1], encoding="utf-8") as feed:
    people = json.load(feed)
database = sqlite_utils.Database(sys.argv[2])
database.enable_wal()
database["Person"].upsert_all(map(record, people), pk="ticketNumber")
database.close()
