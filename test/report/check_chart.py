#!/usr/bin/env python3
"""Checks an SVG file of --plot: well-formed, self-contained, all shapes inside; prints the title and the shapes with their texts.

    check_chart.py CHART.svg
"""
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
assert root.tag == SVG + "svg", root.tag
width, height = float(root.get("width")), float(root.get("height"))
print(root.find(SVG + "title").text)
for shape in root.iter():
    assert not any(name.endswith("href") for name in shape.attrib), shape.attrib
    if shape.tag == SVG + "text":
        assert 0 <= float(shape.get("x")) <= width and 0 <= float(shape.get("y")) <= height, shape.attrib
    title = shape.find(SVG + "title")
    if title is None or shape is root:
        continue
    if shape.tag == SVG + "rect":
        assert 0 <= float(shape.get("x")) and float(shape.get("x")) + float(shape.get("width")) <= width, shape.attrib
        assert float(shape.get("y")) + float(shape.get("height")) <= height, shape.attrib
    else:
        assert 0 <= float(shape.get("cx")) <= width and 0 <= float(shape.get("cy")) <= height, shape.attrib
    print(shape.tag.removeprefix(SVG), title.text)
