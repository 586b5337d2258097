"""A plain importer of objects that have several keys: docs/relationships.md ("Keys", "Who wins"), one record after the other.

Who is named by a key is linked as the object, and stays so whatever key it has later; who is not there yet is kept as the key. What waits
for the end (`onUnresolved: reject`, a to-one in a key) is tried: it is seen in a copy of the world what a record finds, and makes.
"""

import copy
from dataclasses import dataclass

from linked_oracle import TO_ONE, Unsaid, first_free
from oracle import Rejected

# What the tool is known to do otherwise than its documents say: tried again by taking it out.
AVOIDED = {
    "broken rings",  # one of those that need each other is rejected when it is written, and those that were before it stay
}


@dataclass(frozen=True)
class Key:
    """Whom somebody names: values of the parts of one key; a part by a to-one is the key of that object."""

    entity: str
    names: tuple
    parts: tuple


class Plan:
    """A map, in which sub-entities have what their parents have."""

    def __init__(self, entities):
        self.entities = {}
        for name, rules in entities.items():  # parents stand first
            above = self.entities.get(rules.get("parent"), {"unique": [], "attributes": {}, "relationships": {}})
            self.entities[name] = {**rules, "unique": above["unique"] + rules.get("unique", [])} | {
                part: {**above[part], **rules.get(part, {})} for part in ("attributes", "relationships")
            }

    def root(self, entity):
        return self.root(self.entities[entity]["parent"]) if "parent" in self.entities[entity] else entity

    def is_a(self, entity, other):
        """Whether an entity is another one, or a sub-entity of it."""
        return entity == other or "parent" in self.entities[entity] and self.is_a(self.entities[entity]["parent"], other)

    def read(self, entity):
        return {name: one for name, one in self.entities[entity]["relationships"].items() if one.get("from") != []}

    def named(self, entity, names, value):
        """The key that a feed's value stands for: a value, or an object with the parts."""
        rules, parts = self.entities[entity], []
        for name in names:
            part = value[name] if len(names) > 1 else value
            if name in rules["relationships"]:
                target = rules["relationships"][name]["entity"]
                part = self.named(target, self.entities[target]["unique"][0], part)
            parts.append(part)
        return Key(entity, tuple(names), tuple(parts))

    def own(self, entity, record):
        """Whom a record is about, which its to-ones may name by another key than their targets' first one; raises Rejected."""
        rules, parts = self.entities[entity], []
        for name in rules["unique"][0]:
            if record.get(name) is None:
                raise Rejected(name)
            one = rules["relationships"].get(name)
            parts.append(self.named(one["entity"], one["key"], record[name]) if one else record[name])
        return Key(self.root(entity), tuple(rules["unique"][0]), tuple(parts))

    def is_tombstone(self, entity, record):
        return "deleteWhen" in self.entities[entity] and record.get("gone") == "yes"

    def targets(self, entity, record):
        """What a record says of its relationships: those that it has, and the keys in them."""
        found = {}
        for name, one in self.read(entity).items():
            if name in record and name not in self.entities[entity]["unique"][0]:
                value = record[name]
                found[name] = [self.named(one["entity"], one["key"], part) for part in ([] if value is None else value if isinstance(value, list) else [value])]
        return found

    def needs(self, entity, record):
        """Without whom a record is not written: who is in its key, and who is named by what rejects it; where nobody is to be deleted, nobody is."""
        if self.is_tombstone(entity, record):
            return []
        found = [part for part in self.own(entity, record).parts if isinstance(part, Key)]
        return found + [key for name, keys in self.targets(entity, record).items() if self.read(entity)[name].get("onUnresolved") == "reject" for key in keys]


