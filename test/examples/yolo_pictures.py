"""Writes PNG pictures of all forms that examples/yolo reads, damaged pictures, and randomly changed ones:
yolo_pictures.py make FOLDER

NAME.png and NAME.ppm have the same pixels. bad/messages has a line `FILE|MESSAGE` for each file that must be rejected.
"""
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

folder = Path(sys.argv[2])
(folder / "bad").mkdir(parents=True, exist_ok=True)
(folder / "fuzz").mkdir(exist_ok=True)
random = np.random.default_rng(1)


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width, height, bits, color, rows, palette=b"", interlaced=0, level=9, extra=b""):
    data = b"".join(b"\0" + row for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, interlaced)) +
            (chunk(b"PLTE", palette) if palette else b"") + extra +
            chunk(b"IDAT", zlib.compress(data, level)) + chunk(b"IEND", b""))


def write(name, file, pixels):
    (folder / f"{name}.png").write_bytes(file)
    height, width, _ = pixels.shape
    (folder / f"{name}.ppm").write_bytes(b"P6 %d %d 255\n" % (width, height) + pixels.astype(np.uint8).tobytes())


def packed(row, bits):
    return np.packbits(((row[:, None] >> np.arange(bits)[::-1]) & 1).astype(np.uint8).ravel()).tobytes()


width, height = 67, 45
smooth = (np.add.outer(np.arange(height) * 3, np.arange(width) * 2) % 256).astype(np.uint8)
for bits in (1, 2, 4, 8):
    levels = smooth >> (8 - bits)
    gray = levels.astype(int) * 255 // ((1 << bits) - 1)
    write(f"gray{bits}", png(width, height, bits, 0, [packed(row, bits) for row in levels]), np.stack([gray] * 3, 2))
    palette = random.integers(0, 256, (1 << bits, 3), dtype=np.uint8)
    write(f"palette{bits}", png(width, height, bits, 3, [packed(row, bits) for row in levels], palette.tobytes()),
          palette[levels])
color = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
alpha = random.integers(0, 256, (height, width, 1), dtype=np.uint8)
with_alpha = np.concatenate([color, alpha], 2)
for level in (0, 1, 9):
    write(f"rgba_level{level}", png(width, height, 8, 6, [row.tobytes() for row in with_alpha], level=level), color)
deep = random.integers(0, 65536, (height, width, 3), dtype=np.uint16)
write("rgb16", png(width, height, 16, 2, [row.astype(">u2").tobytes() for row in deep]), deep >> 8)
write("gray16", png(width, height, 16, 0, [row.astype(">u2").tobytes() for row in deep[..., 0]]),
      np.stack([deep[..., 0] >> 8] * 3, 2))
pairs = np.stack([smooth, alpha[..., 0]], 2)
write("gray_alpha", png(width, height, 8, 4, [row.tobytes() for row in pairs],
                        extra=chunk(b"tEXt", b"Comment\0not read")), np.stack([smooth] * 3, 2))
flat = np.full((height, width, 3), 7, np.uint8)
write("flat", png(width, height, 8, 2, [row.tobytes() for row in flat]), flat)

good = png(width, height, 8, 2, [row.tobytes() for row in color])
data = good.index(b"IDAT")
changed = bytearray(good)
changed[data + 40] ^= 255
short = zlib.compress(b"\0" * 10)
start = good[:data - 4]
bad = {
    "empty.png": (b"", "the file is empty"),
    "text.png": (b"hello", "it is no PNG, JPEG, BMP, PPM or PGM file"),
    "cut.jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF", "the JPEG file is cut off"),
    "cut.png": (good[:-30], "the PNG file is cut off"),
    "start.png": (good[:10], "the PNG file is cut off"),
    "changed.png": (bytes(changed), "the PNG file is damaged (a checksum is wrong)"),
    "short.png": (start + chunk(b"IDAT", short) + chunk(b"IEND", b""), "the PNG file is damaged (its data cannot be decompressed)"),
    "no_data.png": (start + chunk(b"IEND", b""), "the PNG file is damaged (its data cannot be decompressed)"),
    "no_header.png": (good[:8] + chunk(b"IEND", b""), "the PNG file has an unknown type of color"),
    "bits.png": (png(width, height, 3, 0, []), "the PNG file has an unknown number of bits"),
    "interlaced.png": (png(width, height, 8, 2, [], interlaced=1), "interlaced PNG files are not supported"),
    "filter.png": (start + chunk(b"IDAT", zlib.compress((b"\5" + bytes(3 * width)) * height)) + chunk(b"IEND", b""),
                   "the PNG file is damaged (a filter is unknown)"),
    "palette.png": (png(8, 1, 8, 3, [bytes([200] * 8)], b"abc"), "the PNG file is damaged (a color is not in the palette)"),
    "none.png": (png(0, 5, 8, 2, []), "it has no pixels"),
    "huge.png": (png(100000, 100000, 8, 2, []), "it is larger than 16384 x 16384 pixels"),
    "wide.ppm": (b"P6 5000 2 255\n" + bytes(30000), "it has 5000 x 2 pixels; the network was compiled for widths from 1 to 1920"),
    "cut.ppm": (b"P6 20 20 255\n" + bytes(100), "the PPM file is cut off"),
    "header.ppm": (b"P6 20 x", "the header of the PPM file is damaged"),
    "levels.ppm": (b"P6 1 1 65535\n" + bytes(6), "only PPM files with 255 levels are supported"),
    "cut.bmp": (b"BM" + bytes(20), "the BMP file is cut off"),
    "packed.bmp": (b"BM" + struct.pack("<IHHI", 100, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 4, 4, 1, 8, 1, 0, 0, 0, 0, 0) +
                   bytes(64), "only BMP files with 24 or 32 bits"),
    "far.bmp": (b"BM" + struct.pack("<IHHI", 100, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 900, 900, 1, 24, 0, 0, 0, 0, 0, 0),
                "the BMP file is cut off"),
}
for name, (content, _) in bad.items():
    (folder / "bad" / name).write_bytes(content)
(folder / "bad" / "messages").write_text("".join(f"{name}|{message}\n" for name, (_, message) in bad.items()))


def with_checksums(file):
    """Returns a changed PNG file with correct checksums of its chunks, so that the decoder reads the changes."""
    file, at = bytearray(file), 8
    while at + 12 <= len(file):
        length = struct.unpack(">I", file[at:at + 4])[0]
        if at + 12 + length > len(file):
            break
        file[at + 8 + length:at + 12 + length] = struct.pack(">I", zlib.crc32(bytes(file[at + 4:at + 8 + length])))
        at += 12 + length
    return bytes(file)


sources = [path.read_bytes() for path in sorted(folder.glob("*.p*"))]
for i in range(300):
    file = bytearray(sources[i % len(sources)])
    for _ in range(random.integers(1, 5)):
        file[random.integers(len(file))] = random.integers(256)
    if i % 5 == 0:
        file = file[:random.integers(1, len(file))]
    (folder / "fuzz" / f"{i:03}").write_bytes(with_checksums(file) if file[1:4] == b"PNG" else bytes(file))
