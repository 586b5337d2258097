"""A plain importer of linked records: links as docs/relationships.md has them, seen from both sides.

It knows one kind of object more than a store has, one that nobody has brought yet ("phantom"): it is linked like any other, whoever
names it, and at the end of an import what becomes of it is what `onUnresolved` says. So everything happens in the order of the feed,
which is what the document promises ("Who wins").
"""

import json

import oracle
from harness import rows
from oracle import MISSING, Rejected, convert, member

TO_ONE, TO_MANY = "toOne", "toMany"
# What the tool is known to do otherwise than its documents say (docs/reliability.md, "What is not promised"): tried again by taking it out.
AVOIDED = {
    "late places",
    "claims wait",
    "union in union",
    "places of the other side",
    "both sides",
    "comes and goes",
    "gaps",
    "one-to-one elsewhere",
    "key of who is around",
    "repeats counted", "friends counted",
    "held objects",
    "union waits",
}


class Unsaid(Exception):
    """What the documents do not decide: a case is not compared from here on."""


# --- What a map says ---


class Plan:
    """A map with what it does not say itself: inverses that only one side names, and which relationships are read."""

    def __init__(self, entities):
        self.entities = entities
        self.relationships = {entity: {name: {"owner": entity, "name": name, **one} for name, one in rules.get("relationships", {}).items()} for entity, rules in entities.items()}
        for relationships in list(self.relationships.values()):
            for one in list(relationships.values()):
                if one.get("inverse"):
                    # The other side need not be declared, and need not say whose inverse it is.
                    kind = TO_ONE if one["kind"] == TO_MANY else TO_MANY
                    other = self.relationships[one["entity"]].setdefault(
                        one["inverse"], {"owner": one["entity"], "name": one["inverse"], "entity": one["owner"], "kind": kind, "from": [], "is implied": True},
                    )
                    other["other"], one["other"] = one["name"], one["inverse"]

    def is_read(self, one):
        """Whether the feed is looked at: see "Who wins"."""
        if one.get("from") == []:
            return False
        if has_place(one) or "other" not in one:
            return True
        other = self.inverse(one)
        return one.get("inverse") == other["name"] if not has_place(other) and other.get("from") != [] else other.get("inverse") != one["name"]

    def inverse(self, one):
        return self.relationships[one["entity"]][one["other"]] if "other" in one else None

    def is_first(self, one):
        """Whether a relationship's side has the table or the column: the one that is declared first, or that alone has repeats."""
        if bool(one.get("repeats")) != bool(self.inverse(one).get("repeats")):
            return bool(one.get("repeats"))
        is_key, is_other = (side["kind"] == TO_ONE and side["name"] in self.entities[side["owner"]]["unique"] for side in (one, self.inverse(one)))
        if is_key != is_other:
            return is_key
        places = [(entity, name) for entity, named in self.relationships.items() for name in named]
        return places.index((one["owner"], one["name"])) <= places.index((one["entity"], one["other"]))


def is_exclusive(plan, one):
    return "other" in one and plan.inverse(one)["kind"] == TO_ONE


def has_place(one):
    return bool(one.get("key") or one.get("from"))


# --- The world ---


