#pragma once
// The boundary of a call: arguments of data become trees in the trace, and the lambda's result becomes outputs and then
// data. Here a vector of numbers among a struct's members is one array.
#include <string>
#include <utility>
#include <vector>

#include "calque/detail/trees/traced.h"

namespace calque::detail {

/// Makes the arguments' leaves from the inputs of a trace.
struct FromInputs : FromHandles {
  static constexpr bool kPacks = true;
  template <class To, class X>
  To operator()(const X& x) {
    if constexpr (dense<X>::value) note_eigen_argument(handles.front());
    return FromHandles::operator()<To>(x);
  }
};
template <class X>
to_tracer_t<X> rebuild_inputs(const X& x, std::span<const Handle>& handles) {
  FromInputs leaf{{handles}};
  return map_leaves<to_tracer_t<X>>(x, leaf);
}

/// Collects the outputs of a trace, whose result becomes data of another type.
class OutputCollector : public TreePath {
 public:
  static constexpr bool kPacks = true;
  explicit OutputCollector(std::vector<Handle>& outputs) : TreePath("the result"), outputs_(outputs) {}
  template <class To, class X>
  void leaf(const X& x) {
    if constexpr (is_vector<X>) {
      std::vector<Handle> elements;
      for (const auto& element : x)
        elements.push_back(number(element.handle(), "[" + std::to_string(elements.size()) + "]"));
      const Shape shape{static_cast<int64_t>(elements.size())};
      outputs_.push_back(pack_elements(elements, {dtype_of<leaf_elem_t<To>>, shape}, {}));
    } else if constexpr (ScalarLeaf<To>) {
      outputs_.push_back(number(leaf_handle(x), {}));
    } else {
      outputs_.push_back(leaf_handle(x));
    }
  }
  template <class V>
  void value(const V&) {}

 private:
  Handle number(Handle handle, const std::string& element) const {
    require_number(handle, path() + element);
    return handle;
  }
  std::vector<Handle>& outputs_;
};
/// Appends the outputs of a tree of tracers that becomes the tree To of data. Throws ShapeError that names a member
/// that is a number in To but has another rank.
template <class To, class X>
void append_outputs(const X& x, std::vector<Handle>& outputs) {
  OutputCollector collector(outputs);
  walk_tree<To>(x, collector);
}

/// Makes data from the arrays of a call's outputs.
template <class Outputs>
struct FromOutputs {
  static constexpr bool kPacks = true;
  Outputs& outputs;
  size_t next = 0;
  template <class To, class X>
  To operator()(const X&) {
    return leaf_from<To>(std::move(outputs[next++]));
  }
};

}  // namespace calque::detail
