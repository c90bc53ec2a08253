// The page of a benchmark run: a self-contained file with charts as inline SVG.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calque/bench/bench_report.h"
#include "calque/bench/page_parts.h"

namespace calque::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<BenchRow>;

std::string label(const BenchRow& row) { return escape(row.name() + " " + row.size); }

constexpr double kLeft = 230, kWidth = 1000, kLine = 20, kTop = 24;

std::string vertical(double x, double height, const std::string& text) {
  return fmt::format(
      "<path class=\"axis\" d=\"M{0:.1f} {1} V{2:.1f}\"/><text x=\"{0:.1f}\" y=\"14\" "
      "text-anchor=\"middle\">{3}</text>\n",
      x, kTop - 4, height, text);
}

std::string bar(double from, double to, double y, const char* kind, const std::string& title) {
  return fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"12\"><title>{}</title></rect>\n", kind,
      std::min(from, to), y, std::max(std::abs(to - from), 1.0), title);
}

/// Our share of the floor as a bar, that of the best rival as a mark.
std::string floor_bars(const Rows& rows) {
  std::string body;
  double y = kTop;
  const double longest = 1.25;
  const auto at = [&](double share) { return kLeft + std::min(share, longest) / longest * (kWidth - kLeft - 60); };
  for (const BenchRow& row : rows) {
    const auto share = row.of_floor();
    if (!row.ours() || !share) continue;
    body += fmt::format("<text x=\"{}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + 11, label(row));
    body += bar(at(0), at(*share), y, "ours", escape(fmt::format("{:.2f} of {}", *share, row.floor)));
    if (const BenchRow* rival = best_rival(rows, row)) {
      const double x = at(row.floor_seconds / rival->seconds);
      body += fmt::format(
          "<rect class=\"rival\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"4\" height=\"18\"><title>{} {:.2f}</title></rect>\n",
          x - 2, y - 3, escape(rival->variant), row.floor_seconds / rival->seconds);
    }
    body += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{:.2f}</text>\n", kWidth - 45, y + 11, *share);
    y += kLine;
  }
  std::string grid;
  for (double share : {0.0, 0.25, 0.5, 0.75, 1.0}) grid += vertical(at(share), y, fmt::format("{:g}", share));
  return svg(kWidth, y + 8, grid + body);
}

/// Speed against the best rival, on a logarithmic axis around 1.
std::string rival_bars(const Rows& rows) {
  std::string body;
  double y = kTop;
  constexpr double kDecades = 2;
  const auto at = [&](double ratio) {
    const double where = std::clamp(std::log10(ratio), -kDecades, kDecades) / kDecades;
    return kLeft + (where + 1) / 2 * (kWidth - kLeft - 200);
  };
  for (const BenchRow& row : rows) {
    const BenchRow* rival = row.ours() ? best_rival(rows, row) : nullptr;
    if (rival == nullptr) continue;
    const double ratio = rival->seconds / row.seconds;
    body += fmt::format("<text x=\"{}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + 11, label(row));
    body += bar(at(1), at(ratio), y, ratio >= 1 ? "good" : "bad",
                escape(show_seconds(row.seconds) + " against " + show_seconds(rival->seconds)));
    body += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{:.2f} x {}</text>\n", kWidth - 190, y + 11, ratio,
                        escape(rival->variant));
    y += kLine;
  }
  std::string grid;
  for (double ratio : {0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0})
    grid += vertical(at(ratio), y, fmt::format("{:g}", ratio));
  return svg(kWidth, y + 8, grid + body);
}

/// Logarithmic axes of a roofline: flops per byte to the right, flops per second upwards.
struct Plane {
  static constexpr double kHeight = 560, kRight = 980, kBottom = 520, kStart = 70;
  double low_x, high_x, low_y, high_y;
  double x(double v) const { return kStart + std::log(v / low_x) / std::log(high_x / low_x) * (kRight - kStart); }
  double y(double v) const { return kBottom - std::log(v / low_y) / std::log(high_y / low_y) * (kBottom - 20); }
};

std::string axes(const Plane& p) {
  std::string out;
  for (double v = p.low_x; v <= p.high_x * 1.01; v *= 10)
    out += fmt::format(
        "<path class=\"axis\" d=\"M{0:.1f} 20 V520\"/><text x=\"{0:.1f}\" y=\"536\" "
        "text-anchor=\"middle\">{1:g}</text>\n",
        p.x(v), v);
  for (double v = p.low_y; v <= p.high_y * 1.01; v *= 10)
    out += fmt::format(
        "<path class=\"axis\" d=\"M70 {0:.1f} H980\"/><text x=\"64\" y=\"{1:.1f}\" text-anchor=\"end\">{2:g}</text>\n",
        p.y(v), p.y(v) + 4, v / 1e9);
  return out +
         "<text x=\"525\" y=\"556\" text-anchor=\"middle\">flops per byte</text><text x=\"70\" "
         "y=\"12\">GFLOP/s</text>\n";
}

/// The roof given by the measured bandwidth and a measured peak.
std::string roof(const Plane& p, double bandwidth, double peak, const std::string& name) {
  const double ridge = std::clamp(peak / bandwidth, p.low_x, p.high_x);
  return fmt::format(
      "<path class=\"peak\" d=\"M{:.1f} {:.1f} L{:.1f} {:.1f} H980\"/><text x=\"976\" y=\"{:.1f}\" "
      "text-anchor=\"end\">{}</text>\n",
      p.x(p.low_x), p.y(std::max(bandwidth * p.low_x, p.low_y)), p.x(ridge), p.y(peak), p.y(peak) - 5, escape(name));
}

std::string roofline(const Rows& rows, const Json& probes) {
  const auto probe = [&](const char* name) {
    return probes.contains(name) ? probes[name].value("value", 0.0) * 1e9 : 0.0;
  };
  const double bandwidth = probe("memory bandwidth (B)");
  const std::array<std::pair<const char*, double>, 3> peaks = {
      {{"f32 FMA peak", probe("f32 FMA peak (F)")},
       {"f64 FMA peak", probe("f64 FMA peak")},
       {"bf16 dot product peak", probe("bf16 dot product peak")}}};
  double highest = 0;
  for (const auto& peak : peaks) highest = std::max(highest, peak.second);
  if (bandwidth == 0 || highest == 0) return "<p>No probes of bandwidth and peak in this run.</p>\n";
  const Plane p{0.01, 1000, 1e8, std::pow(10, std::ceil(std::log10(highest)))};
  std::string body = axes(p);
  for (const auto& [name, value] : peaks)
    if (value > 0) body += roof(p, bandwidth, value, fmt::format("{}: {:.0f} GFLOP/s", name, value / 1e9));
  const auto point = [&](const BenchRow& row, const char* kind) {
    const double intensity = std::clamp(row.flops / row.bytes, p.low_x, p.high_x);
    const double rate = std::clamp(row.flops / row.seconds, p.low_y, p.high_y);
    return fmt::format(
        "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}: {}, {:.3g} GFLOP/s</title></circle>\n",
        kind, p.x(intensity), p.y(rate), label(row), escape(row.variant), row.flops / row.seconds / 1e9);
  };
  for (const BenchRow& row : rows) {
    if (!row.ours() || row.flops <= 0 || row.bytes <= 0) continue;
    if (const BenchRow* rival = best_rival(rows, row)) body += point(*rival, "open");
    body += point(row, "ours");
    const double x = p.x(row.flops / row.bytes), y = p.y(std::max(row.flops / row.seconds, p.low_y)) + 4;
    const bool to_the_left = x > 850;
    body += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x + (to_the_left ? -8 : 8), y,
                        to_the_left ? "end" : "start", label(row));
  }
  return svg(kWidth, Plane::kHeight, body) +
         fmt::format(
             "<p><small>Bandwidth {:.1f} GB/s. Filled: Calque; open: the best rival. Points above the slope work in a "
             "cache.</small></p>\n",
             bandwidth / 1e9);
}