class World:
    """Objects by a number, and what each of them is linked to, both sides of every link."""

    def __init__(self, plan):
        self.plan = plan
        self.objects = {}  # number -> {"entity", "values", "state": "real", "stub" or "phantom"}
        self.lists = {}  # (number, relationship) -> [number]
        self.next = 1
        self.unlinked, self.given, self.listed, self.written, self.said, self.lost = [], [], [], [], set(), set()
        self.awaited = set()  # objects that somebody named before this import brought them
        self.overtaken = set()  # whom others named before they came, and one has now
        self.vague = set()  # lists whose order is not said: of what is added to what nobody has brought yet

    def copied(self):
        world = World(self.plan)
        world.objects = {number: {**item, "values": dict(item["values"])} for number, item in self.objects.items()}
        world.lists = {place: list(targets) for place, targets in self.lists.items()}
        world.next = self.next
        world.vague, world.awaited, world.overtaken = set(self.vague), set(self.awaited), set(self.overtaken)
        return world

    def rules(self, number, name):
        return self.plan.relationships[self.objects[number]["entity"]][name]

    def key(self, number):
        """What identifies an object: values, and objects where a to-one is a part of it."""
        item = self.objects[number]
        return [
            item["values"].get(name) if name in item["values"] else next(iter(self.lists.get((number, name), [])), None)
            for name in self.plan.entities[item["entity"]]["unique"]
        ]

    def find(self, entity, key, is_phantom=False):
        for number, item in self.objects.items():
            if item["entity"] == entity and (is_phantom or item["state"] != "phantom") and None not in key and self.key(number) == list(key):
                return number
        return None

    def parts(self, named):
        """The key of whom somebody names: objects, or phantoms, where a to-one is a part of it."""
        return [self.named(part) if isinstance(part, tuple) else part for part in named[1:]]

    def named(self, named):
        """The object of a key, or the phantom that stands for it."""
        found = self.find(named[0], self.parts(named), is_phantom=True)
        return found if found is not None else self.make(named[0], self.parts(named), "phantom")

    def identity(self, number):
        """Whom a number stands for, as `referred` says it."""
        item = self.objects[number]
        return (item["entity"], *(
            part if name in item["values"] or part is None else self.identity(part) for name, part in zip(self.plan.entities[item["entity"]]["unique"], self.key(number))
        ))

    def has_object_in_key(self, number):
        item = self.objects[number]
        return any(name not in item["values"] for name in self.plan.entities[item["entity"]]["unique"])

    def has(self, named):
        """Whether somebody is there: not only named."""
        return any(item["state"] != "phantom" and self.identity(number) == named for number, item in self.objects.items())

    def make(self, entity, key, state):
        number, self.next = self.next, self.next + 1
        rules = self.plan.entities[entity]
        self.objects[number] = {"entity": entity, "state": state, "values": {name: None for name in rules["attributes"]}}
        for name, part in zip(rules["unique"], key):
            if name in rules["attributes"]:
                self.objects[number]["values"][name] = part
            elif state == "phantom":
                self.lists[number, name] = [part]  # it is in no list of that object yet
            else:
                self.assign(number, name, [part])
        return number

    def assign(self, number, name, targets, is_union=False):
        """The links of an object, and with them those of the other side."""
        one = self.rules(number, name)
        before = self.lists.get((number, name), [])
        after = list(before) if is_union else []
        for target in targets:
            if target not in after or one.get("repeats") and not (is_union and target in before):
                after.append(target)
        other = one.get("other")
        if other:
            is_alone = self.plan.inverse(one)["kind"] == TO_ONE
            for target in before:
                if target not in after:
                    is_key = other in self.plan.entities[one["entity"]]["unique"]
                    if "comes and goes" in AVOIDED and is_key and any(target in some for place, some in self.lists.items() if place != (number, name)):
                        raise Unsaid("whom others have loses its key")
                    if is_key:
                        self.lost.add(self.identity(target))
                    owners = self.lists.get((target, other), [])
                    is_rival = self.rules(target, other)["kind"] == TO_ONE and len(owners) > 1 and "claims wait" in AVOIDED
                    if (target, other) in self.overtaken or is_rival and self.objects[target]["state"] != "phantom":
                        raise Unsaid("named, overtaken and let go")
                    self.lists[target, other] = [owner for owner in self.lists.get((target, other), []) if owner != number]
        self.lists[number, name] = after
        if other:
            for target in dict.fromkeys(targets):
                owners = self.lists.get((target, other), [])
                if not is_alone and number in owners:
                    continue
                owners = [owner for owner in owners if owner != number]
                if is_alone and (self.objects[target]["state"] != "phantom" or "claims wait" not in AVOIDED):
                    owners = self.lose(owners, name, target)
                self.lists[target, other] = [*owners, number]
        return [target for target in before if target not in after]

    def lose(self, owners, name, target):
        """Only one may have it, the last one that names it: the others do not any more."""
        if owners and target in self.awaited and "claims wait" in AVOIDED:
            self.overtaken.add((target, self.rules(owners[0], name)["other"]))
        for owner in owners:
            self.lists[owner, name] = [held for held in self.lists[owner, name] if held != target]
        return []

    def unlink(self, number, name, target):
        other = self.rules(number, name).get("other")
        for place, gone in [((number, name), target)] + [((target, other), number)] * bool(other):
            self.lists[place] = [one for one in self.lists.get(place, []) if one != gone]

    def drop(self, *numbers):
        """Deletes objects by the delete rules of their relationships: none of them denies another one to go."""
        going = []

        def collect(number):
            if number not in going:
                going.append(number)
                for one in self.plan.relationships[self.objects[number]["entity"]].values():
                    if one.get("onDelete") == "cascade":
                        for target in self.lists.get((number, one["name"]), []):
                            if self.objects[target]["state"] != "phantom":
                                collect(target)

        for number in numbers:
            collect(number)
        rules = [(one, relationship) for one in going for relationship in self.plan.relationships[self.objects[one]["entity"]].values()]
        if "comes and goes" in AVOIDED and (set(going) & self.awaited or any(
            set(self.lists.get((one, relationship["name"]), [])) & self.awaited and relationship.get("onDelete", "nullify") != "nullify" for one, relationship in rules
        )):
            raise Unsaid("named, brought and deleted")
        if any((target, relationship.get("other")) in self.overtaken for one, relationship in rules for target in self.lists.get((one, relationship["name"]), [])):
            raise Unsaid("named, overtaken, and who has overtaken is deleted")
        for one in going:
            for relationship in self.plan.relationships[self.objects[one]["entity"]].values():
                if relationship.get("onDelete") == "deny":
                    left = [target for target in self.lists.get((one, relationship["name"]), []) if self.objects[target]["state"] != "phantom"]
                    if any(target not in going for target in left):
                        raise Rejected("denied")
        for one, item in self.objects.items():
            if item["state"] == "phantom" and one not in going and self.has_object_in_key(one) and set(going) & set(self.key(one)):
                raise Unsaid("whom somebody waits for has no key any more")
        for one in going:
            del self.objects[one]
        self.lists = {place: [target for target in targets if target not in going] for place, targets in self.lists.items() if place[0] not in going}

    def drop_unlinked(self, own):
        """What a record unlinked is deleted, unless the record itself is it, or has it elsewhere in the end."""
        if own in self.unlinked and "own object" in AVOIDED:
            raise Unsaid("a record deletes its own object")
        going = []
        for target in self.unlinked:
            if target in self.objects and self.objects[target]["state"] != "phantom" and target != own:
                is_held = any(target in targets for targets in self.lists.values())
                if is_held and target in self.listed and target not in self.given:
                    raise Unsaid("a record names it in another list")
                if target not in self.given:
                    going.append(target)
                elif "one-to-one elsewhere" in AVOIDED:
                    raise Unsaid("deleted, though the record has it by a one-to-one that is stored on the other side")
                elif not is_held:
                    raise Unsaid("a record has it, and has it not")
        self.drop(*going)
        self.unlinked, self.given, self.listed, self.written, self.said, self.lost = [], [], [], [], set(), set()


