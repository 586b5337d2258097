"""Input that is broken, or means harm: an exit code, never a signal, five seconds, 200 MB, a store that is whole."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from crowd import spread
from feeds import FORMATS, MAP, items, write
from harness import contents, copy, faults, has, remove
from mutants import mutant

HERE = Path(__file__).parent
PLAIN = """version: 1
name: plain
entities:
  Thing:
    unique: id
    attributes:
      id:   { from: { json: id, xml: "@id", csv: id } }
      name: { from: { json: name, xml: name, csv: name } }
sources:
  json:   { format: json, entity: Thing }
  ndjson: { format: ndjson, entity: Thing }
  xml:    { format: xml, entity: Thing, records: "/*/*" }
  csv:    { format: csv, entity: Thing }
"""


def is_bounded(torture, outcome, case, seconds=5, memory=200 << 20):
    torture.check(not outcome.is_crash, f"{case}: exit {outcome.code}{' late' if outcome.is_late else ''}", outcome.text)
    torture.check(outcome.seconds < seconds, f"{case}: {outcome.seconds:.1f} s")
    torture.check(outcome.peak < memory, f"{case}: {outcome.peak >> 20} MB")


def handmade(torture):
    torture.begin("hand-made hostile inputs", "what must be refused is, with the store as it was; what must be taken is")
    folder = torture.folder("handmade")
    subprocess.run([sys.executable, HERE / "hostile_inputs.py", folder / "in"], check=True, capture_output=True)
    plain = folder / "plain.map.yaml"
    plain.write_text(PLAIN)
    good = folder / "good.json"
    good.write_text('[{"id": "kept", "name": "kept"}]')
    for line in (folder / "in" / "manifest.tsv").read_text().splitlines()[1:]:
        name, kind, expected, *_ = line.split("\t")
        store = folder / "handmade.db"
        remove(store)
        if kind == "map":
            outcome = torture.run("check", folder / "in" / name, timeout=20)
            is_bounded(torture, outcome, name)
            torture.check(outcome.code == 65, f"{name}: exit {outcome.code}, must be refused", outcome.text)
            continue
        torture.must("import", plain, good, "-d", store, "-q")
        before = contents(store)
        outcome = torture.run("import", plain, folder / "in" / name, "-d", store, "--source", kind, timeout=20)
        is_bounded(torture, outcome, name)
        torture.check(not faults(store), f"{name}: faults")
        if expected == "reject":
            torture.check(
                outcome.code not in (0,) and (outcome.code == 3 or contents(store) == before),
                f"{name}: exit {outcome.code}, must be refused", outcome.text,
            )
        elif expected == "accept":
            # A feed of other members than the map's is told apart; nothing else may be refused.
            is_taken = outcome.code in (0, 3) or "import.unmatched" in outcome.text
            torture.check(is_taken, f"{name}: exit {outcome.code}, must be taken", outcome.text)
        torture.check("\x1b" not in outcome.text, f"{name}: an escape sequence in what is printed")
    torture.end()


def mutated(torture):
    torture.begin("mutated feeds", "0 signals, 0 over 5 s, 0 over 200 MB; what JSON refuses is refused; contents before, or a valid import")
    spread(torture, feed_mutants, 400, 200000)
    torture.note(f"{torture.tally.cases:,} mutants")
    torture.end()


def feed_mutants(torture):
    folder = torture.folder("mutants")
    store, empty = folder / "mutant.db", folder / "empty.db"
    torture.must("import", MAP, write(torture.shared("feeds"), 20, 1), "-d", empty, "-q")
    before = contents(empty)
    goods = {kind: FORMATS[kind](items(12, 9)) for kind in FORMATS}

    def case(number):
        kind = ["json", "ndjson", "xml", "csv"][number % 4]
        data = mutant(goods[kind], torture.drawn(number))
        path = folder / f"mutant.{kind}"
        path.write_bytes(data)
        copy(empty, store)
        outcome = torture.run("import", MAP, path, "-d", store, "--source", kind, timeout=20)
        told = f"mutant {number} ({kind}), seed {torture.seed}"
        is_bounded(torture, outcome, told)
        torture.check(not faults(store), f"{told}: faults")
        if outcome.code not in (0, 3):
            torture.check(contents(store) == before, f"{told}: exit {outcome.code} and other contents", outcome.text)
        if kind == "json" and outcome.code in (0, 3) and not is_json(data):
            torture.check(False, f"{told}: Python refuses what was taken", outcome.text)

    return case


def is_json(data):
    """Whether Python's own parser takes it."""
    try:
        json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return True


