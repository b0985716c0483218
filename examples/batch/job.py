"""The job that each engine does: a network scores rows, whose features are computed from the row numbers.

A worker compiles the network once: a pickled network consists of its model and options, and is taken from the machine's
cache. With `--kill` a worker is killed by SIGKILL in the middle of the job; the engine restarts it and repeats its rows.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import pathlib
import signal
import time

import numpy as np

FEATURES = 32
BATCH = 4096
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Job:
    """The description of the job that each worker gets."""

    rows: int
    workers: int
    program: str
    """``ingot`` or ``onnxruntime``."""
    model: str
    kill: str = ""
    """A file that the worker makes before it is killed, so that this happens once; empty: none is killed."""


def read_arguments(description: str) -> Job:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--program", choices=("ingot", "onnxruntime"), default="ingot")
    parser.add_argument("--model", default=str(HERE / "model.onnx"))
    parser.add_argument("--kill", metavar="FILE", default="", help="kill a worker in the middle, and make this file")
    return Job(**vars(parser.parse_args()))


def features_of(ids: np.ndarray) -> np.ndarray:
    """Returns the rows with these numbers: float32[len(ids), 32] from -1 to 1, by the hash function splitmix64."""
    with np.errstate(over="ignore"):
        z = ids.astype(np.uint64)[:, None] * np.uint64(FEATURES) + np.arange(FEATURES, dtype=np.uint64)
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return ((z >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23)) - np.float32(1)


@functools.lru_cache(maxsize=1)
def _network(job: Job):
    """Returns the function that computes scores from features; it is created once in each process."""
    if job.program == "onnxruntime":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(job.model, options, providers=["CPUExecutionProvider"])
        return lambda x: session.run(None, {"x": x})[0]
    import ingot

    return ingot.compile(job.model, dims={"batch": (1, BATCH)})


def _maybe_die(job: Job, ids: np.ndarray) -> None:
    """Kills this process when it gets the middle row for the first time."""
    if not job.kill or not np.any(ids == job.rows // 2):
        return
    try:
        os.close(os.open(job.kill, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def score(job: Job, ids: np.ndarray) -> np.ndarray:
    """Returns the scores of the rows with these numbers."""
    _maybe_die(job, ids)
    network = _network(job)
    parts = [network(features_of(ids[at : at + BATCH])) for at in range(0, len(ids), BATCH)]
    return np.concatenate(parts)[:, 0] if parts else np.empty(0, np.float32)


def finish(job: Job, engine: str, ids: np.ndarray, scores: np.ndarray, seconds: float) -> None:
    """Checks that each row occurs once and that a sample of scores equals those of this process; prints the figures."""
    order = np.argsort(ids, kind="stable")
    assert len(ids) == job.rows, f"{job.rows - len(ids)} rows are lost"
    assert np.array_equal(ids[order], np.arange(job.rows)), "a row is there twice"
    sample = np.linspace(0, job.rows - 1, 1000).astype(np.int64)
    here = score(dataclasses.replace(job, kill=""), sample)
    error = float(np.abs(scores[order][sample] - here).max())
    assert error < 1e-5, f"a score is off by {error}"
    died = " (one of them killed)" if job.kill and os.path.exists(job.kill) else ""
    assert bool(died) == bool(job.kill), "no worker was killed"
    print(f"{engine}, {job.program}: {job.rows:,} rows by {job.workers} workers{died} in {seconds:.2f} s, {job.rows / seconds:,.0f} rows/s")


class Clock:
    """A context manager that measures the seconds of its block."""

    def __enter__(self) -> Clock:
        self.begin = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.begin
