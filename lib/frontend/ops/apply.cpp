#include "calque/detail/apply.h"

#include "calque/detail/run.h"
#include "calque/effects.h"
#include "calque/gather_scatter.h"

#include "trace/builder.h"

namespace calque::detail {

std::vector<AnyArray> run_operands_many(std::string_view name, std::span<const Operand> operands, ErasedMany function,
                                        Location at) {
  std::vector<const AnyArray*> arrays;
  for (const Operand& x : operands) {
    if (x.kind() == Operand::Kind::array) arrays.push_back(&x.array());
    if (x.kind() != Operand::Kind::tracer) continue;
    throw ConcretizationError(std::string(name) +
                              ": runs at once on arrays and cannot take the value of a tracer; make its first argument "
                              "a tracer as well" +
                              where_text(user_location(at)));
  }
  const TraceBody body = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    std::vector<Operand> traced;
    size_t next = 0;
    for (const Operand& x : operands) {
      traced.push_back(x.kind() == Operand::Kind::array ? Operand(inputs[next++]) : x);
    }
    outputs = function(traced);
  };
  return run_arrays(name, arrays, body);
}

AnyArray run_operands(std::string_view name, std::span<const Operand> operands, Erased function, Location at) {
  const auto many = [&](std::span<const Operand> x) { return std::vector<Handle>{function(x)}; };
  return std::move(run_operands_many(name, operands, many, at).front());
}

void print_operands(const PrintFormat& format, std::span<const Operand> operands) {
  if (tracing()) return ops::debug_print(format.text, operands, format.location);
  const auto print = [&](std::span<const Operand> x) {
    ops::debug_print(format.text, x, format.location);
    return std::vector<Handle>{};
  };
  run_operands_many("debug_print", operands, print, format.location);
}

void append_starts(std::string_view name, const Starts& starts, std::vector<Operand>& operands, Location at) {
  for (const IndexItem& i : starts.items) {
    if (i.kind == IndexItem::Kind::integer) {
      operands.push_back(literal_operand(i.start));
    } else if (i.kind == IndexItem::Kind::array) {
      operands.push_back(i.operand());
    } else {
      throw ShapeError(std::string(name) + ": a start is an integer or an integer scalar" +
                       where_text(user_location(at)));
    }
  }
}

}  // namespace calque::detail
