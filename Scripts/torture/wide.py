"""Imports of several inputs by several sources at once, pruning what a complete feed no longer has, and families of entities.

The plain importer of oracle.py applies one record after the other; what is told here is which records a run has, in which order,
what a feed has and what goes with what is deleted (docs/maps.md, docs/relationships.md).
"""

import copy
import json
import random

import differential
import oracle
import shrinking
from crowd import spread
from differential import record
from harness import remove, rows
from oracle import MISSING
from spelling import spell, spell_json, spell_xml


# The documents do not say whether a feed has what is nested in a tombstone: the tool says no.
TOMBSTONES_HAVE = False

# Nor where a target that comes late stands in an ordered list that only grows, if a later record names it, too.
UNION_IN_ORDER = False
# A record of a source that gives only the key of a stub counts as unchanged where its entity is nested elsewhere, and is rejected else.
BARE_STUBS = False


class Wide(oracle.World):
    """A world whose entities may be families, and whose objects take others along when they go."""

    def __init__(self, plan):
        super().__init__(plan if "is whole" in plan else whole(plan))

    def root(self, entity):
        while "parent" in self.plan["entities"][entity]:
            entity = self.plan["entities"][entity]["parent"]
        return entity

    def is_kind(self, entity, other):
        """Whether an entity is another one or a sub-entity of it."""
        while entity is not None and entity != other:
            entity = self.plan["entities"][entity].get("parent")
        return entity is not None

    def kind(self, entity, record):
        rules = self.plan["entities"][entity].get("discriminator")
        word = record.get(rules["from"], MISSING) if rules else MISSING
        if word is MISSING or word is None:
            return entity
        if isinstance(word, (list, dict)):
            raise oracle.Rejected("discriminator")
        # Words are what the feed spells.
        word = ("true" if word else "false") if isinstance(word, bool) else str(word)
        if word not in rules["values"]:
            raise oracle.Rejected("discriminator")
        return rules["values"][word]

    def find(self, entity, key):
        """Who has a key, if it is of the entity that is asked for."""
        number = self.holder(entity, key)
        return number if number is not None and self.is_kind(self.objects[number]["entity"], entity) else None

    def holder(self, entity, key):
        if None in key:
            return None
        unique = self.plan["entities"][entity]["unique"]
        for number, item in self.objects.items():
            if self.root(item["entity"]) == self.root(entity) and [item["values"].get(name) for name in unique] == list(key):
                return number
        return None

    def admit(self, number, entity):
        old = self.objects[number]["entity"]
        if self.is_kind(old, entity):
            return False
        if not self.is_kind(entity, old):
            raise oracle.Rejected("an object of another sub-entity")
        return True

    def targets(self, number, rule="cascade"):
        """Those that a delete rule takes along, or that have their owner stay."""
        item = self.objects[number]
        for name, relationship in self.plan["entities"][item["entity"]].get("relationships", {}).items():
            if relationship.get("onDelete") == rule:
                yield from [item["one"][name]] if name in item["one"] else item["many"].get(name, [])

    def closure(self, numbers):
        """Objects with all that go with them."""
        found, left = set(), list(numbers)
        while left:
            number = left.pop()
            if number not in found:
                found.add(number)
                left += self.targets(number)
        return found

    def is_denied(self, gone):
        """Whether somebody has to stay, because of targets that do."""
        return any(target not in gone for number in gone for target in self.targets(number, "deny"))

    def drop(self, number):
        gone = self.closure([number])
        if self.is_denied(gone):
            raise oracle.Rejected("link.denied")
        for one in gone:
            super().drop(one)


class Refused(Exception):
    """The whole run ends with an error."""


def is_reference(plan, rules, record):
    """Whether a nested record gives no more than the key of an entity that needs more: one by key alone is no record."""
    others = {name: one for name, one in rules["attributes"].items() if name not in rules["unique"]}
    if not any(one.get("required") and one.get("stored default") is None for one in others.values()):
        return False
    try:
        answers = [oracle.assign(plan, rules, name, one, record, {}, 0)[0] for name, one in others.items()]
    except oracle.Rejected:
        return False
    return all(answer == "keep" for answer in answers) and not oracle.says_links(plan, rules, record)


