#include "kernel/schedule_gpu/product_launches.h"

#include <functional>

#include "kernel/schedule_gpu/loop_queries.h"

namespace calque::kernel {

/// Arrays [iterations of the nest, rows, columns] in scratch: computed factors, and products.
struct ProductLaunches::Arrays {
  LaunchBuilder& b;
  const Instruction &contraction, &outermost;
  const std::vector<const Instruction*>& nest;
  Id matrix;  ///< number of the nest's iteration; kNone: it is the only one

  std::pair<int64_t, int64_t> sides(Phase what) const {
    const Instruction& i = contraction;
    return {what == Phase::rhs ? i.extent : i.rows, what == Phase::lhs ? i.extent : i.columns};
  }
  Id index(Region& to, Phase what, Id row, Id column) const {
    const auto [rows, columns] = sides(what);
    const Id number = matrix == kNone ? row : index_in_row(b.copier, to, matrix, rows, row);
    return index_in_row(b.copier, to, number, columns, column);
  }
};

// The nest around a product, with the product alone, a loop that computes a factor, or one that does what follows it.
void ProductLaunches::emit(LaunchBuilder& b, const Instruction& outermost, Phase phase) {
  InstructionCopier& c = b.copier;
  Region& body = b.entry.kernel.body;
  const auto nest = outermost.op == Op::contraction ? std::vector<const Instruction*>{} : nest_of(outermost);
  const auto contraction = [&](Region& to, const Instruction& i, Id matrix) {
    const Arrays own{b, i, outermost, nest, matrix};
    to.instructions.push_back(phase == Phase::product    ? product_alone(own)
                              : phase == Phase::epilogue ? epilogue(own)
                                                         : computed_factor(own, phase));
  };
  if (nest.empty()) return contraction(body, outermost, kNone);
  const std::function<void(Region&, size_t, Id)> level = [&](Region& to, size_t l, Id matrix) {
    to.instructions.push_back(c.parallel(nest[l]->extent, [&](Region& inside, Id index) {
      c.set(nest[l]->regions[0].parameters[0], index);
      const Id number = matrix == kNone ? index : index_in_row(c, inside, matrix, nest[l]->extent, index);
      for (const Instruction& i : nest[l]->regions[0].instructions) {
        if (l + 1 < nest.size() && &i == nest[l + 1])
          level(inside, l + 1, number);
        else if (i.op == Op::contraction)
          contraction(inside, i, number);
        else
          c.copy_into(inside, i);
      }
    }));
  };
  level(body, 0, kNone);
}

int32_t ProductLaunches::scratch_of(const Arrays& own, Phase what) {
  const auto [found, fresh] = arrays_.try_emplace({&own.outermost, what}, 0);
  if (fresh) {
    const auto [rows, columns] = own.sides(what);
    int64_t count = rows * columns;
    for (const Instruction* l : own.nest) count *= l->extent;
    const auto& regions = own.contraction.regions;
    const Id value = what == Phase::product ? regions[2].parameters[2]
                                            : regions[what == Phase::lhs ? 0 : 1].instructions.back().operands[0];
    scratch_.push_back({k_.values[static_cast<size_t>(value)], Shape{count}});
    found->second = static_cast<int32_t>(scratch_.size()) - 1;
  }
  return own.b.scratch_buffer(found->second);
}

// The factor's elements, each computed once.
Instruction ProductLaunches::computed_factor(const Arrays& own, Phase what) {
  InstructionCopier& c = own.b.copier;
  const Region& factor = own.contraction.regions[what == Phase::lhs ? 0 : 1];
  const auto [row_count, column_count] = own.sides(what);
  return c.parallel(row_count, [&, columns = column_count](Region& rows, Id row) {
    rows.instructions.push_back(c.parallel(columns, [&](Region& body, Id column) {
      c.set(factor.parameters[0], row);
      c.set(factor.parameters[1], column);
      const Ids value = c.copy_body(body, factor);
      c.store(body, scratch_of(own, what), own.index(body, what, row, column), value[0]);
    }));
  });
}

Instruction ProductLaunches::product_alone(const Arrays& own) {
  InstructionCopier& c = own.b.copier;
  const Stages::ProductSplit& split = *stages_.product_split(own.outermost);
  const Instruction& i = own.contraction;
  const auto parameters_of = [&](const Region& region) {
    Region out;
    for (const Id p : region.parameters) out.parameters.push_back(c.fresh(c.dtype(p)));
    return out;
  };
  const auto stored_factor = [&](const Region& region, Phase what) {
    Region out = parameters_of(region);
    const Id at = own.index(out, what, out.parameters[0], out.parameters[1]);
    InstructionCopier::yield(out, {c.load(out, scratch_of(own, what), at)});
    return out;
  };
  Instruction out = i;
  out.regions.clear();
  out.regions.push_back(split.lhs ? stored_factor(i.regions[0], Phase::lhs) : c.copy(i.regions[0]));
  out.regions.push_back(split.rhs ? stored_factor(i.regions[1], Phase::rhs) : c.copy(i.regions[1]));
  if (split.epilogue) {
    Region sums = parameters_of(i.regions[2]);
    const Id at = own.index(sums, Phase::product, sums.parameters[0], sums.parameters[1]);
    c.store(sums, scratch_of(own, Phase::product), at, sums.parameters[2]);
    out.regions.push_back(std::move(sums));
  } else {
    out.regions.push_back(c.copy(i.regions[2]));
  }
  return out;
}

Instruction ProductLaunches::epilogue(const Arrays& own) {
  InstructionCopier& c = own.b.copier;
  const Region& region = own.contraction.regions[2];
  return c.parallel(own.contraction.rows, [&](Region& rows, Id row) {
    rows.instructions.push_back(c.parallel(own.contraction.columns, [&](Region& body, Id column) {
      const Id at = own.index(body, Phase::product, row, column);
      c.set(region.parameters[0], row);
      c.set(region.parameters[1], column);
      c.set(region.parameters[2], c.load(body, scratch_of(own, Phase::product), at));
      c.copy_body(body, region);
    }));
  });
}

}  // namespace calque::kernel
