"""Random maps that are about relationships, imported by the tool and by the plain importer of linked_oracle.py.

The maps of differential.py are mostly about values. Here an entity has a key and an attribute, and the rest are relationships: with
inverses of every kind, read from one side or from both, with delete rules, by keys of more than one part. A feed may have records of
all entities, in any order, so that what is named comes later, in another import, or never.
"""

import copy
import json
import random

import shrinking
from crowd import spread
from harness import faults, remove
from linked_oracle import AVOIDED, Plan, TO_MANY, TO_ONE, Unsaid, World, dump, is_exclusive, plain, read, run, stored, unlike
from oracle import Number, Text, member
from spelling import spell_csv, spell_json, spell_xml

# --- Random maps ---


def random_entities(chance):
    if chance.random() < 0.4:
        # Only one relationship: all that happens, happens to it.
        names = ["A", "B"][:chance.choice([1, 2, 2])]
        entities = {name: {"unique": ["k"], "attributes": {"k": {"type": "int64"}, "a": {"type": "int32"}}, "relationships": {}} for name in names}
        bond(chance, entities, "r0", "s0")
        return entities
    names = ["A", "B", "C"][:chance.choice([1, 2, 2, 2, 3])]
    entities = {
        name: {"unique": ["k"], "attributes": {"k": {"type": chance.choice(["string", "int64"])}, "a": {"type": "int32"}}, "relationships": {}} for name in names
    }
    for name in names:
        if chance.random() < 0.2:
            entities[name]["attributes"]["l"] = {"type": "int64"}
            entities[name]["unique"] = ["k", "l"]
        if chance.random() < 0.4:
            entities[name]["deleteWhen"] = {"from": "gone", "equals": "yes"}
    if chance.random() < 0.25 and any(len(one["unique"]) == 1 for one in entities.values()):
        with_lines(chance, entities, next(name for name, one in entities.items() if len(one["unique"]) == 1))
    for number in range(chance.choice([1, 1, 2, 2, 3])):
        bond(chance, entities, f"r{number}", f"s{number}")
    return entities


def with_lines(chance, entities, above):
    """An entity whose key is one of an object that it belongs to, and of a number there."""
    entities["L"] = {
        "unique": ["up", "k"] if chance.random() < 0.5 else ["k", "up"], "attributes": {"k": {"type": "string"}, "a": {"type": "int32"}},
        "relationships": {"up": {"entity": above, "kind": TO_ONE, "key": {"k": "up"}, "onUnresolved": chance.choice(["clear", "pending", "reject"])}},
    }
    if chance.random() < 0.6:
        lines = side(chance, entities, "L", TO_MANY, "from", "lines")
        entities[above]["relationships"]["lines"] = {**lines, "inverse": "up"}
        if chance.random() < 0.5:
            entities["L"]["relationships"]["up"]["inverse"] = "lines"


def key_of(entities, target, kind, name):
    """A key in the map: a text, or members of an object or of the objects of a list."""
    unique = entities[target]["unique"]
    if len(unique) == 1:
        return {"k": name}
    return {part: {"from": {"json": f"{name}{'[*]' if kind == TO_MANY else ''}.{part}", "xml": f"{name}/{part}"}} for part in unique}


def side(chance, entities, entity, kind, place, name):
    """One side of a relationship; `place` is where the feed has it: key, from, none or never."""
    found = {"entity": entity, "kind": kind}
    if place == "key":
        found["key"] = key_of(entities, entity, kind, name)
        found["onUnresolved"] = chance.choice(["clear", "pending", "reject"] if "up" in entities[entity]["unique"] else ["clear", "stub", "pending", "pending", "reject"])
    elif place == "from":
        found["from"] = name
    elif place == "never":
        found["from"] = []
    if kind == TO_MANY:
        if chance.random() < 0.5:
            found["ordered"] = True
        if chance.random() < 0.2:
            found["assign"] = "union"
        elif place not in ("none", "never") and chance.random() < 0.2:
            found["onUnlink"] = "delete"
    if chance.random() < 0.3:
        found["onDelete"] = chance.choice(["cascade", "deny"])
    return found


