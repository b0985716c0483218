// The C functions of operators.yaml. docs/custom-operators.md says which parameters they get.
#include <stddef.h>
#include <stdint.h>

// When compiled for a GPU, these are device functions.
#ifdef __CUDACC__
#define FUNCTION extern "C" __device__
#else
#define FUNCTION extern "C"
#endif

template <typename T>
static inline
#ifdef __CUDACC__
    __device__
#endif
    void cumulativeMax(const T *x, T *y, int64_t n, int64_t row) {
  for (int64_t i = row * n; i < (row + 1) * n; ++i)
    y[i] = i > row * n && y[i - 1] > x[i] ? y[i - 1] : x[i];
}

FUNCTION void example_cumulative_max_float(const float *x, float *y,
                                           int64_t rows, int64_t n,
                                           int64_t row) {
  cumulativeMax(x, y, n, row);
}
FUNCTION void example_cumulative_max_int8(const int8_t *x, int8_t *y,
                                          int64_t rows, int64_t n,
                                          int64_t row) {
  cumulativeMax(x, y, n, row);
}
FUNCTION void example_cumulative_max_uint8(const uint8_t *x, uint8_t *y,
                                           int64_t rows, int64_t n,
                                           int64_t row) {
  cumulativeMax(x, y, n, row);
}

static inline
#ifdef __CUDACC__
    __device__
#endif
    float sample(const float *x, int64_t h, int64_t w, float row,
                 float column) {
  if (row <= -1 || row >= h || column <= -1 || column >= w)
    return 0;
  // Rounds down: the conversion truncates, and both numbers are above -1.
  int64_t top = int64_t(row + 1) - 1, left = int64_t(column + 1) - 1;
  float down = row - top, right = column - left, sum = 0;
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 2; ++j)
      if (top + i >= 0 && top + i < h && left + j >= 0 && left + j < w)
        sum += (i ? down : 1 - down) * (j ? right : 1 - right) *
               x[(top + i) * w + left + j];
  return sum;
}

FUNCTION void mmcv_modulated_deform_conv2d(
    const float *x, const float *offset, const float *mask, const float *weight,
    const float *bias, float *y, int8_t *scratch, int64_t n, int64_t c,
    int64_t h, int64_t w, int64_t oh, int64_t ow, int64_t m, int64_t kh,
    int64_t kw, const int64_t *stride, const int64_t *padding,
    const int64_t *dilation, int64_t groups, int64_t deform_groups) {
  float *column = static_cast<float *>(static_cast<void *>(scratch));
  int64_t kernel = kh * kw, places = oh * ow, ofGroup = c / groups,
          outputs = m / groups;
  for (int64_t image = 0; image < n; ++image)
    for (int64_t i = 0; i < oh; ++i)
      for (int64_t j = 0; j < ow; ++j) {
        for (int64_t channel = 0; channel < c; ++channel)
          for (int64_t k = 0; k < kernel; ++k) {
            int64_t group = channel / (c / deform_groups), at = i * ow + j;
            const float *own =
                offset +
                ((image * deform_groups + group) * 2 * kernel + 2 * k) * places;
            float row =
                i * stride[0] - padding[0] + k / kw * dilation[0] + own[at];
            float col = j * stride[1] - padding[1] + k % kw * dilation[1] +
                        own[places + at];
            column[channel * kernel + k] =
                sample(x + (image * c + channel) * h * w, h, w, row, col) *
                mask[((image * deform_groups + group) * kernel + k) * places +
                     at];
          }
        for (int64_t out = 0; out < m; ++out) {
          float sum = bias[out];
          for (int64_t k = 0; k < ofGroup * kernel; ++k)
            sum += weight[out * ofGroup * kernel + k] *
                   column[out / outputs * ofGroup * kernel + k];
          y[((image * m + out) * oh + i) * ow + j] = sum;
        }
      }
}

static inline
#ifdef __CUDACC__
    __device__
#endif
    float overlap(const float *a, const float *b) {
  float height = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]);
  float width = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]);
  float both = height > 0 && width > 0 ? height * width : 0;
  return both /
         ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
}

