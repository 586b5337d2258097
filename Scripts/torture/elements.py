"""Random paths over random elements of XML: names of namespaces under changing prefixes, attributes, text, conditions, `xsi:nil`.

What a path leads to is walked here as docs/maps.md and docs/policies.md have it; the rest is the plain importer of oracle.py.
"""

import copy
import json
import random
from functools import partial

import differential
import oracle
import shrinking
import ways
from crowd import spread
from harness import remove
from oracle import MISSING, Broken, Invalid, Number, Text

# Conditions do not see the attributes of an element that is nil; white space that stands alone beside a child element is layout.
NIL_HAS_ATTRIBUTES = False
BLANK_IN_MIXED = False

P, Q, XSI = "urn:p", "urn:q", "http://www.w3.org/2001/XMLSchema-instance"
BLANK = " \t\r\n"  # what XML calls white space
SPACES = {"p": P, "q": Q}  # what the map calls them: documents call them otherwise
NAMES = [("", "a"), ("", "b"), (P, "a"), (P, "b"), (Q, "a"), ("", "é")]


class Element:
    """An element: children are elements and texts; `is_nil` is xsi:nil."""

    def __init__(self, name, children=(), attributes=None, is_nil=False):
        self.name, self.children, self.attributes, self.is_nil = name, list(children), dict(attributes or {}), is_nil

    def elements(self):
        return [one for one in self.children if isinstance(one, Element)]

    def is_mixed(self):
        """Whether white space stands alone between elements, and text elsewhere."""
        runs = [""]
        for one in self.children:
            runs = [*runs, ""] if isinstance(one, Element) else [*runs[:-1], runs[-1] + one]
        return len(runs) > 1 and bool(self.text().strip(BLANK)) and any(run and not run.strip(BLANK) for run in runs)

    def text(self):
        return "".join(one for one in self.children if not isinstance(one, Element))


# --- Paths: [context, steps, end]; a step is [name or "*", condition]; a condition [attribute, value or None, is not], an end an attribute, "text()" or None ---


def spell_name(name):
    space, local = name
    return local if not space else next(prefix for prefix, one in SPACES.items() if one == space) + ":" + local


def spell_step(step):
    name, condition = step
    text = "*" if name == "*" else spell_name(name)
    if condition:
        attribute, value, is_not = condition
        inner = "@" + spell_name(attribute) + (f'="{value}"' if value is not None else "")
        text += f"[not({inner})]" if is_not else f"[{inner}]"
    return text


def spell_path(path):
    context, steps, end = path
    parts = [context] * bool(context) + [spell_step(step) for step in steps]
    if end is not None:
        parts.append(end if end == "text()" else "@" + spell_name(end))
    return "/".join(parts) or "."


def is_match(element, step):
    name, condition = step
    if name not in ("*", element.name):
        return False
    if condition is None:
        return True
    attribute, value, is_not = condition
    there = element.attributes.get(tuple(attribute))
    return (there is not None if value is None else there == value) != is_not


def walk(elements, steps):
    """The elements that a path leads to; None where one on the way is null."""
    for step in steps:
        found = []
        for element in elements:
            if element is None or element.is_nil:
                found.append(None)
            else:
                found += [child for child in element.elements() if is_match(child, step)]
        elements = found
    return elements


def read(place, path):
    """The one value of a path."""
    context, steps, end = path
    if context == "$index":
        return Number(place["index"])
    element = place["record"]
    if context == "$key":
        return Text(element.name[1])
    if context == "$parent":
        if place["parent"] is None:
            return MISSING
        element = place["parent"]["record"]
    elif context == "$root":
        element = place["root"]
    found = []
    for one in walk([element], steps):
        if not BLANK_IN_MIXED and one is not None and end in (None, "text()") and one.is_mixed():
            raise ways.Undecided
        if one is not None and one.is_nil and end == "text()":
            continue  # the documents do not say whether the text of nil is null or missing
        if one is None or one.is_nil:
            found.append(None)
        elif end is None:
            if one.elements() and not one.text().strip(BLANK):
                found.append(Broken())
            else:
                found.append(Text(one.text()))
        elif end == "text()":
            # Nor whether white space between elements is text.
            if one.text().strip(BLANK) if one.elements() else one.text():
                found.append(Text(one.text()))
        elif tuple(end) in one.attributes:
            found.append(Text(one.attributes[tuple(end)]))
    if len(found) > 1:
        raise Invalid(path)
    return found[0] if found else MISSING