def bond(chance, entities, left, right):
    """A relationship and its inverse, if it has one."""
    one, other = chance.choice(list(entities)), chance.choice(list(entities))
    kinds = chance.choice([(TO_ONE, TO_ONE), (TO_ONE, TO_MANY), (TO_ONE, TO_MANY), (TO_MANY, TO_ONE), (TO_MANY, TO_MANY), (TO_ONE, None), (TO_MANY, None)])
    if one > other:
        one, other = other, one
    places = [("key", "none"), ("key", "never"), ("from", "none"), ("from", "never"), ("none", "never"), ("none", "key"), ("never", "key")]
    places += [("none", "from"), ("never", "from"), ("from", "from"), ("none", "none")]
    places = chance.choice([*places, ("key", "key"), ("key", "from"), ("from", "key")])
    if chance.random() < 0.15:
        # Friends: it is its own inverse.
        friends = side(chance, entities, one, TO_MANY, chance.choice(["key", "from"]), left)
        entities[one]["relationships"][left] = {**friends, "inverse": left}
        return
    first = side(chance, entities, other, kinds[0], places[0], left)
    if kinds[0] == TO_MANY and kinds[1] != TO_ONE and chance.random() < 0.3 and (kinds[1] is None or places[1] in ("none", "never")):
        first["repeats"] = True
        if "union waits" in AVOIDED and first.get("key"):
            first.pop("assign", None)
        if "repeats wait" in AVOIDED and first.get("onUnresolved") == "pending":
            first["onUnresolved"] = "clear"
    if kinds[1] is None:
        entities[one]["relationships"][left] = first
        return
    second = side(chance, entities, one, kinds[1], places[1], right)
    first["inverse"] = right
    if "union in union" in AVOIDED and one == other:
        for one_side, back in ((first, kinds[1]), (second, kinds[0])):
            if back == TO_ONE and not one_side.get("key"):
                one_side.pop("assign", None)
    if places[1] in ("key", "from") or places == ("none", "none") or chance.random() < 0.5:
        second["inverse"] = left
    if places[0] in ("none", "never") and places[1] in ("key", "from") and chance.random() < 0.5:
        del first["inverse"]
    if "inverse" in first and places[1] in ("none", "never") and kinds[1] != kinds[0] and chance.random() < 0.3:
        entities[one]["relationships"][left] = first  # nobody declares the other side
    elif chance.random() < 0.5:
        entities[one]["relationships"][left] = first
        entities[other]["relationships"][right] = second
    else:
        # Of two on one entity, the other one stands first.
        entities[other]["relationships"][right] = second
        entities[one]["relationships"][left] = first


def reads_both(entities):
    """Whether the feed is read for both sides of a relationship."""
    plan = Plan(entities)
    return any("other" in one and plan.is_read(one) and plan.is_read(plan.inverse(one)) for named in plan.relationships.values() for one in named.values())


def map_text(plan):
    sources = {}
    for entity in plan:
        sources["json" + entity] = {"format": "json", "entity": entity, "records": "/" + entity}
        sources["xml" + entity] = {"format": "xml", "entity": entity, "records": "/records/" + entity}
        sources["ndjson" + entity] = {"format": "ndjson", "entity": entity}
        sources["csv" + entity] = {"format": "csv", "entity": entity}
    return json.dumps({"version": 1, "name": "links", "entities": plan, "sources": sources})


# --- Random feeds ---


def key_part(chance, plan, kind, is_text):
    found = chance.choice("abcde"[:plan.width]) if kind == "string" else chance.choice("12" if kind == "l" else "12345"[:plan.width])
    return Text(found) if is_text else found if kind == "string" else Number(found)


