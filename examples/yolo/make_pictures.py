#!/usr/bin/env python3
"""Draws pictures of colored shapes, and makes calibration samples from them.

    make_pictures.py FOLDER [--count N] [--samples FILE.npz --size N]

Picture I has a size that depends on I, between 64 x 48 and 640 x 480 (even or odd), and the format PNG, PPM or BMP.
--samples writes 32 pictures as a network reads them: scaled to a square of --size pixels with bars, RGB from 0 to 1.
"""
import argparse
import struct
import zlib
from pathlib import Path

import numpy as np


def draw(number):
    """Returns a picture as uint8 [height, width, 3]."""
    random = np.random.default_rng([7, number])
    width, height = (int(n) for n in random.integers((64, 48), (641, 481)))
    y, x = np.mgrid[:height, :width].astype(np.float32)
    corners = random.uniform(60, 200, (4, 3))
    u, v = (x / width)[..., None], (y / height)[..., None]
    picture = (corners[0] * (1 - u) + corners[1] * u) * (1 - v) + (corners[2] * (1 - u) + corners[3] * u) * v
    for _ in range(random.integers(2, 7)):
        color = random.uniform(0, 255, 3)
        cx, cy = random.uniform(0, width), random.uniform(0, height)
        rx, ry = random.uniform(0.05, 0.3) * width, random.uniform(0.05, 0.3) * height
        if random.integers(2):
            inside = ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 < 1
        else:
            inside = (np.abs(x - cx) < rx) & (np.abs(y - cy) < ry)
        pattern = 1 + 0.3 * np.sign(np.sin(x * random.uniform(0, 0.5) + y * random.uniform(0, 0.5)))[..., None]
        picture = np.where(inside[..., None], color * pattern, picture)
    picture += random.normal(0, 4, picture.shape)
    return np.clip(np.round(picture), 0, 255).astype(np.uint8)


def png(picture, filters=(0, 1, 2, 3, 4)):
    """Returns a PNG file. Row i has the filter filters[i % len(filters)]."""
    height, width, _ = picture.shape
    rows = picture.reshape(height, -1).astype(np.int16)
    data = bytearray()
    for i, row in enumerate(rows):
        up = rows[i - 1] if i else np.zeros_like(row)
        left, corner = (np.concatenate([np.zeros(3, np.int16), r[:-3]]) for r in (row, up))
        guess = left + up - corner
        distance = [np.abs(guess - n) for n in (left, up, corner)]
        paeth = np.where((distance[0] <= distance[1]) & (distance[0] <= distance[2]), left,
                         np.where(distance[1] <= distance[2], up, corner))
        kind = filters[i % len(filters)]
        data.append(kind)
        data += (row - (0, left, up, (left + up) // 2, paeth)[kind]).astype(np.uint8).tobytes()

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(data), 6)) + chunk(b"IEND", b""))


def ppm(picture):
    return b"P6\n# a comment\n%d %d\n255\n" % (picture.shape[1], picture.shape[0]) + picture.tobytes()


def bmp(picture):
    height, width, _ = picture.shape
    padding = -width * 3 % 4
    rows = np.pad(picture[::-1, :, ::-1].reshape(height, -1), ((0, 0), (0, padding))).tobytes()
    return (b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54) +
            struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(rows), 0, 0, 0, 0) + rows)


def letterbox(picture, size):
    """Returns a picture scaled to a square of `size` pixels with grey bars, as float32 [3, size, size] from 0 to 1."""
    height, width, _ = picture.shape
    scale = min(size / height, size / width)
    rows, columns = max(1, round(height * scale)), max(1, round(width * scale))

    def taps(count, source):
        at = np.clip((np.arange(count) + 0.5) * source / count - 0.5, 0, source - 1)
        low = np.floor(at).astype(int)
        return low, np.minimum(low + 1, source - 1), (at - low)

    top, bottom, down = taps(rows, height)
    left, right, along = taps(columns, width)
    levels = picture.astype(np.float64)
    levels = levels[top] + (levels[bottom] - levels[top]) * down[:, None, None]
    levels = levels[:, left] + (levels[:, right] - levels[:, left]) * along[None, :, None]
    result = np.full((size, size, 3), 114.0)
    y, x = (size - rows) // 2, (size - columns) // 2
    result[y:y + rows, x:x + columns] = np.round(levels)
    return (result.transpose(2, 0, 1) / 255).astype(np.float32)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--samples", type=Path)
    parser.add_argument("--size", type=int, default=128)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for i in range(arguments.count):
        kind, write = (("png", png), ("ppm", ppm), ("bmp", bmp))[i % 3]
        (arguments.folder / f"{i:03}.{kind}").write_bytes(write(draw(i)))
    if arguments.samples:
        # The samples are other pictures than those in the folder.
        np.savez(arguments.samples, images=np.stack([letterbox(draw(1000 + i), arguments.size) for i in range(32)]))
