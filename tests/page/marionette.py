"""Headless Firefox by its own protocol (Marionette, which geckodriver speaks to it), as far as bench/alone.py and tests/alone
ask for it: pages are opened, scripts run, keys typed."""

import atexit
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

from webdriver import KEYS, PATIENCE, Missing, Refused


def find_firefox():
    for name in ("firefox-esr", "firefox"):
        found = shutil.which(name)
        if found:
            return found
    raise Missing("firefox is not installed; try: apt-get install firefox-esr")


class Firefox:
    def __init__(self, width=1280, height=900):
        program = find_firefox()
        self.profile = tempfile.mkdtemp(prefix="attn-firefox-")
        self.asked, self.heard = 0, b""
        self.connection = self.driver = None
        atexit.register(self.close)
        try:
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            with open(os.path.join(self.profile, "user.js"), "w", encoding="utf-8") as file:
                file.write(f'user_pref("marionette.port", {port});\nuser_pref("ui.prefersReducedMotion", 1);\n'
                           'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n')
            self.driver = subprocess.Popen(
                [program, "--headless", "--marionette", "--no-remote", "--profile", self.profile, f"--width={width}", f"--height={height}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, env={**os.environ, "MOZ_HEADLESS": "1"})
            self._connect(port)
            self._receive()  # the server's introduction
            self._ask("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"timeouts": {
                "script": int(PATIENCE * 1000), "pageLoad": int(PATIENCE * 1000)}}}})
        except BaseException:
            self.close()
            raise

    def _connect(self, port):
        end = time.monotonic() + PATIENCE
        while self.connection is None:
            try:
                self.connection = socket.create_connection(("127.0.0.1", port), timeout=2 * PATIENCE)
            except OSError:
                if time.monotonic() > end or self.driver.poll() is not None:
                    raise
                time.sleep(0.1)

    def _more(self):
        more = self.connection.recv(1 << 16)
        if not more:
            raise Refused("firefox has ended")
        self.heard += more

    def _receive(self):
        """A message, which stands behind its length and a colon."""
        while b":" not in self.heard:
            self._more()
        length, _, rest = self.heard.partition(b":")
        self.heard = rest
        while len(self.heard) < int(length):
            self._more()
        message, self.heard = self.heard[:int(length)], self.heard[int(length):]
        return json.loads(message)

    def _ask(self, command, parameters):
        self.asked += 1
        sent = json.dumps([0, self.asked, command, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(sent), sent))
        _, _, problem, value = self._receive()
        if problem:
            raise Refused(f"{problem['error']}: {problem['message']}")
        return value

    def open(self, path, address=""):
        for url in ("about:blank", "file://" + os.path.abspath(path) + address):
            self._ask("WebDriver:Navigate", {"url": url})

    def run(self, script, *arguments):
        return self._ask("WebDriver:ExecuteScript", {"script": script, "args": list(arguments)})["value"]

    def click(self, selector):
        found = self._ask("WebDriver:FindElement", {"using": "css selector", "value": selector})["value"]
        self._ask("WebDriver:ElementClick", {"id": next(iter(found.values()))})

    def press(self, *keys):
        values = [KEYS.get(key, key) for key in keys]
        self._ask("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keyboard", "actions": [
            {"type": kind, "value": value} for value in values for kind in ("keyDown", "keyUp")]}]})

    def close(self):
        atexit.unregister(self.close)
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        if self.driver is not None:
            self.driver.terminate()
            try:
                self.driver.wait(20)
            except subprocess.TimeoutExpired:
                self.driver.kill()
                self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
