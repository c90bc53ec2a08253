// Prints the text form (docs/graph_text.md), which parse.cpp reads. Change both together, and the version with them.
#include "ir/text/print.h"

#include <array>
#include <charconv>
#include <map>
#include <ostream>
#include <tuple>
#include <unordered_map>

#include "ir/text/text.h"

namespace calque {
namespace text {

constexpr uint32_t kUnnumbered = UINT32_MAX;

ValueNumbers::ValueNumbers(const Graph& graph) : graph_(graph), numbers_(graph.num_values(), kUnnumbered) {
  uint32_t next = 0, next_constant = 0;
  const auto number = [&](Value v) {
    if (v.id() < numbers_.size()) numbers_[v.id()] = next++;
  };
  const auto use = [&](Value v) {
    if (v.id() >= numbers_.size() || graph.kind(v) != ValueKind::constant) return;
    if (numbers_[v.id()] == kUnnumbered) numbers_[v.id()] = next_constant++;
  };
  for (const Value v : graph.inputs()) number(v);
  for (const Equation& e : graph.equations()) {
    for (const Value v : e.operands()) use(v);
    for (const Value v : e.results()) number(v);
  }
  for (const Value v : graph.outputs()) use(v);
}

void ValueNumbers::append(std::string& out, Value v) const {
  if (v.id() >= numbers_.size()) {
    out += "%none";
  } else if (graph_.is_literal(v)) {
    append_element(out, graph_.dtype(v), graph_.literal(v).bytes);
    out += ':';
    append_type(out, graph_.type(v));
  } else if (numbers_[v.id()] == kUnnumbered) {
    out += "%undefined_";
    append_int(out, v.id());
  } else {
    out += graph_.kind(v) == ValueKind::constant ? "@c" : "%";
    append_int(out, numbers_[v.id()]);
  }
}

std::string ValueNumbers::text(Value v) const {
  std::string out;
  append(out, v);
  return out;
}

void append_attributes(std::string& out, const Attributes& attributes) {
  if (attributes.empty()) return;
  out += '[';
  bool first = true;
  for (const Attribute& a : attributes) {
    if (!first) out += ", ";
    first = false;
    append_name(out, a.name);
    out += '=';
    append_attribute(out, a.value);
  }
  out += ']';
}

void append_contents(std::string& out, const AnyArray& array, size_t most_bytes) {
  constexpr int64_t kMostListed = 64;
  if (!array.has_data() || array.bytes() > most_bytes) {
    const ContentHash hash = array.storage().content_hash(array.bytes());
    out += "xxh3 \"";
    for (const uint64_t half : {hash.high, hash.low}) {
      std::array<char, 16> digits;
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), half, 16).ptr;
      out.append(16 - static_cast<size_t>(end - digits.data()), '0').append(digits.data(), end);
    }
    out += '"';
  } else if (array.size() <= kMostListed) {
    out += '[';
    for (int64_t i = 0; i < array.size(); ++i) {
      if (i != 0) out += ", ";
      append_element(out, array.dtype(),
                     static_cast<const char*>(array.data()) + static_cast<size_t>(i) * size_of(array.dtype()));
    }
    out += ']';
  } else {
    out += "base64 \"";
    append_base64(out, array.data(), array.bytes());
    out += '"';
  }
}

namespace {

/// The constants of a whole text, sub-graphs included, in order of first use. Graphs that share an array share its
/// section; two constants of one graph never share a section.
class ConstantSections {
 public:
  size_t number(const AnyArray& array, size_t occurrence) {
    if (array.has_data()) {
      const auto key = std::make_tuple(array.data(), to_string(array.type()), occurrence);
      const auto [at, fresh] = known_.try_emplace(key, arrays_.size());
      if (!fresh) return at->second;
    }
    arrays_.push_back(array);
    return arrays_.size() - 1;
  }

  void append(std::string& out) const {
    for (size_t i = 0; i < arrays_.size(); ++i) {
      out += "constant @c";
      append_int(out, static_cast<int64_t>(i));
      out += ": ";
      append_type(out, arrays_[i].type());
      out += " = ";
      append_contents(out, arrays_[i], kMaxWrittenBytes);
      out += '\n';
    }
  }

 private:
  std::map<std::tuple<const void*, std::string, size_t>, size_t> known_;
  std::vector<AnyArray> arrays_;
};

class Printer {
 public:
  /// `comment`: see print_with_comments; null: there are none.
  explicit Printer(std::string& out, const Comment* comment = nullptr) : out_(out), comment_(comment) {}