def key_value(chance, plan, entity, is_text, without=None):
    """A key: a value, or an object with its parts but the one that is said by where it is nested."""
    rules = plan.entities[entity]
    parts = {}
    for name in rules["unique"]:
        if name != without:
            at = entity if name in rules["attributes"] else plan.relationships[entity][name]["entity"]
            parts[name] = key_part(chance, plan, "l" if name == "l" else plan.entities[at]["attributes"]["k"]["type"], is_text)
    return parts["k"] if rules["unique"] == ["k"] else parts


def record(chance, plan, entity, form, path=(), used=None, by=None):
    """A record; what is nested does not name who it is nested in, by a relationship and of an owner (`by`).

    Whom a record has in two places it has in the places of one path (`used`): which of them comes first is not said otherwise.
    """
    rules = plan.entities[entity]
    is_text = form in ("xml", "csv")
    used = {} if used is None else used

    def chosen(target, one=None, owner=None, without=None):
        for _ in range(20):
            part = key_value(chance, plan, target, is_text, without)
            claim = owner if "claimed twice in one record" in AVOIDED else path
            if one and is_exclusive(plan, one) and used.setdefault((repr(part), one["owner"], one["name"]), claim) not in (owner, path):
                continue
            if one and one.get("key") or used.setdefault((target, repr(part), without and owner), path) == path:
                return part
        return None

    without = by and by[0].get("other")
    found = chosen(entity, *by, without if without in rules["unique"] else None) if by else chosen(entity)
    if found is None or chance.random() < 0.02 and form != "csv":
        found = {}
    elif not isinstance(found, dict):
        found = {"k": found}
    if chance.random() < 0.5 or form == "csv":
        found["a"] = (Text if is_text else Number)(chance.randrange(3))
    if rules.get("deleteWhen") and not path and chance.random() < 0.2:
        found["gone"] = Text("yes") if is_text else "yes"
    for name, one in plan.relationships[entity].items():
        if name == without or name in rules["unique"] or not plan.is_read(one) or form == "csv" and (one["kind"] == TO_MANY or not one.get("key") or len(one["key"]) > 1):
            continue
        if not one.get("key") and len(path) > 1:
            continue
        roll = chance.random()
        if roll < 0.3 and form != "csv":
            continue
        if roll < 0.38 and len(one.get("key", "k")) == 1:
            found[name] = None
            continue

        def target():
            if not one.get("key"):
                return record(chance, plan, one["entity"], form, (*path, name), used, (one, id(found)))
            return chosen(one["entity"], one, id(found))

        found[name] = target() if one["kind"] == TO_ONE else [target() for _ in range(chance.randrange(1 if is_text else 0, 4))]
        found[name] = [part for part in found[name] if part is not None] if isinstance(found[name], list) else found[name]
        if found[name] == [] and is_text:
            del found[name]
    return found


def waiting_entities(chance):
    """Records that wait for the end, for each other and for what others delete, by relationships of which only one side is read."""
    entities = {"A": {"unique": ["k"], "attributes": {"k": {"type": chance.choice(["string", "int64"])}, "a": {"type": "int32"}}, "relationships": {}}}
    if chance.random() < 0.3:
        with_lines(chance, entities, "A")
    for name, rules in entities.items():
        if chance.random() < 0.5:
            rules["deleteWhen"] = {"from": "gone", "equals": "yes"}
        needed = chance.choice(list(entities))
        rules["relationships"]["needs"] = {**side(chance, entities, needed, chance.choice([TO_ONE, TO_MANY, TO_MANY]), "key", "needs"), "onUnresolved": "reject"}
        if chance.random() < 0.6:
            rules["relationships"]["owns"] = {**side(chance, entities, "A", TO_MANY, chance.choice(["key", "key", "from"]), "owns"), "onUnlink": "delete"}
            rules["relationships"]["owns"].pop("assign", None)
    return entities


