"""The job by Spark: mapInPandas on executors of a local cluster, each a process with one core."""

import dataclasses
import os
import sys

import job as jobs
from pyspark.sql import SparkSession


def main():
    job = jobs.read_arguments(__doc__)
    # Executors import the modules of this folder, and run this Python.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(jobs.HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(f"local-cluster[{job.workers},1,1024]")
        .appName("batch")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "localhost")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
        .config("spark.driver.maxResultSize", "0")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")

    def all_of(of):
        def work(parts):
            for part in parts:
                yield part.assign(score=jobs.score(of, part["id"].to_numpy()))

        rows = spark.range(0, of.rows, numPartitions=8 * of.workers)
        result = rows.mapInPandas(work, "id long, score float").toPandas()
        return result["id"].to_numpy(), result["score"].to_numpy()

    # Runs a small job first: the processes start and compile the network before the clock runs.
    all_of(dataclasses.replace(job, rows=1000 * job.workers, kill=""))
    with jobs.Clock() as clock:
        ids, scores = all_of(job)
    spark.stop()
    jobs.finish(job, "Spark", ids, scores, clock.seconds)


if __name__ == "__main__":
    main()