def first(place, one):
    try:
        return next((value for value in (read(place, path) for path in one["paths"]) if value is not MISSING), MISSING)
    except Invalid:
        return Broken()


def flat(plan, entity, place):
    """A record as the plain importer takes it."""
    rules = plan["entities"][entity]
    found = {name: first(place, one) for name, one in rules["attributes"].items()}
    if "deleteWhen" in rules:
        found[rules["deleteWhen"]["from"]] = first(place, {"paths": [rules["deleteWhen"]["path"]]})
    for name, relationship in rules.get("relationships", {}).items():
        found[name] = nested(plan, relationship, place)
    return {name: value for name, value in found.items() if value is not MISSING}


def nested(plan, relationship, place):
    """The records of a relationship, as they are read."""
    _, steps, _ = relationship["path"]
    found = walk([place["record"]], steps)
    if not found:
        # What a list stands in is there, and nothing of the list.
        return [] if len(steps) > 1 and relationship["kind"] == "toMany" and walk([place["record"]], steps[:-1]) else MISSING
    if len(found) == 1 and (found[0] is None or found[0].is_nil):
        # Whether all that stands in an element is null then, or one record of it, the documents do not say.
        if steps[-1][0] == "*":
            raise ways.Undecided
        return None
    if relationship["kind"] == "toOne" and len(found) > 1:
        return [Broken()]
    return [
        flat(plan, relationship["entity"], {"record": one, "parent": place, "index": number, "root": place["root"]}) if one and not one.is_nil else Broken()
        for number, one in enumerate(found)
    ]


# --- Maps ---


def random_step(chance):
    name = "*" if chance.random() < 0.08 else chance.choice(NAMES)
    condition = None
    if chance.random() < 0.15:
        condition = [chance.choice([("", "x"), (P, "x")]), chance.choice([None, None, "1", "é"]), chance.random() < 0.3]
    return [name, condition]


def random_path(chance):
    steps = [random_step(chance) for _ in range(chance.choice([0, 1, 1, 1, 2, 2, 3]))]
    end = chance.choice([None, None, None, ("", "x"), (P, "x"), (Q, "y"), "text()"])
    if not steps and end is None:
        steps = [random_step(chance)]
    return ["", steps, end]


