// Runs tiles.onnx on the operands in data.h with emulated AMX: on one thread,
// and with a new thread for each part of a kernel, on which tiles are not
// configured yet. Compares with the results in data.h and prints the number of
// tile instructions of a run.
#include "tiles.h"

#include "amx_emulator.h"

#include <stdio.h>
#include <thread>
#include <vector>

static int fail(const char *name, int place, double found, double want) {
  printf("%s[%d] is %g, not %g\n", name, place, found, want);
  return 1;
}

#include "data.h"

alignas(TILES_ARENA_ALIGN) static unsigned char arena[TILES_ARENA_BYTES + 1];

static void onThreads(void *, ptrdiff_t extent, ingot_body body,
                      void *argument) {
  std::vector<std::thread> threads;
  for (ptrdiff_t i = 0; i < extent; ++i)
    threads.emplace_back(body, argument, i, i + 1);
  for (std::thread &thread : threads)
    thread.join();
}

int main() {
  tiles_io io = {};
  bind(io);
  ingot_context threads = {};
  threads.parallel_for = onThreads;
  for (const ingot_context *context :
       {(const ingot_context *)nullptr, (const ingot_context *)&threads}) {
    clear();
    if (tiles_run(&io, arena, context) != INGOT_OK)
      return 2;
    AmxCounts counts = amx_counts();
    printf("%ld products, %ld loads, %ld stores\n", counts.products,
           counts.loads, counts.stores);
    if (int failed = check())
      return failed;
  }
  return 0;
}
