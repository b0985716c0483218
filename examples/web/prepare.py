"""The names of the classes, and a sample picture: prepare.py MODEL_FOLDER PAGE"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np
import onnx
from onnx import numpy_helper


def names() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "torchvision", "-d", folder]
        subprocess.run(command, check=True)
        wheel = next(pathlib.Path(folder).glob("*.whl"))
        scope: dict[str, list[str]] = {}
        exec(zipfile.ZipFile(wheel).read("torchvision/models/_meta.py"), scope)
        return scope["_IMAGENET_CATEGORIES"]


def png(pixels: np.ndarray) -> bytes:
    """Returns an array [rows, columns, 3] of pixels as the bytes of a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def main() -> None:
    model, page = map(pathlib.Path, sys.argv[1:])
    (page / "labels.js").write_text(f"export const labels = {json.dumps(names())};\n")
    tensor = onnx.TensorProto()
    tensor.ParseFromString((model / "test_data_set_0" / "input_0.pb").read_bytes())
    image = numpy_helper.to_array(tensor)[0].transpose(1, 2, 0)
    pixels = (image * [0.229, 0.224, 0.225] + [0.485, 0.456, 0.406]) * 255
    (page / "sample.png").write_bytes(png(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)))


if __name__ == "__main__":
    main()