# --- One record ---


def part_of_key(plan, entity, name, value):
    """A part of a key as it is stored; Rejected where it is none."""
    if value is MISSING or value is None:
        if name not in plan.entities[entity]["attributes"] and "key of nobody" in AVOIDED:
            raise Unsaid("a to-one of the key is missing")
        raise Rejected(name)
    if name not in plan.entities[entity]["attributes"]:
        return referred(plan, plan.relationships[entity][name]["entity"], value)
    try:
        return convert(plan.entities[entity]["attributes"][name], value)
    except oracle.Invalid:
        raise Rejected(name) from None


def referred(plan, entity, value):
    """Whom a key names: the entity, and the parts of the key, of which those by a to-one are such again."""
    unique = plan.entities[entity]["unique"]
    if len(unique) > 1 and any(member(value, name) is MISSING for name in unique):
        raise Unsaid("a part of a reference is missing")
    return (entity, *(part_of_key(plan, entity, name, value if len(unique) == 1 else member(value, name)) for name in unique))


def identity(plan, entity, record, owner=None, by=None):
    """Whom a record is about; what is nested by the inverse of a part of its key has it from there."""
    return (entity, *(
        owner if by and by.get("other") == name else part_of_key(plan, entity, name, member(record, name)) for name in plan.entities[entity]["unique"]
    ))


def needs(plan, entity, record, owner=None, by=None, keys=None):
    """Whom a record makes, and without whom it cannot be written: parts of keys, and what it would be rejected for."""
    own = identity(plan, entity, record, owner, by)
    keys = set() if keys is None else keys
    made, needed = {own}, {part for name, part in zip(plan.entities[entity]["unique"], own[1:]) if isinstance(part, tuple) and not (by and by.get("other") == name)}
    keys |= needed
    for one in plan.relationships[entity].values():
        value = member(record, one["name"])
        if not plan.is_read(one) or value is MISSING or value is None:
            continue
        for part in value if isinstance(value, list) else [value]:
            if not one.get("key"):
                more = needs(plan, one["entity"], part, own, one, keys)
                made, needed = made | more[0], needed | more[1]
            elif one.get("onUnresolved") == "reject":
                needed.add(referred(plan, one["entity"], part))
    if "key of who is around" in AVOIDED and owner is None and keys & made:
        raise Unsaid("a key names what the record itself makes")
    return made, needed - made


