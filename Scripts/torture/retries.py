"""Rejects files: what was rejected is imported again by a mended map, once, whatever stops that; nothing is lost between file and store."""

import csv
import io
import json
from xml.sax.saxutils import escape, quoteattr

from harness import can_trace, contents, copy, faults, remove
from mutants import mutant
from undoing import difference

MAP = """
version: 1
name: retried
entities:
  Person:
    unique: id
    attributes:
      id: { from: { json: id, xml: "@id", csv: id }, type: int64 }
      name: { required: true }
      price: { type: decimal NUMBERS }
      born: { type: date, dates: [DATES] }
      stock: { type: int32 }
    relationships:
      boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: pending }
      tags: { entity: Tag, kind: toMany, from: tags, assign: union }
  Tag: { unique: name, attributes: { name: { from: "." } } }
sources:
  json:   { format: json, entity: Person, records: /people }
  ndjson: { format: ndjson, entity: Person }
  xml:    { format: xml, entity: Person, records: /people/person }
  csv:    { format: csv, entity: Person ENCODING }
"""
COLUMNS = ["id", "name", "price", "born", "stock", "boss"]


def plan(is_mended, encoding=None):
    return (
        MAP.replace("NUMBERS", ', numbers: { decimal: ",", group: "." }' if is_mended else ', numbers: { decimal: "." }')
        .replace("DATES", "iso8601-date, dd.MM.yyyy" if is_mended else "iso8601-date").replace("ENCODING", f", encoding: {encoding}" if encoding else "")
    )


def people(chance, count):
    """Records, each with what is wrong with it: nothing, what the mended map takes, what no map takes."""
    for number in range(count):
        record = {"id": number, "name": chance.choice(["Ada", "Zoë <b>", 'Q "x"', "a & b", "Ünal", "l\u2028s"]), "price": "7", "born": "2024-02-29", "stock": number % 9}
        wrong = chance.choice(["nothing"] * 3 + ["mended"] * 2 + ["never"])
        if wrong == "mended":
            record[chance.choice(["price", "born"])] = "1.234,5" if chance.random() < 0.5 else "31.12.2025"
            record["price"], record["born"] = "1.234,5", "31.12.2025"
        elif wrong == "never":
            record["stock"] = chance.choice(["x", "1.5", "99999999999"])
        if chance.random() < 0.4:
            record["boss"] = chance.randrange(count + 3)
        if chance.random() < 0.4:
            record["tags"] = [chance.choice("abcé") for _ in range(chance.randrange(1, 3))]
        yield record, wrong


def spelled(kind, records, encoding):
    if kind == "json":
        text = json.dumps({"people": records}, ensure_ascii=False)
    elif kind == "ndjson":
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    elif kind == "xml":
        head = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding != "utf-8" else ""
        body = ""
        for record in records:
            parts = "".join(
                "".join(f"<{name}>{escape(str(one))}</{name}>" for one in (value if isinstance(value, list) else [value])) for name, value in record.items() if name != "id"
            )
            body += f"<person id={quoteattr(str(record['id']))}>{parts}<!-- c --></person>\n"
        text = f"{head}<people>{body}</people>"
    else:
        stream = io.StringIO()
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for record in records:
            writer.writerow([record.get(column, "") for column in COLUMNS])
        text = stream.getvalue()
    return text.encode(encoding, "xmlcharrefreplace" if kind == "xml" else "replace")


class Case:
    """A store behind an import that has rejected records, their file, and what retrying is to come to."""

    def __init__(self, torture, folder, chance, count):
        self.kind = chance.choice(["json", "ndjson", "xml", "csv"])
        self.encoding = chance.choice({"xml": ["utf-8", "iso-8859-1", "utf-16", "utf-8"], "csv": ["utf-8", "windows-1252"]}.get(self.kind, ["utf-8"]))
        first, self.mended = folder / "first.map.yaml", folder / "mended.map.yaml"
        named = self.encoding if self.kind == "csv" else None
        first.write_text(plan(False, named))
        self.mended.write_text(plan(True, named))
        made = list(people(chance, count))
        # A number in XML and CSV is spelled as the map has it.
        records = [record for record, _ in made]
        bad = [record for record, wrong in made if wrong != "nothing"]
        feed, rest = folder / f"feed.{self.kind}", folder / f"rest.{self.kind}"
        feed.write_bytes(spelled(self.kind, records, self.encoding))
        rest.write_bytes(spelled(self.kind, bad, self.encoding))
        self.base, self.rejects, reference = folder / "base.db", folder / "base.rejects", folder / "reference.db"
        for path in (self.base, reference):
            remove(path)
        self.rejects.unlink(missing_ok=True)
        options = ["--commit", "batch", "--batch-size", 7] if chance.random() < 0.3 else []
        self.outcome = torture.run("import", first, feed, "-d", self.base, "--rejects", self.rejects, *options)
        torture.run("import", first, feed, "-d", reference, "-q")
        if bad:
            torture.run("import", self.mended, rest, "-d", reference, "-q")
        self.before, self.after = contents(self.base), contents(reference)
        self.bad = len(bad)
        self.never = sum(wrong == "never" for _, wrong in made)

    def __str__(self):
        return f"{self.kind}, {self.encoding}"


def lines(path):
    return path.read_bytes().splitlines() if path.exists() else []


