"""The job by Dask: map_partitions on the worker processes of a local cluster."""

import dataclasses
import os
import warnings

import dask
import dask.dataframe as frames
import job as jobs
import numpy as np
import pandas
from distributed import Client, LocalCluster


def work(part, job):
    return part.assign(score=jobs.score(job, part["id"].to_numpy()))


def all_of(job):
    bounds = np.linspace(0, job.rows, 8 * job.workers + 1).astype(np.int64)
    make = dask.delayed(lambda begin, end: pandas.DataFrame({"id": np.arange(begin, end)}))
    meta = pandas.DataFrame({"id": np.empty(0, np.int64)})
    rows = frames.from_delayed([make(begin, end) for begin, end in zip(bounds, bounds[1:])], meta=meta)
    result = rows.map_partitions(work, job, meta=meta.assign(score=np.empty(0, np.float32))).compute()
    return result["id"].to_numpy(), result["score"].to_numpy()


def main():
    job = jobs.read_arguments(__doc__)
    warnings.simplefilter("ignore")
    # The workers import the modules of this folder.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(jobs.HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    # A worker that is killed is restarted by Dask's process "nanny".
    with LocalCluster(n_workers=job.workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as cluster:
        with Client(cluster):
            # Runs a small job first: the processes start and compile the network before the clock runs.
            all_of(dataclasses.replace(job, rows=1000 * job.workers, kill=""))
            with jobs.Clock() as clock:
                ids, scores = all_of(job)
    jobs.finish(job, "Dask", ids, scores, clock.seconds)


if __name__ == "__main__":
    main()
