#pragma once
// Plots as SVG files: curves, bands, points and bars over axes with numbers. Their colours can be read on light and on
// dark ground.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pictures {

using Numbers = std::vector<double>;

class Plot {
 public:
  Plot(std::string title, std::string x_label, std::string y_label)
      : title_(std::move(title)), x_label_(std::move(x_label)), y_label_(std::move(y_label)) {}

  void curve(const Numbers& x, const Numbers& y, const std::string& color, double width = 1.5, double opacity = 1) {
    add(x, y, {Kind::curve, color, width, opacity, x, y, {}});
  }
  /// The area between two curves.
  void band(const Numbers& x, const Numbers& low, const Numbers& high, const std::string& color) {
    add(x, high, {Kind::band, color, 0, 0.25, x, low, high});
    include(x, low);
  }
  void points(const Numbers& x, const Numbers& y, const std::string& color, double radius = 2.5) {
    add(x, y, {Kind::points, color, radius, 1, x, y, {}});
  }
  /// The density of the values, in bars of equal width.
  void histogram(const Numbers& values, int count, const std::string& color) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double width = std::max((*high - *low) / count, std::numeric_limits<double>::min());
    Numbers x, density(static_cast<size_t>(count));
    for (const double v : values)
      density[std::min(density.size() - 1, static_cast<size_t>((v - *low) / width))] +=
          1 / (width * static_cast<double>(values.size()));
    for (int i = 0; i <= count; ++i) x.push_back(*low + i * width);
    bars(x, density, color);
  }
  /// A bar from 0 to each height, between two of the edges, of which there is one more.
  void bars(const Numbers& edges, const Numbers& heights, const std::string& color) {
    include({edges.front(), edges.back()}, {0, *std::max_element(heights.begin(), heights.end())});
    drawn_.push_back({Kind::bars, color, 0, 0.5, edges, heights, {}});
  }
  /// Extends the y axis to this number.
  void reach(double y) { y_low_ = std::min(y_low_, y), y_high_ = std::max(y_high_, y); }
  /// Gives both axes one scale, for maps: circles look like circles.
  void equal_scales() { equal_scales_ = true; }
  /// A line of the legend.
  void label(const std::string& text, const std::string& color) { legend_.emplace_back(text, color); }

  /// Throws std::runtime_error if the file cannot be written.
  void write(const std::string& path) {
    widen(x_low_, x_high_, 0);
    widen(y_low_, y_high_, 0.05);
    if (equal_scales_) {
      const double x = (x_high_ - x_low_) / (kWidth - kLeft - kRight),
                   y = (y_high_ - y_low_) / (kHeight - kTop - kBottom);
      if (x < y) widen(x_low_, x_high_, 0.5 * (y / x - 1));
      if (y < x) widen(y_low_, y_high_, 0.5 * (x / y - 1));
    }
    std::ofstream out(path);
    out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << kWidth << ' ' << kHeight
        << "' font-family='sans-serif' font-size='12' fill='" << kGray << "'>\n";
    axes(out);
    for (const Drawn& d : drawn_) draw(out, d);
    for (size_t i = 0; i < legend_.size(); ++i)
      text(out, kLeft + 12, kTop + 16 + 16 * static_cast<double>(i), "start", legend_[i].first, legend_[i].second);
    text(out, kWidth / 2, 18, "middle", title_, kGray);
    text(out, kWidth / 2, kHeight - 8, "middle", x_label_, kGray);
    out << "<text text-anchor='middle' transform='translate(14 " << kHeight / 2 << ") rotate(-90)'>" << y_label_
        << "</text>\n</svg>\n";
    if (!out.flush()) throw std::runtime_error(path + " cannot be written");
  }

 private:
  enum class Kind { curve, band, points, bars };
  struct Drawn {
    Kind kind;
    std::string color;
    double size, opacity;
    Numbers x, y, high;
  };
  static constexpr double kWidth = 720, kHeight = 400, kLeft = 64, kRight = 16, kTop = 28, kBottom = 44;
  static constexpr const char* kGray = "#808080";

  void include(const Numbers& x, const Numbers& y) {
    for (const double v : x) x_low_ = std::min(x_low_, v), x_high_ = std::max(x_high_, v);
    for (const double v : y) y_low_ = std::min(y_low_, v), y_high_ = std::max(y_high_, v);
  }
  /// Extends a range by a share of it; an empty one is given a length.
  static void widen(double& low, double& high, double share) {
    if (!(high >= low)) low = 0, high = 1;
    const double by = high > low ? share * (high - low) : 1;
    low -= by;
    high += by;
  }
  void add(const Numbers& x, const Numbers& y, Drawn d) {
    include(x, y);
    drawn_.push_back(std::move(d));
  }
  double at_x(double x) const { return kLeft + (x - x_low_) / (x_high_ - x_low_) * (kWidth - kLeft - kRight); }
  double at_y(double y) const {
    return kHeight - kBottom - (y - y_low_) / (y_high_ - y_low_) * (kHeight - kTop - kBottom);
  }

  static void text(std::ostream& out, double x, double y, const char* anchor, const std::string& what,
                   const std::string& color) {
    out << "<text x='" << x << "' y='" << y << "' text-anchor='" << anchor << "' fill='" << color << "'>" << what
        << "</text>\n";
  }
  static std::string number(double v) {
    std::ostringstream out;
    out.precision(4);
    out << v;
    return out.str();
  }
  /// Round numbers within the range, about six.
  static Numbers ticks(double low, double high) {
    const double rough = (high - low) / 6, power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
    Numbers at;
    for (double i = std::ceil(low / step) + 0.0; i * step <= high; ++i) at.push_back(i * step);
    return at;
  }
  void axes(std::ostream& out) const {
    const auto line = [&](double x1, double y1, double x2, double y2, double opacity) {
      out << "<path d='M" << x1 << ' ' << y1 << 'L' << x2 << ' ' << y2 << "' stroke='" << kGray << "' stroke-opacity='"
          << opacity << "'/>\n";
    };
    for (const double x : ticks(x_low_, x_high_)) {
      line(at_x(x), kTop, at_x(x), kHeight - kBottom, 0.2);
      text(out, at_x(x), kHeight - kBottom + 16, "middle", number(x), kGray);
    }
    for (const double y : ticks(y_low_, y_high_)) {
      line(kLeft, at_y(y), kWidth - kRight, at_y(y), 0.2);
      text(out, kLeft - 6, at_y(y) + 4, "end", number(y), kGray);
    }
    line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, 1);
    line(kLeft, kTop, kLeft, kHeight - kBottom, 1);
  }
  void draw(std::ostream& out, const Drawn& d) const {
    const auto path = [&](const Numbers& y, bool backwards, char first) {
      for (size_t n = 0; n < d.x.size(); ++n) {
        const size_t i = backwards ? d.x.size() - 1 - n : n;
        out << (n == 0 ? first : 'L') << at_x(d.x[i]) << ' ' << at_y(y[i]);
      }
    };
    switch (d.kind) {
      case Kind::curve:
        out << "<path fill='none' stroke='" << d.color << "' stroke-width='" << d.size << "' stroke-opacity='"
            << d.opacity << "' d='";
        path(d.y, false, 'M');
        out << "'/>\n";
        break;
      case Kind::band:
        out << "<path fill='" << d.color << "' fill-opacity='" << d.opacity << "' d='";
        path(d.y, false, 'M');
        path(d.high, true, 'L');
        out << "Z'/>\n";
        break;
      case Kind::points:
        for (size_t i = 0; i < d.x.size(); ++i)
          out << "<circle cx='" << at_x(d.x[i]) << "' cy='" << at_y(d.y[i]) << "' r='" << d.size << "' fill='"
              << d.color << "'/>\n";
        break;
      case Kind::bars:
        for (size_t i = 0; i < d.y.size(); ++i)
          out << "<rect x='" << at_x(d.x[i]) << "' y='" << at_y(d.y[i]) << "' width='"
              << at_x(d.x[i + 1]) - at_x(d.x[i]) << "' height='" << at_y(0) - at_y(d.y[i]) << "' fill='" << d.color
              << "' fill-opacity='" << d.opacity << "'/>\n";
        break;
    }
  }

  std::string title_, x_label_, y_label_;
  std::vector<Drawn> drawn_;
  std::vector<std::pair<std::string, std::string>> legend_;
  bool equal_scales_ = false;
  double x_low_ = std::numeric_limits<double>::infinity(), x_high_ = -x_low_, y_low_ = x_low_, y_high_ = -x_low_;
};

}  // namespace pictures