// Keeps the best boxes of each image. Unused outputs are zeros with the label -1.
FUNCTION void mmdeploy_batched_nms(const float *boxes, const float *scores,
                                   float *dets, int32_t *labels,
                                   int8_t *scratch, int64_t n, int64_t b,
                                   int64_t k, int64_t keep_topk,
                                   float iou_threshold, float score_threshold) {
  for (int64_t image = 0; image < n; ++image) {
    const float *box = boxes + image * b * 4, *score = scores + image * b * k;
    for (int64_t i = 0; i < b * k; ++i)
      scratch[i] = score[i] > score_threshold;
    for (int64_t kept = 0; kept < keep_topk; ++kept) {
      int64_t best = -1;
      for (int64_t i = 0; i < b * k; ++i)
        if (scratch[i] && (best < 0 || score[i] > score[best]))
          best = i;
      float *to = dets + (image * keep_topk + kept) * 5;
      for (int64_t i = 0; i < 4; ++i)
        to[i] = best < 0 ? 0 : box[best / k * 4 + i];
      to[4] = best < 0 ? 0 : score[best];
      labels[image * keep_topk + kept] = best < 0 ? -1 : int32_t(best % k);
      for (int64_t i = 0; best >= 0 && i < b; ++i)
        if (overlap(box + best / k * 4, box + i * 4) > iou_threshold ||
            i == best / k)
          scratch[i * k + best % k] = 0;
    }
  }
}

FUNCTION void example_above_threshold(const float *x, int64_t *indices,
                                      int64_t *found, int64_t n,
                                      float threshold) {
  *found = 0;
  for (int64_t i = 0; i < n; ++i)
    if (x[i] > threshold)
      indices[(*found)++] = i;
}

// Selects the longest of the m words of each row; the first if several are longest.
FUNCTION void example_longest(const char *const *words, const char **longest,
                              int64_t *length, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; ++i) {
    longest[i] = "";
    length[i] = 0;
    for (int64_t k = 0; k < m; ++k) {
      const char *word = words[i * m + k];
      int64_t size = 0;
      while (word[size] != 0)
        ++size;
      if (size > length[i]) {
        longest[i] = word;
        length[i] = size;
      }
    }
  }
}

// With the attribute kind "box", averages a window of three elements (or tests if all are
// set); with "any", tests if the weighted sum is positive.
FUNCTION void example_window_uint8(const uint8_t *x, uint8_t *y, int64_t n,
                                   int64_t c, const float *weights,
                                   const char *kind) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j + 2 < c; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < 3; ++k)
        sum += weights[k] * x[i * c + j + k];
      y[i * (c - 2) + j] = uint8_t(kind[0] == 'b' ? sum / 3
                                   : sum > 0      ? 255
                                                  : 0);
    }
}
FUNCTION void example_window_bool(const uint8_t *x, uint8_t *y, int64_t n,
                                  int64_t c, const float *weights,
                                  const char *kind) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j + 2 < c; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < 3; ++k)
        sum += weights[k] * x[i * c + j + k];
      y[i * (c - 2) + j] = kind[0] == 'b' ? sum >= 3 : sum > 0;
    }
}

template <typename T>
static inline
#ifdef __CUDACC__
    __device__
#endif
    void blur(const T *x, T *y, int64_t h, int64_t w) {
  for (int64_t i = 0; i < h; ++i)
    for (int64_t j = 0; j < w; ++j) {
      float sum = 0;
      for (int64_t di = -1; di <= 1; ++di)
        for (int64_t dj = -1; dj <= 1; ++dj)
          if (i + di >= 0 && i + di < h && j + dj >= 0 && j + dj < w)
            sum += x[(i + di) * w + j + dj];
      y[i * w + j] = T(sum / 9);
    }
}
FUNCTION void example_blur_float(const float *x, float *y, int64_t n, int64_t c,
                                 int64_t h, int64_t w, int64_t plane) {
  blur(x + plane * h * w, y + plane * h * w, h, w);
}
FUNCTION void example_blur_int8(const int8_t *x, int8_t *y, int64_t n,
                                int64_t c, int64_t h, int64_t w,
                                int64_t plane) {
  blur(x + plane * h * w, y + plane * h * w, h, w);
}
