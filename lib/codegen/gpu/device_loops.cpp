// Mapping of iterations to threads. A nest of loops that are mapped to thread groups is flattened, the innermost loop
// varying fastest, and distributed grid-stride: group g runs iterations g, g + groups and so on. A loop that is mapped
// to threads gives iteration k to thread k mod group size (with vectors: as many neighbours as a vector has lanes), so
// that neighbouring threads access neighbouring memory.
#include <algorithm>

#include "codegen/gpu/device_emitter.h"

namespace calque::codegen {

using kernel::Instruction;
using kernel::LoopKind;
using kernel::Op;
using kernel::ParallelMapping;
using llvm::Value;

namespace {

const Instruction* inner_group_loop(const Instruction& loop) {
  for (const Instruction& i : loop.regions[0].instructions)
    if ((i.op == Op::loop || i.op == Op::contraction) && i.mapping == ParallelMapping::groups) return &i;
  return nullptr;
}

}  // namespace

void DeviceEmitter::loop(const Instruction& i) {
  if (i.extent == 0) return KernelEmitter::loop(i);
  if (i.mapping == ParallelMapping::groups) {
    if (const auto part = subranges_.find(&i); part != subranges_.end()) {
      return iteration(i, part->second.first, &i == vector_loop_ ? loop_lanes_ : 0);
    }
    return group_loop(i);
  }
  if (i.mapping == ParallelMapping::threads && cooperative_) {
    if (i.loop == LoopKind::parallel) return thread_loop(i);
    if (i.loop == LoopKind::reduction) return group_reduction(i);
    return group_scan(i);
  }
  if (i.loop == LoopKind::reduction) return thread_reduction(i);
  KernelEmitter::loop(i);
}

void DeviceEmitter::iteration(const Instruction& i, Value* index, unsigned lanes) {
  const kernel::Region& body = i.regions[0];
  const VectorScope scope(vectors_, lanes);
  env_[body.parameters[0]] = uniform(index);
  if (lanes != 0) env_[body.parameters[0]] = {index, Reg::Form::linear, false, true, 1};
  divisors_[body.parameters[0]] = lanes == 0 ? 1 : lanes;
  run(body);
}

// Distributes the numbers [first, end) grid-stride over the thread groups. With `repeat` above 1 a block takes that
// many consecutive runs of neighbouring numbers at a time, so that its accesses are contiguous.
void DeviceEmitter::distribute(int64_t first, int64_t end, int64_t repeat, const std::function<void(Value*)>& body) {
  const int64_t at_once = repeat * launch_.groups;
  Value* begin = group_index_;
  if (repeat > 1) {
    Value* const block = b_.CreateUDiv(group_index_, integer(launch_.threads));
    begin = add(group_index_, b_.CreateMul(block, integer((repeat - 1) * launch_.threads), "", true, true));
  }
  begin = add(begin, integer(first));
  const auto at = [&](Value* number, int64_t r) { return r == 0 ? number : add(number, integer(r * launch_.threads)); };
  const auto exists = [&](Value* number) { return b_.CreateICmpSLT(number, integer(end)); };
  const auto whole = [&](Value* number) {
    for (int64_t r = 0; r < repeat; ++r) body(at(number, r));
  };
  const int64_t rounds = (end - first) / at_once;
  if (rounds == 1) whole(begin);
  if (rounds > 1)
    counted(begin, add(begin, integer(rounds * at_once)), at_once, {}, [&](Value* number, const Values&) {
      whole(number);
      return Values{};
    });
  if (rounds * at_once == end - first) return;
  Value* const rest = rounds == 0 ? begin : add(begin, integer(rounds * at_once));
  // If the thread's last number exists, all of them do.
  Value* const all = exists(at(rest, repeat - 1));
  when(all, [&] { whole(rest); });
  if (repeat == 1) return;
  when(b_.CreateNot(all), [&] {
    for (int64_t r = 0; r + 1 < repeat; ++r) when(exists(at(rest, r)), [&] { body(at(rest, r)); });
  });
}

void DeviceEmitter::group_loop(const Instruction& i) {
  std::vector<const Instruction*> nest{&i};
  while (nest.back()->op == Op::loop)
    if (const Instruction* inner = inner_group_loop(*nest.back()))
      nest.push_back(inner);
    else
      break;
  const Instruction* product = nest.back()->op == Op::contraction ? nest.back() : nullptr;
  std::vector<int64_t> extents;
  for (const Instruction* l : nest) extents.push_back(l->extent);
  if (product && !product->gpu_tiles) refuse("a contraction has no tiles for a GPU");
  if (product) extents.back() = product->gpu_tiles->count(product->rows, product->columns);
  const Instruction& last = *nest.back();
  const unsigned lanes = product || is_group() ? 0 : vector_lanes(last);
  if (lanes != 0) extents.back() /= lanes;
  int64_t count = 1;
  for (const int64_t e : extents) count *= e;
  const bool narrow = nest.size() > 1 && count <= INT32_MAX;
  const auto run_iteration = [&](Value* number) {
    // Division by a constant is shorter in 32 bits.
    Value* rest = narrow ? b_.CreateTrunc(number, b_.getInt32Ty()) : number;
    for (size_t l = nest.size(); l-- > 0;) {
      auto* const extent = llvm::ConstantInt::get(rest->getType(), static_cast<uint64_t>(extents[l]));
      Value* const index = l == 0 ? rest : b_.CreateURem(rest, extent);
      if (l != 0) rest = b_.CreateUDiv(rest, extent);
      Value* const wide = narrow ? b_.CreateZExt(index, b_.getInt64Ty()) : index;
      if (product && l + 1 == nest.size())
        tile_ = wide;
      else
        subranges_[nest[l]] = {wide, nullptr};
    }
    if (product && nest.size() == 1) return contraction(*product);
    if (lanes == 0) return iteration(i, subranges_[&i].first, 0);
    vector_loop_ = &last;
    loop_lanes_ = lanes;
    Value*& inner = subranges_[&last].first;
    inner = b_.CreateMul(inner, integer(lanes), "", true, true);
    if (nest.size() == 1)
      iteration(last, inner, lanes);
    else
      iteration(i, subranges_[&i].first, 0);
    vector_loop_ = nullptr;
  };
  const int64_t at_once = product || is_group() ? 1 : std::max<int64_t>(1, last.unroll);
  distribute(0, count, at_once, run_iteration);
  if (lanes != 0 && last.extent % lanes != 0) {
    const int64_t whole = last.extent / lanes * lanes;
    distribute(whole, last.extent, 1, [&](Value* number) { iteration(last, number, 0); });
  }
  subranges_.clear();
}

// Emits code that each thread of a group runs for itself: its stores are not guarded by rank.
void DeviceEmitter::thread_scope(const std::function<void()>& body) {
  cooperative_ = false;
  body();
  cooperative_ = true;
}

void DeviceEmitter::thread_loop(const Instruction& i) {
  const bool contended = stores_contended(i.regions[0]);
  if (contended) barrier();
  thread_scope([&] {
    const unsigned lanes = vector_lanes(i);
    const int64_t step = lanes == 0 ? 1 : lanes, whole = i.extent / step;
    const auto strided = [&](int64_t first, int64_t count, int64_t width, unsigned lanes_here) {
      if (count == 0) return;
      when(count >= group_size_ ? nullptr : b_.CreateICmpSLT(rank_, integer(count)), [&] {
        Value* const begin = add(b_.CreateMul(rank_, integer(width), "", true, true), integer(first));
        Value* const end = integer(first + count * width);
        if (count <= group_size_) return iteration(i, begin, lanes_here);
        counted(begin, end, width * group_size_, {}, [&](Value* index, const Values&) {
          iteration(i, index, lanes_here);
          return Values{};
        });
      });
    };
    strided(0, whole, step, lanes);
    strided(whole * step, i.extent - whole * step, 1, 0);
  });
  if (contended) barrier();
}

}  // namespace calque::codegen
