#include "kernel/schedule_gpu/instruction_copier.h"

#include "primitives/elementwise/arithmetic.h"
#include "primitives/elementwise/convert.h"

namespace calque::kernel {

using namespace primitives;

Instruction InstructionCopier::copy(const Instruction& i) {
  if (i.op == Op::contraction && !keeps_contractions) return product(i);
  Instruction out = i;
  out.regions.clear();
  if (i.buffer >= 0) out.buffer = buffer_(i.buffer);
  for (int32_t& b : out.locals) b = buffer_(b);
  for (Id& o : out.operands) o = of(o);
  for (const Region& r : i.regions) out.regions.push_back(copy(r));
  for (Id& r : out.results) {
    const Id name = fresh(dtype(r));
    set(r, name);
    r = name;
  }
  return out;
}

Region InstructionCopier::copy(const Region& region) {
  Region out;
  for (const Id p : region.parameters) {
    const Id name = fresh(dtype(p));
    set(p, name);
    out.parameters.push_back(name);
  }
  for (const Instruction& i : region.instructions) {
    Instruction c = copy(i);
    out.instructions.push_back(std::move(c));
  }
  return out;
}

Ids InstructionCopier::copy_body(Region& to, const Region& region) {
  Ids yielded;
  for (const Instruction& i : region.instructions) {
    if (i.op == Op::yield) {
      for (const Id o : i.operands) yielded.push_back(of(o));
      break;
    }
    Instruction c = copy(i);
    to.instructions.push_back(std::move(c));
  }
  return yielded;
}

// Each element of the result becomes one reduction.
Instruction InstructionCopier::product(const Instruction& i) {
  return parallel(i.rows, [&](Region& rows, Id m) {
    rows.instructions.push_back(parallel(i.columns, [&](Region& body, Id n) {
      const DType type = dtype(i.regions[2].parameters[2]);
      Instruction sum;
      sum.op = Op::loop;
      sum.loop = LoopKind::reduction;
      sum.extent = i.extent;
      sum.combiners.push_back(Combiner::add);
      sum.operands.push_back(constant(body, type, identity(Combiner::add, type)));
      Region products;
      const Id k = fresh(DType::i64);
      products.parameters.push_back(k);
      set(i.regions[0].parameters[0], m);
      set(i.regions[0].parameters[1], k);
      set(i.regions[1].parameters[0], k);
      set(i.regions[1].parameters[1], n);
      const auto factor = [&](const Region& region) {
        const Id v = copy_body(products, region)[0];
        const DType d = to_.values[static_cast<size_t>(v)];
        return d == type ? v : scalar(products, id_of<Convert>, type, {v});
      };
      const Id a = factor(i.regions[0]), b = factor(i.regions[1]);
      yield(products, {scalar(products, id_of<Mul>, type, {a, b})});
      sum.regions.push_back(std::move(products));
      sum.results.push_back(fresh(type));
      set(i.regions[2].parameters[0], m);
      set(i.regions[2].parameters[1], n);
      set(i.regions[2].parameters[2], sum.results[0]);
      body.instructions.push_back(std::move(sum));
      copy_body(body, i.regions[2]);
    }));
  });
}

Id InstructionCopier::index(Region& to, int64_t n) { return constant(to, DType::i64, Literal::of<int64_t>(n)); }

Id InstructionCopier::constant(Region& to, DType dtype, const Literal& literal) {
  Instruction i;
  i.op = Op::constant;
  i.literal = literal;
  i.results.push_back(fresh(dtype));
  to.instructions.push_back(i);
  return i.results[0];
}

Id InstructionCopier::scalar(Region& to, PrimitiveId primitive, DType dtype, std::initializer_list<Id> operands) {
  Instruction i;
  i.op = Op::scalar;
  i.primitive = primitive;
  for (const Id o : operands) i.operands.push_back(o);
  i.results.push_back(fresh(dtype));
  to.instructions.push_back(i);
  return i.results[0];
}

Id InstructionCopier::load(Region& to, int32_t buffer, Id index) {
  Instruction i;
  i.op = Op::load;
  i.buffer = buffer;
  i.operands.push_back(index);
  i.results.push_back(fresh(to_.buffers[static_cast<size_t>(buffer)].dtype));
  to.instructions.push_back(i);
  return i.results[0];
}

void InstructionCopier::store(Region& to, int32_t buffer, Id index, Id value) {
  Instruction i;
  i.op = Op::store;
  i.buffer = buffer;
  i.operands.push_back(index);
  i.operands.push_back(value);
  to.instructions.push_back(i);
}

void InstructionCopier::yield(Region& to, Ids operands) {
  Instruction i;
  i.op = Op::yield;
  i.operands = std::move(operands);
  to.instructions.push_back(std::move(i));
}

Instruction InstructionCopier::parallel(int64_t extent, const Body& body) {
  Instruction i;
  i.op = Op::loop;
  i.loop = LoopKind::parallel;
  i.extent = extent;
  Region region;
  const Id index = fresh(DType::i64);
  region.parameters.push_back(index);
  body(region, index);
  i.regions.push_back(std::move(region));
  return i;
}

}  // namespace calque::kernel
