// Who runs which iterations. Loops spread over groups are dealt out as one: group g takes iterations g, g + groups and
// so on of all of them together, the innermost counting fastest. A loop spread over threads gives iteration k to thread
// k mod group (in vectors: as many neighbours as a vector has lanes), so that neighbouring threads touch neighbouring
// memory.
#include <algorithm>

#include "codegen/gpu/device_emitter.h"
#include "kernel/schedule_gpu/tiles.h"
#include "kernel/schedule_gpu/unroll_factor.h"

namespace calque::codegen {

using kernel::Instruction;
using kernel::LoopKind;
using kernel::Op;
using kernel::Spread;
using llvm::Value;

namespace {

constexpr int kVectorBytes = 16, kMostLanes = 8;
// Longer bodies hide the latency of their loads by themselves, and need their registers.
constexpr int64_t kMostInVectors = 250;

const Instruction* inner_spread(const Instruction& loop) {
  for (const Instruction& i : loop.regions[0].instructions)
    if ((i.op == Op::loop || i.op == Op::contraction) && i.spread == Spread::groups) return &i;
  return nullptr;
}

}  // namespace

// Branches and loops are the thread's own.
bool DeviceEmitter::is_straight(const kernel::Region& body) const {
  return instruction_count(kernel_, body) <= kMostInVectors &&
         std::all_of(body.instructions.begin(), body.instructions.end(),
                     [](const Instruction& i) { return i.regions.empty(); });
}

unsigned DeviceEmitter::vector_lanes(const Instruction& i) const {
  if (!i.vectorize || !is_straight(i.regions[0])) return 0;
  const LoopFacts& facts = analysis_.facts(i);
  int64_t lanes = std::min(kVectorBytes / facts.element_bytes, kMostLanes);
  while (lanes > i.extent) lanes /= 2;
  return lanes > 1 ? static_cast<unsigned>(lanes) : 0;
}

void DeviceEmitter::loop(const Instruction& i) {
  if (i.extent == 0) return KernelEmitter::loop(i);
  if (i.spread == Spread::groups) {
    if (const auto part = parts_.find(&i); part != parts_.end()) {
      return iteration(i, part->second.first, &i == vector_loop_ ? loop_lanes_ : 0);
    }
    return groups(i);
  }
  if (i.spread == Spread::threads && cooperative_) {
    if (i.loop == LoopKind::parallel) return threads(i);
    if (i.loop == LoopKind::reduction) return fold_together(i);
    return scan_together(i);
  }
  if (i.loop == LoopKind::reduction) return fold_alone(i);
  KernelEmitter::loop(i);
}

void DeviceEmitter::iteration(const Instruction& i, Value* index, unsigned lanes) {
  const kernel::Region& body = i.regions[0];
  lanes_ = lanes;
  env_[body.parameters[0]] = uniform(index);
  if (lanes != 0) env_[body.parameters[0]] = {index, Reg::Form::linear, false, true, 1};
  divisors_[body.parameters[0]] = lanes == 0 ? 1 : lanes;
  run(body);
  lanes_ = 0;
}

// Deals numbers from `first` to before `end` to the groups. With repeats a block of threads takes that many runs of
// neighbours, one after the other, so that what it touches lies together.
void DeviceEmitter::dealt(int64_t first, int64_t end, int64_t repeat, const std::function<void(Value*)>& body) {
  const int64_t at_once = repeat * launch_.groups;
  Value* begin = number_;
  if (repeat > 1) {
    Value* const block = b_.CreateUDiv(number_, integer(launch_.threads));
    begin = add(number_, b_.CreateMul(block, integer((repeat - 1) * launch_.threads), "", true, true));
  }
  begin = add(begin, integer(first));
  const auto at = [&](Value* number, int64_t r) { return r == 0 ? number : add(number, integer(r * launch_.threads)); };
  const auto is_there = [&](Value* number) { return b_.CreateICmpSLT(number, integer(end)); };
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
  // The last number of the thread says whether all of them are there.
  Value* const all = is_there(at(rest, repeat - 1));
  when(all, [&] { whole(rest); });
  if (repeat == 1) return;
  when(b_.CreateNot(all), [&] {
    for (int64_t r = 0; r + 1 < repeat; ++r) when(is_there(at(rest, r)), [&] { body(at(rest, r)); });
  });
}

void DeviceEmitter::groups(const Instruction& i) {
  std::vector<const Instruction*> nest{&i};
  while (nest.back()->op == Op::loop)
    if (const Instruction* inner = inner_spread(*nest.back()))
      nest.push_back(inner);
    else
      break;
  const Instruction* product = nest.back()->op == Op::contraction ? nest.back() : nullptr;
  std::vector<int64_t> extents;
  for (const Instruction* l : nest) extents.push_back(l->extent);
  if (product) extents.back() = kernel::choose_tiles(kernel_, *product, options_.fast_math)->count(*product);
  const Instruction& last = *nest.back();
  unsigned lanes = product || is_group() ? 0 : vector_lanes(last);
  // Rows that no whole vectors fill begin anywhere.
  while (lanes > 1 && nest.size() > 1 && last.extent % lanes != 0) lanes /= 2;
  if (lanes == 1) lanes = 0;
  if (lanes != 0) extents.back() /= lanes;
  int64_t count = 1;
  for (const int64_t e : extents) count *= e;
  const bool narrow = nest.size() > 1 && count <= INT32_MAX;
  const auto deal = [&](Value* number) {
    // In 32 bits division by a constant is short.
    Value* rest = narrow ? b_.CreateTrunc(number, b_.getInt32Ty()) : number;
    for (size_t l = nest.size(); l-- > 0;) {
      auto* const extent = llvm::ConstantInt::get(rest->getType(), static_cast<uint64_t>(extents[l]));
      Value* const index = l == 0 ? rest : b_.CreateURem(rest, extent);
      if (l != 0) rest = b_.CreateUDiv(rest, extent);
      Value* const wide = narrow ? b_.CreateZExt(index, b_.getInt64Ty()) : index;
      if (product && l + 1 == nest.size())
        tile_ = wide;
      else
        parts_[nest[l]] = {wide, nullptr};
    }
    if (product && nest.size() == 1) return contraction(*product);
    if (lanes == 0) return iteration(i, parts_[&i].first, 0);
    vector_loop_ = &last;
    loop_lanes_ = lanes;
    Value*& inner = parts_[&last].first;
    inner = b_.CreateMul(inner, integer(lanes), "", true, true);
    if (nest.size() == 1)
      iteration(last, inner, lanes);
    else
      iteration(i, parts_[&i].first, 0);
    vector_loop_ = nullptr;
  };
  const int64_t at_once = product || is_group() ? 1 : kernel::repeats(kernel_, last.regions[0]);
  dealt(0, count, at_once, deal);
  if (lanes != 0 && last.extent % lanes != 0) {
    const int64_t whole = last.extent / lanes * lanes;
    dealt(whole, last.extent, 1, [&](Value* number) { iteration(last, number, 0); });
  }
  parts_.clear();
}

// A thread's own code: its stores are its own.
void DeviceEmitter::own(const std::function<void()>& body) {
  cooperative_ = false;
  body();
  cooperative_ = true;
}

void DeviceEmitter::threads(const Instruction& i) {
  const bool exchanged = exchanges(i.regions[0]);
  if (exchanged) barrier();
  own([&] {
    const unsigned lanes = vector_lanes(i);
    const int64_t step = lanes == 0 ? 1 : lanes, whole = i.extent / step;
    const auto strided = [&](int64_t first, int64_t count, int64_t width, unsigned lanes_here) {
      if (count == 0) return;
      when(count >= group_ ? nullptr : b_.CreateICmpSLT(rank_, integer(count)), [&] {
        Value* const begin = add(b_.CreateMul(rank_, integer(width), "", true, true), integer(first));
        Value* const end = integer(first + count * width);
        if (count <= group_) return iteration(i, begin, lanes_here);
        counted(begin, end, width * group_, {}, [&](Value* index, const Values&) {
          iteration(i, index, lanes_here);
          return Values{};
        });
      });
    };
    strided(0, whole, step, lanes);
    strided(whole * step, i.extent - whole * step, 1, 0);
  });
  if (exchanged) barrier();
}

}  // namespace calque::codegen
