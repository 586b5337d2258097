"""Random maps whose objects have several keys, any of which others name them by, and which records change.

An object gives its further key away and another one takes it; records wait for who has a key, for who is a part of their own, for each
other. The same records come in one import, in batches, in two imports, behind dry runs: keys_oracle.py says what is to come of each.
"""

import copy
import json
import random

import shrinking
from crowd import spread
from harness import faults, remove, rows
from keys_oracle import Key, Plan, World, dump, run
from linked import feed_text, less_of, map_text
from linked_oracle import TO_MANY, TO_ONE, Unsaid, plain, unlike
from oracle import Number, Text

# --- Random maps: names are such that the index of the first key of an entity stands first, which `harness.rows` names objects by ---


def random_entities(chance):
    entities = {}
    for name in ["A", "B"][:chance.choice([1, 1, 2])]:
        entities[name] = entity([["id"], ["mail"]], {"id": {"type": chance.choice(["int64", "string"])}})
        if chance.random() < 0.4:
            entities[name]["unique"].append(["x", "y"])
            entities[name]["attributes"] |= {"x": {"type": "string"}, "y": {"type": "int64"}}
    if chance.random() < 0.3:
        # A street is one of its town.
        entities["S"] = entity([["city", "name"], ["mail"]], {"name": {"type": "string"}})
        entities["S"]["relationships"]["city"] = relationship(chance, entities, "A", TO_ONE, "city")
    if chance.random() < 0.2:
        entities["C"] = {"parent": "A", "attributes": {"w": {"type": "int32"}}, "relationships": {}}
    for rules in entities.values():
        if chance.random() < 0.4:
            rules["deleteWhen"] = {"from": "gone", "equals": "yes"}
    for number in range(chance.choice([1, 1, 2, 3])):
        owner, target = chance.choice([name for name in entities if name != "C"]), chance.choice(list(entities))
        one = relationship(chance, entities, target, chance.choice([TO_ONE, TO_MANY]), f"r{number}")
        entities[owner]["relationships"][f"r{number}"] = one
        if one["kind"] == TO_ONE and chance.random() < 0.15:
            one["inverse"] = f"i{number}"
            entities[target]["relationships"][f"i{number}"] = {"entity": owner, "kind": TO_MANY, "inverse": f"r{number}", "from": []}
    return entities


def entity(unique, attributes):
    return {"unique": unique, "attributes": {**attributes, "mail": {"type": "string"}, "v": {"type": "int32"}}, "relationships": {}}


def relationship(chance, entities, target, kind, name):
    names = chance.choice(Plan(entities).entities[target]["unique"])
    lists = "[*]" if kind == TO_MANY else ""
    key = {names[0]: name} if len(names) == 1 else {part: {"from": {"json": f"{name}{lists}.{part}", "xml": f"{name}/{part}"}} for part in names}
    found = {"entity": target, "kind": kind, "key": key, "onUnresolved": chance.choice(["clear", "pending", "reject", "reject"])}
    if kind == TO_MANY:
        found |= chance.choice([{}, {"ordered": True}, {"ordered": True}, {"assign": "union"}])
    return found


# --- Random records ---


def value(chance, plan, entity, name):
    """A value of an attribute, or a key of whom a to-one leads to."""
    rules = plan.entities[entity]
    if name in rules["relationships"]:
        one = rules["relationships"][name]
        return key(chance, plan, one["entity"], list(one["key"]))
    if name == "y":
        return chance.choice([1, 2])
    if rules["attributes"][name]["type"] == "string":
        return chance.choice({"id": "123", "mail": "pqr"}.get(name, "st"))
    return chance.choice([1, 2, 3])


def key(chance, plan, entity, names):
    """A key of an entity by some of its parts: of a to-one in it, the first key of its target."""
    found = {}
    for name in names:
        one = plan.entities[entity]["relationships"].get(name)
        found[name] = value(chance, plan, entity, name) if one is None else key(chance, plan, one["entity"], plan.entities[one["entity"]]["unique"][0])
    return found if len(names) > 1 else found[names[0]]


