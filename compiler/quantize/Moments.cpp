#include "compiler/quantize/Moments.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace ingot::quantize {

/// An attribute that compiles a function for several instruction sets;
/// CMakeLists.txt defines it where compilers support it.
#ifndef INGOT_VECTORIZED
#define INGOT_VECTORIZED
#endif

/// The largest number of columns of a weight between which covariances are
/// computed: a matrix of 9 MB.
static constexpr int64_t maxPart = 1536;
/// Operand vectors are collected in a buffer, a panel, before their products
/// are added to the sums. The number of vectors (rows) in a panel.
static constexpr int64_t panelRows = 64;

/// A panel is a buffer of operand vectors (rows). It consists of blocks of
/// columns, each with all rows; this is the number of columns in a block.
static constexpr int64_t blockColumns = 16;
using Vector = float __attribute__((vector_size(blockColumns * sizeof(float))));

/// Returns the position of an element in a panel, a buffer of operand vectors.
static int64_t placeInPanel(int64_t row, int64_t column) {
  return (column / blockColumns * panelRows + row) * blockColumns +
         column % blockColumns;
}

/// Adds, for all pairs of columns i <= j of `panel`, the dot product of the two
/// columns to `sums`. A row of `sums` has `stride` floats; `stride` is a
/// multiple of blockColumns.
INGOT_VECTORIZED static void addProducts(const float *panel, int64_t rows,
                                         int64_t stride, float *sums) {
  constexpr int height = 8;
  for (int64_t i = 0; i < stride; i += height)
    for (int64_t j = i / blockColumns * blockColumns; j < stride;
         j += blockColumns) {
      const float *left = panel + placeInPanel(0, i),
                  *right = panel + placeInPanel(0, j);
      Vector tile[height] = {}, row;
      for (int64_t p = 0; p < rows; ++p) {
        std::memcpy(&row, right + p * blockColumns, sizeof(row));
        for (int a = 0; a < height; ++a)
          tile[a] += row * left[p * blockColumns + a];
      }
      for (int a = 0; a < height; ++a) {
        float *sum = sums + (i + a) * stride + j;
        std::memcpy(&row, sum, sizeof(row));
        row += tile[a];
        std::memcpy(sum, &row, sizeof(row));
      }
    }
}

static int64_t padded(int64_t columns) {
  return llvm::alignTo(columns, blockColumns);
}

static int64_t partOf(const Weight &weight) {
  // Divides the columns of a weight into parts of equal size, which take the
  // least memory.
  int64_t parts = (weight.depth + maxPart - 1) / maxPart;
  return (weight.depth + parts - 1) / parts;
}

int64_t Moments::bytes(const Weight &weight) {
  int64_t part = partOf(weight), parts = (weight.depth + part - 1) / part;
  return weight.groups * parts * padded(part) * padded(part) * 4;
}

Moments::Moments(const Weight &weight, size_t samples)
    : weight(weight), depth(weight.depth), part(partOf(weight)),
      groups(weight.groups) {
  int64_t wanted = std::min<int64_t>(std::max<int64_t>(4 * part, 2048), 8192);
  perSample = std::max<int64_t>(1, (wanted + samples - 1) / samples);
  sums.assign(bytes(weight) / 4, 0);
  means.assign(groups * depth, 0);
  panel.assign(groups * parts() * panelRows * padded(part), 0);
}

namespace {
/// The positions of a filter over a tensor with channels and up to two spatial
/// axes.
struct Window {
  int64_t channels, size[2] = {1, 1}, out[2] = {1, 1}, kernel[2] = {1, 1},
                    stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {0, 0};
  bool isValid = true;

  Window(const onnx::NodeProto &node, llvm::ArrayRef<int64_t> shape,
         llvm::ArrayRef<int64_t> weight) {
    size_t axes = shape.size() - 2;
    isValid = shape.size() > 2 && axes <= 2;
    if (!isValid)
      return;
    channels = shape[1];
    auto strides = integersOf(node, "strides"),
         dilations = integersOf(node, "dilations"),
         pads = integersOf(node, "pads");
    std::string autoPad;
    for (const auto &attribute : node.attribute())
      if (attribute.name() == "auto_pad")
        autoPad = attribute.s();
    for (size_t d = 0; d < axes; ++d) {
      size[d] = shape[d + 2];
      kernel[d] = weight[d + 2];
      if (d < strides.size())
        stride[d] = strides[d];
      if (d < dilations.size())
        dilation[d] = dilations[d];
      int64_t extent = (kernel[d] - 1) * dilation[d] + 1, end = 0;
      if (llvm::StringRef(autoPad).starts_with("SAME")) {
        out[d] = (size[d] + stride[d] - 1) / stride[d];
        int64_t all =
            std::max<int64_t>(0, (out[d] - 1) * stride[d] + extent - size[d]);
        pad[d] = autoPad == "SAME_UPPER" ? all / 2 : all - all / 2;
        continue;
      }
      if (d < pads.size() && autoPad != "VALID") {
        pad[d] = pads[d];
        end = pads[d + axes];
      }
      out[d] = (size[d] + pad[d] + end - extent) / stride[d] + 1;
    }
  }
};
} // namespace