def random_case(seed):
    chance = random.Random(seed)
    is_waiting = chance.random() < 0.25
    entities = waiting_entities(chance) if is_waiting else random_entities(chance)
    plan = Plan(entities)
    # Few objects that many records are about, or many of which few are.
    plan.width, most = (5, chance.choice([8, 24])) if is_waiting else (chance.choice([2, 3, 4, 5]), chance.choice([4, 8, 8, 16]))
    imports = []
    waits = "L" in entities or any(one.get("onUnresolved") == "reject" for rules in entities.values() for one in rules["relationships"].values())
    for _ in range(chance.choice([1, 1, 2, 2, 3])):
        form = chance.choice(["json", "json", "ndjson", "xml", "xml", "csv"])
        mode = chance.choice(["upsert"] * 8 + ["insert", "ignore"] * (not waits))
        batch = chance.choice([None, None, 1, 2, 3])
        names = chance.sample(list(entities), len(entities)) if form in ("json", "xml") else [chance.choice(list(entities))]
        records = [(name, record(chance, plan, name, form)) for name in (chance.choice(names) for _ in range(chance.randrange(1, most)))]
        if form == "json":
            # A member has its records in one place.
            records.sort(key=lambda one: names.index(one[0]))
        imports.append((form, mode, batch, records))
    return entities, imports


def feed_text(form, records):
    if form == "json":
        found = {}
        for entity, one in records:
            found.setdefault(entity, []).append(one)
        return spell_json(found) + "\n"
    if form == "ndjson":
        return "".join(spell_json(one) + "\n" for _, one in records)
    if form == "xml":
        return '<records xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n' + "\n".join(spell_xml(*one) for one in records) + "\n</records>\n"
    columns = list(dict.fromkeys(name for _, one in records for name in one))
    return "\n".join([",".join(columns)] + [",".join(spell_csv(one.get(name)) for name in columns) for _, one in records]) + "\n"


# --- Comparing ---


def difference(torture, folder, entities, imports):
    """What the tool and the importer above say differently of a case; empty: nothing."""
    store, path = folder / "links.db", folder / "links.map.json"
    remove(store)
    path.write_text(map_text(entities))
    plan = Plan(entities)
    world = World(plan)
    for number, (form, mode, batch, records) in enumerate(imports):
        feed = folder / f"links{number}.{form}"
        if form == "csv":
            columns = list(dict.fromkeys(name for _, one in records for name in one))
            records = [(entity, {name: one.get(name) for name in columns}) for entity, one in records]
        feed.write_text(feed_text(form, records))
        before = world
        try:
            world, counts = run(world, records, mode)
        except Unsaid:
            return ""
        options = ["--commit", "batch", "--batch-size", batch] if batch else []
        if form in ("ndjson", "csv"):
            options += ["--source", form + records[0][0]]
        outcome = torture.run("import", path, feed, "-d", store, "--mode", mode, "--json", *options)
        if "import.unmatched" in outcome.text and outcome.code == 65:
            return ""
        if outcome.is_crash or outcome.code not in (0, 3):
            return f"import {number} ends with {outcome.code}: {outcome.text[-300:]}"
        told = json.loads(outcome.out)
        found = {name: told[name] for name in counts}
        if found != counts:
            return f"import {number} ({form}, {mode}): counts {found}, expected {counts}"
        wrong = faults(store)
        if wrong:
            return f"import {number}: {wrong[:3]}"
        wanted, awaited, vague = dump(world)
        got, waits = stored(store, plan, vague)
        words = unlike(plain(got), plain(wanted))
        words += [f"  {row} waits" for row in waits - awaited] + [f"  {row} does not wait" for row in awaited - waits]
        words += miscounted(plan, before, world, told)
        if words:
            return "\n".join([f"import {number} ({form}, {mode}):", *words])
    return ""