class World:
    def __init__(self, plan):
        self.plan = plan
        self.objects = {}  # number -> {"entity", "values": {attribute: value}, "links": {relationship: [number or Key]}}
        self.next = 1
        self.heirs = {}  # (owner, relationship, key that waits) -> who has had that key first
        self.wavering = set()  # of these, those whose key has gone on to another one, or to nobody
        self.owners = {}  # a key that names a part of the key of a record that waits -> who has it
        self.own_names = set()  # keys by which objects name themselves that they got with the same record: until the end these wait

    def copied(self):
        world = copy.copy(self)
        world.objects = {
            number: {"entity": item["entity"], "values": dict(item["values"]), "links": {name: list(one) for name, one in item["links"].items()}}
            for number, item in self.objects.items()
        }
        world.heirs, world.wavering, world.owners = dict(self.heirs), set(self.wavering), dict(self.owners)
        world.own_names = set(self.own_names)
        return world

    def part(self, number, name):
        """What an object has as a part of a key: a value, or the object that a to-one leads to."""
        item = self.objects[number]
        found = item["links"].get(name, [])
        return item["values"][name] if name in item["values"] else found[0] if found else None

    def find(self, key):
        """Who has a key, of the entity that it is of."""
        parts = [self.find(part) if isinstance(part, Key) else part for part in key.parts]
        if None in parts:
            return None
        return next((
            number for number, item in self.objects.items()
            if self.plan.is_a(item["entity"], key.entity) and [self.part(number, name) for name in key.names] == parts
        ), None)

    def drop(self, gone):
        del self.objects[gone]
        for item in self.objects.values():
            item["links"] = {name: [target for target in targets if target != gone] for name, targets in item["links"].items()}

    def clashes(self, number):
        """Whether another object of the family has one of the further keys of an object."""
        plan, item = self.plan, self.objects[number]
        for names in plan.entities[item["entity"]]["unique"][1:]:
            mine = [self.part(number, name) for name in names]
            if None not in mine and any(
                other != number and plan.root(one["entity"]) == plan.root(item["entity"]) and all(name in one["values"] or name in one["links"] for name in names)
                and [self.part(other, name) for name in names] == mine for other, one in self.objects.items()
            ):
                return True
        return False

    def keys(self, number):
        """All keys by which an object is found: to know which a record takes away."""
        return {(tuple(names), tuple(self.part(number, name) for name in names)) for names in self.plan.entities[self.objects[number]["entity"]]["unique"]}

    def apply(self, entity, record, is_trial=False):
        """Applies a record, in a world that the caller throws away if this raises Rejected: the object, and what happened."""
        plan, own = self.plan, self.plan.own(entity, record)
        parts = [self.find(part) if isinstance(part, Key) else part for part in own.parts]
        if plan.is_tombstone(entity, record):
            number = self.find(own)
            if number is None:
                return None, "nobody"
            if not plan.is_a(self.objects[number]["entity"], entity) and not plan.is_a(entity, self.objects[number]["entity"]):
                raise Rejected("of another sub-entity")
            self.drop(number)
            return None, "deleted"
        if None in parts:
            raise Rejected("without a key")
        number = self.find(own)
        fate = "inserted" if number is None else "changed"
        before = self.keys(number) if number is not None else set()
        if number is None:
            number, self.next = self.next, self.next + 1
            self.objects[number] = {"entity": entity, "values": {}, "links": {}}
        item = self.objects[number]
        if plan.is_a(entity, item["entity"]):
            item["entity"] = entity
        elif not plan.is_a(item["entity"], entity):
            raise Rejected("of another sub-entity")
        for name in plan.entities[entity]["attributes"]:
            item["values"][name] = record.get(name, item["values"].get(name))
        for name, part in zip(own.names, parts):
            if name not in item["values"]:
                item["links"][name] = [part]
        if self.clashes(number) and not is_trial:
            raise Rejected("duplicate")
        lost = before - self.keys(number)
        for name, keys in plan.targets(entity, record).items():
            one = plan.read(entity)[name]
            links = list(item["links"].get(name, [])) if one.get("assign") == "union" and record[name] is not None else []
            if one.get("assign") == "union" and record[name] is None:
                continue
            for key in keys:
                if plan.root(key.entity) == plan.root(entity) and any(key.names == names and list(key.parts) == list(parts) for names, parts in lost):
                    raise Unsaid("a record names its object by a key that it takes from it")
                found = self.find(key)
                if found == number and (key.names, key.parts) not in before and list(key.names) != plan.entities[entity]["unique"][0]:
                    self.own_names.add((number, key))
                links.append(key if found is None else found)
            item["links"][name] = list(dict.fromkeys(links))
        return number, fate

    def waiting(self):
        return [(number, name, key) for number, item in self.objects.items() for name, targets in item["links"].items() for key in targets if isinstance(key, Key)]

    def waits_for_ever(self):
        """Whether somebody waits who should have been rejected."""
        return any(self.plan.read(self.objects[number]["entity"])[name].get("onUnresolved") == "reject" and self.find(key) is None for number, name, key in self.waiting())

    def look(self):
        """Behind each record: who has what others wait for."""
        heirs = {}
        for place in self.waiting():
            former, now = self.heirs.get(place), self.find(place[2])
            if former is not None and former != now:
                self.wavering.add(place)
            heirs[place] = now if former is None else former
        self.heirs = heirs
        for key, owner in self.owners.items():
            self.owners[key] = self.find(key)
            if owner is not None and self.owners[key] != owner:
                raise Unsaid("whose object it is that waits: who is in its key has given its own away")

        if any(self.find(key) != number for number, key in self.own_names):
            raise Unsaid("who names itself by a key has given it away")

    def resolve(self):
        """The end of an import: what becomes of who waits."""
        if self.wavering & set(self.waiting()):
            raise Unsaid("who has come has given the key away again: whether it is it that is meant")
        if self.waits_for_ever():
            raise Unsaid("one of those that need each other has gone again")
        for number, item in self.objects.items():
            for name, targets in item["links"].items():
                answer = self.plan.read(item["entity"])[name].get("onUnresolved", "clear")
                targets = [self.find(one) or one if isinstance(one, Key) else one for one in targets]
                targets = [one for one in targets if answer == "pending" or not isinstance(one, Key)]
                # Who comes with a later import stands behind all others.
                item["links"][name] = sorted(dict.fromkeys(targets), key=lambda one: isinstance(one, Key))
        self.heirs, self.wavering, self.owners, self.own_names = {}, set(), {}, set()


