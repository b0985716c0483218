#include "compiler/inspect/Chart.h"

#include "compiler/Compile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

namespace ingot {
namespace {

constexpr int fontSize = 12;
/// The average width of a character in pixels, used to reserve space for
/// labels.
constexpr double characterWidth = 6.7;

/// Maps numbers to pixels, and divides the axis at round numbers.
struct Axis {
  Axis(double least, double most, double from, double to) : from(from), to(to) {
    if (!(most > least))
      most = least + 1;
    // Divisions are 1, 2 or 5 times a power of 10; the range from `least` to
    // `most` is at most 7 divisions long.
    double rough = (most - least) / 7;
    step = std::pow(10, std::floor(std::log10(rough)));
    for (double factor : {2.0, 2.5, 2.0})
      if (step < rough)
        step *= factor;
    first = std::floor(least / step) * step;
    last = std::ceil(most / step) * step;
  }
  double pixel(double number) const {
    return from + (number - first) / (last - first) * (to - from);
  }
  std::vector<double> divisions() const {
    std::vector<double> all;
    for (int i = 0; first + i * step <= last + step / 2; ++i)
      all.push_back(first + i * step);
    return all;
  }
  double first, last, step, from, to;
};

class Svg {
public:
  explicit Svg(llvm::raw_ostream &os) : os(os) {}

  void begin(double width, double height, llvm::StringRef title) {
    os << "<!-- written by ingot " << ingotVersion << " -->\n"
       << llvm::format("<svg xmlns=\"http://www.w3.org/2000/svg\" "
                       "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
                       "%.0f\" ",
                       width, height, width, height)
       << "font-family=\"sans-serif\" font-size=\"" << fontSize << "\">\n"
       << "<title>";
    llvm::printHTMLEscaped(title, os);
    os << "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  }
  void end() { os << "</svg>\n"; }
  void line(double x1, double y1, double x2, double y2) {
    os << llvm::format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                       "stroke=\"#ddd\"/>\n",
                       x1, y1, x2, y2);
  }
  void text(double x, double y, llvm::StringRef anchor, llvm::StringRef text,
            llvm::StringRef attributes = "") {
    os << llvm::format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"", x, y)
       << anchor << "\"" << attributes << ">";
    llvm::printHTMLEscaped(text, os);
    os << "</text>\n";
  }
  /// Prints an SVG element with a tooltip.
  void shape(llvm::StringRef element, llvm::StringRef attributes,
             llvm::StringRef tip) {
    os << "<" << element << " " << attributes << " fill=\"#3b7dd8\"><title>";
    llvm::printHTMLEscaped(tip, os);
    os << "</title></" << element << ">\n";
  }

