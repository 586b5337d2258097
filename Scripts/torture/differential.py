"""Random maps and feeds, imported by the tool and by the plain importer of oracle.py: contents and counts are equal."""

import copy
import json
import random

import oracle
import shrinking
from crowd import spread
from harness import remove, rows
from oracle import MISSING, Number, Text
from spelling import dress, dressed, spell

TEXTS = ["", " ", "a", "A", "é", "e\u0301", "😀", "N/A", " b ", "true", "1", "NULL", "'; --", '"', "\\", "<&>", "ß", "İ", "\u2028", "x" * 300]
WHOLE = ["0", "1", "-1", "7", "32767", "32768", "-32768", "-32769", "2147483647", "2147483648", "9223372036854775807",
         "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9" * 400]
REAL = ["1.0", "1.5", "-0.5", "1E3", "1e-3", "12.50", "0.1", "1e308", "1e400", "-1e400", "1e-400", "1e999999999", "0.000000001", "123456789.987654321"]
MOMENTS = ["2024-02-29T12:30:45Z", "2023-02-29T00:00:00Z", "1970-01-01T00:00:00", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-01:00",
           "2024-01-01T00:00:00.123456789+05:45", "2024-01-01T24:00:00Z", "2024-01-01T00:00:60Z", "2024-13-01T00:00:00Z", "2024-01-01", "today", "0001-01-02T00:00:00Z"]
DAYS = ["2024-02-29", "2023-02-29", "0001-01-01", "9999-12-31", "2024-1-1", "01/02/2024", "20240101"]
KINDS = ["string", "int16", "int32", "int64", "double", "decimal", "bool", "timestamp", "date", "uuid", "data", "enum"]
DEFAULTS = {
    "string": ("dflt", "dflt"), "int16": (7, 7), "int32": (-7, -7), "int64": ("9007199254740993", 9007199254740993), "double": ("0.5", 0.5),
    "decimal": ("2.25", "2.25"), "bool": ("true", 1), "timestamp": ("2020-02-29T12:00:00Z", "2020-02-29 12:00:00"), "date": ("2020-02-29", "2020-02-29"),
}


def policies(chance, has_default):
    answers = ["clear", "keep", "reject"] + ["default"] * has_default
    found = {name: chance.choice(answers) for name in ("onMissing", "onNull", "onInvalid") if chance.random() < 0.3}
    if chance.random() < 0.1:
        found["ignoreNullValueOverwrites"] = chance.random() < 0.5
    return found


def attribute(chance, kind):
    found = {"type": kind, "stored default": None}
    if kind in DEFAULTS and chance.random() < 0.3:
        found["default"], found["stored default"] = DEFAULTS[kind]
    found.update(policies(chance, "default" in found))
    if chance.random() < 0.15:
        found["required"] = True
    if kind != "data" and chance.random() < 0.2:
        found["strings"] = {
            name: value for name, value in {"trim": True, "emptyAsNull": True, "nulls": ["N/A", "NULL"]}.items() if chance.random() < 0.5
        } or {"trim": True}
    if kind == "string":
        if chance.random() < 0.2:
            found["coerce"] = True
        if chance.random() < 0.1:
            found["length"] = {"min": 0, "max": 4}
    elif kind == "decimal":
        if chance.random() < 0.4:
            found["scale"] = 2
            if "default" in found:
                found["default"], found["stored default"] = "2.50", "2.50"
    elif kind == "bool" and chance.random() < 0.3:
        found["trueValues"], found["falseValues"] = ["true", "yes", "1"], ["no"]
    elif kind == "enum":
        found["values"] = {"a": "first", "A": "second", "é": "third"}
        if chance.random() < 0.3:
            found["unknown"] = "other"
    elif kind == "timestamp" and chance.random() < 0.5:
        found["dates"] = chance.choice([["unix"], ["unix-ms"], ["unix-us"], ["iso8601", "unix"]])
    if kind in ("int16", "int32", "int64", "decimal", "double"):
        if chance.random() < 0.2 and kind != "double":
            found["numbers"] = {"decimal": ",", "group": "."}
        if chance.random() < 0.1 and "default" not in found:
            found["min"], found["max"] = "-5", "100"
    return found


