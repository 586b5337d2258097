"""The world around a process: its outputs do not depend on it."""

import os
import resource
import subprocess
from datetime import datetime
from pathlib import Path

from feeds import MAP, write
from harness import contents, has, remove


def surroundings(torture):
    torture.begin("surroundings", "locale, time zone, clock, umask, HOME, open files, stacks, closed streams: identical contents and exports")
    folder = torture.folder("world")
    feed = write(torture.shared("feeds"), 400, 5, "json")
    base = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C", "TZ": "UTC"}
    clock = folder / "clock.so"
    if has("cc"):
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", clock, Path(__file__).parent / "clock.c"], check=False)
    cases = {"plain": ({}, None)}
    for zone in ("Asia/Kathmandu", "America/St_Johns", "Pacific/Apia", "", "nowhere"):
        cases[f"TZ={zone}"] = ({"TZ": zone}, None)
    for language in ("tr_TR.UTF-8", "de_DE.UTF-8", "ar_EG.UTF-8", "C", "xx_YY"):
        cases[f"LANG={language}"] = ({"LANG": language, "LC_ALL": language}, None)
    cases["no HOME"] = ({"HOME": None}, None)
    cases["umask 077"] = ({}, lambda: os.umask(0o077))
    cases["64 open files"] = ({}, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    cases["512 kB stack"] = ({}, lambda: resource.setrlimit(resource.RLIMIT_STACK, (512 << 10, 512 << 10)))
    cases["no standard input"] = ({}, lambda: os.close(0))
    for moment in ("1969-07-20 20:17:40", "2038-01-20 00:00:00", "2028-02-29 12:00:00"):
        if clock.exists():
            seconds = int(datetime.fromisoformat(f"{moment}+00:00").timestamp())
            cases[f"clock {moment}"] = ({"LD_PRELOAD": str(clock), "TORTURE_CLOCK": str(seconds)}, None)
    if not clock.exists():
        torture.note("no C compiler here: the clock was not changed")
    wanted = None
    for case, (changes, before) in cases.items():
        env = {name: value for name, value in {**base, **changes}.items() if value is not None}
        store, out = folder / "world.db", folder / "out.xml"
        remove(store)
        out.unlink(missing_ok=True)
        first = torture.run("import", MAP, feed, "-d", store, "-q", env=env, before=before)
        second = torture.run("export", MAP, "-d", store, "--entity", "Item", "-f", "xml", "-o", out, env=env, before=before)
        third = torture.run("fetch", "Item", "-d", store, "--sort", "name,-price", "-f", "csv", env=env, before=before)
        if not torture.check(
            (first.code, third.code) == (0, 0) and second.code in (0, 3), f"{case}: exits {first.code}, {second.code}, {third.code}",
            first.text + second.text + third.text[:300],
        ):
            continue
        found = (contents(store), out.read_bytes(), third.out)
        wanted = wanted or found
        torture.check(found == wanted, f"{case}: other outputs")
    torture.end()


def silent(torture):
    torture.begin("no network, no strange files", "an import opens its input, its map, its store and what the system needs; it connects nowhere")
    if not has("strace"):
        torture.skip("no strace here")
        return torture.end()
    folder = torture.folder("silent")
    secret = folder / "secret.txt"
    secret.write_text("root:x:0:0")
    bombs = {
        "xxe.xml": f'<!DOCTYPE items [<!ENTITY e SYSTEM "file://{secret}">]><items><item><id>1</id><name>&e;</name></item></items>',
        "parameter.xml": f'<!DOCTYPE items [<!ENTITY % p SYSTEM "file://{secret}"> %p;]><items><item><id>1</id></item></items>',
        "dtd.xml": '<!DOCTYPE items SYSTEM "http://127.0.0.1:9/x.dtd"><items><item><id>1</id></item></items>',
        "xinclude.xml": f'<items xmlns:xi="http://www.w3.org/2001/XInclude"><item><id>1</id><name><xi:include href="{secret}" parse="text"/></name></item></items>',
        "style.xml": '<?xml-stylesheet href="http://127.0.0.1:9/x.xsl"?><items><item><id>1</id></item></items>',
        "schema.xml": '<items xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="u http://127.0.0.1:9/x.xsd"><item><id>1</id></item></items>',
    }
    for name, text in bombs.items():
        path, store, trace = folder / name, folder / "silent.db", folder / "trace"
        path.write_text(text)
        remove(store)
        outcome = torture.run(
            "import", MAP, path, "-d", store,
            prefix=["strace", "-qq", "-f", "-o", trace, "-e", "trace=openat,open,connect,sendto"],
        )
        calls = trace.read_text(errors="replace")
        torture.check(str(secret) not in calls, f"{name}: opened the other file")
        torture.check("AF_INET" not in calls, f"{name}: connected")
        torture.check("root:x" not in outcome.text and "root:x" not in str(contents(store)), f"{name}: the other file came in")
        torture.check(not outcome.is_crash, f"{name}: exit {outcome.code}", outcome.text)
    torture.end()


TESTS = [surroundings, silent]
