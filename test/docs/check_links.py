#!/usr/bin/env python3
"""Checks the relative links of README and docs/: files exist, headings exist, pages are reachable."""
import os
import re
import sys

import pages


def slugs(text):
    """Returns the anchors of a page's headings, as GitHub and MkDocs generate them."""
    found, in_block = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            in_block = not in_block
        heading = re.match(r"#+ (.*)", line)
        if heading and not in_block:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            found.append(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def links_of(text):
    """Returns the targets of links and pictures outside of code blocks."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "code", text)
    return re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text)


def main():
    texts = {}
    for page in pages.all_pages():
        with open(os.path.join(pages.ROOT, page)) as file:
            texts[page] = file.read()
    problems, linked = [], {"README.md"}
    for page, text in texts.items():
        for link in links_of(text):
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
            linked.add(path)
            if not os.path.exists(os.path.join(pages.ROOT, path)):
                problems.append(f"{page}: {link}: there is no such file")
            elif page.startswith("docs/") and not path.startswith("docs/"):
                problems.append(f"{page}: {link}: is outside of docs/, where the site has no page")
            elif anchor and path.endswith(".md"):
                known = slugs(texts.get(path) or open(os.path.join(pages.ROOT, path)).read())
                if anchor not in known:
                    problems.append(f"{page}: {link}: there is no such heading")
    problems += [f"{page}: no page links to it" for page in texts if page not in linked]
    if len(texts["README.md"].splitlines()) > 120:
        problems.append("README.md: has more than 120 lines")
    print("\n".join(problems) or f"{len(texts)} pages: all links lead somewhere")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