def miscounted(plan, before, after, told):
    """What a report says of links that is not what has become of them: those made less those removed, of both sides together."""
    if any("deleteWhen" in rules for rules in plan.entities.values()) or any(one.get("onUnlink") for named in plan.relationships.values() for one in named.values()):
        return []  # whether links count that go with an object, is not said
    found = []
    for entity, relationships in plan.relationships.items():
        for one in relationships.values():
            if "other" in one and not plan.is_first(one) or "friends counted" in AVOIDED and one.get("other") == one["name"]:
                continue
            if one.get("repeats") and "repeats counted" in AVOIDED:
                continue
            names = {f"{entity}.{one['name']}"} | ({f"{one['entity']}.{one['other']}"} if "other" in one else set())
            said = sum(told["relationships"].get(name, {}).get("linked", 0) - told["relationships"].get(name, {}).get("unlinked", 0) for name in names)
            made = count(after, entity, one) - count(before, entity, one)
            if said != made:
                found.append(f"  {' and '.join(sorted(names))}: {said} links more are told, {made} are there: {told['relationships']}")
    return found


def count(world, entity, one):
    """How many links there are: one where a list has a target twice, and one for two friends."""
    links = [
        (number, target) for (number, name), targets in world.lists.items() if name == one["name"] and world.objects[number]["entity"] == entity
        for target in targets if "phantom" not in (world.objects[number]["state"], world.objects[target]["state"])
    ]
    return len({frozenset(link) for link in links}) if one.get("other") == one["name"] else len(set(links))


def smaller(entities, imports):
    """Cases that are a little less than a case: without an import, a record, a member, a relationship, an option of one."""
    for number, (form, mode, batch, records) in enumerate(imports):
        yield entities, imports[:number] + imports[number + 1:]
        for simpler in ((form, "upsert", batch), (form, mode, None), ("json", mode, batch)):
            if simpler != (form, mode, batch) and (simpler[0] == form or form == "ndjson"):
                yield entities, imports[:number] + [(*simpler, records)] + imports[number + 1:]
        for place, (entity, one) in enumerate(records):
            yield entities, imports[:number] + [(form, mode, batch, records[:place] + records[place + 1:])] + imports[number + 1:]
            for less in less_of(one):
                yield entities, imports[:number] + [(form, mode, batch, records[:place] + [(entity, less)] + records[place + 1:])] + imports[number + 1:]
    for entity, rules in entities.items():
        if not any(one["entity"] == entity for other in entities if other != entity for one in entities[other]["relationships"].values()):
            yield {name: one for name, one in entities.items() if name != entity}, imports
        for name, one in rules["relationships"].items():
            if name not in rules["unique"]:
                trial, other = copy.deepcopy(entities), Plan(entities).relationships[entity][name].get("other")
                del trial[entity]["relationships"][name]
                trial[one["entity"]]["relationships"].pop(other, None)
                yield trial, imports
            for option in sorted(set(one) - {"entity", "kind", "key", "from", "inverse"}):
                trial = copy.deepcopy(entities)
                del trial[entity]["relationships"][name][option]
                yield trial, imports


def is_sound(entities, imports):
    return bool(entities) and bool(imports) and all(one[3] for one in imports)


def less_of(one):
    """A record without one of its members, or one of what is in them."""
    for name, value in one.items():
        yield {other: part for other, part in one.items() if other != name}
        for place, part in enumerate(value if isinstance(value, list) else []):
            if len(value) > 1:
                yield {**one, name: value[:place] + value[place + 1:]}
            if isinstance(part, dict):
                for less in less_of(part):
                    yield {**one, name: [*value[:place], less, *value[place + 1:]]}
        if isinstance(value, dict):
            for less in less_of(value):
                yield {**one, name: less}


def links(torture):
    torture.begin("random relationships", "links, places, stubs and what waits are those of the plain importer, whichever side is read")
    spread(torture, cases, 200, 50000)
    torture.end()


def told(entities, imports):
    return json.dumps(entities) + "\n" + "\n".join(f"{form} {mode} {batch}: {feed_text(form, records)}" for form, mode, batch, records in imports)


def cases(torture):
    return shrinking.cases(torture, "links", random_case, difference, smaller, told, is_sound)


TESTS = [links]