def has(world, entity, record, found, is_nested=False):
    """The keys of all objects that a record is, however deep they are nested."""
    if not isinstance(record, dict):
        return
    entity = world.kind(entity, record)
    rules = world.plan["entities"][entity]
    if is_nested and is_reference(world.plan, rules, record):
        return
    try:
        key = tuple(oracle.convert(rules["attributes"][name], record[name]) for name in rules["unique"])
        found.add((entity, key))
    except (KeyError, oracle.Invalid, TypeError):
        pass
    if oracle.is_tombstone(rules, record) and not TOMBSTONES_HAVE:
        return
    for name, relationship in rules.get("relationships", {}).items():
        value = record.get(name)
        for one in value if isinstance(value, list) else [value]:
            if not relationship.get("key"):
                has(world, relationship["entity"], one, found, True)


def pruned(world, feeds, limit):
    """What a complete feed no longer has, gone, and how many that were; `feeds` are entities and records of the sources that take part."""
    wanted, empty, found = set(), set(), set()
    for entity, records in feeds:
        words = world.plan["entities"][entity].get("discriminator", {}).get("values", {})
        (wanted if records else empty).update([entity, *words.values()])
        for one in records or []:
            has(world, entity, one, found)
    if not wanted:
        raise Refused("import.prune")
    kept = set()
    for entity, key in found:
        number = world.holder(entity, key)
        # A tombstone of another sub-entity has nobody.
        if number is not None and (world.is_kind(entity, world.objects[number]["entity"]) or world.is_kind(world.objects[number]["entity"], entity)):
            kept.add(number)
    victims = [
        number for number, item in world.objects.items() if item["entity"] in wanted - empty and number not in kept and not item["stub"]
    ]
    gone = world.closure(victims)
    if gone & kept or world.is_denied(gone):
        raise Refused("import.prune")
    # More of an entity than the limit admits, with what delete rules take along.
    for entity in world.plan["entities"] if limit is not None else ():
        count = sum(item["entity"] == entity for item in world.objects.values())
        if sum(world.objects[number]["entity"] == entity for number in gone) * 100 > limit * count:
            raise Refused("import.prune")
    for number in gone:
        oracle.World.drop(world, number)
    return len(gone)


# --- Maps ---

POLICIES = ("onMissing", "onNull", "onInvalid")


def whole(plan):
    """A map in which sub-entities have what they have of their parents, with the policies of who declares it."""
    first, plan = plan, copy.deepcopy(plan)
    plan["is whole"] = True
    for entity, rules in plan["entities"].items():
        # Parents stand before their sub-entities.
        parent = plan["entities"].get(rules.get("parent"))
        if not parent:
            continue
        for name in ("unique", "version", "deleteWhen"):
            if name in parent:
                rules.setdefault(name, parent[name])
        for part in ("attributes", "relationships"):
            own = rules.get(part, {})
            rules[part] = {}
            for name in parent.get(part, {}):
                # The word of the attribute, else of the entity, else of those above it, up to the one that declares it.
                levels, above = [rules], first["entities"][entity]
                while name not in above.get(part, {}):
                    above = first["entities"][above["parent"]]
                    levels.append(above)
                one = copy.deepcopy(above[part][name])
                for question in POLICIES:
                    answer = next((found for found in (answered(level, question) for level in (one, *levels)) if found), None)
                    if answer:
                        one[question] = answer
                rules[part][name] = one
            rules[part].update(own)
    return plan


def answered(level, question):
    """What an attribute or an entity says to a question of policy."""
    if question not in level and question != "onInvalid" and "ignoreNullValueOverwrites" in level:
        return "keep" if level["ignoreNullValueOverwrites"] else "clear"
    return level.get(question)


