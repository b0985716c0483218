// tiny.cpp: runs the four networks of MLPerf Tiny in one arena.
//
// The networks (image classification, keyword spotting, person detection and
// anomaly detection, in float) keep no state between runs, so they share an
// arena (working memory) of the size that the largest one needs. The networks
// come without data: inputs are pseudo-random. For each network, prints the index
// of the largest output and its value in millionths, which should match any other
// implementation.

#include "board.h"
#include "tiny_ad_autoencoder.h"
#include "tiny_ds_cnn_kws.h"
#include "tiny_mobilenet_v1_025_vww.h"
#include "tiny_resnet8_cifar.h"

namespace {

constexpr size_t largest(size_t a, size_t b) { return a > b ? a : b; }

/// A network: its name, the function that runs it, and the number of floats in
/// its input and its output.
struct Network {
  const char *name;
  ingot_status (*run)(float *input, float *output, void *arena);
  uint32_t inputs, outputs;
};

#define NETWORK(NAME, NAME_UPPER)                                              \
  {#NAME,                                                                      \
   [](float *input, float *output, void *arena) {                              \
     NAME##_io io = {input, output};                                           \
     return NAME##_run(&io, arena, nullptr);                                   \
   },                                                                          \
   NAME_UPPER##_INPUT_ELEMENTS, NAME_UPPER##_OUTPUT_ELEMENTS}

constexpr Network networks[] = {
    NETWORK(tiny_resnet8_cifar, TINY_RESNET8_CIFAR),
    NETWORK(tiny_ds_cnn_kws, TINY_DS_CNN_KWS),
    NETWORK(tiny_mobilenet_v1_025_vww, TINY_MOBILENET_V1_025_VWW),
    NETWORK(tiny_ad_autoencoder, TINY_AD_AUTOENCODER),
};

constexpr size_t arenaBytes = largest(
    largest(TINY_RESNET8_CIFAR_ARENA_BYTES, TINY_DS_CNN_KWS_ARENA_BYTES),
    largest(TINY_MOBILENET_V1_025_VWW_ARENA_BYTES,
            TINY_AD_AUTOENCODER_ARENA_BYTES));

constexpr uint32_t mostOf(uint32_t Network::*count) {
  uint32_t most = 0;
  for (const Network &network : networks)
    most = network.*count > most ? network.*count : most;
  return most;
}

alignas(64) unsigned char arena[arenaBytes];
float input[mostOf(&Network::inputs)], output[mostOf(&Network::outputs)];

} // namespace

int main() {
  for (const Network &network : networks) {
    uint32_t seed = 1;
    for (uint32_t i = 0; i < network.inputs; ++i) {
      seed = seed * 1664525u + 1013904223u;
      input[i] = float(int32_t(seed)) * 0x1p-31f;
    }
    if (network.run(input, output, arena) != INGOT_OK) {
      board_print("the network reports an error\n");
      return 1;
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < network.outputs; ++i)
      best = output[i] > output[best] ? i : best;
    board_print(network.name);
    board_print(" ");
    board_print_number(int32_t(best));
    board_print(" ");
    board_print_number(int32_t(output[best] * 1e6f));
    board_print("\n");
  }
  board_print("arena ");
  board_print_number(int32_t(arenaBytes));
  board_print(" ");
  board_print_memory();
  return 0;
}
