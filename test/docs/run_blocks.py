#!/usr/bin/env python3
"""Runs the commands of pages of the documentation and compares what they print.

    run_blocks.py --ingot PROGRAM [--python PYTHON] [--update] [PAGE...]

How blocks are written: pages.py. --update writes what was printed into the pages.
"""
import argparse
import difflib
import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile

import pages

SECONDS = 300


def run_in_terminal(command, folder, environment):
    """Returns the lines that a command prints on a terminal of 100 columns, and its exit code."""
    master, slave = pty.openpty()
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=slave, stderr=slave)
    os.close(slave)
    output = b""
    while True:
        ready, _, _ = select.select([master], [], [], SECONDS)
        if not ready:
            process.kill()
            break
        try:
            data = os.read(master, 65536)
        except OSError:  # the end of the terminal's output
            data = b""
        if not data:
            break
        output += data
    os.close(master)
    # Removes progress lines, which are erased by the following line.
    text = re.sub(r"[^\n]*\r\x1b\[K", "", output.decode("utf-8", "replace").replace("\r\n", "\n"))
    return [line.rstrip() for line in text.split("\n")], process.wait()


def split(block):
    """Returns the commands of a block, each with the number of its last line in the block and
    its output."""
    commands = []
    for i, line in enumerate(block.lines):
        if line.startswith("$ "):
            commands.append([line[2:], i, []])
        elif commands and not commands[-1][2] and commands[-1][0].endswith("\\"):
            commands[-1][0] = commands[-1][0][:-1] + line.strip()
            commands[-1][1] = i
        elif commands:
            commands[-1][2].append(line)
        else:
            raise ValueError(f"line {block.first + 1 + i}: output before the first command")
    return commands


def matches(expected, printed, same):
    """Whether the printed lines match the expected ones: `same` compares two lines, and an expected line
    `...` matches any number of lines."""
    if not expected:
        return not printed
    if expected[0].strip() == "...":
        return any(matches(expected[1:], printed[i:], same) for i in range(len(printed) + 1))
    return bool(printed) and same(expected[0], printed[0]) and matches(expected[1:], printed[1:], same)


class Page:
    def __init__(self, page, arguments, targets):
        self.page, self.arguments = page, arguments
        self.targets = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, sorted(targets, key=len, reverse=True))) +
                                  r")(?![\w+])")
        with open(os.path.join(pages.ROOT, page)) as file:
            self.text = file.read()
        self.failures = []

    def normal(self, line, varies):
        line = line.rstrip()
        if not varies:
            return line
        line = self.targets.sub("TARGET", line)
        return re.sub(r"[ -]+", " ", re.sub(r"(\d[\d,.]*\d|\d)(e[+-]?\d+)?", "N", line))

    def run(self):
        blocks, unnamed = pages.blocks_of(self.text)
        for line in unnamed:
            self.failures.append(f"{self.page}:{line}: a block without a language that is tested")
        environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
                       "PATH": os.pathsep.join([os.path.dirname(self.arguments.ingot),
                                                os.path.dirname(self.arguments.python), os.environ["PATH"]]),
                       "PYTHONPATH": os.path.join(os.path.dirname(self.arguments.ingot), "..", "python"),
                       "Ingot_DIR": os.path.join(os.path.dirname(self.arguments.ingot), "..", "cmake")}
        replaced = self.text.splitlines()
        with tempfile.TemporaryDirectory() as folder:
            for name in ("examples", "runtime_support"):
                os.symlink(os.path.join(pages.ROOT, name), os.path.join(folder, name))
            environment["INGOT_CACHE"] = os.path.join(folder, ".cache")
            # The loop below applies edits from the end of the page to its beginning, so that the line
            # numbers of the remaining edits stay valid.
            edits = [edit for block in blocks for edit in self.run_block(block, folder, environment)]
        for first, last, lines in reversed(edits):
            replaced[first:last] = lines
        if self.arguments.update and "\n".join(replaced) + "\n" != self.text:
            with open(os.path.join(pages.ROOT, self.page), "w") as file:
                file.write("\n".join(replaced) + "\n")
            self.failures = []
        return self.failures

    def run_block(self, block, folder, environment):
        """Runs or checks a block of the page; returns the lines to replace by actual output, as (first, last,
        new lines)."""
        where = f"{self.page}:{block.first}"
        title, source = block.title, block.source
        if title:
            with open(os.path.join(folder, title), "w") as file:
                file.write("\n".join(block.lines) + "\n")
        elif source:
            path = os.path.join(folder, source)
            if not os.path.exists(path):
                path = os.path.join(pages.ROOT, source)
            with open(path) as file:
                known = {" ".join(line.split()) for line in file}
            for line in block.lines:
                if line.strip() not in ("", "...") and " ".join(line.split()) not in known:
                    self.failures.append(f"{where}: not in {source}: {line}")
        elif block.language == "console":
            return self.run_commands(block, folder, environment, where)
        elif block.language != "text":
            self.failures.append(f"{where}: a block of {block.language} has neither title nor from")
        return []

    def run_commands(self, block, folder, environment, where):
        edits = []
        varies = block.varies
        for command, last, expected in split(block):
            code = re.search(r"# exit (\d+)$", command)
            printed, status = run_in_terminal(command, folder, environment)
            while printed and not printed[-1]:
                printed.pop()
            while expected and not expected[-1].strip():
                expected.pop()
            if status != (int(code.group(1)) if code else 0):
                self.failures.append(f"{where}: exit code {status}: {command}\n" + "\n".join(printed[:40]))
            same = lambda a, b: self.normal(a, varies) == self.normal(b, varies)
            if not matches(expected, printed, same):
                difference = difflib.unified_diff(expected, printed, "the page", "printed", lineterm="")
                self.failures.append(f"{where}: {command}\n" + "\n".join(difference))
                first = block.first + last + 1
                edits.append((first, first + len(expected), printed))
        return edits


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    told = json.loads(subprocess.run([arguments.ingot, "targets", "--json"], check=True, capture_output=True).stdout)
    failures = []
    for page in arguments.pages or pages.all_pages():
        failures += Page(page, arguments, [target["name"] for target in told]).run()
    print("\n\n".join(failures) or "all blocks do what they say")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
