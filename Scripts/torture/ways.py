"""Random paths over random records: nested members, indexes, pointers, wildcards, alternatives, `$parent` and its like.

What a path leads to is walked here as docs/maps.md and docs/policies.md have it; the rest is the plain importer of oracle.py,
which gets records that are read already: flat ones, with a value for each attribute.
"""

import copy
import json
import random
from functools import partial

import differential
import oracle
import shrinking
import wide
from crowd import spread
from harness import remove
from oracle import MISSING, Broken, Invalid, Number

# What the tool does otherwise than the documents say: the empty name of a member is no key, and a list of keys may be one value.
EMPTY_NAMES = False
SCALARS_AS_LISTS = False

NAMES = ["a", "b", "c", "d e", "é", "0"]


class Object(list):
    """A JSON object: pairs, since a member may stand there twice."""

    def all(self, name):
        return [value for one, value in self if one == name]

    def get(self, name):
        """The one member of a name."""
        found = self.all(name)
        if len(found) > 1:
            raise Invalid(name)
        return found[0] if found else MISSING


def plain(value):
    """A value for attributes: objects as dictionaries."""
    if isinstance(value, Object):
        return {name: plain(one) for name, one in value}
    return [plain(one) for one in value] if isinstance(value, list) else value


# --- Paths of JSON: a list of steps: a name, a place, or "*" and "[*]" for all; written in one of two ways ---


class All(str):
    """A step to all members or elements."""

    def __deepcopy__(self, memo):
        return self


MEMBERS, ELEMENTS = All(".*"), All("[*]")


def spell_path(steps, is_pointer=False):
    if is_pointer:
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
    text = ""
    for step in steps:
        if isinstance(step, All):
            text += step if text or step is ELEMENTS else "*"
        elif isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + step
    return text


def walk(value, steps, is_pointer=False):
    """All values that a path leads to, None where something on the way is null; raises Invalid."""
    values = [value]
    for step in steps:
        found = []
        for one in values:
            if one is None:
                found.append(None)
            elif step is ELEMENTS:
                if isinstance(one, Object) or not isinstance(one, list):
                    raise Invalid(step)
                found += one
            elif step is MEMBERS:
                if not isinstance(one, Object) and one != []:
                    raise Invalid(step)
                found += [part for _, part in one]
            elif isinstance(step, int) and not (is_pointer and isinstance(one, Object)):
                if isinstance(one, Object) or not isinstance(one, list):
                    raise Invalid(step)
                found += one[step:step + 1]
            else:
                if not isinstance(one, Object):
                    raise Invalid(step)
                part = one.get(str(step))
                found += [] if part is MISSING else [part]
        values = found
    return values


def read(place, path, kind):
    """What an attribute of a kind gets by a path: (value, is present)."""
    context, steps, is_pointer = path
    if context == "$index":
        return Number(place["index"])
    if context == "$key":
        return MISSING if place["key"] is MISSING else oracle.Text(place["key"])
    value = place["record"]
    if context == "$parent":
        if place["parent"] is None:
            return MISSING
        value = place["parent"]["record"]
    elif context == "$root":
        value = place["root"]
    if not context and not is_pointer and len(steps) > 1 and isinstance(value, Object) and not any(isinstance(step, All) for step in steps):
        whole = value.get(spell_path(steps))
        if whole is not MISSING:
            return plain(whole)
    is_many = any(isinstance(step, All) for step in steps)
    found = walk(value, steps, is_pointer)
    if is_many:
        # Null where a list should be is null, and not a list of it.
        first = next(number for number, step in enumerate(steps) if isinstance(step, All))
        before = walk(value, steps[:first], is_pointer)
        if before in ([None], []):
            return None if before else MISSING
        if kind == "json":
            return plain(found)
        if len(found) > 1:
            raise Invalid(path)
    return plain(found[0]) if found else MISSING


def first(place, one):
    """The first of an attribute's paths that is present; Broken where it cannot be read."""
    try:
        for path in one["paths"]:
            value = read(place, path, one["type"])
            if value is not MISSING:
                return value
    except Invalid:
        return Broken()
    return MISSING


