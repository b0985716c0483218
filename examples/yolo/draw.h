// Draws boxes with labels into a picture.

#ifndef EXAMPLES_YOLO_DRAW_H
#define EXAMPLES_YOLO_DRAW_H

#include "image.h"

/// Draws a box with corners in pixels, and a label above its upper edge (inside
/// at the top of the picture). The color depends on `kind`.
void drawBox(Image &image, float x1, float y1, float x2, float y2, int kind,
             const std::string &label);
/// Draws a dot of a few pixels, whose color depends on `kind`.
void drawPoint(Image &image, float x, float y, int kind);

#endif // EXAMPLES_YOLO_DRAW_H