void Moments::add(const onnx::NodeProto &node, llvm::ArrayRef<float> data,
                  llvm::ArrayRef<int64_t> shape) {
  bool isConv = weight.kind == WeightKind::Conv;
  if (data.empty() || weight.kind == WeightKind::ConvTranspose ||
      (weight.kind == WeightKind::Gemm && integerOf(node, "transA", 0)))
    return;
  std::optional<Window> window;
  int64_t places = 0;
  if (isConv) {
    window.emplace(node, shape, weight.shape);
    if (!window->isValid)
      return;
    places = shape[0] * window->out[0] * window->out[1];
  } else {
    places = data.size() / depth;
  }
  if (places <= 0)
    return;
  int64_t step = std::max<int64_t>(1, places / perSample);
  // Visits every `step`-th position, from a different offset in each sample, so
  // that no position is always skipped.
  for (int64_t at = step > 1 ? offset % step : 0; at < places; at += step) {
    for (int64_t g = 0; g < groups; ++g) {
      float *rows = &panel[g * parts() * panelRows * padded(part)];
      double *sum = &means[g * depth];
      // The column that the next call of `put` fills in the panel (buffer of
      // operand vectors) of this part.
      int64_t column = 0;
      auto put = [&](float value) {
        rows[placeInPanel(filled, column)] = value;
        *sum++ += value;
        if (++column == part) {
          column = 0;
          rows += panelRows * padded(part);
        }
      };
      if (!isConv) {
        for (float value : data.slice(at * depth, depth))
          put(value);
        continue;
      }
      const Window &w = *window;
      int64_t x = at % w.out[1], y = at / w.out[1] % w.out[0],
              n = at / w.out[1] / w.out[0], inGroup = w.channels / groups;
      for (int64_t c = 0; c < inGroup; ++c)
        for (int64_t ky = 0; ky < w.kernel[0]; ++ky)
          for (int64_t kx = 0; kx < w.kernel[1]; ++kx) {
            int64_t iy = y * w.stride[0] - w.pad[0] + ky * w.dilation[0],
                    ix = x * w.stride[1] - w.pad[1] + kx * w.dilation[1];
            bool inside =
                iy >= 0 && iy < w.size[0] && ix >= 0 && ix < w.size[1];
            put(inside ? data[((n * w.channels + g * inGroup + c) * w.size[0] +
                               iy) *
                                  w.size[1] +
                              ix]
                       : 0);
          }
    }
    ++count;
    if (++filled == panelRows)
      flush();
  }
  offset += 7;
}

void Moments::flush() {
  int64_t stride = padded(part);
  bool isFirst = origin.empty();
  if (isFirst)
    origin.assign(groups * parts() * stride, 0);
  for (int64_t i = 0; i < groups * parts(); ++i) {
    float *rows = &panel[i * panelRows * stride], *from = &origin[i * stride];
    for (int64_t c = 0; c < stride; ++c) {
      for (int64_t r = 0; isFirst && r < filled; ++r)
        from[c] += rows[placeInPanel(r, c)] / float(filled);
      for (int64_t r = 0; r < filled; ++r)
        rows[placeInPanel(r, c)] -= from[c];
    }
    addProducts(rows, filled, stride, &sums[i * stride * stride]);
  }
  filled = 0;
}

void Moments::finish() {
  if (filled)
    flush();
  panel = std::vector<float>();
  if (!count)
    return;
  int64_t stride = padded(part);
  for (double &mean : means)
    mean /= double(count);
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t p = 0; p < parts(); ++p) {
      float *matrix = &sums[(g * parts() + p) * stride * stride];
      int64_t n = columns(p);
      // The mean of the vectors relative to `origin`, which was subtracted from
      // them.
      std::vector<double> mean(n);
      for (int64_t i = 0; i < n; ++i)
        mean[i] = means[g * depth + p * part + i] -
                  origin[(g * parts() + p) * stride + i];
      // Computes the covariances in place, copies the upper triangle to the
      // lower one, and removes the padding at the ends of the rows.
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i; j < n; ++j) {
          double value =
              matrix[i * stride + j] / double(count) - mean[i] * mean[j];
          matrix[i * stride + j] = float(value);
        }
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j)
          matrix[i * stride + j] = matrix[j * stride + i];
      for (int64_t i = 1; i < n; ++i)
        std::memmove(matrix + i * n, matrix + i * stride, n * sizeof(float));
    }
}

llvm::ArrayRef<float> Moments::covariance(int64_t group, int64_t index) const {
  int64_t stride = padded(part), n = columns(index);
  return llvm::ArrayRef(sums).slice((group * parts() + index) * stride * stride,
                                    n * n);
}

} // namespace ingot::quantize
