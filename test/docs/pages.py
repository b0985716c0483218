"""The pages of the documentation and the code blocks in them, for the tests of the
documentation.

Each fenced block has one of these languages:

    console          commands after `$ ` with their output; run, and the output compared
    c, cpp, cmake,   with title="FILE": the content of a file that later commands use;
    python, yaml     or after <!-- from FILE -->: lines that this file must contain
    text             a diagram or a template; not run

A command may end in `# exit N`, its exit code. A line `...` in an output matches any
number of lines. In a block after <!-- numbers-vary -->, any number matches a number, and
names of targets may differ. The commands of a page run in one empty folder, in which
`examples` is that of the repository; `ingot` and Python with onnx are in the path.
"""
import os
import re

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LANGUAGES = {"console", "c", "cpp", "cmake", "python", "yaml", "text"}


def all_pages():
    """Returns README.md and the pages in docs/, as paths from the root."""
    pages = ["README.md"]
    for folder, _, files in os.walk(os.path.join(ROOT, "docs")):
        pages += [os.path.relpath(os.path.join(folder, name), ROOT) for name in files if name.endswith(".md")]
    return sorted(pages)


class Block:
    def __init__(self, language, title, note, first):
        self.language, self.title, self.first = language, title, first
        self.varies = note == "numbers-vary"
        self.source = note[5:] if note.startswith("from ") else None
        self.lines = []


def blocks_of(text):
    """Returns the blocks of a page, and the line numbers of fences without a language."""
    blocks, unnamed, current, note = [], [], None, ""
    for number, line in enumerate(text.splitlines()):
        fence = re.match(r"```(\S*)\s*(.*)$", line)
        if current is None and fence:
            title = re.match(r'title="([^"]*)"$', fence.group(2))
            current = Block(fence.group(1), title and title.group(1), note, number + 1)
            if current.language not in LANGUAGES or fence.group(2) and not title:
                unnamed.append(number + 1)
        elif current is not None and line == "```":
            blocks.append(current)
            current = None
        elif current is not None:
            current.lines.append(line)
        comment = re.match(r"<!-- (.*) -->$", line)
        note = comment.group(1) if comment else ""
    if current is not None:
        unnamed.append(current.first)
    return blocks, unnamed
