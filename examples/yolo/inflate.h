// Decompresses the data of PNG files.

#ifndef EXAMPLES_YOLO_INFLATE_H
#define EXAMPLES_YOLO_INFLATE_H

#include <cstdint>
#include <vector>

/// Decompresses data in the zlib format (RFC 1950, RFC 1951). Returns false if
/// the data is damaged or the result does not have exactly `size` bytes.
bool inflate(const std::vector<uint8_t> &data, std::size_t size,
             std::vector<uint8_t> &result);

/// Returns the Adler-32 checksum of `count` bytes.
uint32_t adler32(const uint8_t *bytes, std::size_t count);

#endif // EXAMPLES_YOLO_INFLATE_H
