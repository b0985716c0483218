"""Answers ten questions of a user from the page of a report alone: by its tables, panels and texts, not by its data.

`ask(page, report)` reads the page as a person does, and compares each answer with the data of the report.
"""
import re


def number(text):
    """Returns the first number of a text, without separators."""
    return float(re.search(r"-?[\d,]+\.?\d*", text)[0].replace(",", ""))


def table(page, section):
    """Returns the rows of a table as dictionaries from heading to text."""
    heads = [re.sub(r" [\u25b2\u25bc]$", "", text) for text in page.locator(f"{section} thead th").all_text_contents()]
    rows = page.evaluate(f"[...document.querySelectorAll('{section} tbody tr')].map(r => [...r.children].map(c => c.textContent))")
    return [dict(zip(heads, row)) for row in rows]


def largest(page, column):
    """Sorts the table of kernels by a column, and returns its first row."""
    button = page.locator("#kernels th button", has_text=column).first
    button.click()
    rows = table(page, "#kernels")
    if number(rows[0][column]) < number(rows[-1][column] or "0"):
        button.click()
        rows = table(page, "#kernels")
    return rows[0]


def panel(page):
    return page.locator("#inspector").inner_text()


def ask(page, report):
    """Returns pairs of question and answer."""
    calls, answers = report["groups"], []

    def answer(question, text, is_right):
        assert is_right, f"{question}: {text}"
        answers.append((question, text))

    # 1. How much flash and RAM does the model need?
    cards = dict(zip(page.locator("#totals .card span").all_text_contents(), page.locator("#totals .card b").all_text_contents()))
    key, title = ("flash_bytes", "flash, bytes") if "flash_bytes" in report else ("arena_bytes", "arena, bytes")
    answer("How much flash or RAM does the model need?", cards[title], number(cards[title]) == report[key])
    # 2. Which layer needs the most RAM?
    row = largest(page, "RAM live")
    answer("Which layer needs the most RAM?", row["nodes"], number(row["RAM live"]) == max(c["arena_bytes"] for c in calls))
    # 3. Where is the code of this layer?
    page.locator("#kernels tbody tr").first.click()
    place = page.locator("#inspector .hint", has_text="of the generated file").first.inner_text()
    source = next(s for s in report["sources"] if s["kernel"] == calls[int(row["#"])]["kernel"])
    answer("Where is the code of this layer?", place, f"lines {source['first_line']} to {source['last_line']}" in place)
    assert source["text"].split("\n")[0] in page.locator("#inspector pre").inner_text()
    # 4. Which ONNX nodes does this kernel compute?
    shown = page.locator("#inspector .links").first.inner_text()
    answer("Which nodes are fused in this kernel?", shown, all(n in shown for n in calls[int(row["#"])]["nodes"][:60]))
    # 5. Which layer takes the most time, and which part of all is that?
    time = next((c for c in ("measured \u00b5s", "predicted \u00b5s", "predicted cycles") if c in row), None)
    if time:
        slow = largest(page, time)
        data = {"measured \u00b5s": "measured_microseconds", "predicted \u00b5s": "microseconds", "predicted cycles": "cycles"}[time]
        answer("Which layer takes the most time?", f"{slow['nodes']}, {slow['share']}", slow["#"] == str(max(range(len(calls)), key=lambda i: calls[i][data])) or
               number(slow[time]) >= 0.99 * max(c[data] for c in calls))
    # 6. Is this layer limited by memory or by arithmetic?
    row = largest(page, "MACs")
    i = int(row["#"])
    if calls[i]["macs"]:
        answer("How many MACs for each byte has the largest layer?", row["MACs/byte"],
               abs(number(row["MACs/byte"]) - calls[i]["macs"] / calls[i]["bytes"]) <= 0.01 * calls[i]["macs"] / calls[i]["bytes"] + 0.5)
    # 7. Which constant needs the most flash, and who reads it?
    flash = table(page, "#flash")
    if flash:
        most = max(report["constants"], key=lambda c: c["bytes"])
        answer("Which constant needs the most flash?", f"{flash[0]['constant']}, read by calls {flash[0]['read by calls']}",
               number(flash[0]["bytes"]) == most["bytes"])
    # 8. What would int8 save, or what did it save?
    text = page.locator("#quantization").inner_text()
    if report.get("quantization"):
        rows = table(page, "#quantization")
        saved = sum(number(r["bytes saved"]) for r in rows if r.get("bytes saved"))
        weights = sum(q["elements"] * 3 for q in report["quantization"] if q.get("elements") and q["type"].endswith("8"))
        answer("What do quantized weights save?", f"{saved:.0f} bytes", weights <= saved or not weights)
    else:
        answer("What would int8 save?", page.locator("#quantization .hint").inner_text(), f"{round(report['weight_bytes'] / 4):,}" in text)
    # 9. Which kernel computes a node of my model?
    node = next(n for n in report["nodes"] if n.get("kernels"))
    page.keyboard.press("Escape")
    page.locator("#search").fill(node["name"])
    page.locator("#found li", has_text=node["name"]).filter(has_text="node").first.dispatch_event("mousedown")
    answer("Which kernel computes a node?", panel(page).split("\n")[0], "call " in panel(page) or "lines " in panel(page))
    # 10. Which buffers are live at the peak?
    if page.locator("#memory").is_visible():
        label, peak = page.locator("#memory .peaklabel").text_content(), max(c["arena_bytes"] for c in calls)
        answer("When is the memory fullest?", label, f"{peak:,} bytes" in label)
    page.locator("#search").fill("")
    page.locator("#kernels th button", has_text="#").first.click()
    return answers
