"""A browser, driven by the protocol WebDriver (https://www.w3.org/TR/webdriver2/) over plain HTTP."""
import base64
import json
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"tab": "\ue004", "enter": "\ue007", "down": "\ue015", "escape": "\ue00c", "shift": "\ue008"}


class Fault(Exception):
    """What the browser, or a check, has to say."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Driver:
    """chromedriver; ends with the block that it is used in."""

    def __enter__(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            ["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(100):
            try:
                if self.ask("GET", "/status")["ready"]:
                    return self
            except (OSError, Fault):
                time.sleep(0.1)
        raise Fault("chromedriver does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)

    def ask(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise Fault(f"{value['error']}: {value['message'].splitlines()[0]}") from None


class Browser:
    """One browser window; `dark`, `script` and the size are those of the person at it."""

    def __init__(self, driver, width=1280, height=900, dark=False, script=True):
        self.driver = driver
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     f"--window-size={width},{height}"]
                    + (["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []),
            "prefs": {} if script else {"profile.managed_default_content_settings.javascript": 2},
        }
        session = driver.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}})
        self.path = f"/session/{session['sessionId']}"
        # Headless windows are not narrower than 500 pixels by themselves.
        self.cdp("Emulation.setDeviceMetricsOverride",
                 width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.ask("DELETE", self.path)

    def ask(self, method, path, body=None):
        return self.driver.ask(method, self.path + path, body)

    def cdp(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, address):
        self.ask("POST", "/url", {"url": address})

    @property
    def address(self):
        return self.ask("GET", "/url")

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def find_all(self, selector):
        return [found[ELEMENT] for found in
                self.ask("POST", "/elements", {"using": "css selector", "value": selector})]

    def text(self, selector):
        return self.ask("GET", f"/element/{self.find(selector)}/text")

    def click(self, selector):
        self.ask("POST", f"/element/{self.find(selector)}/click")

    def type(self, selector, text):
        self.ask("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def clear(self, selector):
        self.ask("POST", f"/element/{self.find(selector)}/clear")

    def press(self, *keys):
        """Presses keys one after the other, at whatever has the focus."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def wait(self, what, check, seconds=20):
        end = time.time() + seconds
        while time.time() < end:
            try:
                if check():
                    return
            except Fault:
                pass
            time.sleep(0.1)
        raise Fault(f"{what}: not within {seconds} seconds, at {self.address}")

    def screenshot(self, file):
        """The whole page, as long as it is, up to 2,600 pixels."""
        height = min(2600, max(400, self.run("return document.documentElement.scrollHeight") or 900))
        width = self.run("return innerWidth") or 1280
        shot = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        pathlib.Path(file).write_bytes(base64.b64decode(shot["data"]))

    def complaints(self, home):
        """What the console complained of, and requests to anywhere but `home`, since the last call."""
        found = [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})
                 if entry["level"] in ("SEVERE", "WARNING")]
        for entry in self.ask("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] != "Network.requestWillBeSent":
                continue
            address = message["params"]["request"]["url"]
            if not address.startswith((home, "data:", "about:", "chrome:", "chrome-extension:")):
                found.append(f"a request to {address}")
        return found