def flat(plan, entity, place):
    """A record as the plain importer takes it."""
    rules = plan["entities"][entity]
    if not isinstance(place["record"], Object):
        return plain(place["record"]) if not isinstance(place["record"], list) else Broken()
    found = {}
    for name, one in rules["attributes"].items():
        value = first(place, one)
        if value is not MISSING:
            found[name] = value
    for thing in ("deleteWhen",):
        if thing in rules:
            value = first(place, {"paths": [rules[thing]["path"]], "type": "string"})
            if value is not MISSING:
                found[rules[thing]["from"]] = value
    for name, relationship in rules.get("relationships", {}).items():
        value = (keys if "key" in relationship else nested)(*[plan] * ("key" not in relationship), relationship, place)
        if value is not MISSING:
            found[name] = value
    return found


class Undecided(Exception):
    """What the documents do not decide, or the tool does otherwise: nothing is compared."""


def keys(relationship, place):
    """The keys of a relationship: an element of a list that has none, or null, is Broken."""
    _, steps, is_pointer = relationship["path"]
    try:
        if relationship["kind"] == "toOne" or ELEMENTS not in steps:
            value = read(place, relationship["path"], "json")
            if relationship["kind"] == "toOne":
                return [Broken()] if isinstance(value, list) else value
            if value is None or value is MISSING:
                return value
            if not SCALARS_AS_LISTS and not isinstance(value, list):
                raise Undecided
            return [Broken() if one is None else one for one in value] if isinstance(value, list) else [Broken()]
        around = walk(place["record"], steps[:steps.index(ELEMENTS)])
        if around in ([], [None]):
            return None if around else MISSING
        if not SCALARS_AS_LISTS and not isinstance(around[0], list) and steps[-1] is ELEMENTS:
            raise Undecided
        walk(place["record"], steps[:steps.index(ELEMENTS) + 1])
        parts = [walk(one, steps[steps.index(ELEMENTS) + 1:]) for one in around[0]]
        # A list of keys in an element of a list: not decided.
        if len(steps) > steps.index(ELEMENTS) + 1 and any(one and isinstance(one[0], list) and not isinstance(one[0], Object) for one in parts):
            raise Undecided
        return [plain(one[0]) if one and one[0] is not None else Broken() for one in parts]
    except Invalid:
        return [Broken()]


def nested(plan, relationship, place):
    """The records of a relationship, as they are read."""
    _, steps, is_pointer = relationship["path"]

    def part(record, index, key):
        return flat(plan, relationship["entity"], {"record": record, "parent": place, "index": index, "key": key, "root": place["root"]})

    try:
        if steps and isinstance(steps[-1], All):
            around = walk(place["record"], steps[:-1], is_pointer)
            if around in ([], [None]):
                return None if around else MISSING
            walk(place["record"], steps)
            pairs = [(MISSING, one) for one in around[0]] if steps[-1] is ELEMENTS else list(around[0])
        else:
            whole = place["record"].get(spell_path(steps)) if len(steps) > 1 and not is_pointer else MISSING
            found = [whole] if whole is not MISSING else walk(place["record"], steps, is_pointer)
            if not found or found[0] is None:
                return None if found else MISSING
            is_list = isinstance(found[0], list) and not isinstance(found[0], Object)
            if is_list != (relationship["kind"] == "toMany"):
                return [Broken()]
            pairs = [(MISSING, one) for one in (found[0] if is_list else found)]
        # What is no object is no record.
        return [part(one, number, name) if isinstance(one, Object) else Broken() for number, (name, one) in enumerate(pairs)]
    except Invalid:
        return [Broken()]


# --- Maps ---


def random_path(chance, is_deep=True):
    """Mostly members of members; short names, so that paths run through each other."""
    steps = [chance.choice(NAMES[:3])]
    while is_deep and chance.random() < 0.5 and len(steps) < 4:
        roll = chance.random()
        steps.append(chance.randrange(3) if roll < 0.25 else MEMBERS if roll < 0.32 else ELEMENTS if roll < 0.42 else chance.choice(NAMES[:3]))
        if steps[-1] is MEMBERS:
            # All members stand last in a path, or all elements of them do.
            steps += [ELEMENTS] if chance.random() < 0.5 else []
            break
    is_pointer = chance.random() < 0.2 and not any(isinstance(step, All) for step in steps)
    if is_pointer and chance.random() < 0.5:
        steps[0] = chance.choice(NAMES)
    if is_pointer:
        steps = [int(step) if step == "0" else step for step in steps]
    return ["", steps, is_pointer]


