// einsum: parsing, diagonals, and pairwise contraction in greedy order, the pair of lowest cost first.
#include <algorithm>
#include <map>

#include "frontend/ops/labelled_contraction.h"

namespace calque::detail::ops {
namespace {

/// The labels of each array: letters, and kEllipsis for `...`.
struct Spec {
  std::vector<std::string> inputs;
  std::string output;
};
constexpr char kEllipsis = '.';
/// The label of a dimension under `...`, counted from the last one.
constexpr int ellipsis_label(size_t from_last) { return 256 + static_cast<int>(from_last); }

[[noreturn]] void parse_error(std::string_view spec, size_t column, const std::string& text, const Site& s) {
  throw ParseError("einsum: " + text + " at column " + std::to_string(column + 1) + " of \"" + std::string(spec) +
                   "\"" + where_text(s.at));
}

Spec parse(std::string_view text, const Site& s) {
  Spec spec;
  spec.inputs.emplace_back();
  bool after_arrow = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      if (after_arrow && spec.output.find(c) != std::string::npos) {
        parse_error(text, i, std::string("the output has '") + c + "' twice", s);
      }
      (after_arrow ? spec.output : spec.inputs.back()) += c;
    } else if (c == '.') {
      std::string& letters = after_arrow ? spec.output : spec.inputs.back();
      if (text.substr(i, 3) != "...") parse_error(text, i, "expected '...'", s);
      if (letters.find(kEllipsis) != std::string::npos) parse_error(text, i, "'...' stands twice in one array", s);
      letters += kEllipsis;
      i += 2;
    } else if (c == ',' && !after_arrow) {
      spec.inputs.emplace_back();
    } else if (c == '-' && !after_arrow && i + 1 < text.size() && text[i + 1] == '>') {
      after_arrow = true;
      ++i;
    } else {
      parse_error(text, i, std::string("expected letters, ',' or one '->', got '") + c + "'", s);
    }
  }
  std::map<char, int> uses;
  for (const std::string& input : spec.inputs) {
    for (char c : input) ++uses[c];
  }
  if (!after_arrow) {
    if (uses.contains(kEllipsis)) spec.output += kEllipsis;
    for (const auto& [c, n] : uses) {
      if (n == 1 && c != kEllipsis) spec.output += c;
    }
    // The map sorts by character code: upper case before lower case, as in NumPy.
  }
  for (char c : spec.output) {
    if (uses.contains(c)) continue;
    const std::string what = c == kEllipsis ? "..." : std::string(1, c);
    parse_error(text, text.rfind(what), "the output's '" + what + "' is in no input", s);
  }
  return spec;
}

/// The diagonal of two dimensions of one label.
Labelled diagonal_of(const Labelled& x, size_t first, size_t second, const Site& s) {
  Labelled out{diagonal(x.value, 0, static_cast<int>(first), static_cast<int>(second), s), {}};
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (i != first && i != second) out.labels.push_back(x.labels[i]);
  }
  out.labels.push_back(x.labels[first]);
  return out;
}

Labelled without_repeats(Labelled x, const Site& s) {
  for (size_t i = 0; i < x.labels.size(); ++i) {
    for (size_t j = i + 1; j < x.labels.size(); ++j) {
      if (x.labels[i] == x.labels[j]) return without_repeats(diagonal_of(x, i, j, s), s);
    }
  }
  return x;
}

/// The labels of `letters`, with those of the dimensions under `...` in place of kEllipsis.
Labels expanded(const std::string& letters, size_t under_ellipsis) {
  Labels labels;
  for (const char c : letters) {
    if (c != kEllipsis) labels.push_back(c);
    for (size_t i = under_ellipsis; c == kEllipsis && i-- > 0;) labels.push_back(ellipsis_label(i));
  }
  return labels;
}

/// Drops dimensions of extent 1 that broadcast against larger ones: an array without a label is constant along it.
Labelled without_broadcast(const Labelled& x, const std::map<int, int64_t>& extents, const Site& s) {
  const Shape own = shape(x.value);
  Labelled out;
  Ints dims;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] == 1 && extents.at(x.labels[i]) != 1) continue;
    out.labels.push_back(x.labels[i]);
    dims.push_back(own[i]);
  }
  out.value = dims.size() == own.size() ? x.value : reshape(x.value, Shape(dims), s);
  return out;
}