def record(chance, plan, entity):
    rules = plan.entities[entity]
    found = {name: value(chance, plan, entity, name) for name in rules["unique"][0] if chance.random() > 0.01}
    for name in rules["attributes"]:
        if name not in rules["unique"][0] and chance.random() < (0.6 if name == "mail" else 0.5):
            found[name] = None if chance.random() < 0.1 else value(chance, plan, entity, name)
    if "deleteWhen" in rules and chance.random() < 0.15:
        found["gone"] = "yes"
    for name, one in plan.read(entity).items():
        roll = chance.random()
        if name in rules["unique"][0] or roll < 0.35:
            continue
        if roll < 0.4 and len(one["key"]) == 1:
            found[name] = None
        elif one["kind"] == TO_ONE:
            found[name] = value(chance, plan, entity, name)
        else:
            found[name] = [value(chance, plan, entity, name) for _ in range(chance.choice([0, 1, 1, 2, 3]))]
    return found


def random_case(seed):
    chance = random.Random(seed)
    entities = random_entities(chance)
    plan = Plan(entities)
    records = [(name, record(chance, plan, name)) for name in (chance.choice(list(entities)) for _ in range(chance.choice([3, 5, 8, 12])))]

    def way(cuts, batch):
        form = chance.choice(["xml", "xml", "json", "ndjson" if len(entities) == 1 else "json"])
        return form, sorted(cuts), batch, chance.random() < 0.3

    cut = chance.randrange(1, len(records))
    return entities, records, [way([], None), way([], chance.choice([1, 1, 2, 3])), way([cut], chance.choice([None, None, 1, 2]))]


# --- Comparing ---


def foreign(form, value):
    """A value as it stands in a feed; XML knows no empty lists."""
    if isinstance(value, dict):
        return {name: foreign(form, one) for name, one in value.items() if not (form == "xml" and one == [])}
    if isinstance(value, list):
        return [foreign(form, one) for one in value]
    return value if value is None else Text(value) if form == "xml" else Number(value) if isinstance(value, int) else value


def parts(entities, records, way):
    """The imports of a way, each with its records in the order that its format has them."""
    form, cuts, _, _ = way
    for start, end in zip([0, *cuts], [*cuts, len(records)]):
        some = [(entity, {name: one for name, one in record.items() if not (form == "xml" and one == [])}) for entity, record in records[start:end]]
        if form == "json":
            # A member has its records in one place.
            order = list(dict.fromkeys(entity for entity, _ in some))
            some.sort(key=lambda one: order.index(one[0]))
        if some:
            yield some


def difference(torture, folder, entities, records, ways):
    """What the tool and the importer say differently of a case, the first way that does; empty: nothing."""
    path, plan = folder / "keys.map.json", Plan(entities)
    path.write_text(map_text(entities))
    for way in ways:
        store, world = folder / "keys.db", World(plan)
        remove(store)
        for number, some in enumerate(parts(entities, records, way)):
            try:
                after, counts = run(world, some)
            except Unsaid:
                break
            said = imported(torture, folder, path, store, way, some, counts, links(world, after)) or apart(plan, store, after)
            if said:
                return f"import {number} ({way[0]}): {said}"
            world = after
    return ""


def imported(torture, folder, path, store, way, records, counts, more):
    """An import, maybe behind a dry run: what is wrong with its counts; `more` is how many links it makes more than it removes."""
    form, _, batch, is_dry = way
    feed = folder / f"keys.{form}"
    feed.write_text(feed_text(form, [(entity, foreign(form, record)) for entity, record in records]))
    options = ["--commit", "batch", "--batch-size", batch] if batch else []
    options += ["--source", form + records[0][0]] if form == "ndjson" else []
    before = rows(store)
    for dry in [["--dry-run"]] * is_dry + [[]]:
        outcome = torture.run("import", path, feed, "-d", store, "--json", *options, *dry)
        if outcome.is_crash or outcome.code not in (0, 3):
            return f"ends with {outcome.code}: {outcome.text[-300:]}"
        told = json.loads(outcome.out)
        found = {name: told[name] for name in counts}
        if found != counts:
            return f"counts {'dry ' * bool(dry)}{found}, expected {counts}"
        if told["read"] != sum(told[name] for name in ("inserted", "updated", "unchanged", "deleted", "skipped", "rejected")):
            return f"counts do not add up {told}"
        told = {name: sum(one["linked"] - one["unlinked"] for place, one in told["relationships"].items() if place.split(".")[1] in (name, "i" + name[1:])) for name in more}
        if told != more:
            return f"links {'dry ' * bool(dry)}{told}, expected {more}"
        if dry and rows(store) != before:
            return "dry run has changed the store"
    return ""