def mutated_maps(torture):
    torture.begin("mutated maps and predicates", "0 signals, 0 over 5 s, 0 over 200 MB")
    spread(torture, map_mutants, 150, 40000)
    torture.note(f"{torture.tally.cases:,} mutants of each")
    torture.end()


def map_mutants(torture):
    folder = torture.folder("maps")
    feed = write(torture.shared("feeds"), 5, 1)
    good = MAP.read_bytes()
    store = folder / "map.db"
    torture.must("import", MAP, feed, "-d", store, "-q")
    predicates = [
        b"price > 12.5 AND name CONTAINS[cd] 'alpha'", b"category.title MATCHES '.*(a|b)+$' OR ANY tags.name IN {'a', 'b'}",
        b"tags.@count >= 2 AND updated BETWEEN {'2011-01-01T00:00:00Z', $now} AND NOT (note == nil)",
        b"SUBQUERY(tags, $t, $t.name != nil AND SUBQUERY($t.items, $i, $i.price > price).@count > 1).@min.name IN {nil, 'a'}",
        b"updated > now() - 7 days + 1 month OR updated < today() - 1000000000 years",
    ]
    place = b"MQoxCjIKdEl0ZW0KdG5hbWUKdHg"

    def case(number):
        chance = torture.drawn(number)
        path = folder / "mutant.map.yaml"
        path.write_bytes(mutant(good, chance))
        is_bounded(torture, torture.run("check", path, feed, timeout=20), f"map {number}, seed {torture.seed}")
        predicate = mutant(chance.choice(predicates), chance).replace(b"\x00", b"").decode("utf-8", "surrogateescape")
        outcome = torture.run("fetch", "Item", "-d", store, "--where", os.fsencode(predicate).decode("utf-8", "replace"), timeout=20)
        is_bounded(torture, outcome, f"predicate {number}: {predicate!r}")
        after = mutant(place, chance).replace(b"\x00", b"").decode("utf-8", "replace").lstrip("-") or "x"
        outcome = torture.run("fetch", "Item", "-d", store, "--sort", "name", "--limit", "2", f"--after={after}", timeout=20)
        is_bounded(torture, outcome, f"place {number}: {after!r}")

    return case


def cut(torture):
    torture.begin("feeds that are cut off", "every proper prefix of a JSON or XML feed is refused, with the store as it was")
    folder = torture.folder("cut")
    store = folder / "cut.db"
    for kind in ("json", "xml"):
        data = FORMATS[kind](items(4, 3)).rstrip()
        for end in range(0, len(data), torture.times(13, 1)):
            path = folder / f"cut.{kind}"
            path.write_bytes(data[:end])
            remove(store)
            outcome = torture.run("import", MAP, path, "-d", store, "--source", kind)
            torture.check(outcome.code == 65 and not contents(store), f"{kind} of {end} bytes: exit {outcome.code}", outcome.text)
    torture.end()


