"""Compares the spectrum of the model that prepare.py writes, compiled by Ingot, with one in double precision.

    spectrum.py INGOT SCRATCH

The largest allowed difference is 1e-4, for 80 and 128 mel bins. The reference follows the definition of
WhisperFeatureExtractor in `transformers`; it computes the triangles of the filters in another way than prepare.py.
"""
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "examples" / "whisper")]
import prepare
from recordings import recordings

ingot, scratch = sys.argv[1], Path(sys.argv[2])
FRAMES = 3000


def filters(bins):
    step = np.log(6.4) / 27
    top = 15 + np.log(8.0) / step
    edges = np.linspace(0, top, bins + 2)
    edges = np.array([mel * 200 / 3 if mel < 15 else 1000 * np.exp((mel - 15) * step) for mel in edges])
    result = np.zeros((bins, 201))
    for i in range(bins):
        for j in range(201):
            hertz = j * 40.0
            if edges[i] < hertz <= edges[i + 1]:
                result[i, j] = (hertz - edges[i]) / (edges[i + 1] - edges[i])
            elif edges[i + 1] < hertz < edges[i + 2]:
                result[i, j] = (edges[i + 2] - hertz) / (edges[i + 2] - edges[i + 1])
        result[i] *= 2 / (edges[i + 2] - edges[i])
    return result


def reference(padded, bins):
    frames = np.lib.stride_tricks.sliding_window_view(padded.astype(np.float64), 400)[::160][:FRAMES]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    energy = np.abs(np.fft.rfft(frames * window)) ** 2 @ filters(bins).T
    values = np.log10(np.maximum(energy, 1e-10))
    return (np.maximum(values, values.max() - 8) + 4).T / 4


scratch.mkdir(parents=True, exist_ok=True)
chosen = [samples for _, samples in recordings(6)]
time = np.arange(480000) / 16000
chosen += [0.5 * np.sin(2 * np.pi * 1003.7 * time), np.sin(2 * np.pi * (100 + 120 * time) * time)]
worst = 0.0
for bins in (80, 128):
    model = prepare.join(prepare.spectrum(bins, FRAMES), prepare.normalization(bins, FRAMES))
    onnx.checker.check_model(model)
    onnx.save(model, scratch / "features.onnx")
    np.save(scratch / "count.npy", np.array(FRAMES))
    for samples in chosen:
        samples = samples.astype(np.float32)
        padded = np.pad(np.pad(samples, (0, 480000 - len(samples))), 200, mode="reflect")[:480240]
        np.save(scratch / "samples.npy", padded)
        inputs = {"samples": "samples", "count": "count", "second/count": "count"}
        subprocess.run([ingot, "run", str(scratch / "features.onnx"), "-q", "--output-dir", str(scratch)] +
                       [word for name, file in inputs.items() for word in ("--input", f"{name}={scratch / file}.npy")],
                       check=True, stdout=subprocess.DEVNULL)
        got = np.load(scratch / "input_features.npy")[0]
        worst = max(worst, float(np.abs(got - reference(padded, bins)).max()))
print(f"the largest difference of the spectrum is {worst:.2g}")
sys.exit(worst > 1e-4)
