#!/usr/bin/env python3
"""Opens the page in Chromium and saves pictures of it for the documents.

    python3 scripts/page_pictures.py [--program build/release/app/attn-demo] [--out docs] [PICTURE…]

page      page.png: the page of a translation that `translate --html` wrote
typing    typing.png: a sentence grows in `serve`, an animated picture (APNG) for README.md. It leaves out what is
          between the translation and the maps
alone     alone.png: a sentence in the standalone page
training  training-alone.png: the toy learns in the same page

The last two need build/web (scripts/build_web.sh). Needs chromium and chromium-driver (scripts/install_packages.sh).
"""
import argparse
import base64
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/page"))

from pictures import png  # noqa: E402
from webdriver import Browser, until  # noqa: E402

SENTENCE = "The group went home"
TYPED = [" a", "nd", " sl", "ept", " we", "ll"]  # one frame each
PALETTE = 64
# The moments of the training that the picture shows: one as the page shows it, and the maps of these.
SHOWN, MAPS = 254, (0, 100, 201, 406)


class Camera:
    """Chromium, and the folder for its pictures."""

    def __init__(self, width, height, scale=1):
        self.browser, self.folder = Browser(width, height), tempfile.TemporaryDirectory()
        self.browser.command("Emulation.setDeviceMetricsOverride",
                             {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.close()
        self.folder.cleanup()

    def file(self, name):
        return f"{self.folder.name}/{name}"

    def open(self, address):
        browser = self.browser
        browser._ask("POST", "/url", {"url": address})
        until("the page", lambda: browser.run("return !document.getElementById('page').hidden"))

    def ready(self):
        """Waits until the program inside the page answers."""
        until("the program", lambda: self.browser.run("return document.getElementById('alone').hidden"))

    def hide_time(self):
        """Hides the time that this machine took."""
        self.browser.run("document.getElementById('live-says').style.visibility = 'hidden'")

    def type(self, text):
        self.browser.press(*["Space" if key == " " else key for key in text])

    def element(self, selector):
        """Returns the box of an element."""
        return self.browser.run("""const box = document.querySelector(arguments[0]).getBoundingClientRect();
            return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height, scale: 1}""", selector)

    def box(self, first, last, below=0):
        """Returns a box of the page's width, from the top of one element to some pixels below another."""
        box = self.browser.run("""const [first, last] = [...arguments].map((one) => document.querySelector(one).getBoundingClientRect());
            return {x: 0, y: first.y + scrollY, width: innerWidth, height: last.bottom - first.y, scale: 1}""", first, last)
        return {**box, "height": box["height"] + below}

    def picture(self, box=None):
        """Returns the PNG of the window, or of a box of the page."""
        clip = {"clip": box, "captureBeyondViewport": True} if box else {}
        return base64.b64decode(self.browser.command("Page.captureScreenshot", {"format": "png", **clip})["data"])

    def pixels(self, box=None):
        path = Path(self.file("frame.png"))
        path.write_bytes(self.picture(box))
        return png.pixels(path)


def page(program):
    with Camera(1280, 1500, 1.25) as camera:
        path = camera.file("page.html")
        subprocess.run([program, "translate", SENTENCE, "--show", "none", "--html", path], check=True, stdout=subprocess.DEVNULL)
        camera.open(f"file://{path}#theme=light&kind=cross&layer=2&head=2")
        time.sleep(0.5)
        return png.still(camera.pixels(), 2 * PALETTE)


def typing(program):
    server = subprocess.Popen([program, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        with Camera(1200, 2200) as camera:  # everything is in sight, as the page only draws what is
            camera.open(server.stdout.readline().strip() + "#theme=light")
            camera.hide_time()
            camera.browser.click("#live-text")
            camera.browser.press("End")
            # The longest sentence decides how high the frames are.
            camera.type("".join(TYPED))
            time.sleep(2)
            height = camera.box(".maps", "#stage-views", 10)["height"]
            camera.browser.press(*["Backspace"] * len("".join(TYPED)))
            frames, seconds = [], [1.2] + [0.7] * (len(TYPED) - 1) + [3.0]
            for keys in ["", *TYPED]:
                camera.type(keys)
                time.sleep(1.5)
                frames.append(camera.pixels(camera.box(".headline", "#gloss", 10))
                              + camera.pixels({**camera.box(".maps", "#stage-views"), "height": height}))
            return png.animated(frames, seconds, PALETTE)
    finally:
        server.terminate()
        server.wait()


def standalone(camera, program):
    """Opens the standalone page."""
    path = camera.file("alone.html")
    subprocess.run([program, "page", "--alone", path], check=True, stdout=subprocess.DEVNULL)
    camera.open(f"file://{path}#theme=light")
    camera.ready()


def alone(program):
    with Camera(1200, 1500) as camera:
        standalone(camera, program)
        camera.hide_time()
        camera.browser.click("#live-text")
        camera.browser.run("document.getElementById('live-text').select()")
        camera.type("The old dog sleeps in the kitchen")
        until("the translation", lambda: "Hund" in camera.browser.run("return document.getElementById('live-target').value"))
        time.sleep(5)  # for vectors, the search and the receipts
        return png.still(camera.pixels(), 2 * PALETTE)


def train_until(camera, update):
    """Lets the training go on and pauses it right after an update."""
    camera.browser.run("""
        const says = document.getElementById("train-says"), go = document.getElementById("train-go");
        const update = arguments[0];
        new MutationObserver((_, observer) => {
          if (!says.textContent.startsWith(`update ${update} `)) return;
          observer.disconnect();
          go.click();
        }).observe(says, {childList: true, characterData: true, subtree: true});""", f"{update:,}")
    if camera.browser.text("#train-go") == "Go on":
        camera.browser.click("#train-go")
    until(f"update {update}", lambda: camera.browser.text("#train-says").startswith(f"update {update:,} ")
          and camera.browser.text("#train-go") == "Go on")
    time.sleep(1)


def training(program):
    with Camera(1200, 1250) as camera:
        standalone(camera, program)
        camera.browser.click("#train-open")
        until("the heads", lambda: camera.browser.run("return document.querySelector('input[name=head][value=\"0\"]') !== null"))
        camera.browser.run("document.querySelector('input[name=head][value=\"0\"]').click()")
        train_until(camera, SHOWN)
        camera.browser.run("document.getElementById('train').scrollIntoView({block: 'start', behavior: 'instant'})")
        pictures = [camera.picture()]
        train_until(camera, MAPS[-1])
        camera.browser.run("[...document.querySelectorAll('input[name=view]')].find((one) => one.value === 'heat').click()")
        for update in MAPS:
            found = camera.browser.run("""
                const slider = document.getElementById("training-slider"), says = document.getElementById("training-says");
                for (let moment = 0; moment <= Number(slider.max); ++moment) {
                  slider.value = moment;
                  slider.dispatchEvent(new Event("input", {bubbles: true}));
                  if (says.textContent.startsWith(`update ${arguments[0]} `)) return true;
                }
                return false;""", f"{update:,}")
            if not found:
                raise SystemExit(f"the page has no moment of update {update}")
            time.sleep(0.5)
            pictures.append(camera.picture(camera.element("#heat-grid")))
        sheet = Path(camera.file("sheet.html"))
        sources = ["data:image/png;base64," + base64.b64encode(data).decode() for data in pictures]
        maps = "".join(f"<figure><figcaption>update {update}</figcaption><img src='{source}'></figure>" for update, source in zip(MAPS, sources[1:]))
        sheet.write_text(f"""<!doctype html><style>
            body {{ margin: 0; width: 1200px; background: #f7f8fa; font: 16px "DejaVu Sans", sans-serif }}
            body > img {{ display: block; width: 1200px }}
            div {{ display: flex; gap: 14px; padding: 20px 36px 36px }}
            figure {{ margin: 0; flex: 1 }} figcaption {{ margin-bottom: 12px }} figure img {{ width: 100%; background: white }}
            </style><img src='{sources[0]}'><div>{maps}</div>""", encoding="utf-8")
        camera.browser._ask("POST", "/url", {"url": f"file://{sheet}"})
        return png.still(camera.pixels(camera.box("body", "body")), 2 * PALETTE)


PICTURES = {"page": ("page.png", page), "typing": ("typing.png", typing), "alone": ("alone.png", alone),
            "training": ("training-alone.png", training)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help="all, unless you name some")
    parser.add_argument("--program", default=str(ROOT / "build/release/app/attn-demo"))
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    options = parser.parse_args()
    for name in options.pictures or PICTURES:
        if name not in PICTURES:
            parser.error(f"no picture {name}: there are {', '.join(PICTURES)}")
        file, draw = PICTURES[name]
        (options.out / file).write_bytes(draw(options.program))
        print(f"{options.out / file}: {(options.out / file).stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
