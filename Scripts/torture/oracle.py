"""A plain importer that reads docs/maps.md, policies.md and relationships.md literally: slow, one record at a time.

It shares nothing with the tool: values are Python's, objects are dictionaries, a record is tried on a copy of
the world and kept or thrown away whole. Foreign values are `Number` (its digits as written), `str`, `bool`,
`None`, `list`, `dict`, and MISSING; `Text` where a format has nothing but text.
"""

import base64
import json
import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal

MISSING = object()


class Number(str):
    """A number of JSON, as it is written."""


class Text(str):
    """A value of XML or CSV: it may be the spelling of anything."""


class Invalid(Exception):
    pass


class Broken(dict):
    """What a path could not read: no attribute takes it."""


class Rejected(Exception):
    pass


class Lacking(Rejected):
    """A new object lacks a required attribute that is kept: its record is good only for one that is there."""

    def __init__(self, key):
        super().__init__(key)
        self.key = key


# --- One value ---


def exact(digits):
    """A number's exact value; None where it is larger than anything that is stored."""
    match = re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?", digits)
    if not match:
        raise Invalid(digits)
    if match[4] and abs(int(match[4])) > 5000:
        significant = (match[2] + (match[3] or "")).strip("0")
        return Decimal(0) if not significant or int(match[4]) < 0 else None
    sign, whole, fraction, exponent = match[1], match[2], match[3] or "", int(match[4] or 0)
    return Decimal((1 if sign else 0, tuple(map(int, whole + fraction)), exponent - len(fraction)))


def plain(number):
    """Canonical text of a decimal: no exponent, no superfluous zeros."""
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


BITS = {"int16": 16, "int32": 32, "int64": 64}
EPOCHS = {"unix": 1, "unix-ms": 1000, "unix-us": 1_000_000}


def moment(parts, zone):
    try:
        year, month, day, hour, minute, second, micro = parts
        if year == 0:
            # Python has no year 0: 1 BC is a leap year, as 2000 is.
            datetime(2000, month, day, hour, minute, second, micro)
            if zone:
                raise NotImplementedError
            return f"0000-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}" + fraction(micro)
        at = datetime(year, month, day, hour, minute, second, micro, tzinfo=timezone.utc)
        at -= timedelta(minutes=zone)
    except (ValueError, OverflowError):
        raise Invalid(parts) from None
    return f"{at.year:04}-{at.month:02}-{at.day:02} {at.hour:02}:{at.minute:02}:{at.second:02}" + fraction(at.microsecond)


def fraction(micro):
    return f".{micro:06}".rstrip("0") if micro else ""


def timestamp(value, formats):
    for style in formats or ["iso8601"]:
        if style in EPOCHS:
            digits = value if isinstance(value, Number) or isinstance(value, Text) else None
            if digits is None:
                continue
            try:
                number = exact(digits)
            except Invalid:
                continue
            if number is None:
                raise Invalid(value)
            micros = number * 1_000_000 / EPOCHS[style]
            micros = int(micros.to_integral_value(rounding="ROUND_FLOOR"))
            if not -62135596800_000000 <= micros <= 253402300799_999999:
                raise Invalid(value)
            at = datetime(1970, 1, 1) + timedelta(microseconds=micros)
            return f"{at:%Y-%m-%d %H:%M:%S}".rjust(19, "0") + fraction(at.microsecond)
        if isinstance(value, (Number, bool)) or not isinstance(value, str):
            continue
        match = re.fullmatch(
            r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?", value, re.ASCII
        )
        if match:
            micro = int((match[7] or "").ljust(6, "0")[:6] or 0)
            zone = match[8] or "Z"
            minutes = 0 if zone == "Z" else (int(zone[1:3]) * 60 + int(zone[4:6])) * (-1 if zone[0] == "-" else 1)
            return moment([int(match[n]) for n in range(1, 7)] + [micro], minutes)
    raise Invalid(value)


