#!/usr/bin/env python3
"""Opens the pages of examples/web in headless Chromium: web_pages.py SITE [--shots FOLDER] [--chromium PROGRAM]

SITE is what examples/web/build has written. Draws digits with the mouse and the keyboard, looks at the sample picture, plays
speech to the microphone; no page may print to the console, break its content security policy, or be wider than a phone.
Needs playwright (PyPI).
"""
import argparse
import functools
import http.server
import os
import sys
import threading
import wave

import numpy as np
from playwright.sync_api import sync_playwright

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_BYTES_OF_DIGIT = 100_000
# For each digit: its strokes as points in a square of 280 by 280 pixels.
STROKES = {
    1: [[(140, 40), (140, 240)]],
    7: [[(70, 55), (210, 55), (130, 245)]],
    0: [[(140, 40), (90, 70), (75, 140), (90, 210), (140, 240), (190, 210), (205, 140), (190, 70), (140, 40)]],
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript", ".wasm": "application/wasm"}
    isolates = False

    def end_headers(self):
        if Quiet.isolates:
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *_):
        pass


def speech(path):
    """The chunks of speech that came with the network, repeated, as a file of sound."""
    samples = np.load(os.path.join(ROOT, "examples", "web", "voice", "speech.npy"))
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(np.tile(samples, 4).tobytes())


def wait(page, holds, what, seconds=60):
    """Waits until an expression holds. Playwright's own function for that needs a policy that allows `eval`."""
    for _ in range(10 * seconds):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(100)
    sys.exit(f"{page.url}: {what} after {seconds} seconds; {page.locator('#status').inner_text()}")


class Pages:
    def __init__(self, browser, port, shots):
        self.browser, self.port, self.shots, self.wrong = browser, port, shots, []

    def open(self, name, **options):
        context = self.browser.new_context(permissions=["microphone"], **options)
        page = context.new_page()
        page.on("console", lambda message: self.wrong.append(f"{name}: console: {message.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"{name}: error: {error}"))
        page.on("requestfailed", lambda request: self.wrong.append(f"{name}: request: {request.url}"))
        page.goto(f"http://localhost:{self.port}/{name}/")
        page.locator("#status", has_text="ready").wait_for(timeout=60000)
        return page

    def finish(self, page, name):
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            self.wrong.append(f"{name}: wider than the window")
        if self.shots:
            page.screenshot(path=os.path.join(self.shots, f"{name.replace('/', '-')}.png"), full_page=True)
        print(f"{name}: {page.locator('#status').inner_text()}", flush=True)
        page.context.close()

    def require(self, holds, text):
        if not holds:
            self.wrong.append(text)


def best(page):
    return page.locator("#bars li.best span").first.inner_text()


def draw(page, strokes):
    page.locator("#clear").click()
    box = page.locator("#pad").bounding_box()
    at = lambda point: (box["x"] + point[0] * box["width"] / 280, box["y"] + point[1] * box["height"] / 280)  # noqa: E731
    for stroke in strokes:
        page.mouse.move(*at(stroke[0]))
        page.mouse.down()
        for point in stroke[1:]:
            page.mouse.move(*at(point), steps=4)
        page.mouse.up()


def check_digit(pages):
    page = pages.open("digit", viewport={"width": 900, "height": 640})
    for digit, strokes in STROKES.items():
        draw(page, strokes)
        pages.require(best(page) == str(digit), f"digit: {digit} is read as {best(page)}")
    pages.finish(page, "digit")
    page = pages.open("digit", viewport={"width": 360, "height": 740}, color_scheme="dark")
    page.locator("#pad").focus()
    for _ in range(7):
        page.keyboard.press("Shift+ArrowUp")
    for _ in range(14):
        page.keyboard.press("ArrowDown")
    pages.require(best(page) == "1", f"digit: a line by keyboard is read as {best(page)}")
    pages.finish(page, "digit-phone-dark")


def check_picture(pages):
    page = pages.open("picture", viewport={"width": 900, "height": 640})
    pages.require("cat" in best(page), f"picture: the cat is a {best(page)}")
    page.set_input_files("#file", files=[{"name": "no.png", "mimeType": "image/png", "buffer": b"no picture"}])
    page.locator("#status", has_text="not a picture").wait_for()
    page.set_input_files("#file", os.path.join(pages.site, "picture", "sample.png"))
    page.locator("#status", has_text="ms per run").wait_for()
    pages.finish(page, "picture")
    pages.finish(pages.open("picture", viewport={"width": 360, "height": 740}, color_scheme="dark"), "picture-phone-dark")


def check_voice(pages):
    page = pages.open("voice", viewport={"width": 900, "height": 640})
    page.locator("#listen").focus()
    page.keyboard.press("Enter")
    wait(page, "document.querySelector('#bars progress').value > 0.5", "no speech is heard", 30)
    page.wait_for_timeout(2000)
    pages.finish(page, "voice")
    pages.finish(pages.open("voice", viewport={"width": 360, "height": 740}, color_scheme="dark"), "voice-phone-dark")


def check_isolated(pages):
    """Threads and the worker, on a cross-origin isolated page and on another one."""
    for isolates in (False, True):
        Quiet.isolates = isolates
        page = pages.open("digit")
        found = page.evaluate("""async () => {
            const { load, canShareMemory } = await import("./net/digits.js");
            const net = await load({ threads: 2 }), input = new Float32Array(784).fill(3);
            const here = [...net.run({ Input3: input }).Plus214_Output_0];
            const there = [...(await net.runAsync({ Input3: input })).Plus214_Output_0];
            const threads = net.threads;
            net.close();
            return [canShareMemory(), threads, String(here) === String(there)];
        }""")
        pages.require(found[0] == isolates and found[2], f"isolated {isolates}: {found}")
        page.context.close()
    Quiet.isolates = False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("site")
    parser.add_argument("--shots")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    args = parser.parse_args()
    digit = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(os.path.join(args.site, "digit")) for name in names)
    print(f"the digit page has {digit} bytes")
    server = http.server.ThreadingHTTPServer(("localhost", 0), functools.partial(Quiet, directory=args.site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sound = os.path.abspath(os.path.join(args.site, "speech.wav"))
    speech(sound)
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=args.chromium, args=[
            "--no-sandbox", "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", f"--use-file-for-fake-audio-capture={sound}"])
        pages = Pages(browser, server.server_port, args.shots)
        pages.site = args.site
        pages.require(digit <= MOST_BYTES_OF_DIGIT, f"the digit page has {digit} bytes, more than {MOST_BYTES_OF_DIGIT}")
        for check in (check_digit, check_picture, check_voice, check_isolated):
            check(pages)
        browser.close()
    print("\n".join(pages.wrong))
    return 1 if pages.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
