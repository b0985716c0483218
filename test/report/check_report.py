#!/usr/bin/env python3
"""Checks the page and the JSON of `ingot report` without a browser.

    check_report.py PAGE.html [--docs report.md]

The page is well-formed, loads nothing, and contains each kernel and each node; each key of its JSON is in the manual.
"""
import argparse
import html.parser
import json
import re
import sys

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.attributes, self.texts = [], [], {}

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("id")))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, f"</{tag}> at {self.getpos()} closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            key = self.open[-1][1] or self.open[-1][0]
            self.texts[key] = self.texts.get(key, "") + data


def keys(value, inside=""):
    """Yields the keys of objects, except of those whose keys are names of the model."""
    if isinstance(value, list):
        for item in value:
            yield from keys(item, inside)
    elif isinstance(value, dict):
        for key, item in value.items():
            if inside not in {"opsets", "operators", "chosen_sizes", "plan"}:
                yield key
            yield from keys(item, key)


def check(report):
    if not report["compiles"]:
        assert report["diagnostics"] and all(d["message"] for d in report["diagnostics"]), report["diagnostics"]
        return
    sources = {source["kernel"]: source for source in report["sources"]}
    nodes = {node["name"] for node in report["nodes"]}
    assert report["groups"] and nodes
    for call in report["groups"]:
        source = sources[call["kernel"]]
        assert source["function"] in source["text"], source
        assert 0 < source["first_line"] <= source["last_line"], source
        assert set(call["nodes"]) & nodes, call
    for node in report["nodes"]:
        assert node.get("kernels") or node.get("reason") or "launches" in node or "entry" in node, node
    for buffer in report["buffers"]:
        assert 0 <= buffer["first"] <= buffer["last"] < len(report["groups"]), buffer
        assert buffer.get("second_memory") or buffer["offset"] + buffer["bytes"] <= report["arena_bytes"], buffer
    # Buffers that are live in the same call do not share addresses, unless they are views of the same tensor.
    live = [0] * len(report["groups"])
    for buffer in report["buffers"]:
        for call in range(buffer["first"], buffer["last"] + 1):
            live[call] = max(live[call], buffer["offset"] + buffer["bytes"])
    assert max(live) <= report["arena_bytes"]
    for constant in report["constants"]:
        assert all(0 <= call < len(report["groups"]) for call in constant["read_by"]), constant


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("--docs")
    options = parser.parse_args()
    text = open(options.page, encoding="utf-8").read()
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    for tag, name, value in page.attributes:
        assert name not in {"src", "href"} or value.startswith("data:"), (tag, name, value)
    # The namespaces of SVG and XHTML in the library are names; nothing is loaded from there.
    rest = re.sub(r"http://www\.w3\.org/[\w/]+", "", text)
    assert "http" not in rest, rest[rest.index("http") - 80:][:200]
    report = json.loads(page.texts["data"])
    reports = [report, *report.get("other_targets", [])]
    for one in reports:
        assert one["schema"] == 1
        check(one)
    if options.docs:
        manual = open(options.docs, encoding="utf-8").read()
        missing = sorted(key for key in set(keys(report)) if f"`{key}`" not in manual)
        assert not missing, f"the manual does not describe {missing}"
    print(f"{len(reports)} targets, {len(report.get('groups', []))} kernel calls, {len(report['nodes'])} nodes, {len(text) // 1000} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
