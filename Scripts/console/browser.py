#!/usr/bin/env python3
"""Visits the console in a real browser, as people do, and fails where it complains.

    Scripts/console/browser.py --tool .build/debug/dragoman [--shots FOLDER]

Each page, wide and narrow, light and dark; each form, with the keyboard alone, and without JavaScript. Fails for
errors in the browser's console, for requests to anywhere else, for pages that are wider than the window, for texts
of too little contrast and for fields without a label. Wants Debian's chromium and chromium-driver
(Scripts/setup.sh --browser); ends with 0 and says so where they are not there.
"""
import argparse
import contextlib
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from webdriver import Browser, Driver, Fault  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = "browserbrowserbrowser"
checks = 0


def check(is_true, what):
    global checks
    checks += 1
    if not is_true:
        raise Fault(what)


@contextlib.contextmanager
def serving(tool, folder, *options):
    """The console over a database of the sample feeds."""
    process = subprocess.Popen(
        [tool, "serve", "-d", folder / "demo.db", "--port", "0", "--token", TOKEN, *options],
        stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        check(process.wait(20) == 0, "the console does not end cleanly")


def prepare(tool, folder):
    def imports(name, feed, *options):
        status = subprocess.run([tool, "import", f"Maps/{name}.map.yaml", f"SampleData/{feed}",
                                 "-d", folder / "demo.db", "-q", *options], cwd=ROOT).returncode
        check(status in (0, 3), f"importing {feed} ended with {status}")

    imports("people", "people.json")
    imports("people", "people-partial.json")
    imports("orders", "orders.json")
    imports("stations", "stations.csv")
    imports("stock", "stock-dirty.ndjson", "--rejects", folder / "rejects.ndjson")
    (folder / "figures.map.yaml").write_text(
        "version: 1\nentities:\n  Figure: { unique: id, attributes: { id: { type: int32 }, amount: { type: decimal }, note: note } }\n"
        "sources: { figures: { format: json, entity: Figure, records: /figures } }\n")
    figures = ",".join(f'{{"id":{n},"amount":{n}2345678901234567890.123456789{n},"note":"x\\u0000"}}' for n in range(1, 9))
    (folder / "figures.json").write_text(f'{{"figures":[{figures}]}}')
    status = subprocess.run([tool, "import", folder / "figures.map.yaml", folder / "figures.json",
                             "-d", folder / "demo.db", "-q"]).returncode
    check(status == 0, f"importing figures ended with {status}")
    (folder / "bad.map.yaml").write_text("version: 1\nentities: { Person: { atributes: {} } }\n")
    people = [{"id": f"T-{number}", "name": {"last": "x"}} for number in range(3)]
    (folder / "none.json").write_text(json.dumps({"persons": people}))


PAGES = [
    "/", "/entities/Person", "/entities/Person?where=salary+%3E%3E+3", "/entities/Person?where=salary+%3E+1e9",
    "/entities/Person?sort=-salary&limit=5", "/entities/Order", "/entities/Person/profile", "/entities/Person/live",
    "/objects/Person/1", "/objects/Order/1", "/model", "/history", "/history/2", "/rejects", "/rejects/0/1", "/import",
    "/entities/Figure", "/entities/Figure/profile",
]
# WCAG 2.1, contrast (minimum): the colours of all texts against what is behind them; and labels of fields.
AUDIT = r"""
const faults = [];
const parse = (color) => {
  const parts = color.match(/[\d.]+/g).map(Number);
  return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
};
const light = (rgb) => {
  const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const color = parse(getComputedStyle(e).backgroundColor);
    if (color.alpha > 0.99) return color.rgb;
  }
  return [255, 255, 255];
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, element = node.parentElement;
  if (!node.textContent.trim() || element.closest("svg, script, noscript, .skip, .hidden, :disabled")) continue;
  if (!element.getClientRects().length) continue;
  const style = getComputedStyle(element);
  const [a, b] = [light(parse(style.color).rgb), light(ground(element))].sort((x, y) => y - x);
  const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < (large ? 3 : 4.5)) faults.push(`contrast ${ratio.toFixed(2)}: ${node.textContent.trim().slice(0, 40)}`);
}
for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
  if (!field.labels.length && !field.getAttribute("aria-label")) faults.push(`no label: ${field.name}`);
}
for (const link of document.querySelectorAll("a, button")) {
  if (!link.textContent.trim() && !link.getAttribute("aria-label")) faults.push(`no text: ${link.outerHTML.slice(0, 80)}`);
}
for (const image of document.querySelectorAll("svg[role=img]")) {
  if (!image.getAttribute("aria-label")) faults.push("a drawing without a label");
}
if (document.querySelectorAll("h1").length !== 1) faults.push("not one heading of the page");
// What is long stays in its card, and what is wrong with a record is seen without scrolling.
for (const card of document.querySelectorAll(".card")) {
  if (card.scrollWidth > card.clientWidth + 1) faults.push(`a card's text is ${card.scrollWidth - card.clientWidth} pixels too wide: ${card.textContent.trim().slice(0, 40)}`);
}
for (const cell of document.querySelectorAll("td.message")) {
  const place = cell.getBoundingClientRect();
  if (place.right > innerWidth || place.height > 260) faults.push(`a message is out of sight: ${cell.textContent.slice(0, 40)}`);
}
for (const table of document.querySelectorAll("table.runs")) {
  if (innerWidth >= 1200 && table.scrollWidth > table.parentElement.clientWidth) faults.push("the list of imports is wider than its place");
}
for (const item of document.querySelectorAll(".legend li:is(.updated, .deleted, .rejected)")) {
  if (getComputedStyle(item, "::before").backgroundImage === "none") faults.push(`no pattern of ${item.textContent} in the legend`);
}
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
if (new Set(ids).size !== ids.length) faults.push("an id twice");
return faults;
"""


def look(driver, address, home, shots):
    """Each page, in each of the four ways it is looked at."""
    for name, options in {"wide": {}, "dark": {"dark": True}, "narrow": {"width": 360, "height": 740},
                          "narrow-dark": {"width": 360, "height": 740, "dark": True}}.items():
        with Browser(driver, **options) as browser:
            browser.open(address)
            check("token" not in browser.address, "the token stays in the address")
            for page in PAGES:
                browser.open(home + page)
                check(browser.text("h1") not in ("", "That did not work"), f"{page}: {browser.text('main')}")
                faults = browser.run(AUDIT)
                check(not faults, f"{page}, {name}: {faults}")
                over = browser.run("return document.documentElement.scrollWidth - innerWidth")
                check(over <= 0, f"{page}, {name}: {over} pixels wider than the window")
                if shots:
                    file = urllib.parse.quote(page.strip("/"), safe="").replace("%", "_") or "overview"
                    browser.screenshot(shots / f"{name}-{file[:60]}.png")
            # A page with a faulty predicate is no page that was found.
            found = [line for line in browser.complaints(home) if "status of 400" not in line]
            check(not found, f"{name}: {found}")


def query(browser, home):
    """The predicate box: completion, a fault with its mark, columns, order, pages."""
    browser.open(home + "/entities/Person")
    browser.type("#where", "sal")
    browser.wait("completion", lambda: browser.run("return !document.getElementById('names').hidden"))
    browser.press("down", "enter")
    check(browser.run("return document.getElementById('where').value") == "salary", "a name is not completed")
    browser.type("#where", " > 120000")
    browser.press("enter")
    browser.wait("rows", lambda: "where=" in browser.address)
    check(len(browser.find_all("table.rows tbody tr")) == 4, "the predicate does not choose")
    browser.open(home + "/entities/Person?where=" + urllib.parse.quote("salary > > 3"))
    check(browser.text(".caret mark") == ">", "the fault is not marked")
    browser.open(home + "/entities/Person")
    browser.click("thead th:nth-child(6) a")
    browser.wait("an order", lambda: "sort=salary" in browser.address)
    first = browser.text("table.rows tbody tr:first-child td:nth-child(2)")
    browser.click("thead th:nth-child(6) a")
    browser.wait("the other order", lambda: "sort=-salary" in browser.address)
    check(browser.text("table.rows tbody tr:first-child td:nth-child(2)") != first, "the order does not turn")
    check(browser.run("return document.querySelector('[aria-sort=descending] a') !== null"), "no order is told")
    browser.open(home + "/entities/Person?limit=5&sort=lastName")
    browser.click("a[rel=next]")
    browser.wait("the next page", lambda: "after=" in browser.address)
    browser.click("table.rows tbody tr:first-child .open a")
    browser.wait("an object", lambda: "/objects/Person/" in browser.address)


def keyboard(browser, home):
    """Everything can be reached with the tab key, in the order of the page, and the place is seen."""
    browser.open(home + "/entities/Person")
    seen = []
    for _ in range(14):
        browser.press("tab")
        seen.append(browser.run(
            "const e = document.activeElement; return [e.textContent.trim() || e.name || '',"
            " getComputedStyle(e).outlineStyle]"))
    names = [name for name, _ in seen]
    check(names[0] == "Skip to the content", f"the first place is {names[0]}")
    check({"Overview", "History", "Profile", "where", "Show"} <= set(names), f"reached: {names}")
    check(all(outline != "none" for _, outline in seen), f"a place cannot be seen: {seen}")
    check(names.index("Overview") < names.index("where") < names.index("Show"), f"in what order: {names}")


def imports(browser, home, folder, has_script=True):
    """An import from the form to the history, and back."""
    browser.open(home + "/import")
    browser.type("#file", str(ROOT / "SampleData/people.ndjson"))
    browser.click("main button[type=submit]")
    browser.wait("the check", lambda: "What the map reads of it" in browser.text("main"))
    check("12" in browser.text(".numbers"), "the check counts no records")
    browser.click("form[action$='/try'] button")
    browser.wait("the trial's changes", lambda: browser.find_all(".change.updated"))
    browser.click("form[action$='/run'] button")
    browser.wait("the end", lambda: "It is in the database" in browser.text("main"))
    browser.click(".actions a[href^='/history/']")
    browser.wait("the history", lambda: "/history/" in browser.address)
    run = browser.address
    browser.click("form[action$='/undo'] button")
    browser.wait("the question", lambda: "back?" in browser.text("h1"))
    browser.click("main form button.danger")
    browser.wait("the ledger", lambda: browser.address.endswith("/history"))
    browser.open(run)
    check(browser.text(".status") == "undone", "the import is not taken back")
    # A feed that does not fit, and none at all.
    browser.open(home + "/import")
    browser.type("#path", str(folder / "none.json"))
    browser.click("main button[type=submit]")
    browser.wait("the failure", lambda: "did not work" in browser.text("main"))
    check(browser.text(".fault"), "the failure is not told")
    browser.open(home + "/import")
    browser.click("main button[type=submit]")
    browser.wait("the refusal", lambda: "Which feed?" in browser.text("main"))


def rejects(browser, home):
    """A reject is mended with the page's form."""
    browser.open(home + "/rejects")
    before = len(browser.find_all("main td a"))
    browser.open(home + "/rejects/0/1")
    check("31/13/2026" in browser.text("mark"), "the value is not marked")
    record = browser.run("return document.getElementById('record').value")
    browser.clear("#record")
    browser.type("#record", record.replace("31/13/2026", "31.12.2026").replace("\n", " "))
    browser.click("main form button")
    browser.wait("the list", lambda: browser.address.endswith("/rejects"))
    check(len(browser.find_all("main td a")) == before - 1, "the mended record is still listed")


def live(browser, home, tool, folder):
    """A live page shows what another process imports."""
    browser.open(home + "/entities/Person/live?sort=-ticketNumber")
    browser.wait("the connection", lambda: browser.text("#live-state") == "live")
    people = [{"ticket_number": f"T-9{number:03}", "name": {"first": "L", "last": f"Live {number}"}}
              for number in range(1000)]
    (folder / "live.json").write_text(json.dumps({"people": people}))
    subprocess.run([tool, "import", ROOT / "Maps/people.map.yaml", folder / "live.json", "-d", folder / "demo.db", "-q"],
                   check=True)
    browser.wait("the new rows", lambda: "Live 999" in browser.text("#live tbody"))
    check(browser.find_all("#live tr.came"), "rows that come are not shown as new")
    check(len(browser.find_all("#live tbody tr")) == 50, "not a page of rows")
    browser.run("document.querySelector('#live tbody tr').mark = 1; document.querySelector('#live tbody tr a').focus()")
    (folder / "live.json").write_text(json.dumps({"people": [dict(people[-1], salary=4321)]}))
    subprocess.run([tool, "import", ROOT / "Maps/people.map.yaml", folder / "live.json", "-d", folder / "demo.db", "-q"],
                   check=True)
    browser.wait("the new value", lambda: "4321" in browser.text("#live tbody tr").replace(",", ""))
    check(browser.run("return document.querySelector('#live tbody tr').mark") == 1, "a row that changed is another one")
    check(browser.run("return document.activeElement.closest('tr')?.mark") == 1, "the focus went with a value")
    changed = browser.find_all("#live td.changed")
    check(0 < len(changed) < 4, f"{len(changed)} cells are shown as changed")


def stranger(browser, address, home):
    """A page of another origin can neither read nor write here."""
    browser.open(address)
    browser.open(home.replace("127.0.0.1", "localhost") + "/entities/Person")
    check("knows" in browser.text("main") or "know" in browser.text("main"), "another name has the cookie")
    browser.open("data:text/html,<title>x</title><h1>stranger</h1>")
    told = browser.run(
        "const ask = (mode) => fetch(arguments[0] + '/entities/Person.json', {credentials: 'include', mode})"
        ".then((r) => r.text(), (e) => 'refused');"
        "return Promise.all([ask('cors'), ask('no-cors')]).then((t) => t.join('|'))", home)
    check("ticketNumber" not in told, f"a stranger reads: {told[:80]}")
    browser.ask("POST", "/se/log", {"type": "browser"})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / ".build/debug/dragoman")
    parser.add_argument("--shots", type=pathlib.Path, help="a folder for a picture of each page")
    arguments = parser.parse_args()
    # What is ignored here, as in the background of a script, the console ignores, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not shutil.which("chromedriver"):
        print("browser: there is no chromedriver (Scripts/setup.sh --browser installs it); nothing was visited")
        return 0
    tool = arguments.tool.resolve()
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, Driver() as driver:
        folder = pathlib.Path(name)
        prepare(tool, folder)
        options = ["--allow-import", "--rejects", folder / "rejects.ndjson"]
        for path in [ROOT / "Maps/people.map.yaml", ROOT / "Maps/stock.map.yaml", folder / "bad.map.yaml"]:
            options += ["--map", path]
        with serving(tool, folder, *options) as address:
            home = address.split("/?")[0]
            try:
                look(driver, address, home, arguments.shots)
                with Browser(driver) as browser:
                    browser.open(address)
                    query(browser, home)
                    keyboard(browser, home)
                    imports(browser, home, folder)
                    rejects(browser, home)
                    live(browser, home, tool, folder)
                    found = [line for line in browser.complaints(home) if "status of 400" not in line]
                    check(not found, f"{found}")
                    stranger(browser, address, home)
                with Browser(driver, script=False) as browser:
                    browser.open(address)
                    check(not browser.find_all("#names"), "the script runs though it must not")
                    imports(browser, home, folder, has_script=False)
            except Fault as fault:
                print(f"browser: {fault}", file=sys.stderr)
                return 1
    print(f"{checks} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
