"""Feeds of our own making for shop.map.yaml: the same records in every format, from a seed."""

import csv
import io
import json
import random
from pathlib import Path
from xml.sax.saxutils import escape

MAP = Path(__file__).parent / "shop.map.yaml"
WORDS = ["alpha", "béta", "ガンマ", "delta & co", "<eps>", "😀", 'zeta "q"', "\\eta", "theta"]


def items(count, seed, first=0):
    """Records as dictionaries: every 50th repeats an earlier key, some refer to later ones or to nobody."""
    chance = random.Random(seed)
    for number in range(first, first + count):
        key = chance.randrange(first, number) if number % 50 == 49 and number > first else number
        category = chance.randrange(40)
        record = {
            "id": key,
            "name": " ".join(chance.choice(WORDS) for _ in range(3)),
            "price": f"{chance.randrange(10**7) / 100:.2f}",
            "weight": chance.randrange(10**6) / 64,
            "updated": f"20{chance.randrange(10, 25)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
            f"T{chance.randrange(24):02}:00:00Z",
            "note": None if chance.random() < 0.3 else "x" * chance.randrange(200),
            "category": {"id": f"c{category}", "title": f"Category {category}", "parent": f"c{category // 6}"},
            "tags": sorted({chance.choice(WORDS) for _ in range(chance.randrange(1, 4))}),
            "replaces": chance.randrange(first, first + count + 5) if chance.random() < 0.3 else None,
        }
        # What is null in one format cannot be written in another: here nothing is null, only missing.
        yield {name: value for name, value in record.items() if value is not None}


def as_json(records):
    return json.dumps({"items": list(records)}, ensure_ascii=False, indent=1).encode()


def as_ndjson(records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _element(name, value):
    if value is None:
        return ""
    if isinstance(value, list):
        return "".join(_element(name, one) for one in value)
    if isinstance(value, dict):
        return f"<{name}>" + "".join(_element(*member) for member in value.items()) + f"</{name}>"
    return f"<{name}>{escape(str(value))}</{name}>"


def as_xml(records):
    body = "\n".join(_element("item", record) for record in records)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<items>\n{body}\n</items>\n'.encode()


def as_csv(records):
    """Only what has columns: no nested objects, no lists."""
    columns = ["id", "name", "price", "weight", "updated", "note", "replaces"]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for record in records:
        writer.writerow([record.get(column, "") for column in columns])
    return text.getvalue().encode()


FORMATS = {"json": as_json, "ndjson": as_ndjson, "xml": as_xml, "csv": as_csv}


def write(folder, count, seed, kind="json", first=0):
    """Writes a feed into a folder and gives its path."""
    path = Path(folder) / f"items-{count}-{seed}-{first}.{kind}"
    if not path.exists():
        path.write_bytes(FORMATS[kind](items(count, seed, first)))
    return path
