#!/usr/bin/env python3
"""Opens reports in a headless Chromium: no errors, every kernel and node is found, views and keys work, and the page answers the
questions of a user (questions.py).

    browse_report.py --ingot PROGRAM [--screenshots DIR] MODEL[:batch][=OPTIONS]...

MODEL is a file, or the name of a network of test/networks/models; with `:batch`, the first axis of its inputs and outputs gets
the name `batch`. Screenshots are written to DIR: MODEL-top.png, -page, -kernel, -imported, -memory, -dark ... Needs Chromium and the Python package playwright; without
them the test is skipped.
"""
import argparse
import importlib
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

SEARCH = """words => {
  const field = document.getElementById("search");
  return words.filter(([kind, word]) => {
    field.value = word;
    field.dispatchEvent(new Event("input"));
    return ![...document.querySelectorAll("#found li")].some(li =>
      li.querySelector("b") && li.querySelector("b").textContent === kind && li.textContent.includes(word));
  });
}"""


def browse(browser, path, shots, name):
    page = browser.new_page(viewport={"width": 1500, "height": 1000})
    faults, requests = [], []
    page.on("console", lambda message: faults.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: requests.append(request.url) if not request.url.startswith(("file:", "data:")) else None)
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready=yes]", timeout=60000)
    seconds = time.perf_counter() - start
    report = json.loads(page.locator("#data").text_content())
    calls = report.get("groups", [])

    def shoot(suffix, **options):
        if shots:
            page.screenshot(path=str(shots / f"{name}-{suffix}.png"), **options)

    shoot("top")
    shoot("page", full_page=True)
    words = [["kernel", call["kernel"]] for call in calls]
    # A name of several nodes, such as `conv`, may match more than are listed.
    words += [["node", node["name"]] for node in report["nodes"] if sum(node["name"].lower() in other["name"].lower() for other in report["nodes"]) < 20]
    missing = page.evaluate(SEARCH, words)
    page.evaluate("() => { const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input')); s.blur(); }")
    assert not missing, f"{name}: not found: {missing[:5]}"
    if calls:
        # By keyboard alone: `/`, a name, Enter; the source is shown, then the next kernel.
        call = max(range(len(calls)), key=lambda i: calls[i]["macs"])
        page.keyboard.press("/")
        page.keyboard.type(calls[call]["kernel"])
        page.keyboard.press("Enter")
        page.wait_for_selector("#inspector pre")
        source = page.locator("#inspector pre").text_content()
        assert calls[call]["kernel"] in source or "(" in source, source[:200]
        assert page.locator("#kernels tr.selected").count() >= 1
        page.wait_for_timeout(400)
        shoot("kernel")
        page.locator("#graph").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("0")
        if page.locator("#inspector .links button").count():
            page.locator("#inspector .links button").first.click()
        page.locator("[data-view=imported]").click()
        assert page.locator("#graph g.box").count() > 0
        page.wait_for_timeout(400)
        shoot("imported")
        page.locator("#kernels th button", has_text="MACs").first.click()
        column = [int(text.replace(",", "") or 0) for text in page.locator("#kernels tbody tr td:nth-child(4)").all_text_contents()]
        assert column == sorted(column, reverse=True), column
        for section in ("memory", "roofline", "flash", "quantization"):
            if page.locator(f"#{section}").is_visible():
                page.locator(f"#{section}").scroll_into_view_if_needed()
                if shots:
                    page.locator(f"#{section}").screenshot(path=str(shots / f"{name}-{section}.png"))
        for question, answer in importlib.import_module("questions").ask(page, report):
            print(f"  {question} {' '.join(answer.split())[:160]}", flush=True)
        page.evaluate("scrollTo(0, 0)")
    for tab in page.locator("#targets button").all():
        tab.click()
    page.locator("#theme").click()
    shoot("dark", full_page=True)
    assert not faults, f"{name}: {faults[:5]}"
    assert not requests, requests
    page.close()
    return seconds, len(calls), len(report["nodes"])


def open_batch(path, folder):
    """Names the first axis of inputs and outputs, instead of its size."""
    import onnx
    model = onnx.load(path)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    opened = pathlib.Path(folder) / f"{pathlib.Path(path).stem}_batch.onnx"
    onnx.save(model, opened)
    return str(opened)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    here = pathlib.Path(__file__).resolve().parent
    sys.path[:0] = [str(here), str(here.parent / "verify")]
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("skipped: the Python package playwright is not installed")
        return 77
    if not chromium:
        print("skipped: chromium is not installed")
        return 77
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for text in options.models:
            model, _, extra = text.partition("=")
            model, _, opened = model.partition(":")
            if not pathlib.Path(model).exists():
                networks = importlib.import_module("networks")
                known = dict(networks.names())
                if model not in known:
                    print(f"skipped: {model} does not exist")
                    continue
                model = networks.filled(known[model], folder)
            if opened == "batch":
                model = open_batch(model, folder)
            if model.endswith(".html"):
                path, seconds = pathlib.Path(model).resolve(), 0
                name = path.stem
            else:
                name = pathlib.Path(model).stem if pathlib.Path(model).stem != "model" else pathlib.Path(model).parent.name
                path = pathlib.Path(folder) / f"{name}.html"
                start = time.perf_counter()
                done = subprocess.run([options.ingot, "report", model, "-q", "-o", path, *shlex.split(extra)], capture_output=True, text=True)
                seconds = time.perf_counter() - start
                assert done.returncode in (0, 3), done.stderr
            loading, calls, nodes = browse(browser, path, options.screenshots, name)
            size = path.stat().st_size
            assert size < 2_000_000 or nodes > 1000, f"{name}: {size} bytes"
            print(f"{name}: {nodes} nodes, {calls} kernel calls, {size // 1000} KB, made in {seconds:.1f} s, loaded in {loading:.2f} s", flush=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