  llvm::raw_ostream &os;
};

std::string numberText(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", number);
  if (std::abs(number) < 1e4 || std::abs(number) >= 1e15)
    return text;
  text = std::to_string(std::llround(number));
  for (int at = int(text.size()) - 3; at > (number < 0); at -= 3)
    text.insert(size_t(at), ",");
  return text;
}

constexpr double top = 58, margin = 16;

void printHeadings(Svg &svg, const Chart &chart) {
  svg.text(margin, 24, "start", chart.title,
           " font-size=\"15\" font-weight=\"bold\"");
  svg.text(margin, 42, "start", chart.note, " fill=\"#555\"");
}

/// Returns at most 60 bars: if there are more, the longest ones in their order,
/// followed by a bar for the sum of the others.
std::vector<Chart::Point> shownBars(std::vector<Chart::Point> points) {
  constexpr size_t most = 60;
  if (points.size() <= most)
    return points;
  std::vector<double> values;
  for (const Chart::Point &point : points)
    values.push_back(point.value);
  llvm::sort(values, std::greater<>());
  double least = values[most - 2];
  std::vector<Chart::Point> shown;
  Chart::Point others;
  size_t count = 0;
  for (Chart::Point &point : points)
    if (point.value >= least && shown.size() < most - 1) {
      shown.push_back(std::move(point));
    } else {
      others.value += point.value;
      ++count;
    }
  others.label = std::to_string(count) + " others, together";
  shown.push_back(std::move(others));
  return shown;
}

void printBars(Svg &svg, const Chart &chart) {
  constexpr double barHeight = 14, rowHeight = 20, length = 460;
  std::vector<Chart::Point> points = shownBars(chart.points);
  size_t longest = 0;
  double most = 0;
  for (Chart::Point &point : points) {
    point.label = printable(point.label, 60);
    longest = std::max(longest, point.label.size());
    most = std::max(most, point.value);
  }
  double left = margin + longest * characterWidth + 8;
  double bottom = top + points.size() * rowHeight;
  Axis axis(0, most, left, left + length);
  svg.begin(left + length + 80, bottom + 52, chart.title);
  printHeadings(svg, chart);
  for (double at : axis.divisions()) {
    svg.line(axis.pixel(at), top, axis.pixel(at), bottom);
    svg.text(axis.pixel(at), bottom + 16, "middle", numberText(at));
  }
  svg.text(left + length / 2, bottom + 38, "middle", chart.valueTitle);
  for (auto [i, point] : llvm::enumerate(points)) {
    double y = top + i * rowHeight;
    std::string attributes;
    llvm::raw_string_ostream(attributes) << llvm::format(
        "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\"", left, y + 3,
        std::max(axis.pixel(point.value) - left, 0.5), barHeight);
    svg.text(left - 8, y + 14, "end", point.label);
    svg.shape("rect", attributes, point.label + ": " + numberText(point.value));
    svg.text(axis.pixel(point.value) + 5, y + 14, "start",
             numberText(point.value), " fill=\"#555\"");
  }
  svg.end();
}

void printLine(Svg &svg, const Chart &chart) {
  constexpr double left = 76, width = 720, height = 340;
  double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
  for (const Chart::Point &point : chart.points)
    for (int i : {0, 1}) {
      double number = i ? point.value : point.at;
      least[i] = std::min(least[i], number);
      most[i] = std::max(most[i], number);
    }
  double bottom = top + height;
  Axis across(least[0], most[0], left, left + width),
      up(least[1], most[1], bottom, top);
  svg.begin(left + width + 40, bottom + 56, chart.title);
  printHeadings(svg, chart);
  for (double at : across.divisions()) {
    svg.line(across.pixel(at), top, across.pixel(at), bottom);
    svg.text(across.pixel(at), bottom + 16, "middle", numberText(at));
  }
  for (double at : up.divisions()) {
    svg.line(left, up.pixel(at), left + width, up.pixel(at));
    svg.text(left - 8, up.pixel(at) + 4, "end", numberText(at));
  }
  svg.text(left + width / 2, bottom + 40, "middle", chart.atTitle);
  std::string turned;
  llvm::raw_string_ostream(turned)
      << llvm::format(" transform=\"rotate(-90 16 %.1f)\"", top + height / 2);
  svg.text(16, top + height / 2, "middle", chart.valueTitle, turned);
  svg.os << "<polyline fill=\"none\" stroke=\"#3b7dd8\" stroke-width=\"1.5\" "
            "points=\"";
  for (const Chart::Point &point : chart.points)
    svg.os << llvm::format("%.1f,%.1f ", across.pixel(point.at),
                           up.pixel(point.value));
  svg.os << "\"/>\n";
  for (const Chart::Point &point : chart.points) {
    std::string attributes;
    llvm::raw_string_ostream(attributes)
        << llvm::format("cx=\"%.1f\" cy=\"%.1f\" r=\"4\"",
                        across.pixel(point.at), up.pixel(point.value));
    svg.shape("circle", attributes,
              printable(point.label, 200) + ": " + numberText(point.at) + ", " +
                  numberText(point.value));
  }
  svg.end();
}

} // namespace

void printSvg(const Chart &chart, llvm::raw_ostream &os) {
  Svg svg(os);
  if (chart.kind == Chart::Bars)
    printBars(svg, chart);
  else
    printLine(svg, chart);
}

} // namespace ingot
