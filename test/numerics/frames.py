"""Compares the frame conversion that `ingot attach` adds with a computation in NumPy, for each format and odd sizes:
frames.py INGOT FOLDER

The network returns its image, so that each pixel can be compared. Ingot and ONNX Runtime run the model.
"""
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

ingot, work = sys.argv[1], Path(sys.argv[2])
work.mkdir(parents=True, exist_ok=True)
HEIGHT, WIDTH = 48, 64
failures = []


def network(channels, half):
    """Writes a network that returns its image."""
    dtype = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    graph = helper.make_graph([helper.make_node("Identity", ["images"], ["image"])], "g",
                              [helper.make_tensor_value_info("images", dtype, [1, channels, HEIGHT, WIDTH])],
                              [helper.make_tensor_value_info("image", dtype, [1, channels, HEIGHT, WIDTH])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), work / "net.onnx")


def resize(plane, rows, columns):
    """Returns a plane scaled with bilinear interpolation; pixels are at the centres of their squares."""
    for axis, count in ((0, rows), (1, columns)):
        size = plane.shape[axis]
        at = np.clip((np.arange(count) + 0.5) * size / count - 0.5, 0, size - 1)
        low = np.floor(at).astype(int)
        share = (at - low).reshape([-1 if i == axis else 1 for i in range(plane.ndim)])
        plane = np.take(plane, low, axis) * (1 - share) + np.take(plane, np.minimum(low + 1, size - 1), axis) * share
    return plane


def expected(frame, kind, colors, channels):
    frame = frame.astype(np.float64)
    is_planar = kind.startswith("nv")
    height = frame.shape[0] * 2 // 3 if is_planar else frame.shape[0]
    width = frame.shape[1]
    scale = min(HEIGHT / height, WIDTH / width)
    rows, columns = max(1, round(height * scale)), max(1, round(width * scale))
    if is_planar:
        luma = resize(frame[:height], rows, columns)
        chroma = resize(frame[height:].reshape(height // 2, width // 2, 2), rows, columns)
        u, v = chroma[..., int(kind == "nv21")] - 128, chroma[..., int(kind == "nv12")] - 128
        if "full" not in colors:
            luma, u, v = (luma - 16) * 255 / 219, u * 255 / 224, v * 255 / 224
        red, blue = (0.299, 0.114) if "601" in colors else (0.2126, 0.0722)
        r, b = luma + 2 * (1 - red) * v, luma + 2 * (1 - blue) * u
        image = np.clip(np.stack([r, (luma - red * r - blue * b) / (1 - red - blue), b], 2), 0, 255)
    else:
        image = resize(frame.reshape(height, width, -1), rows, columns)
        order = {"bgr": [2, 1, 0], "bgra": [2, 1, 0], "gray": [0] * channels}.get(kind, [0, 1, 2])
        image = image[..., order]
    result = np.full((HEIGHT, WIDTH, channels), 114.0)
    top, left = (HEIGHT - rows) // 2, (WIDTH - columns) // 2
    result[top:top + rows, left:left + columns] = image
    return result.transpose(2, 0, 1)[None]


def compare(kind, width, height, colors="bt601", channels=3, dynamic=False, half=False):
    name = f"{kind} {width} x {height} {colors}{' any' * dynamic}{' half' * half}"
    network(channels, half)
    shape = {"gray": (height, width), "nv12": (height * 3 // 2, width), "nv21": (height * 3 // 2, width),
             "rgba": (height, width, 4), "bgra": (height, width, 4)}.get(kind, (height, width, 3))
    frame = np.random.default_rng(width).integers(0, 256, shape, dtype=np.uint8)
    np.save(work / "frame.npy", frame)
    subprocess.run([ingot, "attach", work / "net.onnx", "-o", work / "attached.onnx", "--head", "none", "--format", kind,
                    "--frame", "any" if dynamic else f"{width}x{height}", "-q",
                    *(["--colors", colors] if kind.startswith("nv") else [])], check=True)
    sizes = ["--dynamic", "--dim", "frame_width=1..300", "--dim", "frame_height=1..200"] if dynamic else []
    subprocess.run([ingot, "run", work / "attached.onnx", "--input", f"frame={work / 'frame.npy'}", "--output-dir", work / "out",
                    "-q", *sizes], check=True, stdout=subprocess.DEVNULL)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(work / "attached.onnx"), options, providers=["CPUExecutionProvider"])
    right = expected(frame, kind, colors, channels)
    for engine, image in (("Ingot", np.load(work / "out/image.npy")), ("ONNX Runtime", session.run(None, {"frame": frame})[0])):
        # The levels of the image are rounded, those of the reference are not: they differ by at most a half, and by the
        # error of float16.
        error = np.abs(image.astype(np.float64) * 255 - right).max()
        if not error < (0.7 if half else 0.502):
            failures.append(f"{engine}, {name}: {error} levels")


for kind in ("rgb", "bgr", "rgba", "bgra", "gray"):
    compare(kind, 101, 67)
    compare(kind, 64, 48)
compare("gray", 33, 90, channels=1)
compare("rgb", 129, 97)   # odd sizes, about twice those of the network
compare("rgb", 1, 1)
compare("bgr", 300, 1)
compare("bgr", 75, 50, half=True)
for colors in ("bt601", "bt601-full", "bt709", "bt709-full"):
    compare("nv12", 160, 90, colors)
compare("nv21", 64, 48)
compare("nv12", 2, 2)
for width, height in ((101, 67), (64, 48), (300, 200), (1, 200), (129, 97)):
    compare("rgb", width, height, dynamic=True)
compare("gray", 77, 31, dynamic=True)
compare("bgra", 77, 31, dynamic=True)
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