std::string all_rows(const Rows& rows) {
  std::string out =
      "<table><tr><th>case</th><th>size</th><th>variant</th><th>median</th><th>of the floor</th><th>floor</th></tr>\n";
  for (const BenchRow& row : rows) {
    const auto share = row.of_floor();
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}{}{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
        escape(row.task), escape(row.size), row.ours() ? "<b>" : "", escape(row.variant), row.ours() ? "</b>" : "",
        show_seconds(row.seconds), share ? fmt::format("{:.2f}", *share) : "", escape(row.floor));
  }
  return out + "</table>\n";
}

std::string machine(const Json& document) {
  std::string out = fmt::format("<p>{}: {}, {} cores; {}; compiler {}", escape(document.value("date", "")),
                                escape(document.value("machine", "unknown")), document.value("cores", 0),
                                escape(document.value("system", "")), escape(document.value("compiler", "")));
  const Json versions = document.value("versions", Json::object()), probes = document.value("probes", Json::object());
  for (const auto& [name, version] : versions.items())
    out += fmt::format("; {} {}", escape(name), escape(version.get<std::string>()));
  out += ".</p>\n<p>";
  for (const auto& [name, probe] : probes.items())
    out += fmt::format("{}: {:.4g} {}. ", escape(name), probe.value("value", 0.0), escape(probe.value("unit", "")));
  return out + "</p>\n";
}

std::string skipped(const Json& document) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> reasons;
  const Json all = document.value("skipped", Json::array());
  for (const Json& s : all) reasons[{s.value("variant", ""), s.value("reason", "")}].insert(s.value("task", ""));
  if (reasons.empty()) return "";
  std::string out = "<h2>Skipped</h2>\n<ul>\n";
  for (const auto& [what, tasks] : reasons) {
    std::string names;
    for (const std::string& task : tasks) names += (names.empty() ? "" : ", ") + task;
    out += fmt::format("<li>{}: {} ({})</li>\n", escape(what.first), escape(what.second), escape(names));
  }
  return out + "</ul>\n";
}

}  // namespace

std::string bench_page(const Json& document) {
  const Rows rows = bench_rows(document);
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Calque: benchmarks</title>\n";
  out += kPageStyle;
  out += "</head><body>\n<h1>Calque: benchmarks</h1>\n" + machine(document);
  out += "<h2>Share of the physical floor</h2>\n<p><small>Bars: Calque; marks: the best rival.</small></p>\n" +
         floor_bars(rows);
  out += "<h2>Speed against the best rival</h2>\n<p><small>Above 1 is faster than the rival.</small></p>\n" +
         rival_bars(rows);
  out += "<h2>Roofline</h2>\n" + roofline(rows, document.value("probes", Json::object()));
  out += skipped(document) + "<h2>All figures</h2>\n" + all_rows(rows) + "</body></html>\n";
  return out;
}

}  // namespace calque::cli