def apply(world, entity, record, mode, owner=None, by=None):
    """Applies a record to a world, which the caller throws away if this raises Rejected: the object, and what happened.

    `owner` is the object that the record is nested in, by the relationship `by`.
    """
    rules = world.plan.entities[entity]
    own = identity(world.plan, entity, record, owner and world.identity(owner), by)
    key = world.parts(own)
    is_tombstone = owner is None and rules.get("deleteWhen") and member(record, "gone") == "yes"
    if not is_tombstone and any(world.objects[part]["state"] == "phantom" for part, name in zip(key, rules["unique"]) if name not in rules["attributes"]):
        raise Rejected("without a key")
    number = world.find(entity, key, is_phantom=True)
    state = world.objects[number]["state"] if number is not None else "nobody"
    if is_tombstone:
        if state in ("real", "stub") and mode == "insert":
            raise Rejected("there")
        if state in ("real", "stub") and mode == "ignore":
            return number, "skipped"
        if state == "phantom" and mode not in ("insert", "ignore"):
            # Those before it would have made a stub that this one deletes.
            for place in [place for place, targets in world.lists.items() if number in targets and world.rules(*place).get("onUnresolved") == "stub"]:
                world.unlink(*place, number)
        if state in ("nobody", "phantom"):
            return None, "nobody"
        world.drop(number)
        return None, "deleted"
    if owner is None and state == "real":
        if mode == "insert":
            raise Rejected("there")
        if mode == "ignore":
            # A record that could not be applied is rejected also where it would be left alone.
            apply(world.copied(), entity, record, "upsert")
            return number, "skipped"
    if number is None:
        number = world.make(entity, key, "real")
    item = world.objects[number]
    item["state"] = "real"
    world.written.append(number)
    if state == "phantom":
        world.awaited.add(number)
        for name, part in zip(rules["unique"], key):
            if name not in rules["attributes"]:
                world.assign(number, name, [part])
    for name, attribute in rules["attributes"].items():
        if name not in rules["unique"] and member(record, name) is not MISSING:
            value = member(record, name)
            try:
                item["values"][name] = None if value is None else convert(attribute, value)
            except oracle.Invalid:
                raise Rejected(name) from None
    for one in world.plan.relationships[entity].values():
        if world.plan.is_read(one):
            read(world, number, one, record)
    return number, "inserted" if state in ("nobody", "phantom") else "changed"


def read(world, number, one, record):
    """What a record says of a relationship."""
    value = member(record, one["name"])
    if value is MISSING:
        return
    is_union = one.get("assign") == "union"
    targets = []
    for part in [] if value is None else value if isinstance(value, list) else [value]:
        if one.get("key"):
            named = referred(world.plan, one["entity"], part)
            if named in world.lost:
                raise Unsaid("a record names who loses its key by it")
            targets.append(world.named(named))
        else:
            targets.append(apply(world, one["entity"], part, "upsert", number, one)[0])
    if value is None and is_union:
        return
    if (number, one["name"]) in world.said and is_exclusive(world.plan, one):
        raise Unsaid("a record speaks of one list twice")
    world.said.add((number, one["name"]))
    if "both sides" in AVOIDED and "other" in one:
        other = world.plan.inverse(one)
        if world.plan.is_read(other) and (one.get("key") or other.get("key")):
            # What one side names and nobody has, does not give way to what the other side says later; nor is it said who counts within a record.
            if any(world.objects[target]["state"] == "phantom" for target in targets):
                raise Unsaid("one of two sides waits")
            spoken = {about for about, name in world.said if name == other["name"] and world.objects[about]["entity"] == other["owner"]}
            if spoken - ({number} if other["name"] == one["name"] else set()):
                raise Unsaid("a record speaks of both sides")
    if one.get("key"):
        # The tool may look for them before the record has made them.
        world.awaited |= set(targets) & set(world.written)
    world.listed += targets
    world.given += targets if one["kind"] == TO_ONE or not one.get("key") else []
    unlinked = world.assign(number, one["name"], targets, is_union)
    if is_union and any(world.objects[target]["state"] == "phantom" for target in world.lists[number, one["name"]]):
        world.vague.add((number, one["name"]))
    if is_exclusive(world.plan, one) and set(unlinked) & set(world.written):
        raise Unsaid("a record has it, and has it not")
    if one.get("onUnlink") == "delete":
        world.unlinked += unlinked