def family(chance, plan):
    """Makes sub-entities of an entity, which are told by a word or by their source, and leads relationships to them."""
    entities = plan["entities"]
    base = chance.choice([name for name in entities if name != "Bit"])
    made = []
    for letter in "ABC"[:chance.randrange(1, 4)]:
        parent = chance.choice(made) if made and chance.random() < 0.3 else base
        rules = {"parent": parent, "attributes": {}, **differential.policies(chance, False)}
        for number in range(chance.randrange(3)):
            rules["attributes"][f"s{letter}{number}"] = differential.attribute(chance, chance.choice(differential.KINDS))
        if chance.random() < 0.3 and base == "Root":
            # Records of a family are not nested in each other: the documents do not say which of them has a part that both name.
            target = chance.choice([name for name in ("Root", "Child") if name in entities])
            if target != "Root":
                rules["relationships"] = {f"to{letter}": {"entity": target, "kind": chance.choice(["toOne", "toMany"])}}
            else:
                rules["relationships"] = {f"to{letter}": {"entity": target, "kind": "toOne", "key": {"k": f"to{letter}"}}}
                if len(entities["Root"]["unique"]) > 1:
                    del rules["relationships"]
        entities[base + letter] = rules
        made.append(base + letter)
    if chance.random() < 0.7:
        words = chance.sample(["car", "1", "é", " ", "BOAT"], len(made))
        entities[base]["discriminator"] = {"from": "kind", "values": {word: name for word, name in zip(words, made) if chance.random() < 0.9} or {words[0]: made[0]}}
    for rules in entities.values():
        for relationship in rules.get("relationships", {}).values():
            if relationship["entity"] == base and not relationship.get("inverse") and chance.random() < 0.3:
                relationship["entity"] = chance.choice(made)


def random_plan(chance):
    plan = differential.random_plan(chance)
    for relationship in plan["entities"]["Root"]["relationships"].values():
        if relationship.get("ordered") and not UNION_IN_ORDER:
            relationship.pop("assign", None)
        if chance.random() < 0.3:
            relationship["onDelete"] = chance.choice(["cascade", "cascade", "deny"])
    if chance.random() < 0.3:
        plan["entities"]["Root"]["deleteWhen"] = {"from": "gone", "equals": "yes"}
    if chance.random() < 0.5:
        family(chance, plan)
    stubs = {one["entity"] for rules in plan["entities"].values() for one in rules.get("relationships", {}).values() if one.get("onUnresolved") == "stub"}
    for entity, rules in plan["entities"].items():
        if not BARE_STUBS and any(stub.startswith(entity) for stub in stubs):
            for one in rules["attributes"].values():
                one.pop("required", None)
    return plan


def sources(plan):
    """Each entity may stand at two places of a document, and in files of its own."""
    found = {}
    for entity in plan["entities"]:
        for form in ("json", "xml"):
            top = "/feed" if form == "xml" else ""
            found[f"{form}{entity}"] = {"format": form, "entity": entity, "records": f"{top}/{entity}"}
            found[f"{form}{entity}Old"] = {"format": form, "entity": entity, "records": f"{top}/old/{entity}"}
        for form in ("ndjson", "csv"):
            found[f"{form}{entity}"] = {"format": form, "entity": entity, "files": f"{entity}-*.{form}"}
    return found


def map_text(plan):
    plan = copy.deepcopy(plan)
    for rules in plan["entities"].values():
        for one in rules["attributes"].values():
            del one["stored default"]
        for part in ("attributes", "relationships"):
            if not rules.get(part, True):
                del rules[part]
    return json.dumps({**plan, "sources": sources(plan)}, ensure_ascii=False)


# --- Feeds: inputs are lists of groups [source, records], in the order in which they are read ---