def attribute(chance):
    one = differential.attribute(chance, chance.choice(["string", "string", "string", "int32", "decimal", "bool", "enum", "date"]))
    one["paths"] = [random_path(chance) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
    return one


def simple(kind, *paths):
    return {"type": kind, "stored default": None, "paths": [list(path) for path in paths]}


def random_plan(chance):
    key = chance.choice([["", [], ("", "k")], ["", [[(P, "id"), None]], None], ["", [[("", "id"), None]], (Q, "k")]])
    root = {"unique": ["k"], "attributes": {"k": simple("string", key)}, "relationships": {}}
    entities = {"Root": root}
    for number in range(chance.randrange(1, 5)):
        root["attributes"][f"a{number}"] = attribute(chance)
    if chance.random() < 0.3:
        root["attributes"]["top"] = simple("string", chance.choice([["$root", [], ("", "v")], ["$root", [[(P, "title"), None]], None], ["$root", [[("", "h"), None], [(Q, "title"), None]], (P, "x")]]))
    if chance.random() < 0.2:
        root["attributes"]["place"] = simple("int32", ["$index", [], None])
    if chance.random() < 0.2:
        root["deleteWhen"] = {"from": "$gone", "equals": "yes", "path": chance.choice([["", [], (P, "gone")], ["", [[("", "g"), None]], None]])}
    for name in ["ls", "ms", "one"][:chance.choice([0, 1, 1, 2, 3])]:
        step = [(chance.choice(["", P, Q]), name), None]
        steps = chance.choice([[step], [[(chance.choice(["", P]), "h"), None], step]])
        if chance.random() < 0.15 and len(steps) == 2 and name != "one":
            steps[0] = [("", "all" + name), None]
            steps[1] = ["*", None]
        entity = "L" + name
        owner = simple("string", ["$parent", key[1], key[2]])
        rules = entities[entity] = {"unique": ["p", "i"], "attributes": {"p": owner, "i": simple("int32", ["$index", [], None])}}
        if name == "one" or chance.random() < 0.4:
            rules.update({"unique": ["k"], "attributes": {"k": simple("string", chance.choice([["", [], ("", "k")], ["", [[(P, "id"), None]], None]]))}})
        if chance.random() < 0.3:
            rules["attributes"]["word"] = simple("string", ["$key", [], None])
        for other in range(chance.randrange(3)):
            rules["attributes"][f"a{other}"] = attribute(chance)
        if chance.random() < 0.4:
            rules["attributes"]["up"] = attribute(chance)
            for path in rules["attributes"]["up"]["paths"]:
                path[0] = "$parent"
        root["relationships"][name] = {
            "entity": entity, "kind": "toOne" if name == "one" else "toMany", "path": ["", steps, None],
            **({"ordered": True} if name != "one" and chance.random() < 0.5 else {}),
            **{name: value for name, value in differential.policies(chance, False).items() if name in ("onMissing", "onNull") and value != "reject"},
        }
        if name != "one" and chance.random() < 0.3:
            root["relationships"][name]["inverse"] = "owner" + name
    return {"version": 1, "name": "elements", "entities": entities}


def map_text(plan):
    plan = copy.deepcopy(plan)
    for rules in plan["entities"].values():
        if not rules.get("relationships", True):
            del rules["relationships"]
        for one in list(rules["attributes"].values()) + list(rules.get("relationships", {}).values()):
            one.pop("stored default", None)
            texts = [spell_path(path) if path[0] not in ("$index", "$key") else path[0] for path in one.pop("paths", None) or [one.pop("path")]]
            one["from"] = texts if len(texts) > 1 else texts[0]
        if "deleteWhen" in rules:
            rules["deleteWhen"]["from"] = spell_path(rules["deleteWhen"].pop("path"))
    plan["sources"] = {"xml": {"format": "xml", "entity": "Root", "records": "/feed/p:list/item", "namespaces": SPACES}}
    return json.dumps(plan, ensure_ascii=False)


# --- Feeds ---


def plant(chance, element, steps, end, value):
    """Puts a value where a path leads to, if nothing is in its way."""
    for step in steps:
        if element.is_nil:
            return
        there = [one for one in element.elements() if is_match(one, step)]
        if there:
            element = chance.choice(there)
            continue
        name, condition = step
        made = Element(chance.choice(NAMES) if name == "*" else name)
        if condition and not condition[2]:
            made.attributes[tuple(condition[0])] = condition[1] if condition[1] is not None else chance.choice(["1", "é", ""])
        element.children.append(made)
        element = made
    if isinstance(value, Element):
        element.children.append(value)
    elif end is not None and end != "text()":
        if value is not None and (NIL_HAS_ATTRIBUTES or not element.is_nil):
            element.attributes.setdefault(tuple(end), str(value))
    elif value is None:
        if not element.children and (NIL_HAS_ATTRIBUTES or not element.attributes):
            element.is_nil = True
    elif not element.text() and not element.is_nil:
        element.children.insert(chance.randrange(len(element.children) + 1), str(value))


def disturb(chance, tree):
    """Changes something somewhere: an element stands twice, in another namespace, has text or children or is nil."""
    nodes, found = [tree], []
    while nodes:
        node = nodes.pop()
        for one in node.elements():
            if one.name[1] != "id":
                found.append((node, one))
                nodes.append(one)
    if not found:
        return
    node, one = chance.choice(found)
    roll = chance.randrange(7)
    if roll == 0:
        node.children.append(copy.deepcopy(one))
    elif roll == 1:
        one.name = (chance.choice(["", P, Q]), one.name[1])
    elif roll == 2:
        one.children.append(Element(chance.choice(NAMES), chance.choice([[], ["t"], [" "]])))
    elif roll == 3:
        one.children.append(chance.choice([" ", "t", "\n"]))
    elif roll == 4:
        node.children.remove(one)
    elif roll == 5:
        if NIL_HAS_ATTRIBUTES or not one.is_nil:
            one.attributes[chance.choice([("", "x"), (P, "x"), (Q, "y")])] = chance.choice(["1", "é", ""])
    elif not one.children and not one.attributes and not node.name[1].startswith("all"):
        one.is_nil = True


def record(chance, plan, entity, name):
    rules = plan["entities"][entity]
    tree = Element(name)
    for attribute, one in rules["attributes"].items():
        if attribute in rules["unique"] and not one["paths"][0][0]:
            plant(chance, tree, *one["paths"][0][1:], chance.choice("1234"))
    for attribute, one in rules["attributes"].items():
        if attribute in rules["unique"]:
            continue
        for context, steps, end in one["paths"]:
            if not context and chance.random() < 0.7:
                value = differential.value(chance, one, True)
                if value is not MISSING:
                    plant(chance, tree, steps, end, value)
    if "deleteWhen" in rules and chance.random() < 0.3:
        plant(chance, tree, *rules["deleteWhen"]["path"][1:], chance.choice(["yes", "yes", "no"]))
    for relationship in rules.get("relationships", {}).values():
        steps = relationship["path"][1]
        roll = chance.random()
        if roll < 0.15:
            continue
        if roll < 0.2 and steps[-1][0] != "*":
            plant(chance, tree, steps, None, None)
            continue
        if roll < 0.3 and len(steps) > 1:
            plant(chance, tree, steps[:-1], "text()", "")
            continue
        for _ in range(1 if relationship["kind"] == "toOne" else chance.randrange(1, 4)):
            made = chance.choice(NAMES + [(P, "zz")]) if steps[-1][0] == "*" else steps[-1][0]
            plant(chance, tree, steps[:-1], None, record(chance, plan, relationship["entity"], made))
    chance.shuffle(tree.children)
    if chance.random() < 0.2:
        disturb(chance, tree)
    return tree


def escaped(text, is_attribute=False):
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("\n", "&#10;") if is_attribute else text


def spell_text(chance, text):
    """Text in one of its spellings: comments, instructions and CDATA do not cut it."""
    roll = chance.random()
    if roll < 0.1 and "]]>" not in text:
        return f"<![CDATA[{text}]]>"
    if roll < 0.2:
        place = chance.randrange(len(text) + 1)
        return escaped(text[:place]) + chance.choice(["<!-- c -->", "<?p i?>", "<![CDATA[]]>"]) + escaped(text[place:])
    if roll < 0.3:
        return "".join(f"&#{ord(one)};" for one in text)
    return escaped(text)


def spell(chance, element, scope):
    """An element under prefixes that change: `scope` are those that are declared around it."""
    scope, made = dict(scope), {}

    def prefixed(name, is_attribute=False):
        space, local = name
        if not space and is_attribute:
            return local
        known = [prefix for prefix, uri in scope.items() if uri == space and (prefix or not is_attribute)]
        if not known or not is_attribute and chance.random() < 0.2:
            # A prefix that is taken on this element already cannot mean something else.
            choices = [""] if not space else [one for one in ("p", "q", "z", "", "w", "x1") if one not in used and (one or not is_attribute)]
            prefix = known[0] if known and (not choices or choices[0] in used) else chance.choice(choices)
            if scope.get(prefix, "" if not prefix else None) != space or chance.random() < 0.2:
                made[prefix] = space
            scope[prefix] = space
            known = [prefix]
        prefix = chance.choice(known)
        used.add(prefix)
        return f"{prefix}:{local}" if prefix else local

    used = set()
    tag = prefixed(element.name)
    parts = [f'{prefixed(name, True)}="{escaped(value, True)}"' for name, value in element.attributes.items()]
    if element.is_nil:
        parts.append(f'{prefixed((XSI, "nil"), True)}="true"')
    parts += [f'xmlns{":" * bool(prefix)}{prefix}="{uri}"' for prefix, uri in made.items()]
    chance.shuffle(parts)
    head = " ".join([tag, *parts])
    body = "".join(spell(chance, one, scope) if isinstance(one, Element) else spell_text(chance, one) for one in element.children)
    return f"<{head}/>" if not body and chance.random() < 0.5 else f"<{head}>{body}</{tag}>"


def document(head, records, seed):
    """A feed, always in the same words."""
    tree = copy.deepcopy(head)
    tree.children.append(Element((P, "list"), records))
    return '<?xml version="1.0"?>\n' + spell(random.Random(seed), tree, {"": "", "xml": "http://www.w3.org/XML/1998/namespace"})


def random_case(seed):
    chance = random.Random(seed)
    plan = random_plan(chance)
    imports = []
    for number in range(chance.randrange(1, 4)):
        head = Element(("", "feed"), attributes={("", "v"): "V"} if chance.random() < 0.7 else {})
        if chance.random() < 0.7:
            head.children.append(Element((P, "title"), ["T"]))
        if chance.random() < 0.7:
            head.children.append(Element(("", "h"), [Element((Q, "title"), [], {(P, "x"): "X"}), Element((P, "title"))]))
        mode = chance.choice(["upsert"] * 5 + ["ignore"])
        imports.append([f"{seed}:{number}", mode, head, [record(chance, plan, "Root", ("", "item")) for _ in range(chance.randrange(1, 7))]])
    return plan, imports


# --- Comparing ---


def difference(torture, folder, plan, imports):
    """What the tool and the oracle say differently of a case; empty: nothing."""
    def read(one):
        return [flat(plan, "Root", {"record": record, "parent": None, "index": number, "root": one[2]}) for number, record in enumerate(one[3])]

    return ways.apart(torture, folder, plan, map_text(plan), imports, lambda one: ("xml", document(one[2], one[3], one[0])), read)


def less_of(element):
    """An element without one of its parts, wherever that is."""
    for place, one in enumerate(element.children):
        yield Element(element.name, element.children[:place] + element.children[place + 1:], element.attributes, element.is_nil)
        for less in less_of(one) if isinstance(one, Element) else ():
            yield Element(element.name, element.children[:place] + [less] + element.children[place + 1:], element.attributes, element.is_nil)
    for name in element.attributes:
        yield Element(element.name, element.children, {other: value for other, value in element.attributes.items() if other != name}, element.is_nil)


def elements(torture):
    torture.begin("random XML", "names of namespaces under any prefix, attributes, texts, conditions and nil lead to what the documents say")
    spread(torture, cases, 200, 50000)
    torture.end()


def told(plan, imports):
    return map_text(plan) + "\n" + "\n".join(f"{one[1]} {document(one[2], one[3], one[0])}" for one in imports)


def cases(torture):
    return shrinking.cases(torture, "elements", random_case, difference, partial(ways.smaller, less_of=less_of), told, ways.is_sound)


TESTS = [elements]