# --- An import ---


def lacks(world, entity, record):
    """Whom a record needs and would not find, itself included."""
    trial, plan = world.copied(), world.plan
    try:
        trial.apply(entity, record, is_trial=True)
    except Rejected:
        pass
    return [key for key in plan.needs(entity, record) if trial.find(key) is None]


def write(world, counts, entity, record):
    """The world with a record, or as it was where that is rejected."""
    trial = world.copied()
    try:
        fate = trial.apply(entity, record)[1]
    except Rejected:
        trial, fate = world, "rejected"
    if fate in counts:
        counts[fate] += 1
    trial.look()
    return trial


def run(world, records):
    """An import of records, each with its entity: the new world, and how many had which fate."""
    plan = world.plan
    counts = {"read": len(records), "inserted": 0, "rejected": 0, "skipped": 0, "deleted": 0}
    world, held = world.copied(), []
    for entity, record in records:
        try:
            own = plan.own(entity, record)
        except Rejected:
            counts["rejected"] += 1
            continue
        is_behind = any(plan.own(*one) == own for one in held)
        if plan.is_tombstone(entity, record) and not is_behind and any(
            isinstance(part, Key) and world.find(part) is None and list(part.names) != plan.entities[part.entity]["unique"][0] for part in own.parts
        ):
            raise Unsaid("whether a tombstone waits for the key of a to-one that its object may have")
        lacking = lacks(world, entity, record)
        if not is_behind and not lacking and any(may_be_same(world, own, plan.own(*one)) for one in held):
            raise Unsaid("whether a record waits that may be about the object of one that does")
        if is_behind or lacking:
            held.append((entity, record))
            world.owners |= {part: world.find(part) for part in own.parts if isinstance(part, Key)}
        else:
            world = write(world, counts, entity, record)
    world, counts = written(world, counts, held)
    world.resolve()
    return world, counts


def written(world, counts, held):
    """The end of those that wait. Which of them are hopeless is tried: whoever is left, when those that go have gone, is rejected."""
    owns = [world.plan.own(*one) for one in held]
    if any(one != other and may_be_same(world, one, other) for one in owns for other in owns):
        raise Unsaid("whether records wait for each other that may be about one object")
    good, gone = held, []
    while True:
        trial, fates, left, hopeless = world, dict(counts), list(good), []
        has_begun = False
        while left and not hopeless:
            ready = [place for place, one in enumerate(left) if not is_behind(trial.plan, left, place) and not lacks(trial, *one)]
            first, hopeless = (ready[0], []) if ready else ring(trial, left)
            has_begun |= not ready
            if not ready and any(world.plan.is_tombstone(*one) for one in left):
                raise Unsaid("one of those that need each other is deleted by another one that waits")
            if hopeless and fates["rejected"] > counts["rejected"]:
                raise Unsaid("one is rejected for another one that is rejected itself")
            if not ready and not hopeless and any("parent" in world.plan.entities[entity] for entity, _ in left):
                raise Unsaid("which of those begins that need each other, where a record of a sub-entity may make what others need of it")
            if not hopeless:
                before = fates["rejected"]
                trial = write(trial, fates, *left.pop(first))
                if has_begun and fates["rejected"] > before and "broken rings" in AVOIDED:
                    raise Unsaid("one of those that need each other is rejected")
        if not left:
            fates["rejected"] += len(held) - len(good)
            return trial, fates
        if "broken rings" in AVOIDED and any(one is other for one in hopeless for other in gone):
            raise Unsaid("one of those that need each other is rejected behind the first of them")
        gone = [one for one in good if not any(one is other for other in left)]
        good = [one for one in good if not any(one is other for other in hopeless)]


def may_be_same(world, one, other):
    """Whether two keys may be of one object, where a to-one in them is named by another key than the first one of its target."""
    def is_open(part):
        return isinstance(part, Key) and list(part.names) != world.plan.entities[part.entity]["unique"][0]

    return one.entity == other.entity and one.names == other.names and any(map(is_open, one.parts + other.parts)) and all(
        mine == theirs or is_open(mine) or is_open(theirs) for mine, theirs in zip(one.parts, other.parts)
    )


