"""A disk that is full, broken or not to be written to: said in words, exit 74 or its kin, nothing lost."""

import os
import stat
import subprocess
from pathlib import Path

from feeds import MAP, write
from harness import can_trace, contents, copy, faults, has, litter, remove
from kills import unbroken, works


def mounted(folder, size):
    """A file system of so many kilobytes; None where this process may not mount one."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder], capture_output=True, check=False)
    return folder if done.returncode == 0 else None


def unmount(folder):
    subprocess.run(["umount", folder], capture_output=True, check=False)


def is_told(outcome, store):
    return outcome.code in (73, 74) and Path(store).name in outcome.text


def full(torture):
    torture.begin("disk full (a small file system)", "exit 74 with the path, old contents intact, works once there is room, no litter")
    folder, all_works = works(torture, torture.times(1500, 8000))
    place = folder / "disk"
    if not mounted(place, 64):
        torture.skip("no file system may be mounted here")
        return torture.end()
    unmount(place)
    sizes = torture.times([64, 160, 320, 640, 1000, 1400], list(range(64, 12000, 128)))
    for work in all_works:
        before, after, between, _ = unbroken(torture, folder, work)
        hit = 0
        for size in sizes:
            mounted(place, size)
            store = place / "full.db"
            try:
                copy(work.before, store)
            except OSError:
                unmount(place)
                continue  # not even what was there before has room
            outcome = torture.run(*work.arguments, "-d", store)
            case = f"{work.name}, {size} kB"
            if outcome.code not in (0, 3):
                hit += 1
                torture.check(is_told(outcome, store), f"{case}: exit {outcome.code}", outcome.text)
                # Room again: the same files on a larger file system.
                subprocess.run(["mount", "-o", "remount,size=200m", place], check=True)
                torture.check(not faults(store), f"{case}: faults")
                found = contents(store)
                torture.check(found in (before, after) or work.batch, f"{case}: contents")
                again = torture.run(*work.arguments, "-d", store)
                torture.check(
                    again.code in (0, 3) and contents(store) == after, f"{case}: running again", again.text
                )
            else:
                torture.check(contents(store) == after, f"{case}: exit {outcome.code} and other contents")
            torture.check(
                not litter(place, {"full.db", "full.db-wal", "full.db-shm"}), f"{case}: litter {litter(place, ())}"
            )
            unmount(place)
        torture.note(f"{work.name}: full at {hit} of {len(sizes)} sizes")
    torture.end()


def injected(torture):
    torture.begin("failing calls (ENOSPC, EIO)", "the same, whichever call fails, once or for ever; never exit 0 with half the contents")
    if not can_trace():
        torture.skip("strace cannot inject faults here")
        return torture.end()
    folder, all_works = works(torture, torture.times(60, 200))
    step = torture.times(7, 1)
    calls = [("pwrite64", "ENOSPC"), ("pwrite64", "EIO"), ("fdatasync", "EIO"), ("fsync", "EIO"), ("fsync", "ENOSPC"), ("link", "EIO"), ("ftruncate", "EIO"), ("pread64", "EIO")]
    for work in all_works:
        before, after, between, _ = unbroken(torture, folder, work)
        for call, error in calls:
            for lasting in ("", "+"):
                number = 1
                while True:
                    store = folder / "failing.db"
                    trace = folder / "trace"
                    copy(work.before, store)
                    outcome = torture.run(
                        *work.arguments, "-d", store,
                        prefix=["strace", "-qq", "-f", "-o", trace, "-e", f"trace={call}",
                                "-e", f"inject={call}:error={error}:when={number}{lasting}"],
                    )
                    case = f"{work.name}, {call} {error} {number}{lasting}"
                    if "INJECTED" not in trace.read_text(errors="replace"):
                        break
                    if "error while loading shared libraries" in outcome.text:
                        number += 1  # the program was never started
                        continue
                    torture.check(not outcome.is_crash, f"{case}: ended by a signal or late", outcome.text)
                    left = [name for name in litter(folder, ()) if ".building" in name]
                    torture.check(not left, f"{case}: litter: {left}")
                    torture.check(not faults(store), f"{case}: faults")
                    found = contents(store)
                    if outcome.code in (0, 3):
                        # What failed was not needed: a checkpoint, a hint.
                        torture.check(found == after, f"{case}: exit {outcome.code} and other contents", outcome.text)
                    else:
                        torture.check(outcome.code in (74, 65, 73), f"{case}: exit {outcome.code}", outcome.text)
                        torture.check(found in (before, after) or work.batch, f"{case}: contents", outcome.text)
                        again = torture.run(*work.arguments, "-d", store)
                        torture.check(
                            again.code in (0, 3) and contents(store) == after, f"{case}: running again", again.text
                        )
                    remove(store)
                    number += step if number < 40 else step * 5
    torture.end()


def outputs(torture):
    torture.begin("outputs on a full disk", "export, backup and rejects: exit 74, no half file under the final name, the old one intact")
    folder, all_works = works(torture, 800)
    place = folder / "disk"
    if not mounted(place, 40):
        torture.skip("no file system may be mounted here")
        return torture.end()
    store = all_works[1].before
    for name, arguments in {
        "export": ["export", MAP, "-d", store, "--entity", "Item", "-f", "json", "-o", place / "out.json"],
        "backup": ["backup", "-d", store, place / "out.json"],
    }.items():
        (place / "out.json").unlink(missing_ok=True)
        outcome = torture.run(*arguments)
        torture.check(outcome.code in (73, 74), f"{name}: exit {outcome.code}", outcome.text)
        torture.check(not litter(place, ()), f"{name}: litter {litter(place, ())}")
    (place / "old").write_text("old")
    (place / "out.json").write_text("[]\n")
    outcome = torture.run("export", MAP, "-d", store, "--entity", "Item", "-f", "json", "--overwrite", "-o", place / "out.json")
    torture.check(outcome.code == 74 and (place / "out.json").read_text() == "[]\n", "export over an older one", outcome.text)
    unmount(place)
    folders(torture, folder / "folder", store)
    for name in ("export", "fetch"):
        arguments = ["export", MAP, "-d", store, "--entity", "Item", "-f", "json"] if name == "export" else ["fetch", "Item", "-d", store]
        with open("/dev/full", "wb") as device:
            process = torture.start(*arguments)
            torture.finish(process)
            done = subprocess.run([torture.tool, *map(str, arguments)], stdout=device, stderr=subprocess.PIPE, check=False)
        torture.check(done.returncode == 74, f"{name} onto a full device: exit {done.returncode}", done.stderr.decode())
    torture.end()


def folders(torture, place, store):
    """The folder of an output that the disk does not take, behind the file."""
    if not can_trace():
        return torture.note("strace cannot inject faults here")
    place.mkdir(exist_ok=True)
    for name, arguments in {
        "export": ["export", MAP, "-d", store, "--entity", "Item", "-f", "json", "-o", place / "out"],
        "fetch": ["fetch", "Item", "-d", store, "-f", "csv", "-o", place / "out"],
        "backup": ["backup", "-d", store, place / "out"],
    }.items():
        for error, codes in (("EIO", {74}), ("ENOSPC", {74}), ("EINVAL", {0})):
            outcome = torture.run(
                *arguments,
                prefix=["strace", "-qq", "-f", "-o", "/dev/null", "-P", place.resolve(), "-e", "trace=fsync", "-e", f"inject=fsync:error={error}"],
            )
            case = f"{name}, {error} of the folder"
            torture.check(outcome.code in codes, f"{case}: exit {outcome.code}", outcome.text)
            torture.check(litter(place, ()) == ["out"], f"{case}: {litter(place, ())}")
            (place / "out").unlink(missing_ok=True)


def read_only(torture):
    torture.begin("places that cannot be written", "a clear message within a second, nothing created")
    folder, all_works = works(torture, 100)
    feed = write(torture.shared("feeds"), 50, 2, "ndjson")
    other = None
    if os.geteuid() == 0:
        if not has("setpriv"):
            torture.skip("root needs setpriv to be somebody else")
            return torture.end()
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    os.chmod(torture.root, 0o755)
    for path in [folder, torture.shared("feeds")]:
        os.chmod(path, 0o755)
    os.chmod(torture.root / "shared", 0o755)
    closed = folder / "closed"
    closed.mkdir()
    copy(all_works[1].before, closed / "there.db")
    os.chmod(closed, 0o555)
    copy(all_works[1].before, folder / "frozen.db")
    os.chmod(folder / "frozen.db", 0o444)
    (folder / "adirectory").mkdir()
    before = contents(all_works[1].before)
    cases = {
        "a file that may only be read": (folder / "frozen.db", {77, 69, 73, 74}),
        "a folder that may only be read": (closed / "new.db", {77, 69, 73, 74}),
        "a store in a folder that may only be read": (closed / "there.db", {77, 69, 73, 74}),
        "a folder that is not there": (folder / "nowhere" / "new.db", {66, 69, 73, 74}),
        "a folder": (folder / "adirectory", {65, 69, 73, 74}),
        "the full device": ("/dev/full", {65, 69, 73, 74, 77}),
        "the null device": ("/dev/null", {65, 69, 73, 74, 77}),
    }
    for case, (store, codes) in cases.items():
        outcome = torture.run("import", MAP, feed, "-d", store, prefix=other or [])
        torture.check(outcome.code in codes, f"{case}: exit {outcome.code}", outcome.text)
        torture.check(outcome.seconds < 1, f"{case}: {outcome.seconds:.1f} s")
        torture.check(Path(str(store)).name in outcome.text, f"{case}: not named", outcome.text)
    torture.check(contents(folder / "frozen.db") == before, "the file that may only be read changed")
    torture.check(not litter(closed, {"there.db"}), f"litter {litter(closed, ())}")
    torture.check(stat.S_ISCHR(os.stat("/dev/full").st_mode), "a device was replaced")
    os.chmod(closed, 0o755)
    torture.end()


TESTS = [full, injected, outputs, read_only]