def random_plan(chance):
    """A map in the members of the map language, with what the oracle needs besides."""
    def entity(size):
        kind = chance.choice(["string", "string", "int32", "int64"])
        attributes = {"k": {"type": kind, "stored default": None}}
        for number in range(size):
            attributes[f"a{number}"] = attribute(chance, chance.choice(KINDS))
        return {"unique": ["k"], "attributes": attributes, **policies(chance, False)}

    entities = {"Root": entity(chance.randrange(1, 7))}
    root = entities["Root"]
    if chance.random() < 0.2:
        root["attributes"]["l"] = {"type": "string", "stored default": None}
        root["unique"] = ["k", "l"]
    if chance.random() < 0.15:
        root["attributes"]["v"] = {"type": "int64", "stored default": None}
        root["version"] = "v"
    if chance.random() < 0.15:
        root["deleteWhen"] = {"from": "gone", "equals": "yes"}
    links = {}
    if chance.random() < 0.6:
        entities["Child"] = entity(chance.randrange(1, 3))
        if chance.random() < 0.6:
            links["one"] = {"entity": "Child", "kind": "toOne"}
        if chance.random() < 0.6:
            links["many"] = {"entity": "Child", "kind": "toMany", "ordered": chance.random() < 0.5}
        if chance.random() < 0.5:
            links["ref"] = {"entity": "Child", "kind": "toOne", "key": {"k": "ref"}, "onUnresolved": chance.choice(["clear", "stub", "pending"])}
        if chance.random() < 0.4:
            links["refs"] = {"entity": "Child", "kind": "toMany", "key": {"k": "refs"}, "onUnresolved": chance.choice(["clear", "stub", "pending"])}
    if chance.random() < 0.4:
        entities["Part"] = entity(chance.randrange(1, 3))
        links["parts"] = {
            "entity": "Part", "kind": "toMany", "inverse": "owner", "ordered": chance.random() < 0.5, "onUnlink": chance.choice(["keep", "delete"]),
        }
        links["parts"]["onDelete"] = "nullify"
        deeper(chance, entities, entity)
    if len(root["unique"]) == 1 and chance.random() < 0.4:
        links["peer"] = {"entity": "Root", "kind": "toOne", "key": {"k": "peer"}, "onUnresolved": chance.choice(["clear", "stub", "pending"])}
    for relationship in links.values():
        if relationship["kind"] == "toMany" and chance.random() < 0.3:
            relationship["assign"] = "union"
        relationship.update({name: value for name, value in policies(chance, False).items() if name in ("onMissing", "onNull") and value != "reject"})
    root["relationships"] = links
    plan = {"version": 1, "name": "fuzz", "entities": entities}
    if chance.random() < 0.2:
        plan["defaults"] = policies(chance, False)
    return plan


def deeper(chance, entities, entity):
    """What is nested in what is nested: lists in lists, and references from there."""
    below = {}
    if chance.random() < 0.4:
        entities["Bit"] = entity(chance.randrange(1, 3))
        below["bits"] = {
            "entity": "Bit", "kind": "toMany", "inverse": "part", "ordered": chance.random() < 0.5, "onUnlink": chance.choice(["keep", "delete"]), "onDelete": "nullify",
        }
    if "Child" in entities:
        if chance.random() < 0.3:
            below["of"] = {"entity": "Child", "kind": "toOne"}
        if chance.random() < 0.3:
            below["at"] = {"entity": "Child", "kind": "toOne", "key": {"k": "at"}, "onUnresolved": chance.choice(["clear", "stub", "pending"])}
    if below:
        entities["Part"]["relationships"] = below


def map_text(plan):
    """The map as a file: without what only the oracle reads."""
    plan = copy.deepcopy(plan)
    for rules in plan["entities"].values():
        for one in rules["attributes"].values():
            del one["stored default"]
            if "length" in one:
                one["length"] = dict(one["length"])
        if "relationships" in rules and not rules["relationships"]:
            del rules["relationships"]
    plan["sources"] = {
        "json": {"format": "json", "entity": "Root"}, "ndjson": {"format": "ndjson", "entity": "Root"},
        "xml": {"format": "xml", "entity": "Root", "records": "/records/record"}, "csv": {"format": "csv", "entity": "Root"},
    }
    # What is nested in records comes in feeds of its own, too.
    for entity in list(plan["entities"])[1:]:
        plan["sources"].update({name + entity: {**source, "entity": entity} for name, source in list(plan["sources"].items()) if source["entity"] == "Root"})
    return json.dumps(plan, ensure_ascii=False)


# --- Feeds ---