def may_make(plan, entity, record, key):
    """Whether a record gives a part of a key, whose others its object may have, or all of it as one of another entity of the family."""
    if plan.root(entity) != plan.root(key.entity):
        return False
    given = [(record.get(name), part) for name, part in zip(key.names, key.parts)]
    known = [(value, part) for value, part in given if value is not None]
    if not known:
        # What is known as one of the parent becomes one of the sub-entity, with what it has.
        return "parent" in plan.entities[entity] and list(key.names) != plan.entities[entity]["unique"][0]
    is_other = not plan.is_a(entity, key.entity)
    return (is_other or len(known) < len(given)) and all(value == part or isinstance(part, Key) for value, part in known)


def is_behind(plan, left, place):
    return any(plan.own(*left[place]) == plan.own(*other) for other in left[:place])


def ring(world, left):
    """Of those that wait for others, those that nobody of them helps; if there are none, the first of those that need each other: see `first_free`."""
    plan, good = world.plan, list(range(len(left)))
    while good:
        trial, makers, undone = world.copied(), {place: set() for place in good}, list(good)
        missing = {place: {key for key in plan.needs(*left[place]) if world.find(key) is None} for place in good}
        met = {place: set() for place in good}
        while True:
            # Whose key has nobody in it yet comes behind who makes it; of one object they come in the order of the feed.
            place = next((one for one in undone if all(trial.find(part) for part in plan.own(*left[one]).parts if isinstance(part, Key))
                          and not any(other < one and plan.own(*left[other]) == plan.own(*left[one]) for other in undone)), None)
            if place is None:
                break
            undone.remove(place)
            before = {key: trial.find(key) for keys in missing.values() for key in keys}
            try:
                trial.apply(*left[place], is_trial=True)
            except Rejected:
                raise Unsaid("one of those that need each other is refused: it may be for one that is rejected itself") from None
            for other, keys in missing.items():
                for key in keys:
                    if trial.find(key) not in (None, before[key]):
                        met[other].add(key)
                        makers[other].add(place)
        better = [place for place in good if met[place] >= missing[place]]
        if better == good:
            break
        good = better
    if len(good) < len(left):
        for place in set(range(len(left))) - set(good):
            needed = [key for key in plan.needs(*left[place]) if world.find(key) is None]
            if any(may_make(plan, *one, key) for key in needed for one in left):
                raise Unsaid("when it is seen that nobody makes what a record needs")
        return None, [one for place, one in enumerate(left) if place not in good]
    ahead = [sorted(makers[place] - {place} | {other for other in good if other < place and plan.own(*left[other]) == plan.own(*left[place])}) for place in good]
    first = good[first_free([[good.index(one) for one in some] for some in ahead])]
    others = {good.index(first)}
    while (more := others.union(*(map(good.index, ahead[place]) for place in others))) != others:
        others = more
    if any(place not in others for place in range(max(others))):
        raise Unsaid("records that come between those that need each other: without them it is tried whether these can be written")
    if any(isinstance(part, Key) and world.find(part) is None for part in plan.own(*left[first]).parts):
        raise Unsaid("the first of those that need each other has no key without them")
    return first, []


# --- What is stored ---


def name(world, number):
    item = world.objects[number]
    parts = [(one in item["values"], world.part(number, one)) for one in world.plan.entities[item["entity"]]["unique"][0]]
    return tuple(part if is_value or part is None else name(world, part) for is_value, part in parts)


def spelled(key):
    """A key that waits, as it stands in the table."""
    return tuple(sorted((one, str(part.parts[0]) if isinstance(part, Key) else str(part)) for one, part in zip(key.names, key.parts)))


def dump(world):
    """The world as `harness.rows` gives a store, and what waits."""
    plan, tables, waits = world.plan, {}, set()
    for number, item in world.objects.items():
        root = plan.root(item["entity"])
        row = dict(item["values"]) | ({"_entity": item["entity"]} if any("parent" in rules and plan.root(one) == root for one, rules in plan.entities.items()) else {})
        for one, targets in item["links"].items():
            rules = plan.entities[item["entity"]]["relationships"][one]
            links = [name(world, target) for target in targets if not isinstance(target, Key)]
            waits |= {(one, name(world, number), spelled(target)) for target in targets if isinstance(target, Key)}
            if rules["kind"] == TO_ONE:
                row |= {one: link for link in links}
            else:
                places = [{"position": place} if rules.get("ordered") else {} for place in range(len(links))]
                tables.setdefault(f"{root}_{one}", []).extend({"owner": name(world, number), "target": link, **place} for link, place in zip(links, places))
        tables.setdefault(root, []).append(row)
    return tables, waits
