// User-facing text about tracers: how they print, and the error for asking for their value.
#include <algorithm>
#include <sstream>

#include "reference/evaluate.h"
#include "trace/builder.h"
#include "trace/literals.h"

namespace calque::detail {
namespace {

std::string remedy(std::string_view wanted) {
  if (const std::string_view instead = instead_of_eigen(); !instead.empty()) {
    return "; Eigen branches on it here: use " + std::string(instead);
  }
  if (wanted.find("bool") != std::string_view::npos) {
    if (followed_branches() == branches::trace && innermost() != nullptr && innermost()->parent() == nullptr) {
      return "; without data no branch is followed: call the function instead, or compile both sides: "
             "cq::jit(f, {.branches = cq::branches::all})";
    }
    if (followed_branches() == branches::trace) {
      return "; inside of a loop or of a cond no branch follows the data: use where or cond, or compile both sides: "
             "cq::jit(f, {.branches = cq::branches::all})";
    }
    return "; use where, cond or while_loop, pass what decides it as static_arg, or let branches follow the data: "
           "cq::jit(f, {.branches = cq::branches::trace})";
  }
  if (wanted == "integer" && followed_branches() == branches::refuse) {
    return "; keep it a tracer, pass it as static_arg, or let the function be compiled for each value: "
           "cq::jit(f, {.branches = cq::branches::trace})";
  }
  return "; keep it a tracer, or pass it as static_arg";
}

/// The user-facing spelling of a primitive.
std::string_view users_name(std::string_view primitive) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"gt", ">"},
                                                                             {"lt", "<"},
                                                                             {"ge", ">="},
                                                                             {"le", "<="},
                                                                             {"eq", "=="},
                                                                             {"ne", "!="},
                                                                             {"add", "+"},
                                                                             {"sub", "-"},
                                                                             {"mul", "*"},
                                                                             {"div", "/"},
                                                                             {"rem", "%"},
                                                                             {"neg", "-"},
                                                                             {"not", "!"},
                                                                             {"and", "&&"},
                                                                             {"or", "||"},
                                                                             {"xor", "^"},
                                                                             {"slice", "indexing"},
                                                                             {"dynamic_slice", "indexing"},
                                                                             {"gather", "indexing"},
                                                                             {"reshape", "indexing or reshape"},
                                                                             {"convert", "cast"}};
  for (const auto& [name, operation] : kNames) {
    if (name == primitive) return operation;
  }
  return primitive;
}

/// The equation that made the value, whose line replaces `where`; null for inputs.
const Equation* maker(Builder& b, Value v, Location& where) {
  const Equation* e = b.graph().definition(v);
  if (e != nullptr && e->location().known()) where = e->location();
  return e;
}

}  // namespace

std::string origin_of(Handle handle, Location& where) {
  if (handle.is_literal()) return "a literal";
  Builder& b = owner(handle, where);
  const Value v(handle.value);
  if (const Equation* e = maker(b, v, where)) return "the result of " + std::string(users_name(e->primitive()));
  const std::string path = b.input_path(v);
  return path.empty() ? "a value" : path;
}

std::string describe(Handle handle) {
  if (handle.is_literal()) {
    std::ostringstream out;
    out << literal_type(handle) << " = " << reference::materialize(literal_of(handle), literal_type(handle));
    return out.str();
  }
  for (Builder* b = innermost(); b != nullptr; b = b->parent()) {
    if (b->id() != handle.trace) continue;
    const Value v(handle.value);
    std::ostringstream out;
    out << b->graph().type(v) << " %" << v.id();
    if (b->eager()) out << " = " << b->value(v);
    return out.str();
  }
  return handle.trace == 0 ? "tracer without a value" : "tracer of a trace that has ended";
}

std::string argument_of_shape(Handle handle) {
  for (Builder* b = innermost(); b != nullptr; b = b->parent()) {
    if (b->id() != handle.trace) continue;
    Value v(handle.value);
    const Shape shape = b->graph().type(v).shape;
    while (const Equation* e = b->graph().definition(v)) {  // towards the inputs, so it ends
      const auto operands = e->operands();
      const auto same = std::find_if(operands.begin(), operands.end(),
                                     [&](Value operand) { return b->graph().type(operand).shape == shape; });
      if (same == operands.end()) return {};
      v = *same;
    }
    return b->input_path(v);
  }
  return {};
}

void note_eigen_argument(Handle handle) {
  Builder* const b = innermost();
  if (b != nullptr && b->id() == handle.trace) b->note_eigen_input(Value(handle.value));
}

bool is_eigen_argument(Handle handle) {
  for (const Builder* b = innermost(); b != nullptr; b = b->parent()) {
    if (b->id() == handle.trace) return b->is_eigen_input(Value(handle.value));
  }
  return false;
}

AnyArray concrete(Handle handle, std::string_view wanted, Location location) {
  if (handle.is_literal()) return reference::materialize(literal_of(handle), literal_type(handle));
  Builder& b = owner(handle, location);
  const Value v(handle.value);
  if (b.eager() && !b.value(v).empty()) return b.value(v);
  Location where = user_location(location);
  const Equation* e = maker(b, v, where);
  // Captures have no path.
  const std::string path = e == nullptr ? b.input_path(v) : std::string();
  std::string made;
  if (e != nullptr) made = " made by " + std::string(users_name(e->primitive()));
  if (!path.empty()) made = " (" + path + ")";
  throw ConcretizationError("concretization: " + std::string(wanted) +
                            " was wanted of a tracer, which has no value while tracing, got " +
                            to_string(b.graph().type(v)) + made + remedy(wanted) + where_text(where));
}

}  // namespace calque::detail
