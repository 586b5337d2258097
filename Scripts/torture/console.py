"""The console: requests of strangers, broken ones, slow ones and long ones, and a kill in the middle of an import."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from contextlib import contextmanager
from urllib.parse import quote, urlencode

from feeds import MAP, write
from harness import contents, faults, high_water, remove
from kills import works
from mutants import mutant

TOKEN = "torturetorturetorture"
# What pages of the store hold, and nobody else may see.
SECRET = "alpha"
# What is told to broken requests; 500 is a fault of the console.
CODES = {200, 301, 302, 303, 400, 403, 404, 405, 408, 409, 411, 413, 414, 415, 417, 421, 431, 501, 503, 505}


class Browser:
    """Sends exactly what it is told."""

    def __init__(self, port):
        self.port = port
        head, _ = self.ask("GET", f"/?token={TOKEN}", cookie="")
        self.cookie = re.search(rb"set-cookie: ([^;]+)", head, re.IGNORECASE)[1].decode()
        page = self.ask("GET", "/import")[1].decode()
        found = re.search(r'name="csrf" value="([^"]+)"', page)
        self.form = found[1] if found else ""

    def head(self, method, path, fields=(), cookie=None):
        cookie = self.cookie if cookie is None else cookie
        lines = [f"{method} {path} HTTP/1.1", f"Host: localhost:{self.port}", "Connection: close"]
        if cookie:
            lines.append(f"Cookie: {cookie}")
        if method == "POST":
            lines.append(f"Origin: http://localhost:{self.port}")
        return "\r\n".join([*lines, *fields, "", ""]).encode("utf-8", "surrogateescape")

    def send(self, data, timeout=20.0, is_over=True):
        """The whole answer to some bytes, and how long it took; b"" where the connection was closed instead."""
        began = time.monotonic()
        told = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            try:
                connection.sendall(data)
                if is_over:
                    connection.shutdown(socket.SHUT_WR)
                while piece := connection.recv(1 << 16):
                    told += piece
            except (ConnectionError, BrokenPipeError):
                pass
        return told, time.monotonic() - began

    def ask(self, method, path, fields=(), cookie=None, body=b""):
        if method == "POST":
            fields = [*fields, f"Content-Length: {len(body)}"]
        told, _ = self.send(self.head(method, path, fields, cookie) + body, is_over=False, timeout=60)
        head, _, rest = told.partition(b"\r\n\r\n")
        return head, rest

    def post(self, address, **values):
        body = urlencode({"csrf": self.form, **values}).encode()
        return self.ask("POST", address, ["Content-Type: application/x-www-form-urlencoded"], body=body)

    def json(self, path):
        return json.loads(self.ask("GET", path)[1])


def status(told):
    match = re.match(rb"HTTP/1\.[01] (\d{3}) ", told)
    return int(match[1]) if match else None


@contextmanager
def serving(torture, store, *options):
    """The console over a store, and a browser that is let in."""
    with open(torture.root / "console.err", "wb") as said:
        process = subprocess.Popen(
            [torture.tool, "serve", "-d", store, "--port", "0", "--token", TOKEN, "--map", MAP, *map(str, options)],
            stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True,
        )
    try:
        line = process.stdout.readline()
        match = re.search(r":(\d+)/", line)
        if not match:
            raise SystemExit(f"the console did not begin: {line}")
        process.browser = Browser(int(match[1]))
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        process.stdout.close()


def lives(torture, process, case):
    """Whether the console still answers, soon, in bounded memory."""
    began = time.monotonic()
    try:
        head, _ = process.browser.ask("GET", "/entities/Item.json?limit=1")
    except OSError as error:
        head = str(error).encode()
    seconds = time.monotonic() - began
    torture.check(status(head) == 200 and seconds < 5, f"{case}: the next page, {seconds:.1f} s", head)
    peak = high_water(process.pid)
    torture.check(peak < 300 << 20, f"{case}: {peak >> 20} MB")


def broken_requests(torture):
    chance = torture.begin(
        "broken requests to the console", "an answer or an end within 5 s, never 500; nothing is written, strangers are told nothing, the next page comes"
    )
    folder, all_works = works(torture, 200)
    store = all_works[1].before
    before = contents(store)
    predicates = ["price > 12.5 AND name CONTAINS[cd] 'alpha'", "ANY tags.name IN {'a', 'b'}", "name MATCHES '.*(a|b)+$'", "category.title == $X"]
    with serving(torture, store) as process:
        browser = process.browser
        goods = [
            browser.head("GET", "/entities/Item?where=" + quote(predicates[0]) + "&sort=-price&limit=5&columns=name,price"),
            browser.head("GET", "/entities/Item.json?limit=10&sort=name"), browser.head("GET", "/objects/Item/1"),
            browser.head("GET", "/entities/Item/download.csv?where=" + quote(predicates[1])), browser.head("GET", "/model"),
            browser.head("GET", "/history/1?changes=1"), browser.head("GET", "/assets/console.css"),
            browser.head("HEAD", "/", ["Accept-Encoding: gzip", "Range: bytes=0-10", "Expect: 100-continue"]),
            browser.head("POST", "/import", ["Content-Length: 27", "Content-Type: application/x-www-form-urlencoded"]) + b"csrf=abc&map=0&path=%2Fetc%2F",
            browser.head("POST", "/import", ["Transfer-Encoding: chunked", "Content-Type: multipart/form-data; boundary=x"])
            + b"14\r\n--x\r\nContent-Disposit\r\n3\r\n--x\r\n0\r\n\r\n",
        ]
        for number in torture.cases(400, 100000):
            good = chance.choice(goods)
            is_stranger = number % 4 == 3
            if is_stranger:
                good = good.replace(b"Cookie: " + browser.cookie.encode(), b"Cookie: " + browser.cookie.encode()[:-1] + b"x")
            data = mutant(good, chance) if number % 3 else mutant(mutant(good, chance), chance)
            told, seconds = browser.send(data)
            case = f"request {number}, seed {torture.seed}: {data[:300]!r}"
            torture.check(seconds < 5, f"{case}: {seconds:.1f} s")
            torture.check(told == b"" or status(told) in CODES, f"{case}: {told[:60]!r}")
            if is_stranger and browser.cookie.encode() not in data and TOKEN.encode() not in data:
                torture.check(SECRET.encode() not in told, f"{case}: a stranger is told", told[-500:])
            if number % 50 == 49:
                lives(torture, process, f"behind request {number}")
        for number in torture.cases(60, 20000):
            query = {"where": mutant(chance.choice(predicates).encode(), chance), "sort": mutant(b"-name[cd],price", chance), "limit": mutant(b"20", chance),
                     "columns": mutant(b"name,category.title", chance), "after": mutant(b"MQoxCjIKdEl0ZW0", chance)}
            query = {name: value for name, value in query.items() if chance.random() < 0.5}
            told, seconds = browser.send(browser.head("GET", "/entities/Item.json?" + urlencode(query)))
            case = f"query {number}, seed {torture.seed}: {query}"
            torture.check(seconds < 5 and status(told) in CODES, f"{case}: {seconds:.1f} s, {told[:60]!r}")
        lives(torture, process, "at the end")
    torture.check(contents(store) == before, "the contents changed")
    torture.check(process.returncode == 0, f"it ends with {process.returncode}", (torture.root / "console.err").read_text())
    torture.end()


def strangers(torture):
    torture.begin("strangers at the console", "wrong tokens, names, origins, forms, paths: refused, with nothing told and nothing written")
    folder, all_works = works(torture, 100)
    store = all_works[1].before
    feed = write(torture.shared("feeds"), 50, 9)
    before = contents(store)
    with serving(torture, store, "--allow-import") as process:
        browser = process.browser
        port, cookie = browser.port, browser.cookie
        name, value = cookie.split("=", 1)
        pages = ["/", "/entities/Item", "/entities/Item.json", "/entities/Item/download.csv", "/objects/Item/1.json", "/model", "/history/1", "/import"]
        cookies = ["", f"{name}=", f"{name}={TOKEN}", f"{name}={value[:-1]}", f"{name}={value}x", f"{name[:-1]}={value}", f"{name.upper()}={value}", f"{name}={'x' * 9000}"]
        for page in pages:
            for wrong in cookies:
                told, _ = browser.send(browser.head("GET", page, cookie=wrong))
                torture.check(status(told) == 403 and SECRET.encode() not in told, f"{page} with the cookie {wrong[:40]!r}: {told[:40]!r}")
            for token in ["", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "%00" + TOKEN, "x" * 9000]:
                told, _ = browser.send(browser.head("GET", f"{page}?token={token}", cookie=""))
                torture.check(status(told) == 403 and b"et-cookie" not in told.lower(), f"{page} with the token {token[:40]!r}: {told[:40]!r}")
            for host in ["evil.example", f"evil.example:{port}", f"localhost.evil.example:{port}", f"localhost:{port + 1}", "", f"127.0.0.1.evil.example:{port}",
                         f"localhost:{port}@evil.example", f"evil.example:{port}#localhost:{port}", f"0x7f000001:{port}", f"127.1.example:{port}"]:
                data = browser.head("GET", page).replace(f"Host: localhost:{port}".encode(), f"Host: {host}".encode())
                told, _ = browser.send(data)
                torture.check(status(told) in (400, 421) and SECRET.encode() not in told, f"{page} of {host!r}: {told[:40]!r}")
        fields = {"csrf": browser.form, "map": "0", "path": str(feed)}
        kind = "Content-Type: application/x-www-form-urlencoded"
        good = urlencode(fields).encode()
        for origin in ["http://evil.example", f"http://localhost:{port + 1}", "null", f"https://localhost:{port}", f"http://localhost:{port}.evil.example", ""]:
            data = browser.head("POST", "/import", [kind, f"Content-Length: {len(good)}"]) + good
            data = data.replace(f"Origin: http://localhost:{port}".encode(), f"Origin: {origin}".encode())
            told, _ = browser.send(data)
            torture.check(status(told) == 403, f"a form of {origin!r}: {told[:40]!r}")
        told, _ = browser.send(browser.head("POST", "/import", [kind, f"Content-Length: {len(good)}", "Sec-Fetch-Site: cross-site"]) + good)
        torture.check(status(told) == 403, f"a form of another site: {told[:40]!r}")
        for wrong in ["", "x", browser.form[:-1], browser.form + "x", TOKEN, value]:
            for path in ["/import", "/import/1/run", "/history/1/undo", "/rejects/0/1"]:
                body = urlencode({**fields, "csrf": wrong, "confirm": "yes"}).encode()
                told, _ = browser.send(browser.head("POST", path, [kind, f"Content-Length: {len(body)}"]) + body)
                torture.check(status(told) == 403, f"{path} with the field {wrong[:30]!r}: {told[:40]!r}")
        for path in ["/assets/../../etc/passwd", "/assets/..%2f..%2fetc/passwd", "/assets/%2e%2e/console.css", "//etc/passwd", "/rejects/..%2f..%2fetc%2fpasswd/download",
                     "/entities/..%2f..", "/objects/Item/..%2f1", "/entities/Item/download.%00", "/%ff%fe", "/entities/%00", "/entities/sqlite_schema.json",
                     "/entities/_dragoman_model.json", "/objects/_dragoman_imports/1", "/objects/Item/99999999999999999999", "/objects/Item/-1", "/objects/Item/1e3"]:
            told, _ = browser.send(browser.head("GET", path))
            torture.check(status(told) in (400, 404) and b"root:" not in told, f"{path}: {told[:40]!r}")
        for method in ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "PROPFIND"]:
            told, _ = browser.send(browser.head(method, "/"))
            torture.check(status(told) in (400, 405, 501), f"{method}: {told[:40]!r}")
        for path in ["/import/1/run", "/import/99/run", "/import/1/check", "/history/99/undo", "/history/x/undo", "/rejects/7/1", "/nothing"]:
            head, rest = browser.post(path, confirm="yes")
            torture.check(status(head) in (400, 404, 409), f"{path}: {head[:40]!r}", rest[:300])
        # Who has the token may read what the process can; a file that is no feed ends with a message, and writes nothing.
        for path in ("/etc/passwd", "/dev/zero", "/proc/self/mem", "/nowhere", "."):
            head, rest = browser.post("/import", map="0", path=path)
            if status(head) == 303:
                address = re.search(rb"ocation: (\S+)", head)[1].decode()
                told = phase(browser, address, "failed", "checked", seconds=20)
                torture.check(told["phase"] in ("failed", "checked"), f"the path {path}: {told['phase']}", told)
            else:
                torture.check(status(head) in (400, 403, 404), f"the path {path}: {head[:40]!r}", rest[:300])
        lives(torture, process, "at the end")
    torture.check(contents(store) == before, "the contents changed")
    torture.end()


def slow_and_long(torture):
    torture.begin("slow and long requests", "heads, bodies and chunks without end are refused, slow ones cut off; others are answered meanwhile; no litter")
    folder, all_works = works(torture, 200)
    store = all_works[1].before
    place = torture.folder("console-tmp")
    os.environ["TMPDIR"], former = str(place), os.environ.get("TMPDIR")
    try:
        with serving(torture, store, "--allow-import", "--upload-limit", 4) as process:
            browser = process.browser
            slow = []
            for number in range(torture.times(200, 900)):
                connection = socket.create_connection(("127.0.0.1", browser.port), timeout=30)
                connection.sendall([b"G", b"GET / HTTP/1.1\r\nHost: loc", browser.head("POST", "/import", ["Content-Length: 900000", "Content-Type: text/plain"]) + b"x"][number % 3])
                slow.append(connection)
            lives(torture, process, f"beside {len(slow)} slow ones")
            # Connections that say nothing more are closed after fifteen seconds, bodies after ten minutes.
            heads = [connection for number, connection in enumerate(slow) if number % 3 != 2]
            until = time.monotonic() + 25
            closed = 0
            for connection in heads:
                connection.settimeout(max(0.1, until - time.monotonic()))
                try:
                    while connection.recv(4096):
                        pass
                    closed += 1
                except ConnectionError:
                    closed += 1
                except TimeoutError:
                    pass
            torture.check(closed == len(heads), f"{closed} of {len(heads)} heads that do not come are cut off")
            for connection in slow:
                connection.close()
            lives(torture, process, "behind the slow ones")
            for case, data, codes in [
                ("a line of 10 MB", b"GET /" + b"x" * 10_000_000 + b" HTTP/1.1\r\n\r\n", {400, 414, 431}),
                ("100,000 fields", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100_000 + b"\r\n", {400, 431}),
                ("one field of 10 MB", b"GET / HTTP/1.1\r\nX: " + b"y" * 10_000_000 + b"\r\n\r\n", {400, 431}),
                ("a body of 100 MB", browser.head("POST", "/import", ["Content-Length: 100000000", "Content-Type: text/plain"]) + b"x" * 9_000_000, {413}),
                ("a body of 10^30 bytes", browser.head("POST", "/import", [f"Content-Length: {10 ** 30}", "Content-Type: text/plain"]), {400, 413}),
                ("a body of -1 bytes", browser.head("POST", "/import", ["Content-Length: -1", "Content-Type: text/plain"]), {400}),
                ("chunks without end", browser.head("POST", "/import", ["Transfer-Encoding: chunked", "Content-Type: text/plain"]) + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 200, {413}),
                ("a chunk of 2^64 bytes", browser.head("POST", "/import", ["Transfer-Encoding: chunked", "Content-Type: text/plain"]) + b"ffffffffffffffff\r\nx", {400, 413}),
                ("a chunk of many digits", browser.head("POST", "/import", ["Transfer-Encoding: chunked", "Content-Type: text/plain"]) + b"0" * 1_000_000, {400, 413, 431}),
                ("length and chunks", browser.head("POST", "/import", ["Content-Length: 5", "Transfer-Encoding: chunked"]) + b"0\r\n\r\nGET /model", {400}),
                ("a form of 100,000 parts", browser.head("POST", "/import", [f"Content-Length: {26 * 100_000}", "Content-Type: multipart/form-data; boundary=x"])
                 + b"--x\r\nA: b\r\n\r\nabcdefghij\r\n" * 100_000, {400, 403}),
            ]:
                told, seconds = browser.send(data, timeout=30)
                # Who sends on where nobody reads may not see the answer any more.
                torture.check(told == b"" and len(data) > 1 << 20 or status(told) in codes, f"{case}: {told[:60]!r}")
                torture.check(seconds < 10, f"{case}: {seconds:.1f} s")
                torture.check(b"HTTP/1.1" not in told[9:], f"{case}: what follows is taken for a request")
                lives(torture, process, case)
            pipelined, _ = browser.send(browser.head("GET", "/entities/Item.json?limit=1").replace(b"Connection: close\r\n", b"") * 200)
            torture.check(pipelined.count(b"HTTP/1.1 200") in range(1, 201), "200 requests behind each other")
            lives(torture, process, "behind 200 at once")
        torture.check(not list(place.iterdir()), f"left {list(place.iterdir())}")
    finally:
        if former is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = former
    torture.end()


def phase(browser, address, *ends, seconds=60):
    """Waits until an import of the console comes to one of some phases."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        told = browser.json(address + ".json")
        if told.get("phase") in ends:
            return told
        time.sleep(0.02)
    return told