def value(chance, one, is_text):
    """A foreign value for an attribute: mostly of its type, sometimes of none."""
    kind = one["type"]
    roll = chance.random()
    if roll < 0.1:
        return MISSING
    if roll < 0.2:
        return None
    if roll < 0.25 and not is_text:
        return chance.choice([True, False, Number("3"), "text", {"x": Number("1")}, [Number("1")]])
    if kind in ("string", "enum"):
        found = chance.choice(TEXTS) if chance.random() < 0.6 else chance.choice(["a", "A", "é"])
    elif kind in oracle.BITS or kind in ("double", "decimal"):
        found = Number(chance.choice(WHOLE + REAL if chance.random() < 0.7 else ["0", "1", "12", "99"]))
        if "numbers" in one and chance.random() < 0.5:
            found = chance.choice(["1.234,5", "1.234", "12,5", "-3", "1,2,3", "1.23", "12"])
    elif kind == "bool":
        found = chance.choice([True, False, Number("1"), Number("0"), Number("2"), "yes", "no", "true", "0"])
    elif kind == "timestamp":
        found = Number(chance.choice(["0", "1700000000", "-1", "1700000000123", "1700000000123456", "253402300799", "253402300800", "9223372036854775807", "-9223372036854775808", "1.5"]))
        if "iso8601" in one.get("dates", ["iso8601"]) and chance.random() < 0.8:
            found = chance.choice(MOMENTS)
    elif kind == "date":
        found = chance.choice(DAYS)
    elif kind == "uuid":
        found = chance.choice(["6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "6f9619ff8b86d011b42d00c04fc964ff", "x"])
    else:
        found = chance.choice(["aGVsbG8=", "", "aGVsbG8", "AAECAw==", "a b", "é"])
        if found == "aGVsbG8":
            found = "!"  # without padding it is taken: the oracle does not
    if is_text:
        if isinstance(found, bool):
            return Text("true" if found else "false")
        return Text(found)
    return found


def key(chance, kind, pool, is_text):
    if kind == "string":
        found = chance.choice(["a", "A", "é", "e\u0301", "k1", "k2", " k1", "1", "1.0"][:pool])
        return Text(found) if is_text else found
    found = chance.choice(["1", "2", "3", "1.0", "2E0", "40", "-1"][:pool])
    return Text(found) if is_text else Number(found)


def record(chance, plan, entity, form):
    rules = plan["entities"][entity]
    is_text = form in ("xml", "csv")
    found = {}
    if "discriminator" in rules:
        word = chance.choice([*rules["discriminator"]["values"]] * 8 + [None, None, MISSING, MISSING, "?"])
        rules = plan["entities"][rules["discriminator"]["values"].get(word, entity)]
        if word is not MISSING or form == "csv":
            found["kind"] = None if word in (None, MISSING) else Text(word) if is_text else Number(word) if word.isdigit() else word
    for name, one in rules["attributes"].items():
        if name in rules["unique"]:
            part = key(chance, one["type"], 7, is_text)
            if chance.random() < 0.04:
                part = chance.choice([None, MISSING])
        elif name == rules.get("version"):
            part = (Text if is_text else Number)(chance.randrange(4))
        else:
            part = value(chance, one, is_text)
        if form == "csv":
            if part is MISSING or isinstance(part, (list, dict)):
                part = None
        if part is not MISSING:
            found[name] = part
    if "deleteWhen" in rules and chance.random() < 0.15:
        found["gone"] = Text("yes") if is_text else "yes"
    if form == "csv":
        return found
    for name, relationship in rules.get("relationships", {}).items():
        roll = chance.random()
        if roll < 0.2:
            continue
        if roll < 0.28:
            found[name] = None
            continue
        target = plan["entities"][relationship["entity"]]

        def one_target():
            if relationship.get("key"):
                return key(chance, target["attributes"][target["unique"][0]]["type"], 6, is_text)
            return record(chance, plan, relationship["entity"], form)

        if relationship["kind"] == "toOne":
            found[name] = one_target()
        else:
            found[name] = [one_target() for _ in range(chance.randrange(1 if is_text else 0, 4))]
    return found


# --- Comparing ---


def random_case(seed):
    chance = random.Random(seed)
    plan = random_plan(chance)
    imports = []
    for _ in range(chance.randrange(1, 4)):
        form = chance.choice(["json", "json", "ndjson", "xml", "csv"])
        mode = chance.choice(["upsert"] * 4 + ["insert", "ignore"])
        batch = chance.choice([None, None, 1, 2, 3])
        imports.append([form, mode, batch, [record(chance, plan, "Root", form) for _ in range(chance.randrange(1, 9))]])
    return plan, imports


def canonical(tables):
    """Rows that can be compared: the places of an ordered list without the gaps that moved objects leave."""
    tables = copy.deepcopy(tables)
    for some in tables.values():
        for column in {name for row in some for name in row if name.endswith("_order") and name.startswith("_")}:
            owners = {}
            for row in sorted((row for row in some if row.get(column) is not None), key=lambda row: row[column]):
                owner = repr(row.get("part" if column == "_bits_order" else "owner"))
                row[column] = owners[owner] = owners.get(owner, -1) + 1
    return {
        table: sorted(repr(sorted((name, one) for name, one in row.items() if one is not None and (name, one) != ("_stub", 0))) for row in some)
        for table, some in tables.items()
        if table != "waiting" and some
    }


def difference(torture, folder, plan, imports):
    """What the tool and the oracle say differently of a case; empty: nothing."""
    store, path = folder / "fuzz.db", folder / "fuzz.map.json"
    remove(store)
    path.write_text(map_text(plan))
    world = oracle.World(plan)
    for number, (form, mode, batch, records, *clothes) in enumerate(imports):
        # A feed of CSV has the columns of its first line: what no record has is missing in none.
        if form == "csv":
            columns = list(dict.fromkeys(name for one in records for name in one))
            records = [{name: one.get(name) for name in columns} for one in records]
        feed = folder / f"fuzz{number}.{form}"
        feed.write_bytes(dressed(form, records, *(clothes[0][:2] if clothes else ())))
        entity = clothes[0][2] if clothes else "Root"
        world, counts = oracle.run(world, entity, records, mode)
        options = ["--commit", "batch", "--batch-size", batch] if batch else []
        source = form if entity == "Root" else form + entity
        outcome = torture.run("import", path, feed, "-d", store, "--mode", mode, "--source", source, "--json", *options)
        if outcome.is_crash:
            return f"import {number} ends with {outcome.code}: {outcome.text[-300:]}"
        if "import.unmatched" in outcome.text and outcome.code == 65:
            return ""  # not one record has anything that the map knows: told apart, whatever the oracle makes of it
        if outcome.code not in (0, 3):
            return f"import {number} ends with {outcome.code}: {outcome.text[-300:]}"
        told = json.loads(outcome.out)
        found = {name: told[name] for name in counts}
        if found != counts:
            return f"import {number} ({form}, {mode}): counts {found}, expected {counts}"
        stored = rows(store)
        got, wanted = canonical(stored), canonical(oracle.dump(world))
        if got != wanted:
            words = [f"import {number} ({form}, {mode}):"]
            for table in sorted(set(got) | set(wanted)):
                left, right = got.get(table, []), wanted.get(table, [])
                words += [f"  {table} has {row}" for row in left if row not in right][:3]
                words += [f"  {table} lacks {row}" for row in right if row not in left][:3]
            return "\n".join(words)
        waiting = len({(owner, name, one) for owner, name, _, one, _ in world.waiting})
        if len(stored.get("waiting", [])) != waiting:
            return f"import {number}: {len(stored.get('waiting', []))} references wait, expected {waiting}"
    return ""


def smaller(plan, imports):
    """Cases that are a little less than a case."""
    for number, one in enumerate(imports):
        def other(*changed):
            return plan, imports[:number] + list(changed) + imports[number + 1:]

        yield other()
        plainly = ("utf-8", False, one[4][2])
        if one[4] != plainly:
            yield other([*one[:4], plainly])
        for place in range(len(one[3])):
            yield other([*one[:3], one[3][:place] + one[3][place + 1:], *one[4:]])
    for entity, rules in plan["entities"].items():
        for part in ("attributes", "relationships"):
            for name in rules.get(part, {}):
                if name in rules["unique"]:
                    continue
                trial, fewer = copy.deepcopy(plan), copy.deepcopy(imports)
                del trial["entities"][entity][part][name]
                if rules.get("version") == name:
                    del trial["entities"][entity]["version"]
                for record in [record for one in fewer for record in one[3]] if entity == "Root" else []:
                    record.pop(name, None)
                yield trial, fewer


def is_sound(plan, imports):
    return bool(imports) and all(one[3] for one in imports)


def fuzz(torture):
    torture.begin("random maps and feeds", "contents and counts as the plain importer has them, in every format, encoding and batch size")
    spread(torture, cases, 400, 100000)
    torture.end()


def dressed_case(seed):
    """A case of feeds in any encoding, and of feeds of what is nested in others."""
    plan, imports = random_case(seed)
    chance = random.Random(f"{seed}:dress")
    for one in imports:
        one.append((*dress(chance, one[0]), "Root"))
    for entity in list(plan["entities"])[1:]:
        if chance.random() < 0.25:
            form = chance.choice(["json", "ndjson", "xml", "csv"])
            records = [record(chance, plan, entity, form) for _ in range(chance.randrange(1, 6))]
            other = [form, "upsert", chance.choice([None, None, 1, 2]), records, (*dress(chance, form), entity)]
            imports.insert(chance.randrange(len(imports) + 1), other)
    return plan, imports


def told(plan, imports):
    return map_text(plan).split(', "sources"')[0] + "\n" + "\n".join(f"{one[4:]} {spell(one[0], one[3])}" for one in imports)


def cases(torture):
    return shrinking.cases(torture, "fuzz", dressed_case, difference, smaller, told, is_sound)


TESTS = [fuzz]
