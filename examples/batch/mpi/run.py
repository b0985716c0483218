"""The job by MPI: starts the ranks, again after a rank has died, and checks the rows. Before it, build `job` with CMake."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import job as jobs
import numpy as np

MOST_STARTS = 5


def main():
    program = pathlib.Path(sys.argv.pop(1)).resolve()
    job = jobs.read_arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder, jobs.Clock() as clock:
        # All ranks run on this machine. With several machines, the folder must be on a file system that all of them
        # share.
        ranks = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(job.workers + 1), str(program)]
        seconds = 0.0
        for start in range(MOST_STARTS):
            done = subprocess.run([*ranks, str(job.rows), folder, *filter(None, [job.kill])], capture_output=True, text=True)
            if done.returncode == 0:
                seconds = float(done.stdout.split()[-1])
                break
            print(f"start {start + 1} ended with exit code {done.returncode}; the chunks that are complete are kept")
        else:
            sys.exit(done.stderr)
        parts = sorted(pathlib.Path(folder).glob("scores-*.f32"), key=lambda path: int(path.stem.split("-")[1]))
        scores = np.concatenate([np.fromfile(path, np.float32) for path in parts])
    # If a rank was killed, the time includes the restarts.
    jobs.finish(job, "MPI", np.arange(len(scores)), scores, seconds if start == 0 else clock.seconds)


if __name__ == "__main__":
    main()