def resolve(world):
    """The end of an import: what becomes of what nobody has brought."""
    phantoms = [number for number, item in world.objects.items() if item["state"] == "phantom"]
    for number in sorted(phantoms, key=lambda number: not world.has_object_in_key(number)):
        holders = [place for place, targets in world.lists.items() if number in targets and world.objects[place[0]]["state"] != "phantom"]
        answers = {place: world.rules(*place).get("onUnresolved", "clear") for place in holders}
        if "stub" in answers.values():
            world.objects[number]["state"] = "stub"
            continue
        for (owner, name), answer in answers.items():
            if answer != "pending":
                world.unlink(owner, name, number)
        if "pending" not in answers.values() and not any(number in world.key(other) for other in phantoms if other in world.objects and world.has_object_in_key(other)):
            world.drop(number)
    if "late places" in AVOIDED:
        for place, targets in world.lists.items():
            targets.sort(key=lambda target: world.objects[target]["state"] == "phantom")
    # Who named what had still to come has it only now, and the last one alone.
    for (number, name), owners in list(world.lists.items()):
        if world.rules(number, name)["kind"] == TO_ONE and len(owners) > 1 and world.objects[number]["state"] != "phantom":
            world.lose(owners[:-1], world.rules(number, name)["other"], number)
            world.lists[number, name] = owners[-1:]


def first_free(ahead, is_blocked=lambda place: False):
    """The first that waits for nobody, given for each for whom it waits; else of those that wait for nobody but each other: one whose
    key has nobody that is not there, if there is any."""
    def reached(place):
        found, left = set(), [place]
        while left:
            left += [other for other in ahead[left.pop()] if not (other in found or found.add(other))]
        return found

    for place in range(len(ahead)):
        if not ahead[place]:
            return place
    first = next(place for place in range(len(ahead)) if all(place in reached(other) for other in reached(place)))
    return min(reached(first), key=lambda place: (is_blocked(place), place))


def run(world, records, mode):
    """An import of records, each with its entity: the new world, and how many had which fate."""
    counts = {"read": len(records), "inserted": 0, "rejected": 0, "skipped": 0, "deleted": 0}

    def write(entity, record):
        nonlocal world
        trial = world.copied()
        try:
            own, fate = apply(trial, entity, record, mode)
            trial.drop_unlinked(own)
        except Rejected:
            fate = "rejected"
        else:
            world = trial
        if fate in counts:
            counts[fate] += 1

    held = []  # records that wait for the end: of whom they make, whom they need, and what they are
    for entity, record in records:
        is_tombstone = world.plan.entities[entity].get("deleteWhen") and member(record, "gone") == "yes"
        try:
            own = identity(world.plan, entity, record)
            # What a tombstone has besides its key is not looked at; where nobody is of that key, there is nothing to delete.
            made, needed = ({own}, set()) if is_tombstone else needs(world.plan, entity, record)
        except Rejected:
            write(entity, record)
            continue
        if any(made & others for others, *_, one in held if one != own) and "held objects" in AVOIDED:
            raise Unsaid("which record makes what a record that waits has, too")
        if any(not world.has(one) for one in needed) or any(one[4] in made for one in held):
            # Later records about its object wait with it, and those that have it nested. That of others that it makes is not said to.
            held.append((made, needed, is_tombstone, (entity, record), own))
        else:
            write(entity, record)
    while held:
        good = held
        while True:
            there = set().union(*(made for made, _, is_tombstone, *_ in good if not is_tombstone))
            better = [one for one in good if all(need in there or world.has(need) for need in one[1])]
            if len(better) == len(good):
                break
            good = better
        counts["rejected"] += len(held) - len(good)
        held = good
        ahead = [
            [other for other, one in enumerate(held) if not one[2] and any(need in one[0] and not world.has(need) for need in needed) or other < place and one[4] in made]
            for place, (made, needed, *_) in enumerate(held)
        ]
        if held:
            lacks = lambda place: any(isinstance(part, tuple) and not world.has(part) for part in held[place][4][1:])
            write(*held.pop(first_free(ahead, lacks))[3])
    resolve(world)
    world.awaited, world.overtaken = set(), set()
    return world, counts


# --- What is stored ---