  void print(const Graph& g) {
    out_ += "calque 1\ngraph ";
    graph(g, 0);
    constants_.append(out_);
  }

 private:
  using Names = std::unordered_map<uint32_t, size_t>;

  void indent(size_t depth) { out_.append(2 * depth, ' '); }

  /// The sections of the constants of one graph, in order of use.
  Names name_constants(const Graph& g) {
    Names names;
    std::unordered_map<const void*, size_t> occurrences;
    const auto use = [&](Value v) {
      if (v.id() >= g.num_values() || g.kind(v) != ValueKind::constant || names.contains(v.id())) return;
      const AnyArray& array = g.constant(v);
      names.emplace(v.id(), constants_.number(array, occurrences[array.has_data() ? array.data() : nullptr]++));
    };
    for (const Equation& e : g.equations()) {
      for (const Value v : e.operands()) use(v);
    }
    for (const Value v : g.outputs()) use(v);
    return names;
  }

  void graph(const Graph& g, size_t depth) {
    const ValueNumbers numbers(g);
    const Names names = name_constants(g);
    const auto use = [&](Value v) {
      if (const auto at = names.find(v.id()); at != names.end()) {
        out_ += "@c";
        append_int(out_, static_cast<int64_t>(at->second));
      } else {
        numbers.append(out_, v);
      }
    };
    if (!g.name().empty()) append_name(out_, g.name());
    out_ += '(';
    for (size_t i = 0; i < g.inputs().size(); ++i) {
      if (i != 0) out_ += ", ";
      definition(g, numbers, g.inputs()[i]);
    }
    out_ += ") {\n";
    for (const Equation& e : g.equations()) {
      indent(depth + 1);
      equation(g, numbers, e, use, depth);
      if (comment_ != nullptr && depth == 0)
        if (const std::string text = (*comment_)(e); !text.empty()) out_ += "  // " + text;
      out_ += '\n';
    }
    indent(depth + 1);
    out_ += "return";
    for (size_t i = 0; i < g.outputs().size(); ++i) {
      out_ += i == 0 ? " " : ", ";
      use(g.outputs()[i]);
    }
    out_ += '\n';
    indent(depth);
    out_ += "}\n";
  }

  void definition(const Graph& g, const ValueNumbers& numbers, Value v) {
    numbers.append(out_, v);
    out_ += ": ";
    append_type(out_, g.type(v));
  }

  template <class Use>
  void equation(const Graph& g, const ValueNumbers& numbers, const Equation& e, const Use& use, size_t depth) {
    for (size_t i = 0; i < e.results().size(); ++i) {
      if (i != 0) out_ += ", ";
      definition(g, numbers, e.result(i));
    }
    if (!e.results().empty()) out_ += " = ";
    out_ += e.primitive();
    append_attributes(out_, e.attributes());
    for (const Value v : e.operands()) {
      out_ += ' ';
      use(v);
    }
    if (!e.subgraphs().empty()) {
      out_ += " {\n";
      for (const Graph& sub : e.subgraphs()) {
        indent(depth + 2);
        graph(sub, depth + 2);
      }
      indent(depth + 1);
      out_ += '}';
    }
    if (e.location().known()) {
      out_ += ' ';
      append_location(out_, e.location());
    }
  }

  std::string& out_;
  const Comment* const comment_;
  ConstantSections constants_;
};

}  // namespace

std::string print_with_comments(const Graph& graph, const Comment& comment) {
  std::string out;
  Printer(out, &comment).print(graph);
  return out;
}

std::string equation_text(const Graph& graph, const Equation& equation) {
  return equation_text(graph, ValueNumbers(graph), equation);
}

std::string equation_text(const Graph& graph, const ValueNumbers& numbers, const Equation& e) {
  std::string out;
  for (size_t i = 0; i < e.results().size(); ++i) {
    if (i != 0) out += ", ";
    numbers.append(out, e.result(i));
    if (e.result(i).id() < graph.num_values()) out += ": " + to_string(graph.type(e.result(i)));
  }
  if (!e.results().empty()) out += " = ";
  out += e.primitive();
  append_attributes(out, e.attributes());
  for (const Value v : e.operands()) {
    out += ' ';
    numbers.append(out, v);
  }
  if (!e.subgraphs().empty()) out += " {...}";
  return out;
}

}  // namespace text

std::string print(const Graph& graph) {
  std::string out;
  out.reserve(64 + 48 * graph.num_equations());
  text::Printer(out).print(graph);
  return out;
}

std::ostream& operator<<(std::ostream& out, const Graph& graph) { return out << print(graph); }

}  // namespace calque
