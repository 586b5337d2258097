"""Random cases in which two importers differ: tried one by one, and made as small as they get."""

import re
from functools import partial

# More failures than these are told as they are.
SHRUNK = 12


def shrunk(case, smaller, differs, budget=4000):
    """The smallest case in sight that still differs; `smaller` gives those that are a little less than a case, the largest steps first."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for trial in smaller(*case):
            budget -= 1
            if budget < 0:
                return case
            if differs(*trial):
                case, is_smaller = trial, True
                break
    return case


def kind(said):
    """What sort of difference is told: the words before anything of the case's own."""
    found = [re.sub(r"^\w+ ?\d*( \([^)]*\))?:? ?|[^A-Za-z ].*", "", line).strip() for line in said.splitlines()[:2]]
    return " ".join(found)


def cases(torture, name, random_case, difference, smaller, told, is_sound=lambda *case: True):
    """What `crowd.spread` calls with each number.

    `difference` says in words what differs in a case, and nothing where nothing does; `is_sound` whether a smaller one is still a case;
    `told` writes one down.
    """
    folder = torture.folder(name)

    def differs(said, *case):
        """A smaller case is one of the same sort: others may be what no random case is like."""
        try:
            found = is_sound(*case) and difference(torture, folder, *case)
            return bool(found) and kind(found) == kind(said)
        except (KeyError, AssertionError, ValueError):
            return False

    def tried(number):
        seed = f"{torture.seed}:{number}"
        case = random_case(seed)
        said = difference(torture, folder, *case)
        if said and len(torture.tally.failures) < SHRUNK:
            case = shrunk(case, smaller, partial(differs, said))
            said = difference(torture, folder, *case) + "\n" + told(*case)
        torture.check(not said, f"case {seed}", said)

    return tried
