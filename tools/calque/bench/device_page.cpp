// The page of a comparison of devices: a self-contained file with charts as inline SVG.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calque/bench/bench_devices.h"
#include "calque/bench/bench_report.h"
#include "calque/bench/page_parts.h"

namespace calque::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWide = 640, kHigh = 260, kLeft = 70, kTop = 16, kRight = 110, kBottom = 40;
constexpr const char* kColours[] = {"#9ca3af", "#2563eb", "#15803d", "#b91c1c"};

/// A logarithmic axis.
struct Axis {
  double low = INFINITY, high = -INFINITY, from = 0, to = 1;
  void take(double v) {
    if (v <= 0) return;
    low = std::min(low, std::log10(v));
    high = std::max(high, std::log10(v));
  }
  double at(double v) const {
    const double span = std::max(high - low, 1e-9);
    return from + (std::log10(v) - low) / span * (to - from);
  }
};

std::string text(double x, double y, const std::string& what, const char* anchor = "middle") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escape(what));
}

std::string polyline(const std::vector<std::pair<double, double>>& points, const char* colour, bool dashed) {
  std::string list;
  for (const auto& [x, y] : points) list += fmt::format("{:.1f},{:.1f} ", x, y);
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", list, colour,
                     dashed ? " stroke-dasharray=\"4 4\"" : "");
}

double with_transfers(const Json& f) {
  return f["call_seconds"].get<double>() + f.value("upload_seconds", 0.0) + f.value("download_seconds", 0.0);
}

/// Time of a call by size; dashed with the transfers.
std::string time_chart(const Json& of_case, const Json& devices) {
  Axis x{.from = kLeft, .to = kWide - kRight}, y{.from = kHigh - kBottom, .to = kTop};
  for (const Json& row : of_case["rows"]) {
    x.take(row["elements"].get<double>());
    for (const auto& f : row["devices"]) {
      y.take(f["seconds"].get<double>());
      y.take(with_transfers(f));
    }
  }
  if (!(x.high >= x.low) || !(y.high >= y.low)) return {};
  y.low = std::floor(y.low);
  y.high = std::ceil(y.high);
  std::string body;
  for (double p = y.low; p <= y.high; ++p) {
    const double at = y.at(std::pow(10, p));
    body += fmt::format("<path class=\"axis\" d=\"M{} {:.1f} H{}\"/>", kLeft, at, kWide - kRight);
    body += text(kLeft - 6, at + 4, show_seconds(std::pow(10, p)), "end");
  }
  for (const Json& row : of_case["rows"]) {
    const auto n = row["elements"].get<double>();
    body += text(x.at(n), kHigh - kBottom + 18, fmt::format("2^{:.0f}", std::log2(n)));
  }
  size_t d = 0;
  for (const Json& device : devices) {
    const auto name = device["name"].get<std::string>();
    std::vector<std::pair<double, double>> alone, moved;
    for (const Json& row : of_case["rows"]) {
      if (!row["devices"].contains(name)) continue;
      const Json& f = row["devices"][name];
      const double at = x.at(row["elements"].get<double>());
      alone.emplace_back(at, y.at(f["seconds"].get<double>()));
      moved.emplace_back(at, y.at(with_transfers(f)));
    }
    const char* const colour = kColours[d++ % std::size(kColours)];
    body += polyline(alone, colour, false);
    if (name != "cpu") body += polyline(moved, colour, true);
    if (!alone.empty()) body += text(kWide - kRight + 6, alone.back().second + 4, name, "start");
  }
  return svg(kWide, kHigh, body);
}

/// Operations per second over operations per byte, under the limits of each device.
std::string roofline(const Json& document) {
  Axis x{.from = kLeft, .to = kWide - kRight}, y{.from = kHigh - kBottom, .to = kTop};
  x.take(0.05);
  x.take(1000);
  for (const Json& device : document["devices"]) {
    y.take(device["flops"].get<double>());
    y.take(device["bandwidth"].get<double>() * 0.05);
  }
  std::string body;
  size_t d = 0;
  for (const Json& device : document["devices"]) {
    const auto name = device["name"].get<std::string>();
    const double b = device["bandwidth"].get<double>(), f = device["flops"].get<double>();
    const char* const colour = kColours[d++ % std::size(kColours)];
    body += polyline({{x.at(0.05), y.at(0.05 * b)}, {x.at(f / b), y.at(f)}, {x.at(1000), y.at(f)}}, colour, false);
    body += text(kWide - kRight + 6, y.at(f) + 4, name, "start");
    for (const Json& c : document["cases"]) {
      for (const Json& row : c["rows"]) {
        if (!row["devices"].contains(name) || row["flops"].get<double>() <= 0) continue;
        const double intensity = row["flops"].get<double>() / row["bytes"].get<double>();
        const double rate = row["flops"].get<double>() / row["devices"][name]["seconds"].get<double>();
        if (std::log10(rate) < y.low || intensity > 1000) continue;
        body += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{} {}</title></circle>\n",
                            x.at(intensity), y.at(rate), colour, escape(c["name"].get<std::string>()),
                            row["elements"].get<int64_t>());
      }
    }
  }
  for (const double v : {0.1, 1.0, 10.0, 100.0, 1000.0})
    body += text(x.at(v), kHigh - kBottom + 18, fmt::format("{:g} flop/B", v));
  return svg(kWide, kHigh, body);
}

std::string crossover_text(const Json& c) {
  std::string out;
  for (const Json& one : c["crossovers"]) {
    const auto size = [&](const char* key) {
      return one.contains(key) ? fmt::format("from {} elements on", one[key].get<int64_t>())
                               : std::string("at no size that was measured");
    };
    out += fmt::format("<p>{} is ahead of {} {}; with transfers {}.</p>\n", escape(one["of"].get<std::string>()),
                       escape(one["over"].get<std::string>()), size("elements"), size("elements_with_transfers"));
  }
  return out;
}

}  // namespace

std::string device_page(const Json& document) {
  std::string out = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Calque on devices</title>\n";
  out += kPageStyle;
  out += fmt::format("<h1>Calque on devices</h1>\n<p>{}</p>\n", escape(document.value("date", std::string())));
  for (const Json& s : document["skipped"]) out += fmt::format("<p>Left out: {}</p>\n", escape(s.get<std::string>()));
  out += "<h2>Roofline</h2>\n" + roofline(document);
  for (const Json& c : document["cases"]) {
    out += fmt::format("<h2>{}</h2>\n<p>{}. Time of a call by number of elements; dashed: with its transfers.</p>\n",
                       escape(c["name"].get<std::string>()), escape(c["what"].get<std::string>()));
    out += time_chart(c, document["devices"]) + crossover_text(c);
  }
  return out + "</html>\n";
}

}  // namespace calque::cli
