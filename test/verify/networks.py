#!/usr/bin/env python3
"""Verifies networks without data: the verdict of `ingot verify` must be that of ONNX Runtime.

    networks.py --ingot PROGRAM [--all] [NAME...]

Each network of test/networks/models is verified on random inputs. ONNX Runtime is the reference, so that the verdict is that
the network is right. Without --all, only small networks are verified. Networks with random 8-bit weights amplify a single
rounding to several percent; the tolerance that `verify` derives must know that.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(os.path.dirname(HERE), "networks", "models")
sys.dont_write_bytecode = True
sys.path.insert(0, MODELS)

SMALL = ["mnist_8", "keras_text", "micro_kws_m_static_fp32", "lenet5", "tiny_ds_cnn_kws_int8", "tiny_resnet8_cifar",
         "tiny_ad_autoencoder"]
# Sizes that a network needs beyond those that `verify` chooses.
OPTIONS = {
    "llama_4l_d512": ["--dim", "s27=1", "--dim", "s11=63", "--dim", "s74=63", "--dim", "s64=64"],
    "llama_smol_135m": ["--dim", "s27=1", "--dim", "s10=63", "--dim", "s74=63", "--dim", "s64=64"],
    "gpt2": ["--dim", "past=8", "--dim", "seq=4", "--dim", "total=12"],
    "silero_vad": ["--dim", "batch=1", "--dim", "sequence=512", "--bind", "sr=16000"],
}


def names():
    found = []
    for folder in ("real", "graphs", "large", "open"):
        for entry in sorted(os.listdir(os.path.join(MODELS, folder))):
            if folder == "real" and os.path.isdir(os.path.join(MODELS, folder, entry)):
                found.append((entry, os.path.join(MODELS, folder, entry, "model.onnx")))
            elif entry.endswith(".onnx"):
                found.append((entry.removesuffix(".onnx"), os.path.join(MODELS, folder, entry)))
    return found


def filled(path, folder):
    """Returns the path of the network with weights: files of graphs contain a recipe instead."""
    if os.path.basename(os.path.dirname(path)) not in ("graphs", "large", "open"):
        return path
    import models
    import onnx
    name = os.path.basename(path).removesuffix(".onnx")
    model = models.load_filled(name, os.path.dirname(path))
    to = os.path.join(folder, name + ".onnx")
    onnx.save(model, to)
    return to


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    failures = 0
    chosen = [(n, p) for n, p in names() if n in args.names or not args.names and (args.all or n in SMALL)]
    for name, path in chosen:
        with tempfile.TemporaryDirectory() as folder:
            start = time.time()
            done = subprocess.run([args.ingot, "verify", filled(path, folder), "--json", "--python", sys.executable,
                                   *OPTIONS.get(name, [])], capture_output=True, text=True)
        result = json.loads(done.stdout) if done.stdout.strip() else {}
        if not isinstance(result, dict) or "runs" not in result:
            failures += 1
            print(f"{name}: exit code {done.returncode}: {(done.stderr or done.stdout).strip()[:400]}", flush=True)
            continue
        outputs = [o for run in result["runs"] for o in run["outputs"]]
        worst = max((o["relative_error"] if o["relative_error"] is not None else 9 for o in outputs), default=0)
        tolerance = max((o["tolerance"] for o in outputs), default=0)
        skipped = [run["skipped"] for run in result["runs"] if "skipped" in run]
        good = done.returncode == 0 and result["right"] and result["reference"].startswith("onnxruntime")
        failures += not good
        print(f"{name}: {'ok' if good else 'WRONG'}, {len(outputs)} outputs, error {worst:.2g} of the range, tolerance "
              f"{tolerance:.2g}, {result['reference']}, {time.time() - start:.1f} s" + "".join(f"; not compared: {s}" for s in skipped),
              flush=True)
    print(f"{len(chosen)} networks, {failures} failures")
    return 1 if failures or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
