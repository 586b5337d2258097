"""A PostgreSQL server in place of a file: importers that are killed, connections that are cut, a server that falls over."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import linked
from differential import map_text, random_case
from feeds import FORMATS, MAP, items, write
from harness import remove
from spelling import spell

ENTITIES = ["Item", "Category", "Tag"]


def binaries():
    """Where the programs of the newest installed server are; nil where there is none."""
    places = [Path(os.environ["DRAGOMAN_POSTGRESQL"])] if "DRAGOMAN_POSTGRESQL" in os.environ else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name))
    return next((path for path in places if (path / "initdb").exists()), None)


class Server:
    """A server of the harness' own, on a socket in a folder that goes with it."""

    def __init__(self, programs):
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="dragoman-torture-server-"))
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        # The server does not run as root.
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
            os.chmod(self.folder, 0o755)
        self.run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    def as_user(self):
        if self.user:
            os.setgid(self.user.pw_gid)
            os.setuid(self.user.pw_uid)

    def run(self, program, *arguments):
        return subprocess.run(
            [self.programs / program, *arguments], cwd=self.folder, check=True, capture_output=True, text=True, preexec_fn=self.as_user, env={"PATH": os.environ["PATH"]}
        ).stdout

    def start(self):
        self.process = subprocess.Popen(
            [self.programs / "postgres", "-D", "data", "-k", self.folder, "-p", str(self.port), "-c", "listen_addresses=", "-c", "fsync=off",
             "-c", "full_page_writes=off", "-c", "max_connections=60", "-c", "lc_messages=C"],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(self.folder / "log", "ab"), preexec_fn=self.as_user,
        )
        self.wait()

    def wait(self):
        """Waits until it answers."""
        for _ in range(600):
            try:
                return self.sql("SELECT 1")
            except subprocess.CalledProcessError:
                time.sleep(0.1)
        raise SystemExit("the server does not answer")

    def sql(self, words, database="postgres"):
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-p", str(self.port), "-U", "postgres", "-d", database, "-c", words).strip()

    def url(self, database):
        return f"postgresql://postgres@/{database}?host={str(self.folder).replace('/', '%2F')}&port={self.port}"

    def end(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def serving(torture):
    """A server, or nothing where none is installed; says so."""
    programs = binaries()
    if programs is None:
        torture.skip("no PostgreSQL server is installed")
        yield None
        return
    server = Server(programs)
    try:
        yield server
    finally:
        server.end()


def exported(torture, plan, store, entities):
    """All that is in a store, as exports have it: those of a file and of a server are the same."""
    found = {}
    for entity in entities:
        outcome = torture.run("export", plan, "-d", store, "--entity", entity, "-f", "ndjson", "--lossy", timeout=120)
        found[entity] = sorted(outcome.out.splitlines()) if outcome.code in (0, 3) else outcome.text
    return found


def apart(found, wanted):
    words = []
    for entity in wanted:
        left, right = found[entity], wanted[entity]
        if left != right:
            words += [f"{entity} has {row!r:.300}" for row in left if row not in right][:2] + [f"{entity} lacks {row!r:.300}" for row in right if row not in left][:2]
    return "\n".join(words)


def history(torture, store):
    outcome = torture.run("history", "-d", store, "--json")
    return [(run["status"], run["read"], run["inserted"], run["updated"], run["unchanged"], run["rejected"]) for run in json.loads(outcome.out)["imports"]]


def interrupted(torture):
    chance = torture.begin(
        "importers on a server that are interrupted",
        "killed, cut off, the server fallen over: contents before or after or of whole batches; going on gives the contents and history of an unbroken run",
    )
    folder = torture.folder("servers")
    count = torture.times(2000, 10000)
    feeds = torture.shared("feeds")
    first, whole = write(feeds, count // 2, 1), write(feeds, count, 2, "ndjson")
    # On a server nothing is committed while references wait: who is to go on needs a feed without forward references.
    backward = folder / "backward.ndjson"
    backward.write_bytes(FORMATS["ndjson"]([{name: value for name, value in record.items() if name != "replaces"} for record in items(count, 2)]))
    told = {"killed": 0, "cut": 0, "fallen": 0, "gone on": 0}
    with serving(torture) as server:
        if server is None:
            return torture.end()
        server.sql("CREATE DATABASE base ENCODING 'UTF8' TEMPLATE template0")
        torture.must("import", MAP, first, "-d", server.url("base"), "-q")
        before = exported(torture, MAP, server.url("base"), ENTITIES)
        afters = []
        for feed in (whole, backward):
            file = folder / "file.db"
            remove(file)
            torture.must("import", MAP, first, "-d", file, "-q")
            said = apart(before, exported(torture, MAP, file, ENTITIES))
            torture.check(not said, "a file has other contents", said)
            server.sql("DROP DATABASE IF EXISTS tried WITH (FORCE)")
            server.sql("CREATE DATABASE tried TEMPLATE base")
            began = time.monotonic()
            torture.must("import", MAP, feed, "-d", server.url("tried"), "-q")
            seconds = time.monotonic() - began
            torture.must("import", MAP, feed, "-d", file, "-q")
            after = exported(torture, MAP, server.url("tried"), ENTITIES)
            said = apart(after, exported(torture, MAP, file, ENTITIES))
            torture.check(not said, "a file has other contents after the second import", said)
            afters.append((feed, after, history(torture, server.url("tried")), seconds))
        for number in torture.cases(16, 1000):
            server.sql("DROP DATABASE IF EXISTS tried WITH (FORCE)")
            server.sql("CREATE DATABASE tried TEMPLATE base")
            store = server.url("tried")
            is_batch = number % 2 == 1
            second, after, wanted, seconds = afters[is_batch]
            options = ["--commit", "batch", "--batch-size", count // 20] if is_batch else []
            process = torture.start("import", MAP, second, "-d", store, *options)
            time.sleep(chance.random() * seconds)
            how = ["killed", "cut", "killed", "fallen"][number // 2 % 4]
            told[how] += 1
            others = "SELECT pid FROM pg_stat_activity WHERE datname = 'tried' AND pid <> pg_backend_pid()"
            if how == "killed":
                os.killpg(process.pid, signal.SIGKILL)
            elif how == "cut":
                for _ in range(chance.randrange(1, 4)):
                    server.sql(f"SELECT pg_terminate_backend(pid) FROM ({others}) AS o")
                    time.sleep(chance.random() * 0.3)
            else:
                # One of its processes dies: all go down, and it recovers from its log.
                pids = server.sql(others).split()
                for pid in pids[:1]:
                    os.kill(int(pid), signal.SIGKILL)
                server.wait()
            outcome = torture.finish(process, 120)
            case = f"case {number} ({how}{', in batches' if is_batch else ''})"
            torture.check(how == "killed" or outcome.code in (0, 3, 69, 75), f"{case}: exit {outcome.code}", outcome.text)
            found = exported(torture, MAP, store, ENTITIES)
            if outcome.code in (0, 3):
                said = apart(found, after)
                torture.check(not said and history(torture, store) == wanted, f"{case}: ended well with other contents or history", said + f"{history(torture, store)}")
                continue
            torture.check(is_batch or not apart(found, before) or not apart(found, after), f"{case}: contents are neither those before nor after", apart(found, before))
            if is_batch:
                outcome = torture.run("import", MAP, second, "-d", store, *options, "--resume", timeout=120)
                told["gone on"] += b"went on behind" in outcome.err
                is_complete = b"nothing to resume" in outcome.err
            else:
                outcome = torture.run("import", MAP, second, "-d", store, timeout=120)
                is_complete = not apart(found, after)
            said = apart(exported(torture, MAP, store, ENTITIES), after)
            torture.check(outcome.code in (0, 3) and not said, f"{case}: going on", said + outcome.text)
            if not is_complete:
                torture.check(history(torture, store) == wanted, f"{case}: the history", f"{history(torture, store)}, not {wanted}")
    torture.note(", ".join(f"{name} {number}" for name, number in told.items()))
    torture.end()


def as_in_a_file(torture, server, folder, case, plan, entities, feeds, uncounted=()):
    """Imports feeds into the server and into a file: exit codes, counts and contents are to be the same.

    A feed is its format, its text, and the options of its import; `uncounted` names what the documents leave open of the report.
    """
    path, file = folder / "fuzz.map.json", folder / "file.db"
    remove(file)
    path.write_text(plan)
    server.sql("DROP SCHEMA IF EXISTS fuzz CASCADE; CREATE SCHEMA fuzz")
    store = server.url("postgres") + "&options=-csearch_path%3Dfuzz"
    for place, (form, text, options) in enumerate(feeds):
        feed = folder / f"fuzz{place}.{form}"
        feed.write_text(text, newline="")
        outcomes = [torture.run("import", path, feed, "-d", one, "--json", *options) for one in (store, file)]
        told = [
            {name: value for name, value in json.loads(one.out).items() if name not in ("seconds", "import", "error", "issues", "notices", *uncounted)} if one.out else None for one in outcomes
        ]
        said = f"{case}, import {place} ({form}, {' '.join(map(str, options))})"
        same = torture.check(
            outcomes[0].code == outcomes[1].code and told[0] == told[1], f"{said}: exits {[one.code for one in outcomes]}",
            f"{told[0]}\n{told[1]}\n{outcomes[0].text[-600:]}",
        )
        found, wanted = (exported(torture, path, one, entities) for one in (store, file))
        if not torture.check(not apart(found, wanted), f"{said}: contents", apart(found, wanted)) or not same:
            break


def batches(size):
    return ["--commit", "batch", "--batch-size", size] if size else []


def random_imports(torture):
    torture.begin("random maps and feeds on a server", "counts, exit codes and contents of a file, in every format and batch size")
    folder = torture.folder("server-fuzz")
    with serving(torture) as server:
        if server is None:
            return torture.end()
        for number in torture.cases(40, 4000):
            seed = f"{torture.seed}:server:{number}"
            plan, imports = random_case(seed)
            feeds = [(form, spell(form, records), ["--mode", mode, "--source", form, *batches(batch)]) for form, mode, batch, records in imports]
            as_in_a_file(torture, server, folder, f"case {seed}", map_text(plan), list(plan["entities"]), feeds)
    torture.end()


def random_relationships(torture):
    torture.begin("random relationships on a server", "counts, exit codes and contents of a file, whichever side is read (and not both: docs/scale.md)")
    folder = torture.folder("server-links")
    with serving(torture) as server:
        if server is None:
            return torture.end()
        for number in torture.cases(40, 4000):
            seed = f"{torture.seed}:links:{number}"
            entities, imports = linked.random_case(seed)
            if linked.reads_both(entities):
                continue
            feeds = []
            for form, mode, batch, records in imports:
                source = ["--source", form + records[0][0]] if form in ("ndjson", "csv") else []
                feeds.append((form, linked.feed_text(form, records), ["--mode", mode, *source, *batches(batch)]))
            # A target that comes and is deleted in one batch: whether it was a link in between.
            deletes = any("deleteWhen" in rules or any("onUnlink" in one for one in rules["relationships"].values()) for rules in entities.values())
            uncounted = ["relationships"] if deletes and any(batch != 1 for _, _, batch, _ in imports) else []
            as_in_a_file(torture, server, folder, f"case {seed}", linked.map_text(entities), list(entities), feeds, uncounted)
    torture.end()


def nasty(torture):
    torture.begin("hostile values and names on a server", "values come back byte for byte; nothing runs; what the server cannot hold is a reject")
    folder = torture.folder("server-hostile")
    nasty = [
        "'; DROP TABLE \"Thing\"; --", '"; DROP TABLE Thing; --', "$$; SELECT pg_sleep(9); $$", "$1", "%s%n", "\\", "\\'", "\\x41", "E'\\n'", "{a,b}", '{"a"}', "NULL", "null", "",
        " ", "\t", "\r\n", "é", "e\u0301", "'\u0301; --", '"\u0301', "\\\u0301", ",\u0301", "{\u0301a,b}", "\ufdd0", "\U0010ffff", "\u2028", "😀" * 1000, "x" * 2000, "a\x00b", "(1,2)", "[1,2)", "1e400", "NaN", "infinity", "epoch", "now()",
    ]
    names = ["select", 'a"b', "a'b", "a;b", "Ünïcode", "user", "a b", "$1", "table", "x" * 60, 'a"\u0301; --', "a'\u0301; --", "a\\\u0301"]
    plan = folder / "hostile.map.json"
    attributes = {"id": {"from": "id"}, "text": {"from": "text"}, **{name: {"from": f"/m{number}"} for number, name in enumerate(names)}}
    body = {"version": 1, "name": "hostile", "entities": {"Thing": {"unique": "id", "attributes": attributes}}, "sources": {"j": {"format": "json", "entity": "Thing"}}}
    with serving(torture) as server:
        if server is None:
            return torture.end()
        # Names that no entity may have are faults of the map, on a server as in a file.
        while True:
            plan.write_text(json.dumps(body))
            outcome = torture.run("check", plan)
            torture.check(not outcome.is_crash, f"check: exit {outcome.code}", outcome.text)
            bad = [name for name in names if name in attributes and outcome.code == 65 and repr(name)[1:-1] in outcome.text]
            if outcome.code != 65 or not bad:
                break
            for name in bad:
                del attributes[name]
        torture.check(outcome.code == 0, "no map is left", outcome.text)
        feed = folder / "hostile.json"
        records = [{"id": f"{number}{text}", "text": text, **{f"m{place}": text for place in range(len(names))}} for number, text in enumerate(nasty)]
        feed.write_text(json.dumps(records))
        store, file = server.url("postgres"), folder / "file.db"
        server.sql("CREATE TABLE witness (a int); INSERT INTO witness VALUES (1)", "postgres")
        server.sql("CREATE SCHEMA hostile")
        store += "&options=-csearch_path%3Dhostile"
        outcome = torture.run("import", plan, feed, "-d", store, "--json")
        torture.check(outcome.code == 3 and json.loads(outcome.out)["rejected"] == 1 and "value.nul" in outcome.text, f"exit {outcome.code}", outcome.text)
        torture.run("import", plan, feed, "-d", file, "-q")
        for number, text in enumerate(nasty):
            if "\x00" in text:
                continue
            told = [torture.run("fetch", "Thing", "-d", one, "--where", "text == $X AND id ENDSWITH $X", "-p", f"X={text}", "-f", "json").out for one in (store, file)]
            torture.check(told[0] == told[1] and len(json.loads(told[0] or b"[]")) >= 1, f"fetched by {text[:30]!r}", told)
        torture.check(server.sql("SELECT count(*) FROM witness") == "1", "the witness is gone")
        tables = server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'hostile' AND tablename NOT LIKE '\\_dragoman%'")
        torture.check(tables == "1", f"{tables} tables")
        for wrong, codes in [
            ("postgresql://postgres@/postgres?host=/nowhere", {69}), ("postgresql://127.0.0.1:1/x", {69}), ("postgresql://", {66, 69, 77}), ("postgresql://a:b:c@@/x", {69, 64}),
            (server.url("nothere"), {66}), (server.url("postgres").replace("postgres@", "nobody@"), {77}), (server.url("postgres") + "&options=-csearch_path%3Dnothere", {66}),
            (server.url("postgres") + "&nonsense=1", {64, 69}), (server.url("postgres"), {65}), ("mysql://x/y", {64}), ("postgresql://" + "x" * 100_000, {64, 69}),
        ]:
            for arguments in (["import", plan, feed], ["fetch", "Thing"], ["info"]):
                outcome = torture.run(*arguments, "-d", wrong, timeout=40)
                # Reading what is not a store of ours finds no entity.
                torture.check(not outcome.is_crash and outcome.code in codes | {65, 64}, f"{wrong[:80]}: exit {outcome.code}", outcome.text[:800])
                torture.check("\x1b" not in outcome.text and outcome.seconds < 20, f"{wrong[:80]}: {outcome.seconds:.1f} s")
    torture.end()


TESTS = [interrupted, random_imports, random_relationships, nasty]
