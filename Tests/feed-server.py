"""A server of feeds on loopback, for the tests: https with a certificate of its own, or http.

    server.py FOLDER [--tls]

Prints its port. Answers by path; every request is written to FOLDER/requests as a line of JSON.
"""
import gzip
import http.server
import json
import ssl
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

folder = Path(sys.argv[1])
seen: dict[str, int] = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status: int, body: bytes = b"", **fields: str) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        self.answer(407, b"who are you?")

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        with open(folder / "requests", "a") as log:
            log.write(json.dumps({"path": self.path, "fields": dict(self.headers)}) + "\n")
        count = seen[parts.path] = seen.get(parts.path, 0) + 1
        name = parts.path.strip("/")
        file = folder / name
        if name == "moved":
            self.answer(302, Location=query["to"][0])
        elif name == "circle":
            self.answer(302, Location="/circle")
        elif name == "busy":
            if count <= int(query.get("times", ["1"])[0]):
                self.answer(503, b"later", Retry_After=query.get("after", ["0"])[0])
            else:
                self.answer(200, b'[{"id":1,"name":"busy"}]')
        elif name == "broken":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'[{"id":1}')
            self.close_connection = True
        elif name == "hang":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.flush()
            time.sleep(30)
        elif name == "endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" " * 65536)
            except OSError:
                pass
            self.close_connection = True
        elif name == "unbounded":
            self.send_response(200)
            for length in query.get("length", []):
                self.send_header("Content-Length", length)
            self.end_headers()
            self.wfile.write(b'{"id":1,"name":"a"}\n')
            self.close_connection = True
        elif name == "tenant":
            self.answer(200, json.dumps([{"id": 1, "name": query["of"][0]}]).encode(), ETag='"one"')
        elif name == "odd":
            page = int(query.get("page", ["1"])[0])
            body = {"items": [{"id": page, "name": f"p{page}"}], "links": {"next": None}}
            if page == 1:
                body["links"]["next"] = json.loads(query["next"][0])
            self.answer(200, json.dumps(body).encode())
        elif name == "secret":
            good = self.headers.get("Authorization") == "Bearer s3cret"
            self.answer(200 if good else 401, b'[{"id":1,"name":"secret"}]' if good else b"no")
        elif name == "pages":
            page = int(query.get("page", ["1"])[0])
            body: dict = {"items": [{"id": page, "name": f"p{page}"}], "links": {"next": None}, "meta": {}}
            fields = {}
            if page < 3:
                body["links"]["next"] = f"/pages?page={page + 1}"
                body["meta"]["cursor"] = page + 1
                fields["Link"] = f'</pages?page=1>; rel="first", </pages?page={page + 1}>; rel="next"'
            self.answer(200, json.dumps(body).encode(), **fields)
        elif name.startswith("raw/"):
            # An answer as it stands in a file, head and all.
            self.wfile.write((folder / name[4:]).read_bytes())
            self.close_connection = True
        elif name == "packed":
            body = gzip.compress(gzip.compress(b'[{"id":1,"name":"packed"}]'))
            self.answer(200, body, Content_Encoding="gzip")
        elif name == "round":
            self.answer(200, b'{"items":[{"id":1,"name":"r"}],"links":{"next":"/round"}}')
        elif name == "away":
            self.answer(200, b'{"items":[{"id":1,"name":"a"}],"links":{"next":"https://127.0.0.2:1/x"}}')
        elif file.is_file():
            body = file.read_bytes()
            tag = f'"{len(body)}-{sum(body)}"'
            if self.headers.get("If-None-Match") == tag:
                self.answer(304, ETag=tag)
            else:
                self.answer(200, body, ETag=tag)
        else:
            self.answer(404, b"nothing here")

    def log_message(self, *arguments: object) -> None:
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if "--tls" in sys.argv:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", folder / "key.pem", "-out", folder / "ca.pem"],
        check=True, stderr=subprocess.DEVNULL,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