def random_input(chance, plan):
    form = chance.choice(["json", "json", "xml", "xml", "ndjson", "csv"])
    entities, world = {name: one["entity"] for name, one in sources(plan).items() if one["format"] == form}, Wide(plan)
    names = list(entities)
    related = {name for one, rules in plan["entities"].items() if "parent" in rules for name in (one, rules["parent"])}
    kin = [name for name in names if entities[name] in related]
    if kin and chance.random() < 0.5:
        names = kin
    names = chance.sample(names, 1 if form in ("ndjson", "csv") else min(len(names), chance.choice([1, 2, 2, 3])))
    groups = []
    for name in names:
        count = 0 if chance.random() < 0.07 and form != "ndjson" else chance.randrange(1, 6)
        groups.append([name, [record(chance, world.plan, entities[name], form) for _ in range(count)]])
    if form == "json":
        # What is old stands in one object.
        groups.sort(key=lambda group: "Old" in group[0])
    elif form == "xml":
        # Elements may stand in any order.
        groups = [[name, records[place:place + 2]] for name, records in groups for place in range(0, max(1, len(records)), 2)]
        chance.shuffle(groups)
    return [form, groups]


def is_given(run, place):
    """Whether an input is given to its source: `--source NAME=INPUT`."""
    return run["given"] and run["chosen"] and place > 0 and run["inputs"][place][0] in ("ndjson", "csv")


def in_order(run):
    """The inputs as they are read: those that are given to their source are last."""
    places = range(len(run["inputs"]))
    return [run["inputs"][place] for place in sorted(places, key=lambda place: is_given(run, place))]


def tidied(plan, one):
    """An input as it is read: CSV has its columns in all records, and a null alone in a row is no row."""
    form, groups = one
    if form == "csv":
        columns = list(dict.fromkeys(name for _, records in groups for record in records for name in record))
        groups = [
            [name, [{name: record.get(name) for name in columns} for record in records if len(columns) > 1 or any(one is not None for one in record.values())]]
            for name, records in groups
        ]
    return form, groups


def text(plan, one):
    form, groups = one
    entity = {name: source["entity"] for name, source in sources(plan).items()}
    if form in ("ndjson", "csv"):
        return spell(form, groups[0][1]) if any(groups[0][1]) or form == "ndjson" else "k\n"
    if form == "json":
        members = ['"z": [1]'] + [f'"{entity[name]}": [' + ", ".join(map(spell_json, records)) + "]" for name, records in groups if "Old" not in name]
        old = [f'"{entity[name]}": [' + ", ".join(map(spell_json, records)) + "]" for name, records in groups if "Old" in name]
        if old:
            members.append('"old": {' + ", ".join(old) + "}")
        return "{" + ",\n".join(members) + "}\n"
    parts = []
    for name, records in groups:
        body = "".join(spell_xml(entity[name], one) for one in records)
        parts.append(f"<old>{body}</old>" if "Old" in name else body)
    return '<feed xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">' + "\n".join(parts) + "</feed>\n"


def random_case(seed):
    chance = random.Random(seed)
    plan = random_plan(chance)
    runs, entire = [], whole(plan)
    for _ in range(chance.randrange(1, 5)):
        mode = chance.choice(["upsert"] * 4 + ["insert", "ignore"])
        prune = chance.choice([None, None, 100, 100, 100, 0, 30, 50]) if runs else None
        runs.append({
            "mode": mode, "given": chance.random() < 0.3, "batch": chance.choice([None, None, 1, 2, 3]), "prune": prune,
            "inputs": [random_input(chance, entire) for _ in range(chance.choice([1, 1, 2, 3]))],
            "chosen": chance.random() < (0.7 if prune is None else 0.9),
        })
    # What would be rejected is left out of most feeds, or nothing would ever be pruned.
    world = Wide(entire)
    for run in runs:
        if run["prune"] is not None and chance.random() < 0.8:
            clean(world, run)
        try:
            world, _ = expected(world.copied(), run)
        except Refused:
            pass
    return plan, runs


