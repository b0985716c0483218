// Scores rows by MPI. Rank 0 hands out chunks of rows, and the other ranks
// compute them. Each chunk is written to a separate file, which gets its final
// name when it is complete. So a job that was interrupted continues with the
// missing chunks. If a rank dies, MPI ends all ranks, and run.py starts them
// again.
//
//     job ROWS FOLDER [KILL_FILE]
//
// KILL_FILE tests this: if the file does not exist, the rank that gets the middle
// chunk creates it and kills itself.

#include "scores.h"

#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int64_t kFeatures = 32, kBatch = 4096, kChunk = 16 * kBatch;
constexpr int kDone = -1;

// Computes the row with number `id`, like features_of in job.py.
void makeRow(uint64_t id, float *row) {
  for (uint64_t i = 0; i < kFeatures; ++i) {
    uint64_t z = (id * kFeatures + i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    row[i] = float(z >> 40) * 0x1p-23f - 1.0f;
  }
}

std::string nameOf(const std::string &folder, int chunk) {
  return folder + "/scores-" + std::to_string(chunk) + ".f32";
}

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "job: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void dieOnce(const char *path) {
  int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (file < 0)
    return;
  close(file);
  kill(getpid(), SIGKILL);
}

void compute(const std::string &folder, int chunk, int64_t rows) {
  alignas(
      SCORES_ARENA_ALIGN) static unsigned char arena[SCORES_ARENA_BYTES + 1];
  static std::vector<float> features(size_t(kBatch * kFeatures));
  int64_t begin = chunk * kChunk, end = std::min(rows, begin + kChunk);
  std::vector<float> scores(size_t(end - begin));
  for (int64_t at = begin; at < end; at += kBatch) {
    int64_t count = std::min(kBatch, end - at);
    for (int64_t i = 0; i < count; ++i)
      makeRow(uint64_t(at + i), &features[size_t(i * kFeatures)]);
    scores_io io = {};
    io.batch = count;
    io.x = features.data();
    io.score = &scores[size_t(at - begin)];
    if (int status = scores_run(&io, arena, nullptr))
      fail("the network returned " + std::to_string(status));
  }
  std::string name = nameOf(folder, chunk);
  std::FILE *file = std::fopen((name + ".new").c_str(), "wb");
  if (!file ||
      std::fwrite(scores.data(), sizeof(float), scores.size(), file) !=
          scores.size() ||
      std::fclose(file) || std::rename((name + ".new").c_str(), name.c_str()))
    fail("cannot write " + name);
}

void handOut(const std::string &folder, int chunks, int workers) {
  int next = 0;
  auto give = [&](int rank) {
    while (next < chunks && access(nameOf(folder, next).c_str(), F_OK) == 0)
      ++next;
    int chunk = next < chunks ? next++ : kDone;
    MPI_Send(&chunk, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    return chunk != kDone;
  };
  for (int busy = workers; busy > 0;) {
    int ready;
    MPI_Recv(&ready, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    busy -= !give(ready);
  }
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3)
    fail("usage: job ROWS FOLDER [KILL_FILE]");
  int64_t rows = std::atoll(argv[1]);
  std::string folder = argv[2];
  int rank, size, chunks = int((rows + kChunk - 1) / kChunk);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2)
    fail("start at least two ranks: the first one hands out the work");
  MPI_Barrier(MPI_COMM_WORLD);
  auto begin = std::chrono::steady_clock::now();
  if (rank == 0) {
    handOut(folder, chunks, size - 1);
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - begin;
    std::printf("%.3f\n", seconds.count());
  } else {
    for (;;) {
      int chunk;
      MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
      MPI_Recv(&chunk, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (chunk == kDone)
        break;
      if (argc > 3 && chunk == chunks / 2)
        dieOnce(argv[3]);
      compute(folder, chunk, rows);
    }
  }
  MPI_Finalize();
  return 0;
}
