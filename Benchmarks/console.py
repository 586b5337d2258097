"""`dragoman serve` over a million people, as a browser's connection finds it: Scripts/bench.sh --console.

Milliseconds from the request until the first byte and until the last one, over one connection on loopback. Cities, salaries
and last names have an index. The pages far behind begin behind a place in the middle of their order.
"""

import http.client
import json
import re
import statistics
import subprocess
import sys
import threading
import time
from urllib.parse import urlencode

from measuring import HERE, WORK, fill, importing, measure, people_feed, query, remove, say, verdict

PAGES = [
    # predicate, order
    ("", ""),
    ("", "ticketNumber"),
    ("", "-ticketNumber"),
    ("", "city"),
    ("", "-city"),
    ("", "-salary"),
    ("", "lastName"),
    ('city == "PLACE"', ""),
    ('lastName BEGINSWITH "PLACE"', "lastName"),
    ("salary BETWEEN {PLACE, 1e9}", "salary"),
    ("city == nil", "-ticketNumber"),
    ("city == nil", "-city"),
    ('city == "PLACE"', "-salary"),
    ("salary > 1e9", ""),
    ("salary > 0", "-lastName"),
]


class Browser:
    def __init__(self, address):
        host, self.token = re.fullmatch(r"http://(.*)/\?token=(.*)\n", address).groups()
        self.host, self.cookie = host, ""
        self.connection = http.client.HTTPConnection(host, timeout=600)
        answer, _ = self.ask("GET", "/?token=" + self.token)
        self.cookie = answer.getheader("Set-Cookie").split(";")[0]

    def another(self):
        """A connection of its own with the same cookie."""
        other = object.__new__(Browser)
        other.host, other.cookie = self.host, self.cookie
        other.connection = http.client.HTTPConnection(self.host, timeout=600)
        return other

    def ask(self, method, path):
        self.connection.request(method, path, headers={"Cookie": self.cookie})
        answer = self.connection.getresponse()
        return answer, answer.read()

    def timed(self, path):
        """Milliseconds to the first and to the last byte, and the body."""
        start = time.perf_counter()
        self.connection.request("GET", path, headers={"Cookie": self.cookie})
        answer = self.connection.getresponse()
        first = time.perf_counter()
        body = answer.read()
        end = time.perf_counter()
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status}\n{body.decode()[:2000]}")
        return (first - start) * 1000, (end - start) * 1000, body


def serving(tool, database):
    process = subprocess.Popen(
        [tool, "serve", "-d", database, "--map", WORK / "console.map.yaml", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    return process, Browser(process.stdout.readline())


def address(predicate, sort, after=""):
    return "/entities/Person?" + urlencode({"where": predicate, "sort": sort, "after": after, "limit": 50})


def middle(browser, sort):
    """A place far behind: that of the middle row in the order of a key with an index."""
    key = sort.lstrip("-") or "ticketNumber"
    relation = "<=" if sort.startswith("-") else ">="
    predicate = f"{key} {relation} {MIDDLE[key]}" if sort else ""
    page = json.loads(browser.timed(address(predicate, sort).replace("Person?", "Person.json?"))[2])
    return page["next"]


MIDDLE = {}


def run(options, tool):
    database = WORK / "console.db"
    remove(database)
    feed = people_feed(options.records, "json")
    text = (HERE / "people.map.yaml").read_text()
    text = text.replace("lastName:             last_name", "lastName:             { from: last_name, index: true }")
    text = text.replace("{ from: salary, type: double }", "{ from: salary, type: double, index: true }")
    text = text.replace("xml: address/city } }", "xml: address/city }, index: true }")
    (WORK / "console.map.yaml").write_text(text)
    ours = [WORK / "console.map.yaml" if part == HERE / "people.map.yaml" else part for part in importing(tool, "people.map.yaml")]
    say("importing")
    measure(fill(ours, feed, database))
    half = options.records // 2
    for key in ("ticketNumber", "city", "salary", "lastName"):
        value = query(f"SELECT {key} FROM Person WHERE {key} IS NOT NULL ORDER BY {key} LIMIT 1 OFFSET {half // 2}", database)
        MIDDLE[key] = value if key == "salary" else f'"{value}"'
    print(f"The console over {options.records:,} people, medians of {options.runs} servers, milliseconds\n")
    first, later, pages, far = [], [], {page: [] for page in PAGES}, {page: [] for page in PAGES}
    for number in range(options.runs):
        say(f"server {number + 1} of {options.runs}: pages")
        process, browser = serving(tool, database)
        first.append(browser.timed("/")[0])
        while b"data-count" in browser.timed("/")[2]:
            time.sleep(0.1)
        later.append(statistics.median(browser.timed("/")[0] for _ in range(20)))
        for predicate, sort in PAGES:
            value = MIDDLE.get("city" if "city" in predicate else "lastName" if "lastName" in predicate else "salary", "")
            filled = predicate.replace('"PLACE"', value).replace("PLACE", value)
            pages[predicate, sort].append(statistics.median(browser.timed(address(filled, sort))[1] for _ in range(5)))
            if not predicate and sort:
                after = middle(browser, sort)
                far[predicate, sort].append(statistics.median(browser.timed(address("", sort, after))[1] for _ in range(5)))
        process.terminate()
        process.wait()
    print("| | ms | at most | kept |\n|---|--:|--:|---|")
    print(f"| overview, first request of the server, first byte | {verdict(statistics.median(first), 30)} |")
    print(f"| overview, later, first byte | {verdict(statistics.median(later), 30)} |")
    for page in PAGES:
        name = " ".join(filter(None, [f"where `{page[0]}`" if page[0] else "", f"sort `{page[1]}`" if page[1] else ""])) or "as stored"
        print(f"| entity page, {name} | {verdict(statistics.median(pages[page]), 50)} |")
        if far[page]:
            print(f"| … from the middle on | {verdict(statistics.median(far[page]), 50)} |")
    say("a profile")
    process, browser = serving(tool, database)
    browser.timed("/entities/Person")
    profile = {}

    def look():
        profile["times"] = browser.another().timed("/entities/Person/profile")

    thread = threading.Thread(target=look)
    thread.start()
    beside = []
    while thread.is_alive():
        beside.append(browser.timed("/entities/Person?sort=city")[1])
        time.sleep(0.05)
    print(f"| profile of all attributes, first byte | {verdict(profile['times'][0], 30)} |")
    print(f"| … whole | {profile['times'][1]:.0f} | | |")
    print(f"| … an entity page beside it, median | {verdict(statistics.median(beside), 50)} |")
    print(f"| … the slowest of {len(beside)} | {max(beside):.0f} | | |")
    say("beside an import")
    importer = subprocess.Popen([str(part) for part in fill(ours, feed, database)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rounds = []
    while importer.poll() is None:
        times = []

        def one():
            times.append(browser.another().timed("/entities/Person?sort=city")[1])

        threads = [threading.Thread(target=one) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(times) < 50:
            sys.exit(f"{50 - len(times)} of 50 requests failed")
        rounds.append(times)
    times = [time for round in rounds for time in round]
    print(f"| 50 requests at once beside an import, median of {len(times)} | {statistics.median(times):.0f} | | |")
    print(f"| … the slowest | {max(times):.0f} | | |")
    process.terminate()
    status = process.wait()
    if status != 0 or importer.returncode != 0:
        sys.exit(f"the server ended with {status}, the import with {importer.returncode}")
    remove(database)