def attribute(chance):
    kind = chance.choice(["string", "string", "int32", "decimal", "bool", "json", "enum", "date"])
    one = {"type": "json", "stored default": None, **differential.policies(chance, False)} if kind == "json" else differential.attribute(chance, kind)
    one["paths"] = [random_path(chance) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
    return one


def random_plan(chance):
    entities = {"Root": {"unique": ["k"], "attributes": {"k": {"type": "string", "stored default": None, "paths": [["", ["k"], False]]}}}}
    root = entities["Root"]
    if chance.random() < 0.3:
        root["attributes"]["k"]["paths"] = [["", ["id", "k"], False], ["", ["k"], False]]
    for number in range(chance.randrange(1, 5)):
        root["attributes"][f"a{number}"] = attribute(chance)
    if chance.random() < 0.3:
        root["attributes"]["top"] = {**attribute(chance), "type": "string", "paths": [["$root", ["m"] if chance.random() < 0.5 else ["n", "b"], False]]}
        root["attributes"]["top"] = {name: one for name, one in root["attributes"]["top"].items() if name in ("type", "paths")} | {"stored default": None}
    if chance.random() < 0.2:
        root["attributes"]["place"] = {"type": "int32", "stored default": None, "paths": [["$index", [], False]]}
    if chance.random() < 0.15:
        root["deleteWhen"] = {"from": "$gone", "equals": "yes", "path": ["", chance.choice([["g"], ["g", "x"], ["g", 0]]), False]}
    root["relationships"] = {}
    for name in ["ls", "ms", "one"][:chance.choice([0, 1, 1, 2, 3])]:
        kind = "toOne" if name == "one" else "toMany"
        ways = [[name], ["h", name]] + ([[name, ELEMENTS], ["h", name, ELEMENTS], [name, MEMBERS]] if kind == "toMany" else [["h", name, 0]])
        steps = chance.choice(ways)
        entity = "L" + name
        number = {"type": "int32", "stored default": None, "paths": [["$index", [], False]]}
        owner = {"type": "string", "stored default": None, "paths": [["$parent", ["k"], False]] + [["$parent", ["id", "k"], False]] * (len(root["attributes"]["k"]["paths"]) > 1)}
        rules = entities[entity] = {"attributes": {"p": owner, "i": number}, "unique": ["p", "i"]}
        roll = chance.random()
        if steps[-1] is MEMBERS and roll < 0.7:
            rules["attributes"]["i"] = {"type": "string", "stored default": None, "paths": [["$key", [], False]]}
        elif kind == "toOne" and roll > 0.6:
            # Which place it has that stands in no list the documents do not say.
            del rules["attributes"]["i"]
            rules["unique"] = ["p"]
        elif roll < 0.4 or kind == "toOne":
            rules["attributes"] = {"k": {"type": "string", "stored default": None, "paths": [["", ["k"], False]]}}
            rules["unique"] = ["k"]
        for other in range(chance.randrange(3)):
            rules["attributes"][f"a{other}"] = attribute(chance)
        if chance.random() < 0.4:
            rules["attributes"]["up"] = attribute(chance)
            rules["attributes"]["up"]["paths"] = [["$parent", random_path(chance)[1], False]]
            rules["attributes"]["up"]["paths"][0][1] = [str(step) if not isinstance(step, (int, str)) else step for step in rules["attributes"]["up"]["paths"][0][1]]
        root["relationships"][name] = {
            "entity": entity, "kind": kind, "path": ["", steps, chance.random() < 0.2 and not isinstance(steps[-1], All)],
            **({"ordered": True} if kind == "toMany" and chance.random() < 0.5 else {}),
            **{name: value for name, value in differential.policies(chance, False).items() if name in ("onMissing", "onNull") and value != "reject"},
        }
        if kind == "toMany" and chance.random() < 0.3:
            root["relationships"][name]["inverse"] = "owner" + name
        if entity in entities and chance.random() < 0.25 and name == "ls":
            below = {"attributes": {"p": {"type": "int32", "stored default": None, "paths": [["$parent", ["n"], False]]}, "i": copy.deepcopy(number)}, "unique": ["p", "i"]}
            below["attributes"]["a0"] = attribute(chance)
            entities["Deep"] = below
            rules["relationships"] = {"deep": {"entity": "Deep", "kind": "toMany", "path": ["", ["deep"], False]}}
    for name in ["peer", "peers"]:
        if chance.random() < 0.3:
            ways = [["peer"], ["peer", "k"], ["h", "peer", 0]] if name == "peer" else [["peers"], ["peers", ELEMENTS], ["peers", ELEMENTS, "k"], ["h", "peers", ELEMENTS, "h", "k"]]
            root["relationships"][name] = {
                "entity": "Root", "kind": "toOne" if name == "peer" else "toMany", "path": ["", chance.choice(ways), False], "key": {"k": ""},
                "onUnresolved": chance.choice(["clear", "stub", "pending"]),
                **{name: value for name, value in differential.policies(chance, False).items() if name in ("onMissing", "onNull") and value != "reject"},
            }
    return {"version": 1, "name": "ways", "entities": entities}


def map_text(plan):
    plan = copy.deepcopy(plan)
    for rules in plan["entities"].values():
        if not rules.get("relationships", True):
            del rules["relationships"]
        for one in list(rules["attributes"].values()) + list(rules.get("relationships", {}).values()):
            one.pop("stored default", None)
            paths = one.pop("paths", None) or [one.pop("path")]
            texts = [written(path) for path in paths]
            if "key" in one:
                one["key"] = {"k": texts[0]}
                continue
            one["from"] = texts if len(texts) > 1 else texts[0]
        if "deleteWhen" in rules:
            rules["deleteWhen"]["from"] = written(rules["deleteWhen"].pop("path"))
    plan["sources"] = {"json": {"format": "json", "entity": "Root", "records": "/items"}, "ndjson": {"format": "ndjson", "entity": "Root"}}
    return json.dumps(plan, ensure_ascii=False)


def written(path):
    context, steps, is_pointer = path
    return context if context in ("$key", "$index") else ".".join(filter(None, [context])) + ("." if context and steps else "") + spell_path(steps, is_pointer)


# --- Feeds ---


def plant(chance, tree, steps, value):
    """Puts a value where a path leads to, if nothing is in its way."""
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        below = steps[number + 1] if not is_last else None
        made = value if is_last else [] if below is ELEMENTS or isinstance(below, int) else Object()
        if step is ELEMENTS or isinstance(step, int) and not isinstance(tree, Object):
            if isinstance(tree, Object) or not isinstance(tree, list):
                return
            place = step if isinstance(step, int) else len(tree)
            while len(tree) < place:
                tree.append(None if chance.random() < 0.5 else Number("0"))
            if place < len(tree):
                if is_last:
                    return
                tree = tree[place]
                continue
            tree.append(made)
        else:
            if not isinstance(tree, Object):
                return
            name = chance.choice(NAMES[:3]) if step is MEMBERS else str(step)
            there = tree.all(name)
            if there:
                if is_last:
                    return
                tree = there[0]
                continue
            tree.append((name, made))
        tree = made


def disturb(chance, tree):
    """Changes a node somewhere: what stands there is of another kind, twice, or gone."""
    nodes, found = [tree], []
    while nodes:
        node = nodes.pop()
        for place, one in enumerate(node):
            one = one[1] if isinstance(node, Object) else one
            if not (node is tree and tree[place][0] in ("k", "id", "n")):
                found.append((node, place))
            if isinstance(one, list):
                nodes.append(one)
    if not found:
        return
    node, place = chance.choice(found)
    if isinstance(node, Object):
        name, value = node[place]
        roll = chance.random()
        if roll < 0.15:
            # Which of them is meant nobody knows; of dictionaries the documents do not speak.
            if node is tree:
                node.append((name, None))
            return
        if roll < 0.3:
            del node[place]
            return
        node[place] = (name, chance.choice([None, Number("1"), "t", True, [], Object(), [Number("1"), "x"], Object([("b", "x")]), [value]]))
    else:
        node[place] = chance.choice([None, Number("1"), "t", [], Object(), Object([("b", "x")])])


def record(chance, plan, entity, key=None):
    rules = plan["entities"][entity]
    tree = Object()
    if "k" in rules["attributes"]:
        path = chance.choice(rules["attributes"]["k"]["paths"])
        plant(chance, tree, path[1], chance.choice(["1", "2", "3", "4"]))
    if entity == "Lls" and "Deep" in plan["entities"]:
        tree.append(("n", Number(chance.choice("123"))))
    for name, one in rules["attributes"].items():
        if name in rules["unique"] or one["paths"][0][0]:
            continue
        for path in one["paths"]:
            if chance.random() < 0.7:
                value = differential.value(chance, one, False) if one["type"] != "json" else chance.choice([None, Number("7"), "x", [Number("1")], {"x": None}, []])
                if value is not MISSING:
                    plant(chance, tree, path[1], unplain(value))
    if "deleteWhen" in rules and chance.random() < 0.3:
        plant(chance, tree, rules["deleteWhen"]["path"][1], chance.choice(["yes", "yes", "no", None]))
    for name, relationship in rules.get("relationships", {}).items():
        roll = chance.random()
        _, steps, _ = relationship["path"]
        end = steps[-1]
        if roll < 0.15:
            continue
        if "key" in relationship:
            # The key of each of them, in an element of its own.
            for _ in range(1 if relationship["kind"] == "toOne" else chance.choice([1, 2, 3])):
                if relationship["kind"] == "toMany" and end == "peers":
                    steps = steps if isinstance(steps[-1], All) else [*steps, ELEMENTS]
                around = steps.index(ELEMENTS) + 1 if ELEMENTS in steps else len(steps)
                value = chance.choice(["1", "2", "3", "4", "5"]) if roll > 0.2 else chance.choice([None, Number("1")])
                if around < len(steps):
                    element = Object()
                    plant(chance, element, steps[around:], value)
                    value = element
                plant(chance, tree, steps[:around], value)
            continue
        if roll < 0.2:
            value = None
        elif relationship["kind"] == "toOne":
            value = record(chance, plan, relationship["entity"])
        else:
            parts = [record(chance, plan, relationship["entity"]) for _ in range(chance.randrange(4))]
            value = parts if end is not MEMBERS else Object(zip(chance.sample(["x", "y", "z", "0"] + [""] * EMPTY_NAMES, len(parts)), parts))
        plant(chance, tree, steps[:-1] if isinstance(end, All) else steps, value)
    if chance.random() < 0.08:
        # A member whose name is a whole path comes before what the path leads to.
        paths = [path for one in rules["attributes"].values() for path in one["paths"] if not path[0] and not path[2] and len(path[1]) > 1 and not any(isinstance(step, All) for step in path[1])]
        if paths:
            name = spell_path(chance.choice(paths)[1])
            if not tree.all(name):
                tree.append((name, chance.choice(["t", None, Number("1"), Object()])))
    chance.shuffle(tree)
    if chance.random() < 0.2:
        disturb(chance, tree)
    return tree


def unplain(value):
    if isinstance(value, dict):
        return Object((name, unplain(one)) for name, one in value.items())
    return [unplain(one) for one in value] if isinstance(value, list) else value


def spell(value):
    if isinstance(value, Object):
        return "{" + ", ".join(json.dumps(name, ensure_ascii=False) + ": " + spell(one) for name, one in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(spell, value)) + "]"
    return str(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def feed(form, head, records):
    if form == "ndjson":
        return "".join(spell(one) + "\n" for one in records)
    return spell(Object([*head, ("items", records)])) + "\n"


def random_case(seed):
    chance = random.Random(seed)
    plan = random_plan(chance)
    imports = []
    for _ in range(chance.randrange(1, 4)):
        form = "json" if "top" in plan["entities"]["Root"]["attributes"] else chance.choice(["json", "ndjson"])
        head = Object([one for one in (("m", chance.choice(["t", None])), ("n", Object([("b", "u")]))) if chance.random() < 0.8])
        mode = chance.choice(["upsert"] * 5 + ["ignore"])
        imports.append([form, mode, head, [record(chance, plan, "Root") for _ in range(chance.randrange(1, 7))]])
    return plan, imports


# --- Comparing ---


def difference(torture, folder, plan, imports):
    """What the tool and the oracle say differently of a case; empty: nothing."""
    def places(one):
        return [{"record": record, "parent": None, "index": number, "key": MISSING, "root": one[2]} for number, record in enumerate(one[3])]

    return apart(torture, folder, plan, map_text(plan), imports, lambda one: (one[0], feed(one[0], *one[2:])), lambda one: [flat(plan, "Root", place) for place in places(one)])


def apart(torture, folder, plan, text, imports, spelled, read):
    """The same; `spelled` gives the format and the feed of an import, `read` its records as they are read."""
    store, path = folder / "paths.db", folder / "paths.map.json"
    remove(store)
    path.write_text(text)
    world = wide.Wide(plan)
    for number, one in enumerate(imports):
        form, words = spelled(one)
        file = folder / f"paths{number}.{form}"
        file.write_text(words)
        try:
            records = read(one)
        except Undecided:
            return ""
        world, counts = oracle.run(world, "Root", records, one[1])
        outcome = torture.run("import", path, file, "-d", store, "--mode", one[1], "--json")
        said = wide.compared(f"import {number} ({form}, {one[1]})", plan, world, counts, outcome, store)
        if said is not None:
            return said
    return ""


def smaller(plan, imports, less_of):
    """Cases that are a little less than a case."""
    for number, (form, mode, head, records) in enumerate(imports):
        yield plan, imports[:number] + imports[number + 1:]
        for place in range(len(records)):
            yield plan, imports[:number] + [[form, mode, head, records[:place] + records[place + 1:]]] + imports[number + 1:]
        for place, one in enumerate(records):
            for less in less_of(one):
                yield plan, imports[:number] + [[form, mode, head, records[:place] + [less] + records[place + 1:]]] + imports[number + 1:]
    for entity, rules in plan["entities"].items():
        for part in ("attributes", "relationships"):
            for name in rules.get(part, {}):
                if name not in rules["unique"]:
                    trial = copy.deepcopy(plan)
                    del trial["entities"][entity][part][name]
                    yield trial, imports
        if "deleteWhen" in rules:
            trial = copy.deepcopy(plan)
            del trial["entities"][entity]["deleteWhen"]
            yield trial, imports
        for part in ("attributes", "relationships"):
            for name, one in rules.get(part, {}).items():
                for key in [key for key in one if key not in ("type", "stored default", "entity", "kind", "key", "path", "values", "scale", "inverse", "paths", "default")]:
                    trial = copy.deepcopy(plan)
                    del trial["entities"][entity][part][name][key]
                    yield trial, imports
                for place in range(len(one.get("paths", [0])) if len(one.get("paths", [0])) > 1 else 0):
                    trial = copy.deepcopy(plan)
                    del trial["entities"][entity][part][name]["paths"][place]
                    yield trial, imports


def less_of(tree):
    """A value without one of its parts, wherever that is."""
    if not isinstance(tree, list):
        return
    for place, one in enumerate(tree):
        yield type(tree)(tree[:place] + tree[place + 1:])
        for less in less_of(one[1] if isinstance(tree, Object) else one):
            yield type(tree)(tree[:place] + [(one[0], less) if isinstance(tree, Object) else less] + tree[place + 1:])


def is_sound(plan, imports):
    return bool(imports) and all(one[3] for one in imports)


def paths(torture):
    torture.begin("random paths", "nested members, indexes, pointers, wildcards, alternatives, $parent, $key, $index and $root lead to what the documents say")
    spread(torture, cases, 200, 50000)
    torture.end()


def told(plan, imports):
    return map_text(plan) + "\n" + "\n".join(f"{one[:2]} {feed(one[0], *one[2:])}" for one in imports)


def cases(torture):
    return shrinking.cases(torture, "ways", random_case, difference, partial(smaller, less_of=less_of), told, is_sound)


TESTS = [paths]
