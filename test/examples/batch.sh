#!/usr/bin/env bash
# Tests examples/batch: runs the job with each installed engine, and kills a worker in the middle.
# BATCH_PYTHON names the Python in which the engines are installed (default: that of the build
# folder).
# usage: batch.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4
python=${BATCH_PYTHON:-$build/venv/bin/python3} rows=${BATCH_ROWS:-300000}

rm -rf "$scratch"
mkdir -p "$scratch"
cp -r "$source/examples/batch" "$scratch/batch"
cd "$scratch/batch"
export PYTHONPATH=$build/python INGOT_CACHE=$scratch/cache
"$build/venv/bin/python3" model.py

# Whether a Python package (has) or a program (runs) that an engine needs is installed.
has() { "$python" -c "import $1" 2>/dev/null || { printf 'skipped: %s needs the package %s\n' "$2" "$1"; return 1; }; }
runs() { command -v "$1" >/dev/null || { printf 'skipped: %s needs the program %s\n' "$2" "$1"; return 1; }; }

done=0
if has ray.data "Ray Data"; then
  "$python" ray_job.py --rows "$rows" --kill "$scratch/ray"
  done=$((done + 1))
fi
if has dask.dataframe Dask && has distributed Dask; then
  "$python" dask_job.py --rows "$rows" --kill "$scratch/dask"
  done=$((done + 1))
fi
if has pyspark Spark && has pandas Spark && runs java Spark; then
  "$python" spark_job.py --rows "$rows" --kill "$scratch/spark"
  done=$((done + 1))
fi
if runs mpicxx MPI && runs mpirun MPI; then
  "$cmake" -S mpi -B tree -G Ninja -DIngot_DIR="$build/cmake" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >/dev/null
  "$cmake" --build tree >/dev/null
  "$build/venv/bin/python3" mpi/run.py tree/job --rows "$rows" --kill "$scratch/mpi"
  done=$((done + 1))
fi
# ctest counts this exit code as skipped.
[ $done -gt 0 ] || exit 77
