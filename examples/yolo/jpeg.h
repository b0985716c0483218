// Decodes JPEG pictures.

#ifndef EXAMPLES_YOLO_JPEG_H
#define EXAMPLES_YOLO_JPEG_H

#include "image.h"

/// Decodes a JPEG file (ITU-T T.81) with 8-bit samples and Huffman codes,
/// sequential or progressive, in gray, YCbCr or RGB, with any subsampling, and
/// rotates the picture as its Exif data says. Throws ImageError.
Image readJpeg(const std::vector<uint8_t> &file);

#endif // EXAMPLES_YOLO_JPEG_H
