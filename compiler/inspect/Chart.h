// Draws a table as an SVG file: bars, or a line.
//
// SVG is text: every browser and every text processor shows it at any size, and
// no library is needed to write it.

#ifndef INGOT_COMPILER_INSPECT_CHART_H
#define INGOT_COMPILER_INSPECT_CHART_H

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace ingot {

struct Chart {
  /// Bars: a horizontal bar of the length `value` for each point, in order.
  /// Line: the points at (`at`, `value`), joined in order.
  enum Kind { Bars, Line } kind = Bars;
  std::string title, note;
  /// The titles of the two axes: what Point::at and Point::value mean, with
  /// units.
  std::string atTitle, valueTitle;
  struct Point {
    std::string label;
    double at = 0, value = 0;
  };
  std::vector<Point> points;
};

/// Prints a chart as SVG. If there are more bars than fit on a page, the
/// longest are shown, and the others are combined in one bar.
void printSvg(const Chart &chart, llvm::raw_ostream &os);

} // namespace ingot

#endif // INGOT_COMPILER_INSPECT_CHART_H
