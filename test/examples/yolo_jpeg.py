"""Compares the JPEG pictures that examples/yolo reads with Pillow's, and reads damaged and randomly changed files.

    yolo_jpeg.py SOURCE FOLDER [--cxx COMMAND]
"""
import argparse
import io
import shlex
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

parser = argparse.ArgumentParser()
parser.add_argument("source", type=Path)
parser.add_argument("work", type=Path)
parser.add_argument("--cxx", default="g++ -O2")
arguments = parser.parse_args()
example, work = arguments.source / "examples/yolo", arguments.work
(work / "fuzz").mkdir(parents=True, exist_ok=True)
random = np.random.default_rng(1)
failures = []

# Prints a message for each file that cannot be read, and writes the others beside it as PPM.
(work / "convert.cpp").write_text(r"""
#include "image.h"
#include <cstdio>
int main(int count, char **files) {
  for (int i = 1; i < count; ++i)
    try {
      writeImage(readImage(files[i]), std::string(files[i]) + ".ppm");
    } catch (const ImageError &error) {
      std::printf("%s\n", error.what());
    }
}
""")
subprocess.run([*shlex.split(arguments.cxx), "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", example, work / "convert.cpp",
                *(example / f"{name}.cpp" for name in ("image", "inflate", "jpeg")), "-o", work / "convert"], check=True)


def convert(*files):
    done = subprocess.run([work / "convert", *files], stdout=subprocess.PIPE, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{files[0]} and others: exit code {done.returncode}")
    return done.stdout.strip()


def picture(width, height):
    """Returns a picture with slopes, an edge and some noise, so that all coefficients occur."""
    y, x = np.mgrid[:height, :width]
    levels = np.stack([x * 5 + y, 255 - x - 3 * y, 128 + 100 * np.sin((x + 2 * y) / 9)], 2) % 256
    levels[(x - width / 2) ** 2 + (y - height / 2) ** 2 < width * height / 9] = (200, 30, 60)
    return Image.fromarray(np.clip(levels + random.normal(0, 6, levels.shape), 0, 255).astype(np.uint8))


def encode(image, **options):
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return file.getvalue()


def check(name, file):
    """Compares a file with Pillow's pixels. Rounding differs by a few levels; Pillow repeats differences of color of some factors."""
    path = work / f"{name}.jpg"
    path.write_bytes(file)
    if message := convert(path):
        failures.append(f"{name}: {message}")
        return
    expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(file))).convert("RGB")).astype(int)
    found = np.asarray(Image.open(f"{path}.ppm")).astype(int)
    if found.shape != expected.shape:
        failures.append(f"{name}: {found.shape[1]} x {found.shape[0]} pixels instead of {expected.shape[1]} x {expected.shape[0]}")
        return
    error = np.abs(found - expected)
    if error.max() > 4 or error.mean() > 0.7:
        failures.append(f"{name}: pixels differ by up to {error.max()}, {error.mean():.2f} on average")


good = {}
for width, height in ((1, 1), (8, 8), (17, 9), (67, 45), (160, 121)):
    image = picture(width, height)
    for factors in ("4:4:4", "4:2:2", "4:2:0"):
        for kind in ("sequential", "progressive"):
            name = f"{width}x{height}_{factors.replace(':', '')}_{kind}"
            good[name] = encode(image, quality=90, subsampling=factors, progressive=kind == "progressive")
    good[f"{width}x{height}_gray"] = encode(image.convert("L"), quality=75)
    good[f"{width}x{height}_gray_progressive"] = encode(image.convert("L"), quality=75, progressive=True)
image = picture(67, 45)
for quality in (5, 30, 100):
    for progressive in (False, True):
        good[f"quality{quality}_{progressive}"] = encode(image, quality=quality, progressive=progressive, optimize=True)
good["restart"] = encode(image, subsampling="4:2:0", restart_marker_blocks=1)
good["restart_rows"] = encode(image, progressive=True, restart_marker_rows=1)
good["rgb"] = encode(image, keep_rgb=True)
for orientation in range(1, 9):
    tags = Image.Exif()
    tags[0x112] = orientation
    good[f"orientation{orientation}"] = encode(image, quality=90, exif=tags)
for name, file in good.items():
    check(name, file)

start = good["67x45_420_sequential"]
frame, scan = start.index(b"\xff\xc0"), start.index(b"\xff\xda")
changed = {offset: start[:frame + offset] + value + start[frame + offset + len(value):]
           for offset, value in ((1, b"\xc3"), (4, b"\x0c"), (5, b"\0\0"), (7, b"\xff\xff"), (11, b"\0"))}
bad = {
    "only the start": (start[:3], "the JPEG file is cut off"),
    "a header": (start[:frame + 6], "the JPEG file is cut off"),
    "half": (start[:len(start) // 2], "the JPEG file is cut off"),
    "no end": (start[:-2], "the JPEG file is cut off"),
    "no scan": (start[:scan] + b"\xff\xd9", "the JPEG file has no picture"),
    "no frame": (start[:frame] + start[scan:], "the JPEG file is damaged (the header of a scan is wrong)"),
    "lossless": (changed[1], "only JPEG files with sequential or progressive Huffman codes are supported"),
    "12 bits": (changed[4], "only JPEG files with 8 bits per sample are supported"),
    "no rows": (changed[5], "it has no pixels"),
    "too wide": (changed[7], "it is larger than 16384 x 16384 pixels"),
    "no factors": (changed[11], "the JPEG file is damaged (its header is wrong)"),
    "CMYK": (encode(image.convert("CMYK")), "JPEG files in CMYK are not supported"),
    "large for its bytes": (start[:frame + 5] + struct.pack(">HH", 16384, 16384) + start[frame + 9:], "the JPEG file is cut off"),
    "scans": (start[:-2] + start[scan:-2] * 120 + start[-2:], "the JPEG file has more than 100 scans"),
    "two frames": (start[:frame] + start[frame:scan] * 2 + start[scan:], "the JPEG file has several pictures"),
    "no tables": (start.replace(b"\xff\xdb", b"\xff\xfe"), "the JPEG file is damaged (a quantization table is missing)"),
    "no codes": (start.replace(b"\xff\xc4", b"\xff\xfe"), "the JPEG file is damaged (a code is missing)"),
}
for name, (file, message) in bad.items():
    path = work / "bad.jpg"
    path.write_bytes(file)
    found = convert(path)
    if not found.startswith(message):
        failures.append(f"{name}: `{found}` instead of `{message}`")

# Randomly changed files must not crash the program or run it forever.
files, sources = [], list(good.values())
for i in range(400):
    file = bytearray(sources[i % len(sources)])
    for _ in range(random.integers(1, 6)):
        file[random.integers(2, len(file))] = random.integers(256)
    if i % 5 == 0:
        file = file[:random.integers(2, len(file))]
    files.append(work / "fuzz" / f"{i:03}.jpg")
    files[-1].write_bytes(bytes(file))
convert(*files)

print("\n".join(failures) or f"{len(good)} pictures agree with Pillow, {len(bad)} are rejected")
sys.exit(bool(failures))