def clean(world, run):
    """Takes the records out of a run that are rejected."""
    for _ in range(9):
        rejected = []
        oracle.run(world.copied(), None, taking_part(world.plan, run)[1], run["mode"], rejected)
        if not rejected:
            return
        # CSV that loses a record may lose a column: again.
        number = 0
        for _, groups in in_order(run):
            for group in groups:
                keeps = [number + place not in rejected for place in range(len(group[1]))]
                number += len(group[1])
                group[1] = [one for one, is_kept in zip(group[1], keeps) if is_kept]


def taking_part(plan, run):
    """The sources that take part, with their records; None: a source that matched nothing."""
    found, order = {}, []
    given = [tidied(plan, one) for one in in_order(run)]
    chosen = list(dict.fromkeys(name for _, groups in given for name, _ in groups))
    for name, source in sources(plan).items():
        forms = [groups for form, groups in given if form == source["format"]]
        is_file = source["format"] in ("ndjson", "csv")
        if name in chosen or not run["chosen"] and not is_file and forms:
            found[name] = None
    for form, groups in given:
        for name, records in groups:
            found[name] = (found[name] or []) + records
            order += [(sources(plan)[name]["entity"], one) for one in records]
    # A source of XML has an empty list in a document where what its records stand in is there, and has nothing in it.
    for groups in (groups for form, groups in given if form == "xml"):
        for name in [name for name in found if name.startswith("xml") and not found[name]]:
            if any(child == name and not records for child, records in groups) and not is_bare(name, groups):
                found[name] = None if not found[name] and not any(is_bare(name, other) for form, other in given if form == "xml") else []
            elif found[name] is None and is_bare(name, groups):
                found[name] = []
    return found, order


def is_bare(name, groups):
    """Whether the element around a source's records stands in a document without any element in it."""
    if "Old" in name:
        old = [records for child, records in groups if "Old" in child]
        return bool(old) and not any(old)
    return not any(records or "Old" in child for child, records in groups)


def expected(world, run):
    """The world after a run with its counts, or Refused."""
    plan = world.plan
    feeds, order = taking_part(plan, run)
    after, counts = oracle.run(world, None, order, run["mode"])
    if run["prune"] is not None:
        if any(records is None for records in feeds.values()):
            raise Refused("import.prune")
        counts["pruned"] = 0
        if not counts["rejected"]:
            counts["pruned"] = pruned(after, [(sources(plan)[name]["entity"], records) for name, records in feeds.items()], run["prune"])
    return after, counts


# --- Comparing ---


def dump(world):
    """The world as `harness.rows` gives a store: families in one table."""
    plan = world.plan
    tables = {}
    families = {world.root(entity) for entity, rules in plan["entities"].items() if "parent" in rules}
    for number, item in world.objects.items():
        entity, root = item["entity"], world.root(item["entity"])
        row = dict(item["values"])
        if root in families:
            row["_entity"] = entity
        for one, relationship in plan["entities"][entity].get("relationships", {}).items():
            if relationship["kind"] == "toOne":
                row[one] = world.name(item["one"][one]) if one in item["one"] else None
            elif not relationship.get("inverse"):
                for place, target in enumerate(item["many"].get(one, [])):
                    line = {"owner": world.name(number), "target": world.name(target)}
                    if relationship.get("ordered"):
                        line["position"] = place
                    tables.setdefault(f"{root}_{one}", []).append(line)
            else:
                for place, target in enumerate(item["many"].get(one, [])):
                    world.objects[target]["owners"] = {**world.objects[target].get("owners", {}), relationship["inverse"]: world.name(number)}
                    if relationship.get("ordered"):
                        world.objects[target]["owners"][f"_{one}_order"] = place
        row["_stub"] = 1 if item["stub"] else None
        item["row"] = row
        tables.setdefault(root, []).append(row)
    for item in world.objects.values():
        item.pop("row").update(item.pop("owners", {}))
    return tables


