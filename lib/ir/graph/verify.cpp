// The rules of the IR. All other code assumes them of a verified graph.
#include "calque/ir/graph.h"

#include "ir/graph/graph_access.h"
#include "ir/text/print.h"
#include "ir/text/text.h"

namespace calque {
namespace {

using detail::GraphAccess;

class Verifier {
 public:
  Verifier(const Graph& graph, std::string context)
      : g_(graph), context_(std::move(context)), defined_(graph.num_values(), false) {}

  void verify() {
    inputs();
    size_t count = 0;
    for (const Equation& e : g_.equations()) {
      if (++count > g_.num_equations()) fail("the list of equations does not end");
      current_ = &e;
      equation(e);
    }
    current_ = nullptr;
    if (count != g_.num_equations()) fail("the list of equations is shorter than their number");
    for (size_t i = 0; i < g_.outputs().size(); ++i) use(g_.outputs()[i], "output " + std::to_string(i));
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    std::string message = context_ + ": ";
    if (current_ != nullptr) message += "`" + text::equation_text(g_, *current_) + "`: ";
    message += rule;
    if (current_ != nullptr) message += where_text(current_->location());
    throw CompileError(message);
  }

  void inputs() {
    for (size_t i = 0; i < g_.inputs().size(); ++i) {
      const Value v = g_.inputs()[i];
      const std::string what = "input " + std::to_string(i);
      if (v.id() >= g_.num_values()) fail(what + " is not a value of this graph");
      if (defined_[v.id()]) fail(what + " is listed twice");
      if (g_.kind(v) != ValueKind::input || g_.input_index(v) != i) fail(what + " is not recorded as such");
      if (!text::addressable(g_.type(v))) fail(what + " is too large");
      defined_[v.id()] = true;
    }
  }

  void use(Value v, const std::string& what) {
    if (v.id() >= g_.num_values()) fail(what + " is not a value of this graph");
    switch (g_.kind(v)) {
      case ValueKind::input:
      case ValueKind::result:
        if (!defined_[v.id()]) fail(what + " is used before it is defined");
        break;
      case ValueKind::literal:
        literal(v, what);
        break;
      case ValueKind::constant:
        constant(v, what);
        break;
    }
  }

  void literal(Value v, const std::string& what) const {
    const DType dtype = g_.dtype(v);
    const unsigned char* bytes = g_.literal(v).bytes;
    if (is_bool(dtype) && bytes[0] > 1) fail(what + " is a bool literal that is neither true nor false");
    for (size_t i = size_of(dtype); i < sizeof(Literal); ++i) {
      if (bytes[i] != 0) fail(what + " is a literal with bits past its element");
    }
  }

  void constant(Value v, const std::string& what) const {
    const AnyArray& array = g_.constant(v);
    if (array.empty()) fail(what + " is a constant without an array");
    if (array.type() != g_.type(v)) fail(what + " is a constant of another type than its array");
    if (array.storage().bytes() < array.bytes()) fail(what + " is a constant with fewer bytes than its type needs");
  }

  void equation(const Equation& e) {
    const Primitive& p = e.definition();
    for (size_t i = 0; i < e.operands().size(); ++i) use(e.operand(i), "operand " + std::to_string(i));
    count("operands", e.operands().size(), p.min_operands, p.max_operands);
    count("sub-graphs", e.subgraphs().size(), p.min_subgraphs, p.max_subgraphs);
    for (auto a = e.attributes().begin(); a != e.attributes().end(); ++a) {
      if (a != e.attributes().begin() && !((a - 1)->name < a->name)) fail("attributes are not sorted by name");
    }
    for (size_t i = 0; i < e.subgraphs().size(); ++i) {
      Verifier(e.subgraphs()[i],
               context_ + ": in sub-graph " + std::to_string(i) + " of " + e.primitive() + where_text(e.location()))
          .verify();
    }
    types(e);
    for (size_t i = 0; i < e.results().size(); ++i) define(e, i);
  }

  void count(const char* what, size_t count, int min, int max) const {
    if (count >= static_cast<size_t>(min) && (max < 0 || count <= static_cast<size_t>(max))) return;
    fail("the primitive does not take " + std::to_string(count) + " " + what);
  }

  void types(const Equation& e) const {
    std::vector<const Type*> operands;
    for (const Value v : e.operands()) operands.push_back(&g_.type(v));
    std::vector<Type> inferred;
    try {
      e.definition().infer({operands, e.attributes(), e.subgraphs()}, inferred);
    } catch (const Error& error) {
      fail(error.what());
    }
    if (inferred.size() != e.results().size()) {
      fail("expected " + std::to_string(inferred.size()) + " results, got " + std::to_string(e.results().size()));
    }
    for (size_t i = 0; i < inferred.size(); ++i) {
      if (e.result(i).id() >= g_.num_values()) fail("result " + std::to_string(i) + " is not a value of this graph");
      if (inferred[i] != g_.type(e.result(i))) {
        fail("result " + std::to_string(i) + " is inferred as " + to_string(inferred[i]) + " but recorded as " +
             to_string(g_.type(e.result(i))));
      }
      if (!text::addressable(inferred[i])) fail("result " + std::to_string(i) + " is too large");
    }
  }

  void define(const Equation& e, size_t i) {
    const Value v = e.result(i);
    const std::string what = "result " + std::to_string(i);
    if (defined_[v.id()]) fail(what + " is defined twice");
    const bool recorded = g_.kind(v) == ValueKind::result && GraphAccess::table_index(g_, v) == GraphAccess::index(e);
    if (!recorded) fail(what + " is not recorded as such");
    defined_[v.id()] = true;
  }

  const Graph& g_;
  std::string context_;
  std::vector<bool> defined_;
  const Equation* current_ = nullptr;
};

}  // namespace

void Graph::verify(std::string_view pass) const {
  Verifier(*this, pass.empty() ? "verify" : "verify after " + std::string(pass)).verify();
}

}  // namespace calque