/// The labels that are still used after the contraction of operands i and j.
Labels needed(const std::vector<Labelled>& xs, size_t i, size_t j, const Labels& output) {
  Labels keep = output;
  for (size_t k = 0; k < xs.size(); ++k) {
    if (k != i && k != j) keep.insert(keep.end(), xs[k].labels.begin(), xs[k].labels.end());
  }
  return keep;
}

}  // namespace

Handle einsum(std::string_view text, std::span<const Operand> operands, Location at) {
  const Site s{"einsum", at};
  const Spec spec = parse(text, s);
  if (spec.inputs.size() != operands.size()) {
    s.shape_error("\"" + std::string(text) + "\" is for " + std::to_string(spec.inputs.size()) + " arrays, got " +
                  std::to_string(operands.size()));
  }
  std::vector<const Operand*> pointers;
  for (const Operand& x : operands) pointers.push_back(&x);
  const DType d = promoted_dtype(pointers, s);
  std::map<int, int64_t> extents;
  std::vector<Labelled> xs;
  size_t most = 0;  // dimensions under `...`
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::string& letters = spec.inputs[k];
    const bool ellipsis = letters.find(kEllipsis) != std::string::npos;
    Labelled x{value(operands[k], d, s), {}};
    const Type t = type(x.value);
    const size_t named = letters.size() - (ellipsis ? 1 : 0);
    if (ellipsis ? t.shape.size() < named : t.shape.size() != named) {
      s.shape_error("\"" + (ellipsis ? std::string(letters).replace(letters.find(kEllipsis), 1, "...") : letters) +
                    "\" is for an array of rank " + std::to_string(named) + (ellipsis ? " or more" : "") + ", got " +
                    to_string(t));
    }
    x.labels = expanded(letters, t.shape.size() - named);
    if (ellipsis) most = std::max(most, t.shape.size() - named);
    for (size_t i = 0; i < x.labels.size(); ++i) {
      const auto [entry, fresh] = extents.try_emplace(x.labels[i], t.shape[i]);
      if (x.labels[i] >= ellipsis_label(0)) {
        if (entry->second == 1) entry->second = t.shape[i];
        if (t.shape[i] != 1 && t.shape[i] != entry->second) {
          s.shape_error("dimensions under '...' do not broadcast, " + std::to_string(entry->second) + " and, in " +
                        to_string(t) + ", " + std::to_string(t.shape[i]));
        }
        continue;
      }
      if (!fresh && entry->second != t.shape[i]) {
        s.shape_error(std::string("'") + static_cast<char>(x.labels[i]) + "' has extent " +
                      std::to_string(entry->second) + " and, in " + to_string(t) + ", " + std::to_string(t.shape[i]));
      }
    }
    xs.push_back(without_repeats(std::move(x), s));
  }
  if (most > 0 && spec.output.find(kEllipsis) == std::string::npos) {
    s.shape_error("the output of \"" + std::string(text) + "\" lacks '...' for " + std::to_string(most) +
                  (most == 1 ? " dimension" : " dimensions"));
  }
  const Labels output = expanded(spec.output, most);
  for (Labelled& x : xs) x = without_broadcast(x, extents, s);
  // Contract the pair whose product takes the fewest multiplications, the first of equal pairs.
  while (xs.size() > 1) {
    size_t best_i = 0, best_j = 1;
    double best = __builtin_inf();
    for (size_t i = 0; i < xs.size(); ++i) {
      for (size_t j = i + 1; j < xs.size(); ++j) {
        Labels all = xs[i].labels;
        for (int label : xs[j].labels) {
          if (std::ranges::find(all, label) == all.end()) all.push_back(label);
        }
        double cost = 1;
        for (int label : all) cost *= static_cast<double>(extents[label]);
        if (cost < best) {
          best = cost;
          best_i = i;
          best_j = j;
        }
      }
    }
    xs[best_i] = contract(xs[best_i], xs[best_j], needed(xs, best_i, best_j, output), s);
    xs.erase(xs.begin() + static_cast<ptrdiff_t>(best_j));
  }
  return in_order(sum_away(xs[0], output, s), output, s);
}

}  // namespace calque::detail::ops
