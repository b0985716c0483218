// Runs a network in ncnn for time.mjs, compiled by Emscripten.

#include "net.h"

#include <algorithm>
#include <emscripten.h>
#include <string>
#include <vector>

static ncnn::Net network;
static std::vector<ncnn::Mat> inputs;
static ncnn::Mat output;

extern "C" {

EMSCRIPTEN_KEEPALIVE int
open_network(const char *param, const unsigned char *weights, int threads) {
  network.opt.num_threads = threads;
  if (network.load_param_mem(param) != 0)
    return 1;
  network.load_model(weights);
  return 0;
}

EMSCRIPTEN_KEEPALIVE void set_input(int index, float *data, int dims, int width,
                                    int height, int channels) {
  ncnn::Mat compact = dims == 1   ? ncnn::Mat(width, data)
                      : dims == 2 ? ncnn::Mat(width, height, data)
                                  : ncnn::Mat(width, height, channels);
  if (dims == 3)
    for (int c = 0; c < channels; ++c)
      std::copy_n(data + c * width * height, width * height,
                  (float *)compact.channel(c));
  inputs.resize(std::max<size_t>(inputs.size(), index + 1));
  inputs[index] = compact.clone();
}

EMSCRIPTEN_KEEPALIVE int run_network() {
  ncnn::Extractor extractor = network.create_extractor();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (int error =
            extractor.input(("in" + std::to_string(i)).c_str(), inputs[i]))
      return error;
  return extractor.extract("out0", output);
}

EMSCRIPTEN_KEEPALIVE int read_output(float *data, int most) {
  int count = 0;
  for (int c = 0; c < output.c; ++c)
    for (int i = 0; i < output.w * output.h * output.d && count < most; ++i)
      data[count++] = ((const float *)output.channel(c))[i];
  return count;
}

} // extern "C"
