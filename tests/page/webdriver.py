"""A small WebDriver client (W3C WebDriver, https://www.w3.org/TR/webdriver2/) with Python's standard library.
It starts chromedriver, opens headless Chromium, and clicks, types and reads like a person."""

import atexit
import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PATIENCE = float(os.environ.get("ATTN_PAGE_PATIENCE", 180))  # maximum seconds for any action on a slow machine
ATTEMPTS = 4  # attempts to start the driver
KEYS = {
    "Backspace": "\ue003", "Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004", "Space": " ", "Shift": "\ue008", "Control": "\ue009",
    "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015", "End": "\ue010", "Home": "\ue011",
    "PageUp": "\ue00e", "PageDown": "\ue00f",
}


class Missing(Exception):
    """Chromium or its driver is not installed."""


class Refused(Exception):
    """The driver answered with an error."""


def find_programs():
    driver = shutil.which("chromedriver")
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not driver or not browser:
        what = "chromedriver" if not driver else "chromium"
        raise Missing(f"tests/page: {what} is not installed, and the page is tested in a real browser; "
                      "try: apt-get install chromium chromium-driver (scripts/install_packages.sh does)")
    return driver, browser


def until(what, attempt, patience=PATIENCE):
    """Calls `attempt` again and again until it returns something true. A slow answer is fine; a missing one
    is an error."""
    end = time.monotonic() + patience
    while True:
        found = attempt()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {patience:.0f} s for: {what}; last answer: {found!r}")
        time.sleep(0.03)


class Browser:
    def __init__(self, width=1280, height=900, dark=False, calm=True, options=()):
        driver, browser = find_programs()
        self.profile = tempfile.mkdtemp(prefix="attn-page-")
        self.session = None
        self.driver = None
        atexit.register(self.close)  # its processes are not in the terminal's group, so Ctrl-C does not reach them
        try:
            self.url = f"http://127.0.0.1:{self._start(driver)}"
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--hide-scrollbars",
                         "--force-device-scale-factor=1", f"--window-size={width},{height}",
                         f"--user-data-dir={self.profile}/user"]
            arguments.extend(options)  # options of Chromium's command line
            if calm:
                arguments.append("--force-prefers-reduced-motion")
            if dark:
                arguments.append("--force-dark-mode")
            self._open(browser, arguments)
            self._ask("POST", "/url", {"url": "about:blank"})  # leaves the browser's own first page
            self.logs("performance")                           # and discards its requests
        except BaseException:
            self.close()
            raise

    def _start(self, program):
        """Starts the driver and returns its port. The driver takes a free port of IPv6 and requests the same
        of IPv4. If another program has that one, the driver exits, and another attempt finds another port."""
        said = ""
        for _ in range(ATTEMPTS):
            path = os.path.join(self.profile, "driver.log")
            with open(path, "w", encoding="utf-8") as log:
                self.driver = subprocess.Popen([program, "--port=0"], stdout=log, stderr=subprocess.STDOUT,
                                               start_new_session=True)
            end = time.monotonic() + PATIENCE / ATTEMPTS
            while time.monotonic() < end:
                ended = self.driver.poll() is not None  # checked before reading, so that its last output is read, too
                with open(path, encoding="utf-8") as log:
                    said = log.read()
                port = re.search(r"started successfully on port (\d+)", said)
                if port and not ended:
                    return port[1]
                if ended:
                    break
                time.sleep(0.03)
            self._stop()
        raise AssertionError(f"chromedriver did not start, {ATTEMPTS} times; it said last: {said!r}")

    def _stop(self):
        if self.driver is None:
            return
        self.driver.terminate()
        try:
            self.driver.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self):
        """Kills the driver and the browser at once, as when a machine is switched off."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.driver.pid, signal.SIGKILL)
        self.driver.wait()

    def _open(self, browser, arguments):
        answer = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "timeouts": {"script": int(PATIENCE * 1000),
                "pageLoad": int(PATIENCE * 1000)},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {"binary": browser, "args": arguments}}}}, fresh=True)
        self.session = answer["sessionId"]

    def _ask(self, method, path, body=None, fresh=False):
        url = self.url + ("" if fresh else f"/session/{self.session}") + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        # The driver is on this machine, so proxies are never used.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=2 * PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as problem:
            value = json.load(problem).get("value", {})
            raise Refused(f"{value.get('error')}: {value.get('message', '').splitlines()[0] if value.get('message') else ''}") from None

    def close(self):
        atexit.unregister(self.close)
        try:
            if self.session:
                self._ask("DELETE", "")
        except (OSError, Refused):
            pass
        self._stop()
        shutil.rmtree(self.profile, ignore_errors=True)

    # ---- pages

    def open(self, path, address=""):
        self._ask("POST", "/url", {"url": "about:blank"})  # makes a change of the #address load a new page
        self._ask("POST", "/url", {"url": "file://" + os.path.abspath(path) + address})

    def go(self, url):
        """Opens a page of a server."""
        self._ask("POST", "/url", {"url": "about:blank"})
        self._ask("POST", "/url", {"url": url})

    def resize(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def command(self, name, parameters):
        """Sends a command of Chromium's own protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def run(self, script, *arguments):
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    @contextlib.contextmanager
    def before_pages(self, script):
        """Runs a script in every page that is opened meanwhile, before the page's own scripts."""
        known = self.command("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        try:
            yield
        finally:
            self.command("Page.removeScriptToEvaluateOnNewDocument", known)

    def logs(self, kind="browser"):
        return self._ask("POST", "/se/log", {"type": kind})

    def picture(self, path, whole=False):
        parameters = {"format": "png"}
        if whole:
            parameters["captureBeyondViewport"] = True
            size = self.run("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            parameters["clip"] = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("Page.captureScreenshot", parameters)["data"]))

    def pdf(self, path):
        answer = self.command("Page.printToPDF", {"printBackground": False})
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    # ---- elements

    def all(self, selector):
        return [found[ELEMENT] for found in self._ask("POST", "/elements",
            {"using": "css selector", "value": selector})]

    def one(self, selector):
        return until(f"an element {selector}", lambda: (self.all(selector) or [None])[0])

    def text(self, selector):
        return self._ask("GET", f"/element/{self.one(selector)}/text")

    def attribute(self, selector, name):
        return self.run("const e = document.querySelector(arguments[0]); return e ? e.getAttribute(arguments[1]) : null", selector, name)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'})", selector)
        self._ask("POST", f"/element/{self.one(selector)}/click", {})

    def hover(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'})", selector)
        self._ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse",
            "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "duration": 0, "x": 0, "y": 0,
                "origin": {ELEMENT: self.one(selector)}}]}]})

    def away(self):
        """Moves the pointer to an empty place."""
        self._ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse",
            "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "duration": 0, "x": 2, "y": 2}]}]})

    def press(self, *keys):
        """Presses keys one after the other; "Shift+Tab" holds the first ones down."""
        actions = []
        for key in keys:
            chord = [KEYS.get(part, part) for part in (key.split("+") if len(key) > 1 else [key])]
            actions += [{"type": "keyDown", "value": value} for value in chord]
            actions += [{"type": "keyUp", "value": value} for value in reversed(chord)]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def focused(self):
        return self.run("const e = document.activeElement; return {tag: e.tagName, id: e.id, label: e.getAttribute('aria-label'), "
                        "role: e.getAttribute('role'), cls: e.getAttribute('class'), data: {...e.dataset}}")