def retried(torture):
    chance = torture.begin("rejects retry", "the contents of an import of the rejected records by the mended map; what is rejected again stays in its file, nothing is imported twice")
    folder = torture.folder("retries")
    for number in torture.cases(24, 2000):
        case = Case(torture, folder, chance, 40)
        name = f"case {number} ({case})"
        torture.check(len(lines(case.rejects)) == case.bad, f"{name}: {len(lines(case.rejects))} of {case.bad} rejects", case.outcome.text)
        former = case.rejects.read_bytes() if case.rejects.exists() else b""
        dry = torture.run("rejects", "retry", case.rejects, case.mended, "-d", case.base, "--dry-run")
        is_same = contents(case.base) == case.before and (case.rejects.read_bytes() if case.rejects.exists() else b"") == former
        torture.check(is_same and dry.code in (0, 3, 66), f"{name}: a dry run, exit {dry.code}", dry.text)
        if not case.bad:
            continue
        outcome = torture.run("rejects", "retry", case.rejects, case.mended, "-d", case.base)
        said = difference(contents(case.base), case.after)
        torture.check(outcome.code == (3 if case.never else 0) and not said, f"{name}: exit {outcome.code}", said + outcome.text)
        torture.check(len(lines(case.rejects)) == case.never, f"{name}: {len(lines(case.rejects))} of {case.never} are left")
        if case.never:
            former = case.rejects.read_bytes()
            outcome = torture.run("rejects", "retry", case.rejects, case.mended, "-d", case.base)
            torture.check(outcome.code == 3 and contents(case.base) == case.after, f"{name}: once more, exit {outcome.code}", outcome.text)
            torture.check(len(lines(case.rejects)) == case.never, f"{name}: once more, {len(lines(case.rejects))} are left")
        ids = [run["id"] for run in json.loads(torture.must("history", "-d", case.base, "--json").out)["imports"]]
        outcome = torture.run("undo", ids[-1], "-d", case.base)
        torture.check(outcome.code == 0, f"{name}: undo of the retry", outcome.text)
    torture.end()


def killed(torture):
    chance = torture.begin("rejects retry, killed", "what is gone from the file is in the store; retrying again ends as an unbroken one")
    if not can_trace():
        torture.skip("strace cannot inject faults here")
        return torture.end()
    folder = torture.folder("retries")
    calls = "pwrite64,write,fdatasync,fsync,ftruncate,rename,link,unlink"
    points = 0
    for number in torture.cases(3, 60):
        case = Case(torture, folder, chance, 30)
        if not case.bad:
            continue
        store, rejects = folder / "killed.db", folder / "killed.rejects"
        for call in calls.split(","):
            place = 1
            while True:
                copy(case.base, store)
                former = case.rejects.read_bytes()
                rejects.write_bytes(former)
                outcome = torture.run(
                    "rejects", "retry", rejects, case.mended, "-d", store, "-q",
                    prefix=["strace", "-qq", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={place}"],
                )
                if outcome.code in (0, 3):
                    break
                points += 1
                name = f"case {number} ({case}), {call} {place}"
                found = contents(store)
                torture.check(not faults(store) and found in (case.before, case.after), f"{name}: contents")
                torture.check(found == case.after or lines(rejects) == former.splitlines(), f"{name}: records are in neither")
                again = torture.run("rejects", "retry", rejects, case.mended, "-d", store)
                said = difference(contents(store), case.after)
                torture.check(again.code in (0, 3) and not said and len(lines(rejects)) == case.never, f"{name}: once more, exit {again.code}", said + again.text)
                # What is written again stands beside its place until it is whole; a kill leaves it there, for its owner only.
                for path in folder.iterdir():
                    if path.name.startswith(".killed.rejects."):
                        torture.check(path.stat().st_mode & 0o777 == 0o600, f"{name}: others may read {path.name}")
                        path.unlink()
                place += torture.times(4, 1)
    torture.note(f"killed at {points} calls")
    torture.end()


def mutated(torture):
    chance = torture.begin("mutated rejects files", "0 signals, 0 over 5 s; a line that is none is told; the store is whole")
    folder = torture.folder("retries")
    case = None
    store, rejects = folder / "mutant.db", folder / "mutant.rejects"
    for number in torture.cases(80, 20000):
        while case is None or number % 20 == 0 and not case.bad or not case.bad:
            case = Case(torture, folder, chance, 20)
        copy(case.base, store)
        data = mutant(case.rejects.read_bytes(), chance)
        rejects.write_bytes(data)
        for arguments in (["rejects", "show", rejects], ["rejects", "retry", rejects, case.mended, "-d", store]):
            outcome = torture.run(*arguments, timeout=20)
            name = f"mutant {number} ({case}), {arguments[1]}"
            torture.check(not outcome.is_crash and outcome.seconds < 5, f"{name}: exit {outcome.code}, {outcome.seconds:.1f} s", outcome.text)
            torture.check("\x1b" not in outcome.text, f"{name}: an escape sequence in what is printed")
            if outcome.code not in (0, 3):
                torture.check(contents(store) == case.before and rejects.read_bytes() == data, f"{name}: exit {outcome.code} and other contents, or another file", outcome.text)
        torture.check(not faults(store), f"mutant {number}: faults")
        if number % 20 == 19:
            case = None
    torture.end()


TESTS = [retried, killed, mutated]
