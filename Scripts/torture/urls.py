"""Feeds of a server that is slow, endless, lies, leads elsewhere or breaks off: an exit code in time, a store that is whole."""

import gzip
import json
import os
import socket
import threading
import time
from contextlib import contextmanager

from feeds import FORMATS, MAP, items, write
from harness import contents, faults, remove

# A head that promises a lot, and what is sent behind it.
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


class Wicked:
    """Answers by hand what a test has put at a path: a function of the connection and the head of the request."""

    def __init__(self):
        self.answers = {}
        self.asked = []
        self.is_over = False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_over:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            connection.settimeout(30)
            head = b""
            try:
                while b"\r\n\r\n" not in head:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    head += piece
                path = head.split(b" ")[1].decode("latin-1")
                self.asked.append((path, head))
                answer = self.answers.get(path.split("?")[0])
                if answer is None:
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                elif callable(answer):
                    answer(connection, head)
                else:
                    connection.sendall(answer)
            except OSError:
                pass

    def address(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def end(self):
        self.is_over = True
        # Who waits for a connection wakes up: its number may be that of another server's socket when this one is closed.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()


@contextmanager
def wicked():
    server = Wicked()
    try:
        yield server
    finally:
        server.end()


def whole(data, *fields):
    return PLAIN + b"".join(field + b"\r\n" for field in fields) + b"Content-Length: %d\r\n\r\n" % len(data) + data


def chunked(data, end=b"0\r\n\r\n"):
    return PLAIN + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n" % len(data) + data + b"\r\n" + end


def endless(piece, seconds=60):
    """Sends without end, as fast as it is taken."""
    def answer(connection, head):
        connection.sendall(PLAIN + b"Transfer-Encoding: chunked\r\n\r\n")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            connection.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n")
    return answer


def slowly(data, pause, size=1, length=None):
    def answer(connection, head):
        connection.sendall(PLAIN + b"Content-Length: %d\r\n\r\n" % (length or len(data)))
        for start in range(0, len(data), size):
            connection.sendall(data[start:start + size])
            time.sleep(pause)
    return answer


def silent(connection, head):
    time.sleep(30)


def leads(to, code=302):
    return f"HTTP/1.1 {code} Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode("utf-8", "surrogateescape")


def bad_servers(torture):
    torture.begin("feeds of bad servers", "refused with its own code in time, the store as it was, nothing left; what is right all the same is imported")
    folder = torture.folder("urls")
    place = torture.folder("urls-tmp")
    feed = FORMATS["json"](items(30, 1))
    store = folder / "urls.db"
    torture.must("import", MAP, write(torture.shared("feeds"), 20, 2), "-d", store, "-q")
    before = contents(store)
    secret = folder / "secret.json"
    secret.write_bytes(feed)
    bomb = gzip.compress(b'{"items": [' + b" " * (1 << 28) + b"]}", 6)
    with wicked() as server, wicked() as other:
        other.answers["/inner"] = whole(feed)
        # A code that a case ends with; 0: it is imported.
        cases = {
            "half of it": (whole(feed)[:-200], {69}), "a length too short": (PLAIN + b"Content-Length: 100\r\n\r\n" + feed, {65}),
            "a length too long": (PLAIN + b"Content-Length: 9999999\r\n\r\n" + feed, {69}), "no length": (PLAIN + b"\r\n" + feed, {69}),
            "a length of 31 digits": (PLAIN + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n" + feed, {69}),
            "a length of -1": (PLAIN + b"Content-Length: -1\r\n\r\n" + feed, {69}),
            "two lengths": (PLAIN + b"Content-Length: 10\r\nContent-Length: 20\r\n\r\n" + feed, {65, 69}),
            "length and chunks": (PLAIN + b"Content-Length: 10\r\n" + chunked(feed)[len(PLAIN):], {0, 65, 69}),
            "chunks that break off": (chunked(feed, b""), {69}), "a chunk of no number": (PLAIN + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + feed, {69}),
            "a chunk of 18 digits": (PLAIN + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n" + feed, {69}),
            "nothing": (b"", {69}), "no HTTP": (feed, {69, 65}), "HTTP/0.9": (b"<html>", {69, 65}), "an old HTTP": (b"HTTP/1.0 200 OK\r\n\r\n" + feed, {69}),
            "a head without end": (lambda connection, head: [connection.sendall(b"X: " + b"y" * 65000 + b"\r\n") for _ in range(2000)], {69}),
            "100,000 fields": (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000 + whole(feed)[17:], {0, 69}),
            "200 and empty": (whole(b""), {65}), "204": (b"HTTP/1.1 204 No Content\r\n\r\n", {65, 69}), "304 unasked": (b"HTTP/1.1 304 Not Modified\r\n\r\n", {69}),
            "206 unasked": (whole(feed).replace(b"200 OK", b"206 Partial Content"), {0, 69}), "an HTML page": (whole(b"<!DOCTYPE html><html><body>login</body></html>"), {65}),
            "401": (whole(feed).replace(b"200 OK", b"401 No"), {77}), "404": (whole(feed).replace(b"200 OK", b"404 No"), {66}),
            "410": (whole(feed).replace(b"200 OK", b"410 No"), {66}), "418": (whole(feed).replace(b"200 OK", b"418 No"), {69}), "999": (whole(feed).replace(b"200 OK", b"999 No"), {69}),
            "503 for ever": (whole(feed).replace(b"200 OK", b"503 No"), {69}), "503, asked to wait a year": (whole(feed, b"Retry-After: 31536000").replace(b"200 OK", b"503 No"), {69}),
            "503, asked to wait -5 s": (whole(feed, b"Retry-After: -5").replace(b"200 OK", b"503 No"), {69}),
            "503, asked to wait until 1969": (whole(feed, b"Retry-After: Sun, 20 Jul 1969 20:17:40 GMT").replace(b"200 OK", b"503 No"), {69}),
            "says gzip, and is not": (whole(feed, b"Content-Encoding: gzip"), {0, 65, 69}), "says br": (whole(feed, b"Content-Encoding: br"), {0, 65, 69}),
            "a gzip bomb": (whole(bomb), {65}), "a gzip bomb as encoding": (whole(bomb, b"Content-Encoding: gzip"), {65, 69}),
            "half a gzip": (whole(gzip.compress(feed)[:-30]), {65}), "gzip": (whole(gzip.compress(feed)), {0}),
            "UTF-16": (whole(feed.decode().encode("utf-16")), {0}), "UTF-16 that says UTF-8": (whole(feed.decode().encode("utf-16-le"), b"X: charset=utf-8"), {65}),
            "Latin-1": (whole(feed.decode().encode("latin-1", "replace").replace(b"?", b"\xe9")), {65}),
            "endless white space": (endless(b" " * 65536), {65, 69}), "silence": (silent, {69}), "a byte and silence": (slowly(feed[:1], 30, length=len(feed)), {69}),
            "chunked": (chunked(feed), {0}), "slow, but coming": (slowly(feed, 0.02, 400), {0}),
            "to a file": (leads(f"file://{secret}"), {65, 69}), "to a file, 307": (leads(f"file://{secret}", 307), {65, 69}), "to gopher": (leads("gopher://127.0.0.1:70/x"), {65, 69}),
            "to ftp": (leads("ftp://127.0.0.1/x"), {65, 69}), "to itself": (leads("LOOP"), {69}), "to nothing": (leads(""), {0, 65, 69}), "to a page without a server": (leads("http:///x"), {65, 69}),
            "to a private network": (leads("http://10.255.255.1:9/x"), {65, 69}), "to a link-local address": (leads("http://169.254.169.254/latest/meta-data"), {65, 69}),
            "to a line break": (leads("/x%0d%0aSet-Cookie:x"), {66, 69}), "to another port": (leads(other.address("/inner")), {0}),
        }
        for name, (answer, codes) in cases.items():
            path = "/" + name.replace(" ", "-").replace(",", "")
            if answer == leads("LOOP"):
                answer = leads(path)
            server.answers[path] = answer
            target = folder / "case.db"
            remove(target)
            target.write_bytes(store.read_bytes())
            outcome = torture.run(
                "import", MAP, server.address(path), "-d", target, "--timeout", 2, "--retries", 1, "--max-bytes", "8M", timeout=60,
                env={**os.environ, "TMPDIR": str(place)},
            )
            codes = {0, 3} | codes - {0} if 0 in codes else codes
            torture.check(not outcome.is_crash and outcome.code in codes, f"{name}: exit {outcome.code}", outcome.text)
            torture.check(outcome.seconds < 20, f"{name}: {outcome.seconds:.1f} s")
            torture.check(outcome.peak < 200 << 20, f"{name}: {outcome.peak >> 20} MB")
            torture.check(not faults(target) and (outcome.code in (0, 3) or contents(target) == before), f"{name}: contents")
            torture.check(not list(place.iterdir()), f"{name}: left {list(place.iterdir())}")
            torture.check("\x1b" not in outcome.text, f"{name}: an escape sequence in what is printed")
    torture.end()


def secrets(torture):
    torture.begin("secrets of feeds of the web", "header fields go to the server of the URL only; no message and no history shows them or a password")
    folder = torture.folder("secrets")
    store = folder / "secret.db"
    feed = FORMATS["json"](items(5, 1))
    env = {**os.environ, "API_TOKEN": "Bearer hunter2hunter2", "TMPDIR": str(folder)}
    with wicked() as server, wicked() as other:
        other.answers["/there"] = whole(feed)
        server.answers["/here"] = whole(feed)
        server.answers["/away"] = leads(other.address("/there"))
        server.answers["/no"] = whole(feed).replace(b"200 OK", b"500 No")
        for path in ("/here", "/away", "/no"):
            address = server.address(path).replace("http://", "http://anna:swordfish@") + "?token=tok3ntok3n&page=1#frag"
            outcome = torture.run("import", MAP, address, "-d", store, "--header", "Authorization=API_TOKEN", "--header", "X-Key=API_TOKEN", "--retries", 0, "-v", env=env)
            said = outcome.text + torture.run("history", "-d", store, "--json").text + (store.read_bytes().decode("latin-1") if store.exists() else "")
            for word in ("hunter2", "swordfish", "tok3n"):
                torture.check(word not in said, f"{path}: {word} is told", outcome.text)
        torture.check(all(b"hunter2" not in head and b"swordfish" not in head for _, head in other.asked) and other.asked, "another server got the fields")
        torture.check(any(b"hunter2" in head for _, head in server.asked), "the server got none")
        for wrong in ("Bad\r\nX: y=API_TOKEN", "=API_TOKEN", "Host=NOTHING", "Content-Length=API_TOKEN"):
            outcome = torture.run("import", MAP, server.address("/here"), "-d", store, "--header", wrong, env=env)
            torture.check(outcome.code in (0, 64, 65, 69) and not outcome.is_crash, f"--header {wrong!r}: exit {outcome.code}", outcome.text)
    torture.end()


def versions(torture):
    chance = torture.begin("versions of feeds of the web", "304 only where nothing has changed; behind undo, delete and other maps it is imported again; a wrong 304 loses nothing silently")
    folder = torture.folder("versions")
    store, other = folder / "version.db", folder / "other.map.yaml"
    other.write_text(MAP.read_text().replace("      note:    note", "      remark:  note"))
    state = {"data": b"", "tag": '"1"'}

    def answer(connection, head):
        if f"if-none-match: {state['tag']}".encode() in head.lower():
            connection.sendall(f"HTTP/1.1 304 Not Modified\r\nETag: {state['tag']}\r\nConnection: close\r\n\r\n".encode())
        else:
            connection.sendall(whole(state["data"], f"ETag: {state['tag']}".encode()))

    with wicked() as server:
        server.answers["/feed.json"] = answer
        for number in torture.cases(6, 200):
            remove(store)
            plain = folder / "plain.db"
            remove(plain)
            plan = MAP
            tag = 0
            for step in range(torture.times(8, 20)):
                what = chance.choice(["again", "again", "new", "undo", "delete", "map", "refetch", "local"]) if step else "new"
                if what == "new":
                    tag += 1
                    state.update(data=FORMATS["json"](items(20, number * 100 + tag)), tag=f'"{number}-{tag}"')
                feed = folder / "feed.json"
                feed.write_bytes(state["data"])
                if what == "undo":
                    torture.run("undo", "-d", store, "-q")
                elif what == "delete":
                    for each in (store, plain):
                        torture.run("delete", "Item", "-d", each, "--where", "price > 50000", "--yes", "-q")
                elif what == "local":
                    path = write(torture.shared("feeds"), 20, 700 + chance.randrange(9))
                    for each in (store, plain):
                        torture.run("import", plan, path, "-d", each, "-q")
                else:
                    plan = chance.choice([MAP, other]) if what == "map" else plan
                    options = ["--refetch"] if what == "refetch" else []
                    outcome = torture.run("import", plan, server.address("/feed.json"), "-d", store, "-q", *options)
                    torture.check(outcome.code in (0, 3), f"case {number}, step {step} ({what}): exit {outcome.code}", outcome.text)
                    torture.run("import", plan, feed, "-d", plain, "-q")
                if what == "undo":
                    # What was unchanged has a line of its own in the history: which import is the last one differs. Begin anew.
                    break
                torture.check(contents(store) == contents(plain), f"case {number}, step {step} ({what}): not what the same feed from a file gives")
    torture.end()


def pages(torture):
    torture.begin("feeds in pages", "loops, pages of other servers, without end and broken ones end the import with the store as it was")
    folder = torture.folder("pages")
    plan = folder / "pages.map.yaml"
    plan.write_text(
        "version: 1\nname: pages\nentities:\n  Thing: { unique: id, attributes: { id: id } }\n"
        "sources: { things: { format: json, entity: Thing, records: data, pages: { next: /links/next } } }\n"
    )
    store = folder / "pages.db"
    with wicked() as server, wicked() as other:
        def page(number, following):
            return whole(json.dumps({"data": [{"id": f"{number}"}], "links": {"next": following}}).encode())

        count = [0]

        def without_end(connection, head):
            count[0] += 1
            connection.sendall(page(count[0], server.address(f"/endless?{count[0]}")))

        other.answers["/2"] = page(2, None)
        server.answers.update({
            "/good": page(1, "/good2"), "/good2": page(2, None), "/loop": page(1, "/loop2"), "/loop2": page(2, "/loop"), "/self": page(1, "/self"), "/away": page(1, other.address("/2")),
            "/file": page(1, "file:///etc/passwd"), "/broken": page(1, "/broken2"), "/broken2": whole(b'{"data": [{"id": "2"}, '), "/gone": page(1, "/nothing"),
            "/list": page(1, ["x"]), "/object": page(1, {"a": 1}), "/true": page(1, True), "/empty": page(1, ""), "/no": page(1, False), "/number": page(1, 7),
            "/endless": without_end, "/long": page(1, "/" + "x" * 200_000), "/strange": page(1, "/a b\r\nc\u0000"),
        })
        for path in [path for path in server.answers if not path.endswith("2")]:
            remove(store)
            outcome = torture.run("import", plan, server.address(path), "-d", store, "--retries", 0, "--timeout", 5, timeout=120)
            is_good = path in ("/good", "/empty", "/no")
            torture.check(not outcome.is_crash, f"{path}: exit {outcome.code}", outcome.text)
            torture.check((outcome.code == 0) == is_good, f"{path}: exit {outcome.code}", outcome.text)
            torture.check(len(contents(store).get("Thing", [])) == {"/good": 2, "/empty": 1, "/no": 1}.get(path, 0), f"{path}: contents")
        torture.check(count[0] <= 10_001, f"{count[0]} pages")
    torture.end()


TESTS = [bad_servers, secrets, versions, pages]