def difference(torture, folder, plan, runs):
    """What the tool and the oracle say differently of a case; empty: nothing."""
    store, path = folder / "wide.db", folder / "wide.map.json"
    remove(store)
    path.write_text(map_text(plan))
    world = Wide(plan)
    for number, run in enumerate(runs):
        inputs, chosen, named = [], [], []
        for place, one in enumerate(run["inputs"]):
            form, groups = tidied(plan, one)
            entity = sources(plan)[groups[0][0]]["entity"]
            is_named = is_given(run, place)
            feed = folder / f"{'of' * is_named}{entity}-{number}-{place}.{form}"
            feed.write_text(text(plan, (form, groups)))
            if is_named:
                # What a source is given is not named again, and comes behind what is named.
                named += ["--source", f"{groups[0][0]}={feed}"]
                continue
            inputs.append(feed)
            chosen += [name for name, _ in groups]
        options = ["--commit", "batch", "--batch-size", run["batch"]] if run["batch"] else []
        options += ["--prune", *(["--prune-max", run["prune"]] if run["prune"] < 100 else [])] if run["prune"] is not None else []
        if run["chosen"]:
            options += [part for name in dict.fromkeys(chosen) for part in ("--source", name)] + named
        before = copy.deepcopy(world)
        try:
            world, counts = expected(world, run)
        except Refused as refused:
            counts, world = str(refused), before
        outcome = torture.run("import", path, *inputs, "-d", store, "--mode", run["mode"], "--json", *options)
        if isinstance(counts, str) and run["batch"] and outcome.code == 65:
            return ""  # what is committed stays
        said = compared(f"run {number}", plan, world, counts, outcome, store)
        if said is not None:
            return said
    return ""


def compared(name, plan, world, counts, outcome, store):
    """What a run and the oracle say differently: None: nothing, and an empty text where nothing more can be compared."""
    if outcome.is_crash:
        return f"{name} ends with {outcome.code}: {outcome.text[-300:]}"
    if "import.unmatched" in outcome.text and outcome.code == 65:
        return ""  # not one record has anything that the map knows: told apart, whatever the oracle makes of it
    if isinstance(counts, str):
        if outcome.code != 65 or counts not in outcome.text:
            return f"{name} ends with {outcome.code}, expected {counts}: {outcome.text[-600:]}"
    elif outcome.code not in (0, 3):
        return f"{name} ends with {outcome.code}, expected {counts}: {outcome.text[-600:]}"
    else:
        told = json.loads(outcome.out)
        found = {name: told[name] for name in counts}
        if found != counts:
            return f"{name}: counts {found}, expected {counts} {told['notices']}"
    stored = rows(store)
    got, wanted = canonical(plan, stored), canonical(plan, dump(world))
    if got != wanted:
        words = [f"{name}:"]
        for table in sorted(set(got) | set(wanted)):
            left, right = got.get(table, []), wanted.get(table, [])
            words += [f"  {table} has {row}" for row in left if row not in right][:3]
            words += [f"  {table} lacks {row}" for row in right if row not in left][:3]
        return "\n".join(words)
    waiting = len({(owner, name, one) for owner, name, _, one, _ in world.waiting})
    if len(stored.get("waiting", [])) != waiting:
        return f"{name}: {len(stored.get('waiting', []))} references wait, expected {waiting}"
    return None


def canonical(plan, tables):
    """Rows that can be compared: the places of an ordered list without the gaps that moved or deleted objects leave."""
    tables = copy.deepcopy(tables)
    inverses = {"position": "owner"} | {
        f"_{name}_order": one["inverse"] for rules in plan["entities"].values() for name, one in rules.get("relationships", {}).items() if one.get("inverse")
    }
    for some in tables.values():
        for column in {name for row in some for name in row if name in inverses}:
            owners = {}
            for row in sorted((row for row in some if row.get(column) is not None), key=lambda row: row[column]):
                owner = repr(row.get(inverses[column]))
                row[column] = owners[owner] = owners.get(owner, -1) + 1
    return {
        table: sorted(repr(sorted((name, one) for name, one in row.items() if one is not None and (name, one) != ("_stub", 0))) for row in some)
        for table, some in tables.items()
        if table != "waiting" and some
    }