def links(before, after):
    """How many links of each relationship there are more; none are looked at where objects are deleted: whether links count that go with them, is not said."""
    found = {}
    for sign, world in ((-1, before), (1, after)):
        for item in world.objects.values():
            for name, targets in item["links"].items():
                found[name] = found.get(name, 0) + sign * len([one for one in targets if not isinstance(one, Key)])
    return {} if any("deleteWhen" in rules for rules in after.plan.entities.values()) else found


def apart(plan, store, after):
    """How a store differs from the world."""
    wrong = faults(store)
    if wrong:
        return f"faults {wrong[:3]}"
    found = rows(store)
    waits = {(one["relationship"].split(".")[1], one["owner"], tuple(sorted((name, str(part)) for name, part in json.loads(one["key"]).items()))) for one in found.pop("waiting", [])}
    wanted, awaited = dump(after)
    words = unlike(plain(placed(found)), plain(wanted))
    words += [f"  waits {row}" for row in waits - awaited] + [f"  does not wait {row}" for row in awaited - waits]
    return "\n".join(["", *words]) if words else ""


def placed(tables):
    """Places as ranks: deletions leave gaps."""
    seen = {}
    for table, some in tables.items():
        for row in sorted((row for row in some if "position" in row), key=lambda row: row["position"]):
            place = table, row["owner"]
            row["position"] = seen[place] = seen.get(place, -1) + 1
    return tables


# --- Smaller cases ---


def smaller(entities, records, ways):
    """Cases that are a little less than a case."""
    for place, (form, cuts, batch, is_dry) in enumerate(ways):
        if len(ways) > 1:
            yield entities, records, [ways[place]]
        for way in [("json", cuts, batch, is_dry), (form, [], batch, is_dry), (form, cuts, None, is_dry), (form, cuts, batch, False)]:
            if way != ways[place] and way[0] in (form, "json"):
                yield entities, records, ways[:place] + [way] + ways[place + 1:]
    for place, (entity, one) in enumerate(records):
        fewer = [(form, [cut - (cut > place) for cut in cuts if 0 < cut - (cut > place) < len(records) - 1], *more) for form, cuts, *more in ways]
        yield entities, records[:place] + records[place + 1:], fewer
        for less in less_of(one):
            yield entities, records[:place] + [(entity, less)] + records[place + 1:], ways
    for entity, rules in entities.items():
        trial = {name: one for name, one in entities.items() if name != entity}
        if not any(one["entity"] == entity or rules.get("parent") == entity for rules in trial.values() for one in rules["relationships"].values()):
            yield trial, records, ways
        for part in ["deleteWhen"] * ("deleteWhen" in rules):
            trial = copy.deepcopy(entities)
            del trial[entity][part]
            yield trial, records, ways
        for number in range(1, len(rules.get("unique", []))):
            trial = copy.deepcopy(entities)
            del trial[entity]["unique"][number]
            yield trial, records, ways
        for name, one in rules["relationships"].items():
            if name in rules.get("unique", [[]])[0]:
                continue
            trial = copy.deepcopy(entities)
            del trial[entity]["relationships"][name]
            trial[one["entity"]]["relationships"].pop(one.get("inverse"), None)
            yield trial, records, ways
            for option in sorted(set(one) & {"ordered", "assign", "onUnresolved"}):
                trial = copy.deepcopy(entities)
                del trial[entity]["relationships"][name][option]
                yield trial, records, ways


def is_sound(entities, records, ways):
    """Whether a map still has the keys that its relationships name, and the records their entities."""
    plan = Plan(entities)
    return bool(records) and all(entity in entities for entity, _ in records) and all(
        list(one["key"]) in plan.entities[one["entity"]]["unique"] for entity in entities for one in plan.read(entity).values()
    )


def told(entities, records, ways):
    feeds = [f"{way}: {feed_text(way[0], [(entity, foreign(way[0], one)) for entity, one in some])}" for way in ways for some in parts(entities, records, way)]
    return json.dumps(entities) + "\n" + "\n".join(feeds)


def keys(torture):
    torture.begin("random keys", "objects that have several keys, and change them, are found by each: links, what waits and counts as the plain importer has them, in one import, in batches, in several, behind dry runs")
    spread(torture, cases, 150, 30000)
    torture.end()


def cases(torture):
    return shrinking.cases(torture, "keys", random_case, difference, smaller, told, is_sound)


TESTS = [keys]