def bombs(torture):
    torture.begin("bombs", "compressed, nested, aliased, one huge record: a named limit, 5 s, 300 MB")
    folder = torture.folder("bombs")
    store = folder / "bomb.db"
    plain = folder / "plain.map.yaml"
    plain.write_text(PLAIN)
    size = 1 << 30
    inputs = {}
    zeros = folder / "zeros.json.gz"
    with gzip.open(zeros, "wb", compresslevel=1) as file:
        file.write(b'[{"id":"')
        for _ in range(size >> 24):
            file.write(b"x" * (1 << 24))
        file.write(b'"}]')
    inputs["1 GB text, gzip"] = zeros
    spaces = folder / "spaces.json.gz"
    with gzip.open(spaces, "wb", compresslevel=1) as file:
        for _ in range(size >> 26):
            file.write(b" " * (1 << 24))
        file.write(b'[{"id":"1"}]')
    inputs["256 MB white space, gzip"] = spaces
    padded = folder / "padded.json.gz"
    with gzip.open(padded, "wb", compresslevel=1) as file:
        file.write(b"[")
        for _ in range(size >> 24):
            file.write(b" " * (1 << 24))
        file.write(b'{"id":"1"}]')
    inputs["1 GB white space in a list, gzip"] = padded
    lines = folder / "lines.csv.gz"
    with gzip.open(lines, "wb", compresslevel=1) as file:
        file.write(b"id\n1\n")
        for _ in range(size >> 24):
            file.write(b"\n" * (1 << 24))
        file.write(b"2\n")
    inputs["1 GB empty lines, gzip"] = lines
    if has("zstd"):
        path = folder / "zeros.ndjson.zst"
        with open(path, "wb") as file:
            packer = subprocess.Popen(["zstd", "-q", "-1", "-c"], stdin=subprocess.PIPE, stdout=file)
            packer.stdin.write(b'{"id":"')
            for _ in range(size >> 24):
                packer.stdin.write(b"x" * (1 << 24))
            packer.stdin.close()
            packer.wait()
        inputs["1 GB line, zstd"] = path
    deep = folder / "deep.json"
    deep.write_text('[{"id":' + "[" * 2_000_000)
    inputs["2 million arrays"] = deep
    deep_xml = folder / "deep.xml"
    deep_xml.write_text("<a>" * 1_000_000)
    inputs["1 million elements"] = deep_xml
    wide = folder / "wide.json"
    wide.write_text('[{"id":"1",' + ",".join(f'"k{n}":{n}' for n in range(1_000_000)) + "}]")
    inputs["1 million members"] = wide
    number = folder / "number.json"
    number.write_text('[{"id":' + "9" * 4_000_000 + "}]")
    inputs["a number of 4 million digits"] = number
    names = folder / "names.xml"
    names.write_text("<items>" + "".join(f'<item id="{n}" a{n}="1"/>' for n in range(1_000_000)) + "</items>")
    inputs["1 million names"] = names
    declared = folder / "declared.xml"
    declarations = "".join(f'<!ENTITY e{n} "some text">' for n in range(1000))
    declared.write_text(f"<!DOCTYPE items [{declarations}]><items>" + "".join(f'<item id="{n}"/>\n' for n in range(1_000_000)) + "</items>")
    inputs["1 million records behind 1,000 declarations"] = declared
    for case, path in inputs.items():
        remove(store)
        outcome = torture.run("import", plain, path, "-d", store, timeout=60)
        is_bounded(torture, outcome, case, seconds=15 if "GB" in case or "MB" in case or "behind" in case else 5, memory=110 << 20 if "behind" in case else 300 << 20)
        torture.check(outcome.code in (0, 3, 65), f"{case}: exit {outcome.code}", outcome.text)
        torture.note(f"{case}: exit {outcome.code}, {outcome.seconds:.1f} s, {outcome.peak >> 20} MB")
    # Everybody waits for somebody who never comes.
    waiting = folder / "waiting.map.yaml"
    waiting.write_text(
        "version: 1\nentities:\n  P:\n    unique: id\n    attributes: { id: {} }\n"
        "    relationships: { boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: reject } }\n"
        "sources: { p: { format: ndjson, entity: P } }\n"
    )
    people = folder / "people.ndjson"
    people.write_text("".join(f'{{"id":"{n}","boss":"{n + 1}"}}\n' for n in range(300_000)))
    remove(store)
    outcome = torture.run("import", waiting, people, "-d", store, "--max-waiting-size", 100, timeout=60)
    is_bounded(torture, outcome, "records that wait", memory=300 << 20)
    torture.check(outcome.code == 65 and "import.waiting" in outcome.text, f"records that wait: exit {outcome.code}", outcome.text)
    # Pairs that need each other, of which one cannot be.
    pairs = folder / "pairs.map.yaml"
    pairs.write_text(waiting.read_text().replace("{ id: {} }", "{ id: {}, name: { required: true } }"))
    people.write_text("".join(f'{{"id":"{n}","boss":"{n ^ 1}"}}\n' for n in range(8_000)))
    remove(store)
    outcome = torture.run("import", pairs, people, "-d", store, timeout=60)
    is_bounded(torture, outcome, "refused pairs")
    torture.check(outcome.code == 3, f"refused pairs: exit {outcome.code}", outcome.text)
    # Plain records without end: what ends them is the bound of an input.
    many = folder / "many.ndjson.gz"
    with gzip.open(many, "wb", compresslevel=1) as file:
        for _ in range(size >> 24):
            file.write(b'{"id":"1"}\n' * ((1 << 24) // 11))
    one = folder / "one.json"
    one.write_text('[{"id":"1"}]')
    remove(store)
    torture.must("import", plain, one, "-d", store, "-q")
    before = contents(store)
    outcome = torture.run("import", plain, many, "-d", store, "--max-bytes", "16M", timeout=60)
    is_bounded(torture, outcome, "1 GB of records, --max-bytes 16M")
    torture.check(outcome.code == 65 and "input.limit" in outcome.text, f"--max-bytes: exit {outcome.code}", outcome.text)
    torture.check(contents(store) == before, "--max-bytes: the store is another one")
    laughs = folder / "laughs.map.yaml"
    laughs.write_text(
        "version: 1\na: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(12))
    )
    is_bounded(torture, torture.run("check", laughs, timeout=20), "YAML aliases")
    path = folder / "regex.map.yaml"
    path.write_text(PLAIN.replace('name: { from: {', 'name: { pattern: "(a+)+$", from: {'))
    feed = folder / "regex.json"
    feed.write_text(json.dumps([{"id": str(n), "name": "a" * 40 + "!"} for n in range(50)]))
    remove(store)
    is_bounded(torture, torture.run("import", path, feed, "-d", store, timeout=20), "a pattern that explodes")
    outcome = torture.run("fetch", "Thing", "-d", store, "--where", "name MATCHES '(a+)+$'", timeout=20)
    is_bounded(torture, outcome, "MATCHES that explodes")
    torture.end()


def injected(torture):
    torture.begin("SQL and terminal sequences", "values come back byte for byte, the schema stays, nothing reaches the terminal as it is")
    folder = torture.folder("injected")
    store, plain = folder / "injected.db", folder / "plain.map.yaml"
    plain.write_text(PLAIN)
    nasty = [
        "'; DROP TABLE Thing; --", '"; DROP TABLE Thing; --', "1 OR 1=1", "%s%n%x", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u202eevil",
        "a\x00b", "\r\nX", "`id`", "$(id)", "=1+1", "../../etc/passwd", "é", "e\u0301", "\ufdd0", "\U0010ffff", "\u2028", "\x9b31m", "NULL", "nil",
        "", " ", "\t", "'", '"', "]", "[", "\\", "\\u0000", "😀" * 100, "x" * 100_000,
        # A combining mark behind a sign makes one character of the two for whoever goes by characters.
        *(f"a{sign}\u0301; DROP TABLE Thing; --" for sign in "'\"\\,;|=.%_[]{}()<>&~/:$`"), "\u0301x", "\u200d'",
    ]
    path = folder / "nasty.json"
    path.write_text(json.dumps([{"id": f"{n}{text}", "name": text} for n, text in enumerate(nasty)]))
    torture.must("import", plain, path, "-d", store, "-q")
    import sqlite3
    with sqlite3.connect(store) as database:
        rows = dict(database.execute("SELECT id, CAST(name AS BLOB) FROM Thing"))
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")]
    database.close()
    torture.check(len(rows) == len(nasty), f"{len(rows)} of {len(nasty)} rows")
    for n, text in enumerate(nasty):
        torture.check(rows.get(f"{n}{text}") == text.encode(), f"value {text[:20]!r}: {rows.get(f'{n}{text}')!r:.60}")
        outcome = torture.run("fetch", "Thing", "-d", store, "--where", "name == $X", "-p", f"X={text}", "-f", "json") if "\x00" not in text else None
        if outcome and text:
            torture.check(text in [row["name"] for row in json.loads(outcome.out or b"[]")], f"fetched by {text[:20]!r}", outcome.text[:300])
    torture.check([name for name in tables if not name.startswith("_")] == ["Thing"], f"tables {tables}")
    ids = []
    after = []
    while True:
        outcome = torture.run("fetch", "Thing", "-d", store, "--sort", "-name[cd],id", "--limit", "3", "--json", *after)
        page = json.loads(outcome.out)
        ids += [row["id"] for row in page["rows"]]
        if page["next"] is None or len(ids) > 2 * len(nasty):
            break
        after = ["--after", page["next"]]
    torture.check(sorted(ids) == sorted(rows), f"pages of nasty texts have {len(ids)} rows")
    import csv
    outcome = torture.run("fetch", "Thing", "-d", store, "-f", "csv", "--sort", "id")
    printed = {row[0]: row[1] for row in csv.reader(io.StringIO(outcome.out.decode(), newline=""), strict=True)}
    torture.check({key: text for key, text in printed.items() if key != "id"} == {key: value.decode() for key, value in rows.items()}, "CSV does not say what is stored")
    names = [f"n{sign}\u0301" for sign in "'\"\\,;|%[](){}<>&~`$"] + ["'\u0301; DROP TABLE Thing; --"]
    attributes = {"id": "id", **{name: {"from": f"/m{number}", "default": f"d{name}"} for number, name in enumerate(names)}}
    for version, kept in enumerate((names[::2], names)):
        hostile = {name: place for name, place in attributes.items() if name == "id" or name in kept}
        entity = {"unique": "id", "table": 'Thing"\u0301; --', "attributes": hostile}
        (folder / "names.map.json").write_text(json.dumps({"version": 1, "entities": {"E'\u0301": entity}, "sources": {"j": {"format": "json", "entity": "E'\u0301"}}}))
        (folder / "names.json").write_text(json.dumps([{"id": str(version), **{f"m{number}": name for number, name in enumerate(names)}}]))
        if version:
            torture.must("migrate", folder / "names.map.json", "-d", folder / "names.db")
        torture.must("import", folder / "names.map.json", folder / "names.json", "-d", folder / "names.db", "-q")
        told = json.loads(torture.run("fetch", "E'\u0301", "-d", folder / "names.db", "--where", f"id == '{version}'", "-f", "json").out or b"[{}]")
        torture.check(told and {name: told[0].get(name) for name in kept} == {name: name for name in kept}, f"names with accents: {told}"[:400])
    for style in ("table", "markdown", "line"):
        outcome = torture.run("fetch", "Thing", "-d", store, "-f", style)
        torture.check(not re.search(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]", outcome.out.decode()), f"-f {style} prints control characters")
    bad = folder / "bad.json"
    bad.write_text(json.dumps([{"id": None, "name": text} for text in nasty] + [{"\x1b[31mid": 1}]))
    outcome = torture.run("check", plain, bad, "--coverage")
    torture.check("\x1b" not in outcome.text and "\x9b" not in outcome.text, "coverage prints control characters")
    outcome = torture.run("import", plain, bad, "-d", store)
    torture.check("\x1b" not in outcome.text and "\x9b" not in outcome.text, "messages print control characters")
    torture.end()


def paths(torture):
    torture.begin("paths", "links, loops, devices, strange names: refused or used as named, within 5 s; nothing is written through a link over another file")
    folder = torture.folder("paths")
    feed = write(torture.shared("feeds"), 20, 1)
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / "fifo")
    victim = folder / "victim.txt"
    victim.write_text("mine")
    (folder / "link.db").symlink_to(victim)
    (folder / "link.json").symlink_to(victim)
    good = folder / "good.db"
    torture.must("import", MAP, feed, "-d", good, "-q")
    (folder / "other.db").write_bytes(good.read_bytes())
    for case, arguments in {
        "a store that is a loop": ["import", MAP, feed, "-d", folder / "loop"],
        "a store that is a pipe": ["import", MAP, feed, "-d", folder / "fifo"],
        "a store that is a link to a text": ["import", MAP, feed, "-d", folder / "link.db"],
        "a store that is a process' memory": ["import", MAP, feed, "-d", "/proc/self/mem"],
        "an input that is a loop": ["import", MAP, folder / "loop", "-d", folder / "a.db"],
        "an input that is memory": ["import", MAP, "/proc/self/mem", "-d", folder / "b.db"],
        "a map that is a device": ["check", "/dev/null"],
        "a map that is a folder": ["check", folder],
        "rejects through a link": ["import", MAP, feed, "-d", folder / "c.db", "--rejects", folder / "link.json"],
        "rejects onto the input": ["import", MAP, feed, "-d", folder / "d.db", "--rejects", feed],
        "rejects onto the store": ["import", MAP, feed, "-d", folder / "e.db", "--rejects", folder / "e.db"],
        "export onto the map": ["export", MAP, "-d", good, "--entity", "Item", "--overwrite", "-o", MAP],
        "export onto the store": ["export", MAP, "-d", good, "--entity", "Item", "--overwrite", "-o", good],
        "export onto a feed": ["export", MAP, "-d", good, "--entity", "Item", "-o", feed],
        "export through a link": ["export", MAP, "-d", good, "--entity", "Item", "-o", folder / "link.json"],
        "backup onto another store": ["backup", "-d", good, folder / "other.db"],
    }.items():
        whole = feed.read_bytes()
        map_text = MAP.read_bytes()
        stores = [(folder / name).read_bytes() for name in ("good.db", "other.db")]
        began = time.monotonic()
        outcome = torture.run(*arguments, timeout=8)
        torture.check(not outcome.is_crash and time.monotonic() - began < 5, f"{case}: exit {outcome.code}", outcome.text)
        torture.check(outcome.code not in (0, 3), f"{case}: exit {outcome.code}", outcome.text)
        torture.check(victim.read_text() == "mine" and feed.read_bytes() == whole and MAP.read_bytes() == map_text, f"{case}: another file changed")
        torture.check(stores == [(folder / name).read_bytes() for name in ("good.db", "other.db")], f"{case}: a store changed")
    for name in ("-rf", "a b", "a\nb", "x" * 240, "é", "?#%.json", "'; DROP", "[a]*"):
        path = folder / f"{name}.json"
        path.write_bytes(feed.read_bytes())
        store = folder / f"{name[:100]}.db"
        outcome = torture.run("import", MAP, "-d", f"./{name[:100]}.db", "--", f"./{name}.json", cwd=folder)
        torture.check(outcome.code == 0 and contents(store), f"named {name[:20]!r}: exit {outcome.code}", outcome.text)
    raw = os.fsencode(str(folder)) + b"/caf\xe9.json"
    with open(raw, "wb") as file:
        file.write(feed.read_bytes())
    outcome = torture.run("import", MAP, "-d", "raw.db", os.fsdecode(raw), cwd=folder)
    torture.check(not outcome.is_crash, f"a name that is no UTF-8: exit {outcome.code}", outcome.text)
    torture.end()


TESTS = [handmade, mutated, mutated_maps, cut, bombs, injected, paths]
