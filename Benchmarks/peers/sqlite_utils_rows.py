"""Peer: sqlite-utils, a table's rows as lines of JSON. usage: sqlite_utils_rows.py DB OUT"""

import json
import sys

import sqlite_utils

rows = sqlite_utils.Database(sys.argv[1])["Person"].rows_where(order_by="ticketNumber")
with open(sys.argv[2], "w", encoding="utf-8") as out:
    for row in rows:
        out.write(json.dumps(row, ensure_ascii=False) + "\n")