def convert(attribute, value):
    """The stored value of a foreign one that is there and not null; None where the map reads it as null."""
    kind = attribute["type"]
    is_text = isinstance(value, Text)
    if isinstance(value, str) and not isinstance(value, Number):
        rules = attribute.get("strings", {})
        again = Text if is_text else str
        if rules.get("trim"):
            value = again(value.strip())
        if rules.get("emptyAsNull") and value == "":
            return None
        if value in rules.get("nulls", []):
            return None
        if is_text and value == "" and kind != "string":
            return None
    if kind == "json":
        if isinstance(value, Broken):
            raise Invalid(value)
        return compact(value)
    if kind == "string":
        if isinstance(value, (list, dict)):
            raise Invalid(value)
        if isinstance(value, (Number, bool)):
            if not attribute.get("coerce"):
                raise Invalid(value)
            value = str(value) if isinstance(value, Number) else ("true" if value else "false")
        text = str(value)
        if "length" in attribute and not attribute["length"]["min"] <= len(text) <= attribute["length"]["max"]:
            raise Invalid(value)
        return text
    if kind == "enum":
        if isinstance(value, (list, dict)):
            raise Invalid(value)
        if isinstance(value, bool):
            value = "true" if value else "false"  # words are what the feed spells
        if value in attribute["values"]:
            return attribute["values"][value]
        if "unknown" in attribute:
            return attribute["unknown"]
        raise Invalid(value)
    if kind == "bool":
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, Number):
            number = exact(value)
            if number in (0, 1):
                return int(number)
            raise Invalid(value)
        if isinstance(value, str):
            words = (attribute.get("trueValues", []), attribute.get("falseValues", []))
            if words == ([], []) and is_text:
                words = (["true", "1"], ["false", "0"])
            if value in words[0]:
                return 1
            if value in words[1]:
                return 0
        raise Invalid(value)
    if kind in BITS or kind in ("double", "decimal"):
        if isinstance(value, bool) or not isinstance(value, str):
            raise Invalid(value)
        if not isinstance(value, Number):
            if "numbers" in attribute:
                match = re.fullmatch(r"-?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?", value, re.ASCII)
                if not match:
                    raise Invalid(value)
                value = value.replace(".", "").replace(",", ".")
            elif not is_text:
                raise Invalid(value)
        number = exact(value)
        if kind in BITS:
            limit = 1 << (BITS[kind] - 1)
            if number is None or number != number.to_integral_value() or not -limit <= number < limit:
                raise Invalid(value)
            stored = int(number)
        elif kind == "double":
            if number is None:
                raise Invalid(value)
            stored = float(number)
            if stored in (float("inf"), float("-inf")):
                raise Invalid(value)
            stored += 0.0  # -0 is 0
        else:
            if number is None:
                raise Invalid(value)
            stored = plain(number)
            if "scale" in attribute:
                whole, _, digits = stored.partition(".")
                if len(digits) > attribute["scale"]:
                    raise Invalid(value)
                stored = whole + "." + digits.ljust(attribute["scale"], "0")
                if Decimal(stored) == 0:
                    stored = stored.lstrip("-")
        if "min" in attribute and number < Decimal(attribute["min"]) or "max" in attribute and number > Decimal(attribute["max"]):
            raise Invalid(value)
        return stored
    if kind == "timestamp":
        return timestamp(value, attribute.get("dates"))
    if isinstance(value, (Number, bool, list, dict)):
        raise Invalid(value)
    if kind == "date":
        # A zone behind a date is checked, and says nothing of the day.
        match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?", value, re.ASCII)
        if not match:
            raise Invalid(value)
        return moment([*map(int, match.groups()), 0, 0, 0, 0], 0)[:10]
    if kind == "uuid":
        if not re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value):
            raise Invalid(value)
        return value.lower()
    if kind == "data":
        if not re.fullmatch(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", value):
            raise Invalid(value)
        return base64.b64decode(value)
    raise AssertionError(kind)


def compact(value):
    """JSON text without white space; numbers as they are written."""
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(name, ensure_ascii=False) + ":" + compact(one) for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return str(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


# --- One record ---


class World:
    """What a store holds: objects by a number, by entity; links as members of the owners."""

    def __init__(self, plan):
        self.plan = plan
        self.objects = {}  # number -> {"entity", "values", "one": {name: number}, "many": {name: [number]}, "stub"}
        self.next = 1
        self.waiting = []  # (owner, relationship, target entity, key, place), kept between imports
        self.given = []  # what the record at hand has
        self.unlinked = []  # what it has unlinked, to be deleted at its end
        self.places = {}  # (owner, ordered list that is joined) -> what has a place in it, also keys that wait for somebody
        self.counts = {}

    def copied(self):
        """Another world of the same contents: what is done to it does not happen here."""
        world = type(self)(self.plan)
        world.next = self.next
        world.waiting = list(self.waiting)
        world.places = {one: list(entries) for one, entries in self.places.items()}
        world.objects = {
            number: {
                "entity": item["entity"], "stub": item["stub"], "one": dict(item["one"]), "values": dict(item["values"]),
                "many": {name: list(targets) for name, targets in item["many"].items()},
            }
            for number, item in self.objects.items()
        }
        return world

    def kind(self, entity, record):
        """Which entity a record becomes: wide.py has families."""
        return entity

    def root(self, entity):
        """The entity that a family has its table and keys of."""
        return entity

    def holder(self, entity, key):
        """Who has a key that a record of an entity gives: an object of another entity of its family, maybe."""
        return self.find(entity, key)

    def admit(self, number, entity):
        """Whether an object that a record found by its key becomes of a sub-entity by it; one of another sub-entity refuses it."""
        return False

    def drop_unlinked(self):
        """What a record unlinked is deleted, unless the record itself has it elsewhere in the end."""
        for target in self.unlinked:
            if target in self.objects and not (target in self.given and self.is_linked(target)):
                self.drop(target)
        self.given, self.unlinked = [], []

    def is_linked(self, number):
        """Whether anybody holds an object."""
        return any(number in targets for item in self.objects.values() for targets in [item["one"].values(), *item["many"].values()])

    def find(self, entity, key):
        if None in key:
            return None
        unique = self.plan["entities"][entity]["unique"]
        for number, item in self.objects.items():
            if item["entity"] == entity and same([item["values"].get(name) for name in unique], key):
                return number
        return None

    def name(self, number):
        """The key of an object."""
        item = self.objects[number]
        return tuple(item["values"][one] for one in self.plan["entities"][item["entity"]]["unique"])

    def make(self, entity):
        number = self.next
        self.next += 1
        rules = self.plan["entities"][entity]
        self.objects[number] = {
            "entity": entity, "stub": False, "one": {}, "many": {},
            "values": {name: attribute.get("stored default") for name, attribute in rules["attributes"].items()},
        }
        return number

    def drop(self, number):
        del self.objects[number]
        for item in self.objects.values():
            item["one"] = {name: target for name, target in item["one"].items() if target != number}
            item["many"] = {name: [one for one in targets if one != number] for name, targets in item["many"].items()}
        self.waiting = [one for one in self.waiting if one[0] != number]


def same(left, right):
    """Keys are compared byte for byte: Python compares code points, which is the same."""
    return list(left) == list(right)


def policy(plan, rules, thing, name, default):
    for level in (thing, rules, plan.get("defaults", {})):
        if name in level:
            return level[name]
        if name in ("onMissing", "onNull") and "ignoreNullValueOverwrites" in level:
            return "keep" if level["ignoreNullValueOverwrites"] else "clear"
    return default


def member(record, name):
    return record.get(name, MISSING)


def assign(plan, rules, name, attribute, record, values, old):
    """What an attribute becomes; raises Rejected. What the record says of it, and whether a new object has what it needs."""
    value = member(record, name)
    stored = None
    try:
        if value is MISSING:
            answer = policy(plan, rules, attribute, "onMissing", "keep")
        elif value is None:
            answer = policy(plan, rules, attribute, "onNull", "clear")
        else:
            stored = convert(attribute, value)
            answer = policy(plan, rules, attribute, "onNull", "clear") if stored is None else "set"
    except Invalid:
        answer = policy(plan, rules, attribute, "onInvalid", "reject")
    if answer == "reject":
        raise Rejected(name)
    if answer == "set":
        values[name] = stored
    elif answer == "clear":
        if attribute.get("required"):
            raise Rejected(name)
        values[name] = None
    elif answer == "default":
        values[name] = attribute["stored default"]
        if values[name] is None and attribute.get("required"):
            raise Rejected(name)
    elif answer == "keep":
        # The value that is there; a new object has the default.
        return answer, values.get(name) is not None or not attribute.get("required") or old is not None
    return answer, True


def apply(world, entity, record, mode, waiting, seen):
    """Applies one record to a world, which the caller throws away if this raises Rejected.

    Gives the object's number and what happened: inserted, changed, skipped, deleted.
    """
    plan = world.plan
    if not isinstance(record, dict):
        raise Rejected("no object")
    entity = world.kind(entity, record)
    rules = plan["entities"][entity]
    key = []
    for name in rules["unique"]:
        value = member(record, name)
        attribute = rules["attributes"][name]
        try:
            part = None if value is MISSING or value is None else convert(attribute, value)
        except Invalid:
            raise Rejected(name) from None
        if part is None:
            raise Rejected(name)
        key.append(part)
    old = world.holder(entity, key)
    try:
        becomes = old is not None and world.admit(old, entity)
    except Rejected:
        if is_tombstone(rules, record):
            return None, "nobody"
        # A record that is left alone is not judged by what is nested in it; one that is not finds this out again.
        if mode is not None:
            raise
        becomes = False
    is_stub = old is not None and world.objects[old]["stub"]
    is_old = old is not None and mode is not None and is_older(rules, record, world.objects[old])
    if is_tombstone(rules, record):
        if old is not None and mode == "insert":
            raise Rejected("there")
        # Whether it may be deleted is nobody's business where it is left alone.
        if old is not None and (is_old or mode in (None, "ignore")):
            return old, "skipped"
        if mode not in (None, "ignore", "insert"):
            forget_stubs(world, entity, key, waiting)
        if old is None:
            return None, "nobody"
        world.drop(old)
        return None, "deleted"
    if old is not None and not is_stub and seen is not None:
        if mode == "insert":
            raise Rejected("there")
        if mode == "ignore":
            return old, "skipped"
    if is_old:
        return old, "skipped"
    values = dict(world.objects[old]["values"]) if old is not None else {
        name: attribute.get("stored default") for name, attribute in rules["attributes"].items()
    }
    if becomes:
        # What it gains with its sub-entity gets the default.
        known = plan["entities"][world.objects[old]["entity"]]["attributes"]
        values.update({name: attribute.get("stored default") for name, attribute in rules["attributes"].items() if name not in known})
    values.update(zip(rules["unique"], key))
    whole = [
        assign(plan, rules, name, attribute, record, values, None if is_stub or becomes else old)
        for name, attribute in rules["attributes"].items()
        if name not in rules["unique"]
    ]
    # What is nested in a record that is left alone is not looked for: nobody knows whether it would make an object.
    if not all(is_good for _, is_good in whole) and (mode is not None or seen is not None):
        # A record that gives the key only is a reference; one that gives more has to make an object.
        is_reference = all(answer == "keep" for answer, _ in whole) and not says_links(plan, rules, record)
        raise Lacking(tuple(key)) if is_reference else Rejected(key)
    number = old if old is not None else world.make(entity)
    if becomes:
        world.objects[number]["entity"] = entity
    world.objects[number]["stub"] = False
    world.objects[number]["values"] = values
    # To-ones come before lists, whatever the order of the map and of the record (docs/relationships.md).
    for name, relationship in sorted(rules.get("relationships", {}).items(), key=lambda one: one[1]["kind"] == "toMany"):
        link(world, number, rules, name, relationship, record, mode, waiting)
    return number, "inserted" if old is None else "changed"


def forget_stubs(world, entity, key, waiting):
    """Who was named by a record before its tombstone would have been a stub that this one deletes."""
    for owner, name, wanted in waiting:
        rules = world.plan["entities"][world.objects[owner]["entity"]]["relationships"][name] if owner in world.objects else {}
        if rules.get("onUnresolved") == "stub" and world.root(rules["entity"]) == world.root(entity):
            wanted[:] = [one for one in wanted if not (one[0] == "key" and list(one[1]) == list(key))]


def is_tombstone(rules, record):
    tombstone = rules.get("deleteWhen")
    word = member(record, tombstone["from"]) if tombstone else MISSING
    if isinstance(word, Broken):
        raise Rejected("deleteWhen")
    return tombstone is not None and word == tombstone["equals"]


def says_links(plan, rules, record):
    """Whether a record says anything of its relationships."""
    for name, relationship in rules.get("relationships", {}).items():
        value = member(record, relationship.get("from", name))
        if value is not MISSING and value is not None:
            return True
        kind, default = ("onMissing", "keep") if value is MISSING else ("onNull", "clear")
        if policy(plan, rules, relationship, kind, default) == "clear":
            return True
    return False


def is_older(rules, record, item):
    """Whether a record is of before what is stored: it is left out then, a tombstone too."""
    name = rules.get("version")
    if not name or item["stub"] or member(record, name) in (MISSING, None):
        return False
    try:
        new = convert(rules["attributes"][name], member(record, name))
    except Invalid:
        return False
    stored = item["values"].get(name)
    return new is not None and stored is not None and new < stored


def link(world, number, rules, name, relationship, record, mode, waiting):
    value = member(record, relationship.get("from", name))
    item = world.objects[number]
    is_many = relationship["kind"] == "toMany"
    if value is MISSING or value is None:
        kind, default = ("onMissing", "keep") if value is MISSING else ("onNull", "clear")
        answer = policy(world.plan, rules, relationship, kind, default)
        if answer == "reject":
            raise Rejected(name)
        if answer == "clear" and relationship.get("assign") != "union":
            place(world, number, name, relationship, [], waiting, False)
        return
    parts = value if isinstance(value, list) else [value]
    wanted = []
    for part in parts:
        if relationship.get("key"):
            target = relationship["entity"]
            unique = world.plan["entities"][target]["unique"][0]
            try:
                wanted.append(("key", (convert(world.plan["entities"][target]["attributes"][unique], part),)))
            except Invalid:
                raise Rejected(name) from None
        else:
            try:
                made, _ = apply(world, relationship["entity"], part, mode and "upsert", waiting, None)
                wanted.append(("object", made))
                world.given.append(made)
            except Lacking as lacking:
                # A nested record that could only change an object is a reference where there is none.
                wanted.append(("key", lacking.key))
    if not is_many:
        wanted = wanted[-1:]
    place(world, number, name, relationship, wanted, waiting, relationship.get("assign") == "union")


def place(world, number, name, relationship, wanted, waiting, is_union):
    """Says what an object is linked to; keys that nobody has yet are looked up at the end of the import."""
    waiting[:] = [one for one in waiting if (one[0], one[1]) != (number, name) or is_union]
    world.waiting = [one for one in world.waiting if (one[0], one[1]) != (number, name) or is_union]
    item = world.objects[number]
    targets = [one if kind == "object" else world.find(relationship["entity"], one) for kind, one in wanted]
    if is_union and relationship.get("ordered"):
        join(world, number, name, [one if target is None else ("object", target) for one, target in zip(wanted, targets)])
    if None in targets:
        # Who is there is named by now, whatever becomes of the key.
        waiting.append((number, name, [one if target is None else ("object", target) for one, target in zip(wanted, targets)]))
        # A later record about the object finds what this one said, as if it came in an import of its own.
        settle(world, number, name, relationship, [target for target in targets if target is not None], is_union)
        return
    settle(world, number, name, relationship, targets, is_union)
    if relationship.get("inverse"):
        overtake(world, number, name, relationship, targets, waiting)


def join(world, number, name, wanted):
    """What joins a list in order has its place behind the others, also a key that nobody has yet."""
    there = [("object", target) for target in world.objects[number]["many"].get(name, [])]
    entries = world.places.setdefault((number, name), list(there))
    entries[:] = [one for one in entries if one in there or one[0] == "key"]
    entries += [one for place, one in enumerate(wanted) if one not in entries and one not in wanted[:place]]


def arrange(world):
    """Puts who came for a key that waited into the place of the key."""
    for (owner, name), entries in world.places.items():
        if owner not in world.objects:
            continue
        entity = world.plan["entities"][world.objects[owner]["entity"]]["relationships"][name]["entity"]
        order = [one if kind == "object" else world.find(entity, one) for kind, one in entries]
        world.objects[owner]["many"].get(name, []).sort(key=lambda target: order.index(target) if target in order else len(order))
    world.places = {}


def overtake(world, number, name, relationship, targets, waiting):
    """Only one owner may have a target, the last that names it: who named it earlier waits for it no more."""
    entity = world.root(world.objects[number]["entity"])
    unique = world.plan["entities"][relationship["entity"]]["unique"]
    keys = [tuple(world.objects[target]["values"][one] for one in unique) for target in targets if target in world.objects]

    def is_left(owner, other, one):
        return owner == number or other != name or one not in keys and one not in targets or owner in world.objects and world.root(world.objects[owner]["entity"]) != entity

    waiting[:] = [
        (owner, other, [(kind, one) for kind, one in wanted if is_left(owner, other, one)]) for owner, other, wanted in waiting
    ]
    world.waiting = [one for one in world.waiting if is_left(one[0], one[1], one[3])]


def settle(world, number, name, relationship, targets, is_union):
    item = world.objects[number]
    if relationship["kind"] == "toOne":
        item["one"].pop(name, None)
        if targets:
            item["one"][name] = targets[0]
            world.given.append(targets[0])
        return
    before = item["many"].get(name, [])
    after = list(before) if is_union else []
    for target in targets:
        if target not in after:
            after.append(target)
    item["many"][name] = after
    if relationship.get("inverse"):
        # Only one owner may have a target: the last one that names it.
        for other, one in world.objects.items():
            if other != number and world.root(one["entity"]) == world.root(item["entity"]) and name in one["many"]:
                one["many"][name] = [target for target in one["many"][name] if target not in after]
    if relationship.get("onUnlink") == "delete":
        world.unlinked += [target for target in before if target not in after]


def resolve(world, waiting):
    """The end of an import: what is named by keys becomes links, in the order in which it was named.

    A stub has its key like any other object: whoever names it finds it, also who would have made none.
    """
    for owner, name, wanted in waiting:
        rules = world.plan["entities"][world.objects[owner]["entity"]]["relationships"][name] if owner in world.objects else {}
        for kind, key in wanted if rules.get("onUnresolved") == "stub" else []:
            if kind == "key" and world.holder(rules["entity"], key) is None:
                stub = world.objects[world.make(rules["entity"])]
                stub["stub"] = True
                stub["values"][world.plan["entities"][rules["entity"]]["unique"][0]] = key[0]
    for owner, name, wanted in waiting:
        if owner not in world.objects:
            continue
        entity = world.objects[owner]["entity"]
        relationship = world.plan["entities"][entity]["relationships"][name]
        targets = []
        for kind, key in wanted:
            if kind == "object":
                targets += [key] if key in world.objects and key not in targets else []
                continue
            found = world.find(relationship["entity"], key)
            if found is None:
                if relationship.get("onUnresolved") == "pending":
                    world.waiting.append((owner, name, relationship["entity"], key, len(targets)))
            if found is not None and found not in targets:
                targets.append(found)
        settle(world, owner, name, relationship, targets, relationship.get("assign") == "union")
        world.given = []
        world.drop_unlinked()
    arrange(world)
    # References that wait since earlier imports.
    still = []
    for owner, name, target, key, position in world.waiting:
        found = world.find(target, key)
        if found is None:
            still.append((owner, name, target, key, position))
            continue
        item = world.objects[owner]
        relationship = world.plan["entities"][item["entity"]]["relationships"][name]
        if relationship["kind"] == "toOne":
            item["one"][name] = found
        elif found not in item["many"].get(name, []):
            item["many"].setdefault(name, []).append(found)
    world.waiting = still


def run(world, entity, records, mode="upsert", rejected=None):
    """An import: gives the new world and how many records had which fate; puts the numbers of those that are rejected into a list."""
    counts = {"read": 0, "inserted": 0, "rejected": 0, "skipped": 0, "deleted": 0}
    waiting = []
    for record in records:
        # Records of several sources are pairs.
        if isinstance(record, tuple):
            entity, record = record
        counts["read"] += 1
        trial, trial_waiting = world.copied(), list(waiting)
        try:
            # A record that could not be applied is rejected also where it would be left alone.
            apply(world.copied(), entity, record, None, list(waiting), None)
            _, fate = apply(trial, entity, record, mode, trial_waiting, True)
        except Rejected:
            counts["rejected"] += 1
            if rejected is not None:
                rejected.append(counts["read"] - 1)
            continue
        trial.drop_unlinked()
        world, waiting = trial, trial_waiting
        if fate in counts:
            counts[fate] += 1
    resolve(world, waiting)
    return world, counts


def dump(world):
    """The world as `harness.contents` gives a store."""
    plan = world.plan
    tables = {}
    for number, item in world.objects.items():
        entity = item["entity"]
        row = dict(item["values"])
        rules = plan["entities"][entity]
        for one, relationship in rules.get("relationships", {}).items():
            if relationship["kind"] == "toOne":
                row[one] = world.name(item["one"][one]) if one in item["one"] else None
            elif not relationship.get("inverse"):
                for place, target in enumerate(item["many"].get(one, [])):
                    line = {"owner": world.name(number), "target": world.name(target)}
                    if relationship.get("ordered"):
                        line["position"] = place
                    tables.setdefault(f"{entity}_{one}", []).append(line)
        if any(
            relationship.get("onUnresolved") == "stub" and relationship["entity"] == entity
            for other in plan["entities"].values()
            for relationship in other.get("relationships", {}).values()
        ):
            row["_stub"] = 1 if item["stub"] else None
        for owner_entity, other in plan["entities"].items():
            for one, relationship in other.get("relationships", {}).items():
                if relationship["entity"] == entity and relationship.get("inverse"):
                    owner = next(
                        (o for o, candidate in world.objects.items() if number in candidate["many"].get(one, [])
                         and candidate["entity"] == owner_entity), None,
                    )
                    row[relationship["inverse"]] = world.name(owner) if owner else None
                    if relationship.get("ordered"):
                        row[f"_{one}_order"] = world.objects[owner]["many"][one].index(number) if owner else None
        tables.setdefault(entity, []).append(row)
    return tables
