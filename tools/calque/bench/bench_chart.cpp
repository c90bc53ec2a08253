// The chart of a benchmark run: an SVG image for pages that show it as a picture, where no style of the page reaches
// it.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calque/bench/bench_report.h"
#include "calque/bench/page_parts.h"

namespace calque::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWidth = 880, kLeft = 250, kRight = 580, kTop = 62, kLine = 22;

// The colours of both themes have a contrast of at least 4.5 to their ground.
constexpr const char* kStyle = R"(<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-weight: 600; } .less { fill: #59636e; } .number { font-variant-numeric: tabular-nums; }
.grid { stroke: #d1d9e0; } .one { stroke: #59636e; } .faster { fill: #2563eb; } .slower { fill: #b45309; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; } .less { fill: #9198a1; } .grid { stroke: #3d444d; } .one { stroke: #9198a1; }
.faster { fill: #58a6ff; } .slower { fill: #f0883e; }
}
</style>
)";

struct Bar {
  std::string label, rival;
  double ratio;
};

/// The rows that are named LABEL=CASE, SIZE, in this order; without names all that have a rival.
std::vector<Bar> bars_of(const std::vector<BenchRow>& rows, const std::vector<std::string>& names) {
  std::vector<Bar> bars;
  const auto add = [&](const std::string& label, const BenchRow& row) {
    const BenchRow* rival = best_rival(rows, row);
    if (rival != nullptr) bars.push_back({label, rival->variant, rival->seconds / row.seconds});
    return rival != nullptr;
  };
  if (names.empty()) {
    for (const BenchRow& row : rows)
      if (row.ours()) add(row.name() + ", " + row.size, row);
    return bars;
  }
  for (const std::string& name : names) {
    const size_t equals = name.find('='), comma = name.rfind(", ");
    if (equals == std::string::npos || comma == std::string::npos || comma < equals)
      throw std::runtime_error("bench: --row '" + name + "' is not of the form LABEL=CASE, SIZE");
    const std::string of = name.substr(equals + 1, comma - equals - 1), size = name.substr(comma + 2);
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const BenchRow& r) { return r.ours() && r.name() == of && r.size == size; });
    if (row == rows.end())
      throw std::runtime_error("bench: --row: these figures have no row '" + of + ", " + size + "'");
    if (!add(name.substr(0, equals), *row))
      throw std::runtime_error("bench: --row: '" + of + ", " + size + "' has no rival in these figures");
  }
  return bars;
}

}  // namespace

std::string bench_chart(const Json& document, const std::vector<std::string>& names) {
  const std::vector<Bar> bars = bars_of(bench_rows(document), names);
  if (bars.empty()) throw std::runtime_error("bench: --chart: no row of these figures has a rival");
  // Powers of two around the ratios, and 1 among them.
  double low = 0, high = 0;
  for (const Bar& bar : bars) {
    low = std::min(low, std::floor(std::log2(bar.ratio)));
    high = std::max(high, std::ceil(std::log2(bar.ratio)));
  }
  if (low == high) high += 1;
  const auto at = [&](double ratio) { return kLeft + (std::log2(ratio) - low) / (high - low) * (kRight - kLeft); };
  const double bottom = kTop + kLine * static_cast<double>(bars.size());
  std::string body = fmt::format(
      "<text class=\"title\" x=\"10\" y=\"20\">Speed against the fastest rival measured (1: as fast; "
      "logarithmic)</text>\n"
      "<text class=\"less\" x=\"10\" y=\"38\">{}, {}, one thread. Right: the rival.</text>\n",
      escape(document.value("machine", "")), escape(document.value("date", "")));
  for (double power = low; power <= high; ++power) {
    const double x = at(std::exp2(power));
    body += fmt::format(
        "<path class=\"{}\" d=\"M{:.1f} {} V{}\"/><text class=\"less\" x=\"{:.1f}\" y=\"{}\" "
        "text-anchor=\"middle\">{:g}</text>\n",
        power == 0 ? "one" : "grid", x, kTop - 4, bottom, x, bottom + 16, std::exp2(power));
  }
  double y = kTop;
  for (const Bar& bar : bars) {
    const double from = std::min(at(1), at(bar.ratio)), to = std::max(at(1), at(bar.ratio));
    body += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>"
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"14\"/>"
        "<text class=\"number\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.2f}</text>"
        "<text class=\"less\" x=\"{}\" y=\"{}\">{}</text>\n",
        kLeft - 10, y + 12, escape(bar.label), bar.ratio >= 1 ? "faster" : "slower", from, y + 1,
        std::max(to - from, 1.0), kRight + 40, y + 12, bar.ratio, kRight + 50, y + 12, escape(bar.rival));
    y += kLine;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\">\n{2}{3}</svg>\n",
      kWidth, bottom + 26, kStyle, body);
}

}  // namespace calque::cli