def begin(browser, feed):
    """Begins an import of the console, and gives its address when it is checked."""
    head, _ = browser.post("/import", map="0", path=feed)
    address = re.search(rb"ocation: (\S+)", head)[1].decode()
    phase(browser, address, "checked")
    return address


def killed(torture):
    chance = torture.begin(
        "kill -9 of the console in an import", "contents before or after, never between; a new console goes on from there, and the import ends well"
    )
    folder, all_works = works(torture, torture.times(3000, 20000))
    work = all_works[1]
    feed = work.arguments[2]
    store = folder / "console.db"

    def copied():
        remove(store)
        store.write_bytes(work.before.read_bytes())

    copied()
    before = contents(store)
    torture.must(*work.arguments, "-d", store, "-q")
    after = contents(store)
    reached = []
    for number in torture.cases(6, 300):
        copied()
        with serving(torture, store, "--allow-import") as process:
            browser = process.browser
            # It may go at any step: in the check, in the trial, or in the import.
            moment = threading.Timer(chance.random() * torture.times(3.0, 8.0), lambda: os.killpg(process.pid, signal.SIGKILL))
            moment.start()
            step = "the check"
            try:
                address = begin(browser, feed)
                step = "the trial"
                browser.post(address + "/try")
                phase(browser, address, "tried")
                step = "the import"
                browser.post(address + "/run")
                phase(browser, address, "done")
                step = "what follows"
            except (OSError, TypeError, ValueError):
                pass
            moment.join()
            reached.append(step)
        found = contents(store)
        torture.check(not faults(store) and found in (before, after), f"kill {number}: contents")
        with serving(torture, store, "--allow-import") as process:
            browser = process.browser
            address = begin(browser, feed)
            browser.post(address + "/run")
            told = phase(browser, address, "done", "failed")
            torture.check(told["phase"] == "done" and contents(store) == after, f"kill {number}: once more", told)
            history = browser.json("/history.json")
            torture.check(len(history.get("imports", history.get("runs", []))) >= 2, f"kill {number}: the history", str(history)[:300])
    torture.note("killed in " + ", ".join(f"{step} {reached.count(step)}" for step in sorted(set(reached))))
    torture.end()


