"""Memory and time: both are a matter of the records, not of how many there are."""

from feeds import FORMATS, MAP, items
from harness import contents, remove


def generated(torture, kind, count):
    path = torture.shared("growth") / f"big-{count}.{kind}"
    if path.exists():
        return path
    head, between, tail = {
        "json": (b'{"items": [', b",", b"]}"), "ndjson": (b"", b"", b""), "xml": (b"<items>", b"", b"</items>"), "csv": (b"", b"", b""),
    }[kind]
    with open(path, "wb") as file:
        file.write(head)
        size = 5000
        for first in range(0, count, size):
            records = items(min(size, count - first), 11, first)
            data = FORMATS[kind](records)
            if kind == "json":
                data = data[data.index(b"[") + 1:data.rindex(b"]")]
            elif kind == "xml":
                data = data[data.index(b"<items>") + 7:data.rindex(b"</items>")]
            elif kind == "csv" and first:
                data = data[data.index(b"\n") + 1:]
            file.write((between if first else b"") + data)
        file.write(tail)
    return path


def memory(torture):
    torture.begin("memory", "100 MB for a feed of any size, of every format")
    folder = torture.folder("growth")
    small, big = torture.times((20000, 80000), (200000, 2500000))
    for kind in FORMATS:
        peaks = []
        # Growth shows where the smaller feed is more than the batches that are under way at a time: rows of CSV are small.
        factor = 4 if kind == "csv" and not torture.is_long else 1
        for count in (small * factor, big * factor):
            path, store = generated(torture, kind, count), folder / "big.db"
            remove(store)
            outcome = torture.must("import", MAP, path, "-d", store, "-q", timeout=3600)
            peaks.append(outcome.peak)
            size = path.stat().st_size
            torture.note(f"{kind}, {count:,} records, {size / 1e6:.0f} MB: {outcome.peak / 1e6:.0f} MB, {outcome.seconds:.1f} s")
            torture.check(outcome.peak < 100e6, f"{kind}, {count} records: {outcome.peak / 1e6:.0f} MB")
        torture.check(peaks[1] < peaks[0] * 1.35, f"{kind}: grows from {peaks[0] / 1e6:.0f} to {peaks[1] / 1e6:.0f} MB")
    torture.end()


def doubling(torture):
    torture.begin("time", "at most 2.1 (here 2.4 in short runs, which are noisy) for twice the records, also the second time and for updates")
    folder = torture.folder("doubling")
    counts = torture.times((20000, 40000, 80000), (500000, 1000000, 2000000, 4000000, 8000000))
    limit = torture.times(2.4, 2.1)
    for again in (False, True):
        seconds = []
        for count in counts:
            path, store = generated(torture, "ndjson", count), folder / "time.db"
            remove(store)
            best = None
            for _ in range(torture.times(3, 1)):
                if not again:
                    remove(store)
                elif not store.exists():
                    torture.must("import", MAP, path, "-d", store, "-q", timeout=3600)
                taken = torture.must("import", MAP, path, "-d", store, "-q", timeout=3600).seconds
                best = min(best or taken, taken)
            seconds.append(best)
        ratios = [after / before for before, after in zip(seconds, seconds[1:])]
        torture.check(max(ratios) <= limit, f"{'again' if again else 'first'}: ratios {[f'{ratio:.2f}' for ratio in ratios]}")
        torture.note(f"{'again' if again else 'first'}: {', '.join(f'{n:,}: {s:.1f} s' for n, s in zip(counts, seconds))}")
    torture.end()


def hubs(torture):
    torture.begin("few owners with many links", "10,000 owners of 1,000 links each (short: 100 of 1,000) without a quadratic step")
    folder = torture.folder("hubs")
    owners = torture.times(100, 10000)
    path, store, plan = folder / "hubs.ndjson", folder / "hubs.db", folder / "hubs.map.yaml"
    plan.write_text(
        "version: 1\nname: hubs\nentities:\n  Member: { unique: id, attributes: { id: { from: '.' } } }\n"
        "  Hub:\n    unique: id\n    attributes: { id: id }\n    relationships:\n      members: { entity: Member, kind: toMany }\n"
        "sources:\n  hubs: { format: ndjson, entity: Hub }\n"
    )
    seconds = []
    for count in (owners // 2, owners):
        with open(path, "w") as file:
            for owner in range(count):
                members = ",".join(f'"m{(owner * 7 + n) % 5000}"' for n in range(1000))
                file.write(f'{{"id":"h{owner}","members":[{members}]}}\n')
        remove(store)
        seconds.append(torture.must("import", plan, path, "-d", store, "-q", timeout=3600).seconds)
        torture.check(len(contents(store)["Hub_members"]) == count * 1000, f"{count} owners: links")
    torture.check(seconds[1] / seconds[0] < 2.6, f"ratio {seconds[1] / seconds[0]:.2f}")
    torture.note(f"{owners:,} owners, {owners * 1000:,} links: {seconds[1]:.1f} s")
    torture.end()


def rejects(torture):
    torture.begin("many rejects", "a million of them (short: 50,000): bounded memory, all in the rejects file")
    folder = torture.folder("rejects")
    count = torture.times(50000, 1000000)
    path, store, out = folder / "bad.ndjson", folder / "bad.db", folder / "rejects.ndjson"
    with open(path, "w") as file:
        for number in range(count):
            file.write(f'{{"id":"x{number}","name":"n"}}\n')
    outcome = torture.run("import", MAP, path, "-d", store, "--rejects", out, timeout=3600)
    torture.check(outcome.code == 3, f"exit {outcome.code}", outcome.text[-400:])
    torture.check(sum(1 for _ in open(out, "rb")) == count, "lines in the rejects file")
    torture.check(outcome.peak < 150e6, f"{outcome.peak / 1e6:.0f} MB")
    torture.note(f"{count:,} rejects: {outcome.peak / 1e6:.0f} MB, {outcome.seconds:.1f} s")
    torture.end()


TESTS = [memory, doubling, hubs, rejects]
