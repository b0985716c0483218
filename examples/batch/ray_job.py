"""The job by Ray Data: map_batches on the workers of a local cluster."""

import functools
import logging
import os

import job as jobs
import numpy as np
import ray


def main():
    job = jobs.read_arguments(__doc__)
    # Workers import the modules of this folder. With `runtime_env` in its place Ray would start other processes than the ones that
    # it has started in advance.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(jobs.HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    ray.init(num_cpus=job.workers, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False

    def work(batch, of):
        ids = batch["id"]
        return {"id": ids, "score": jobs.score(of, ids)}

    def all_of(of):
        blocks = ray.data.range(of.rows, override_num_blocks=8 * of.workers)
        results = blocks.map_batches(functools.partial(work, of=of), batch_size=65536, batch_format="numpy")
        parts = list(results.iter_batches(batch_size=None, batch_format="numpy"))
        return tuple(np.concatenate([part[name] for part in parts]) for name in ("id", "score"))

    # Runs a small job first: the processes start and compile the network before the clock runs.
    all_of(jobs.dataclasses.replace(job, rows=1000 * job.workers, kill=""))
    with jobs.Clock() as clock:
        ids, scores = all_of(job)
    jobs.finish(job, "Ray Data", ids, scores, clock.seconds)
    ray.shutdown()


if __name__ == "__main__":
    main()