# --- Shrinking ---


def smaller(plan, runs):
    """Cases that are a little less than a case, the largest steps first."""
    for number in range(len(runs)):
        yield plan, runs[:number] + runs[number + 1:]
    for number, run in enumerate(runs):
        def other(**changes):
            return plan, runs[:number] + [{**run, **changes}] + runs[number + 1:]

        for place in range(len(run["inputs"])):
            yield other(inputs=run["inputs"][:place] + run["inputs"][place + 1:])
        for name, plainly in (("given", False), ("batch", None), ("mode", "upsert"), ("prune", None)):
            if run[name] != plainly:
                yield other(**{name: plainly})
        for place, (form, groups) in enumerate(run["inputs"]):
            def again(groups):
                return other(inputs=run["inputs"][:place] + [[form, groups]] + run["inputs"][place + 1:])

            for group in range(len(groups)):
                yield again(groups[:group] + groups[group + 1:])
                for one in range(len(groups[group][1])):
                    name, records = groups[group]
                    yield again(groups[:group] + [[name, records[:one] + records[one + 1:]]] + groups[group + 1:])
                    for member in records[one]:
                        less = {name: part for name, part in records[one].items() if name != member}
                        yield again(groups[:group] + [[name, records[:one] + [less] + records[one + 1:]]] + groups[group + 1:])
    for entity, rules in plan["entities"].items():
        for part in ("attributes", "relationships"):
            for name in rules.get(part, {}):
                if name not in rules.get("unique", ()):
                    trial = copy.deepcopy(plan)
                    del trial["entities"][entity][part][name]
                    if rules.get("version") == name:
                        del trial["entities"][entity]["version"]
                    yield trial, runs
        for name in ("version", "deleteWhen", "discriminator", "onMissing", "onNull", "onInvalid", "ignoreNullValueOverwrites"):
            if name in rules:
                trial = copy.deepcopy(plan)
                del trial["entities"][entity][name]
                yield trial, runs
        used = {one["entity"] for some in plan["entities"].values() for one in some.get("relationships", {}).values()} | {some.get("parent") for some in plan["entities"].values()}
        if entity not in used and not any(source.find(entity) > 0 for run in runs for _, groups in run["inputs"] for source, _ in groups):
            trial = copy.deepcopy(plan)
            del trial["entities"][entity]
            if not any(entity in some.get("discriminator", {}).get("values", {}).values() for some in plan["entities"].values()):
                yield trial, runs
        for part in ("attributes", "relationships"):
            for name, one in rules.get(part, {}).items():
                for key in [key for key in one if key not in ("type", "stored default", "entity", "kind", "key", "values", "scale", "inverse")]:
                    trial = copy.deepcopy(plan)
                    del trial["entities"][entity][part][name][key]
                    if key == "default":
                        trial["entities"][entity][part][name]["stored default"] = None
                    yield trial, runs


def is_sound(plan, runs):
    return bool(runs) and all(run["inputs"] and all(groups for _, groups in run["inputs"]) for run in runs)


def told(plan, runs):
    words = [map_text(plan).split(', "sources"')[0]]
    for run in runs:
        words.append(str({name: one for name, one in run.items() if name != "inputs"}))
        words += [f"  {one[1] and [name for name, _ in one[1]]} {text(plan, tidied(plan, one))}" for one in run["inputs"]]
    return "\n".join(words)


def several(torture):
    torture.begin("several feeds, pruned", "contents and counts as the plain importer has them: inputs of several sources in one run, what a feed no longer has, families")
    spread(torture, cases, 200, 50000)
    torture.end()


def cases(torture):
    return shrinking.cases(torture, "wide", random_case, difference, smaller, told, is_sound)


TESTS = [several]
