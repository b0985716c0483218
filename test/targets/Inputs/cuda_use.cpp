// Calls a model on an emulated GPU correctly and incorrectly: each mistake must
// return an error code, and nothing may remain allocated.
#include "mnist.h"

#include <cuda_runtime.h>
#include <stdio.h>

static int failures = 0;

static void expect(bool holds, const char *what, int line) {
  if (holds)
    return;
  printf("line %d: not so: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

static float image[MNIST_INPUT3_ELEMENTS];
static float scores[MNIST_PLUS214_OUTPUT_0_ELEMENTS];

static mnist_io onHost() {
  mnist_io io = {};
  io.place = INGOT_ON_HOST;
  io.Input3 = image;
  io.Plus214_Output_0 = scores;
  return io;
}

/// Tests failing allocations and unsuitable devices.
static void testDevices() {
  EmulatedGpu &gpu = emulated_gpu();
  mnist_constants constants;
  mnist_handle handle;
  gpu.exists = false;
  EXPECT(mnist_upload(&constants, nullptr) == INGOT_ERROR_DEVICE);
  gpu.exists = true;
  gpu.level = 75;
  EXPECT(mnist_upload(&constants, nullptr) == INGOT_ERROR_TARGET);
  gpu.level = 90;
  gpu.capacity = 100;
  EXPECT(mnist_upload(&constants, nullptr) == INGOT_ERROR_CAPACITY);
  EXPECT(gpu.objects == 0);
  gpu.capacity = SIZE_MAX;
  EXPECT(mnist_upload(&constants, nullptr) == INGOT_OK);
  size_t uploaded = gpu.deviceBytes;
  gpu.capacity = uploaded + MNIST_DEVICE_BYTES - 1;
  EXPECT(mnist_create(&handle, &constants, nullptr) == INGOT_ERROR_CAPACITY);
  EXPECT(gpu.deviceBytes == uploaded && gpu.objects == 1);
  // A device with exactly the free memory that the header states suffices.
  gpu.capacity = uploaded + MNIST_DEVICE_BYTES;
  EXPECT(mnist_create(&handle, &constants, nullptr) == INGOT_OK);
  EXPECT(gpu.deviceBytes == gpu.capacity);
  EXPECT(mnist_destroy(&handle) == INGOT_OK);
  EXPECT(mnist_release(&constants) == INGOT_OK);
  // Destroying an object twice is harmless.
  EXPECT(mnist_destroy(&handle) == INGOT_OK);
  EXPECT(mnist_release(&constants) == INGOT_OK);
  EXPECT(gpu.objects == 0 && gpu.deviceBytes == 0);
  gpu.capacity = SIZE_MAX;
}

/// Tests calls that a run must reject.
static void testRefusals(mnist_handle *handle) {
  mnist_io io = onHost();
  EXPECT(mnist_run(nullptr, &io, nullptr) == INGOT_ERROR_NULL);
  EXPECT(mnist_run(handle, nullptr, nullptr) == INGOT_ERROR_NULL);
  io.Input3 = nullptr;
  EXPECT(mnist_run(handle, &io, nullptr) == INGOT_ERROR_NULL);
  io = onHost();
  io.place = INGOT_ON_DEVICE;
  EXPECT(mnist_run(handle, &io, nullptr) == INGOT_ERROR_PLACE);
  io.place = 7;
  EXPECT(mnist_run(handle, &io, nullptr) == INGOT_ERROR_PLACE);
  void *memory = nullptr;
  EXPECT(cudaMalloc(&memory, sizeof image) == cudaSuccess);
  io = onHost();
  io.Input3 = static_cast<float *>(memory);
  EXPECT(mnist_run(handle, &io, nullptr) == INGOT_ERROR_PLACE);
  cudaFree(memory);
  // Simulates another thread that is inside a run.
  io = onHost();
  handle->busy = 1;
  EXPECT(mnist_run(handle, &io, nullptr) == INGOT_ERROR_BUSY);
  handle->busy = 0;
  mnist_handle none = {};
  EXPECT(mnist_run(&none, &io, nullptr) == INGOT_ERROR_NULL);
}

/// Tests tensors in device memory at different addresses, with each of the
/// model's handles, without and with a stream.
static void testPlaces(mnist_handle *handles) {
  for (size_t i = 0; i < MNIST_INPUT3_ELEMENTS; ++i)
    image[i] = float(i % 7);
  mnist_io io = onHost();
  EXPECT(mnist_run(&handles[0], &io, nullptr) == INGOT_OK);
  float expected[MNIST_PLUS214_OUTPUT_0_ELEMENTS];
  memcpy(expected, scores, sizeof scores);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  void *in[2], *out[2];
  for (int i = 0; i < 2; ++i) {
    cudaMalloc(&in[i], sizeof image);
    cudaMalloc(&out[i], sizeof scores);
    memcpy(in[i], image, sizeof image);
  }
  for (int i = 0; i < 8; ++i) {
    int where = i % 2;
    mnist_io inside = {INGOT_ON_DEVICE, static_cast<float *>(in[where]),
                       static_cast<float *>(out[where])};
    memset(out[where], 0, sizeof scores);
    EXPECT(mnist_run(&handles[i / 4], &inside, stream) == INGOT_OK);
    cudaStreamSynchronize(stream);
    EXPECT(memcmp(out[where], expected, sizeof scores) == 0);
    memset(scores, 0, sizeof scores);
    EXPECT(mnist_run(&handles[1], &io, stream) == INGOT_OK);
    EXPECT(memcmp(scores, expected, sizeof scores) == 0);
  }
  for (int i = 0; i < 2; ++i) {
    cudaFree(in[i]);
    cudaFree(out[i]);
  }
  cudaStreamDestroy(stream);
}

int main() {
  testDevices();
  mnist_constants constants;
  mnist_handle handles[2];
  EXPECT(mnist_upload(&constants, nullptr) == INGOT_OK);
  for (mnist_handle &handle : handles)
    EXPECT(mnist_create(&handle, &constants, nullptr) == INGOT_OK);
  testRefusals(&handles[0]);
  testPlaces(handles);
  for (mnist_handle &handle : handles)
    EXPECT(mnist_destroy(&handle) == INGOT_OK);
  EXPECT(mnist_release(&constants) == INGOT_OK);
  EXPECT(emulated_gpu().objects == 0);
  printf(failures ? "failed\n" : "as it should be\n");
  return failures != 0;
}
