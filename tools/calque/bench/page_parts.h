#pragma once
// Shared parts of the HTML pages.
#include <string>

namespace calque::cli {

inline constexpr const char* kPageStyle = R"(<style>
:root { color-scheme: light dark; --ours: #2563eb; --rival: #9ca3af; --line: #d1d5db; --good: #15803d; --bad: #b91c1c; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { font-weight: 600; } svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .15rem .8rem .15rem 0; border-bottom: 1px solid var(--line); }
td.n { text-align: right; } .ours { fill: var(--ours); font-weight: 600; } .rival { fill: var(--rival); }
.good { fill: var(--good); } .bad { fill: var(--bad); } .axis { stroke: var(--line); fill: none; }
.peak { stroke: currentColor; fill: none; stroke-width: 1.5; } .open { fill: none; stroke: var(--rival); stroke-width: 2; }
small { opacity: .75; }
</style>
)";

/// Escapes text for HTML.
std::string escape(const std::string& text);

/// An SVG image of that size with the elements of `body`.
std::string svg(double width, double height, const std::string& body);

}  // namespace calque::cli