def beside_others(torture):
    chance = torture.begin(
        "others beside the console", "what other processes commit while pages are looked at and an import runs is there in the end, and so is the console's own"
    )
    folder, all_works = works(torture, torture.times(3000, 20000))
    work = all_works[1]
    feed = work.arguments[2]
    other = write(torture.shared("feeds"), torture.times(300, 2000), 77, "ndjson", 1_000_000)
    (store, serial) = (folder / "beside.db", folder / "beside-serial.db")
    pages = ["/entities/Item.json?limit=1", "/", "/history", "/entities/Item?limit=5", "/model", "/entities/Item/profile"]
    ends = []
    for number in torture.cases(4, 200):
        remove(store)
        store.write_bytes(work.before.read_bytes())
        with serving(torture, store, "--allow-import") as process:
            browser = process.browser
            address = begin(browser, feed)
            browser.post(address + "/run")
            for _ in range(chance.randrange(1, 6)):
                browser.ask("GET", chance.choice(pages))
                # Who is the last to close a database removes its log.
                database = sqlite3.connect(store, timeout=10)
                database.execute("SELECT count(*) FROM Item").fetchone()
                database.close()
            ended = torture.finish(torture.start("import", MAP, other, "-d", store, "-q"), 60)
            browser.ask("GET", chance.choice(pages))
            told = phase(browser, address, "done", "failed")
        ends.append(ended.code)
        torture.check(ended.code in (0, 3, 75) and told["phase"] == "done", f"round {number}: {ended.code}, {told['phase']}", f"{ended.text} {told}")
        with sqlite3.connect(store) as database:
            order = [row[0] for row in database.execute("SELECT source FROM _dragoman_imports ORDER BY id DESC LIMIT 2")][::-1]
        database.close()
        remove(serial)
        serial.write_bytes(work.before.read_bytes())
        wanted = [path for path in order if path in (str(feed), str(other))]
        for path in wanted:
            torture.must("import", MAP, path, "-d", serial, "-q")
        torture.check(len(wanted) == 1 + (ended.code != 75), f"round {number}: the ledger has {order}")
        torture.check(not faults(store) and contents(store) == contents(serial), f"round {number}: contents")
    torture.note(f"{len(ends) - ends.count(75)} of {len(ends)} other imports came in")
    torture.end()


TESTS = [broken_requests, strangers, slow_and_long, killed, beside_others]