def dump(world):
    """The world as `harness.rows` gives a store, and what waits: as docs/file.md says it."""
    plan, tables = world.plan, {}

    def name(number):
        if number is None:
            return None
        item = world.objects[number]
        return tuple(part if one in item["values"] else name(part) for one, part in zip(plan.entities[item["entity"]]["unique"], world.key(number)))

    def held(number, one):
        """Only what is there takes a place."""
        return [target for target in world.lists.get((number, one["name"]), []) if world.objects[target]["state"] != "phantom"]

    for number, item in world.objects.items():
        if item["state"] == "phantom":
            continue
        row = {**item["values"], "_stub": 1 if item["state"] == "stub" else None}
        for one in plan.relationships[item["entity"]].values():
            targets = held(number, one)
            other = plan.inverse(one)
            if one["kind"] == TO_ONE:
                if other is None or other["kind"] == TO_MANY or plan.is_first(one):
                    row[one["name"]] = name(targets[0]) if targets else None
                if other and other["kind"] == TO_MANY:
                    row[f"_{other['name']}_order"] = held(targets[0], other).index(number) if targets else None
            elif other is None or other["kind"] == TO_MANY and plan.is_first(one):
                for place, target in enumerate(targets):
                    line = {"owner": name(number), "target": name(target), "position": place}
                    if other and other["name"] != one["name"]:
                        line["inverse_position"] = held(target, other).index(number)
                    tables.setdefault(f"{item['entity']}_{one['name']}", []).append(line)
        tables.setdefault(item["entity"], []).append(row)
    waiting = set()
    for (number, one), targets in world.lists.items():
        if world.objects[number]["state"] != "phantom":
            waiting |= {(f"{world.objects[number]['entity']}.{one}", name(number), spelled(world, target)) for target in targets if world.objects[target]["state"] == "phantom"}
    vague = {(world.objects[number]["entity"], one, name(number)) for number, one in world.vague if number in world.objects}
    return ranked(plan, tables, vague), waiting, vague


def ranked(plan, tables, vague):
    """Places as ranks among those of one list: those beside a to-one have gaps. What is in no order has none."""
    for entity, relationships in plan.relationships.items():
        for one in relationships.values():
            if one["kind"] == TO_ONE:
                continue
            other = plan.inverse(one)
            if other and other["kind"] == TO_ONE:
                table, column, owner = one["entity"], f"_{one['name']}_order", other["name"]
            elif other is None or plan.is_first(one):
                table, column, owner = f"{entity}_{one['name']}", "position", "owner"
            else:
                table, column, owner = f"{one['entity']}_{one['other']}", "inverse_position", "target"
            seen = {}
            for row in sorted(tables.get(table, []), key=lambda row: -1 if row.get(column) is None else row[column]):
                place = row.pop(column, None)
                if row.get(owner) is not None and has_places(plan, one) and (entity, one["name"], row[owner]) not in vague:
                    seen[row[owner]] = seen.get(row[owner], -1) + 1
                    row[column] = "nowhere" if place is None else place if column == "position" and "gaps" not in AVOIDED else seen[row[owner]]
    return tables


def stored(path, plan, vague):
    """What the tool has stored, in the same words."""
    found = rows(path)
    waiting = {
        (row["relationship"], row["owner"], tuple(sorted((name, str(part)) for name, part in json.loads(row["key"]).items()))) for row in found.pop("waiting", [])
    }
    return ranked(plan, found, vague), waiting


def has_places(plan, one):
    """Whether the places of a list are compared."""
    is_ordered = one["kind"] == TO_MANY and (one.get("ordered") or one.get("repeats"))
    return is_ordered and not ("places of the other side" in AVOIDED and "other" in one and plan.is_read(plan.inverse(one)))


def spelled(world, number):
    """A key that waits, as it stands in the table: a part by a to-one is the key of that object."""
    item = world.objects[number]
    return tuple(sorted(
        (name, str(part) if name in item["values"] else dict(spelled(world, part))["k"]) for name, part in zip(world.plan.entities[item["entity"]]["unique"], world.key(number))
    ))


def plain(tables):
    return {
        table: sorted(repr(sorted((name, one) for name, one in row.items() if one is not None and (name, one) != ("_stub", 0))) for row in some)
        for table, some in tables.items() if some
    }


def unlike(got, wanted):
    """The rows that a store has and should not have, and those that it lacks, some of each table."""
    words = []
    for table in sorted(set(got) | set(wanted)):
        left, right = got.get(table, []), wanted.get(table, [])
        words += [f"  {table} has {row}" for row in left if row not in right or left.count(row) != right.count(row)][:3]
        words += [f"  {table} lacks {row}" for row in right if row not in left or left.count(row) != right.count(row)][:3]
    return words
