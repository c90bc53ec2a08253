// A long block is split into segments, which become calls of `void segment(ptr frame)`. Values that one segment
// computes and another uses are passed in the frame, an alloca of the function that all its long blocks share: they are
// stored where they are computed, or before the first segment of a block if no segment computes them, and loaded before
// their first use in each segment that uses them.
#include "codegen/cpu/outline.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "codegen/cpu/merge_segments.h"
#include "codegen/llvm/llvm_target.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

namespace {

// The most instructions of a block that is not split, and the approximate instructions of a segment.
constexpr size_t kLongest = 2000, kSegment = 1000;

using Positions = llvm::DenseMap<const llvm::Value*, size_t>;

/// Splits the long blocks of a function, which share a frame.
class FunctionSplitter {
 public:
  explicit FunctionSplitter(llvm::Function& function)
      : function_(function), module_(*function.getParent()), b_(function.getContext()) {}
  void split();

 private:
  /// A block to be split, and its instructions after the phis and allocas.
  struct LongBlock {
    llvm::BasicBlock& block;
    std::vector<llvm::Instruction*> instructions;
    llvm::Instruction* first_call = nullptr;
    std::vector<llvm::Value*> from_outside;  ///< values that its segments use and no segment computes
  };
  struct Segment {
    llvm::Function* function;
    size_t long_block;
  };

  void find_long_blocks();
  static std::vector<size_t> choose_split_points(const std::vector<llvm::Instruction*>& long_block);
  void split_block(size_t long_block);
  llvm::Function* outline_segment(const LongBlock& long_block, size_t begin, size_t end);
  llvm::Value* slot(llvm::Value* value, llvm::Value* frame);
  void load_inputs(size_t segment);
  void load_for_later_uses(const LongBlock& long_block);
  void store(llvm::Value* value, llvm::Value* frame, llvm::Instruction* before);
  void store_values();
  std::vector<unsigned> fields_in_order() const;
  void lay_out_frame();
  void merge();

  llvm::Function& function_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  std::vector<LongBlock> blocks_;
  std::vector<Segment> segments_;
  Positions segment_of_;  ///< the index of an instruction's segment
  std::vector<llvm::Type*> fields_;
  llvm::DenseMap<llvm::Value*, unsigned> field_of_;
  /// Addresses of fields, whose offsets are set once all fields are known.
  std::vector<std::pair<llvm::GetElementPtrInst*, unsigned>> addresses_;
  llvm::AllocaInst* frame_ = nullptr;
};

/// A sum or difference of an index and a constant.
struct OffsetIndex {
  llvm::Value* index;
  llvm::APInt offset;
};
std::optional<OffsetIndex> as_offset_index(llvm::Value* value) {
  auto* i = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!i || !i->getType()->isIntegerTy(64)) return std::nullopt;
  const auto* offset = llvm::dyn_cast<llvm::ConstantInt>(i->getOperand(1));
  if (!offset) return std::nullopt;
  if (i->getOpcode() == llvm::Instruction::Add) return OffsetIndex{i->getOperand(0), offset->getValue()};
  if (i->getOpcode() == llvm::Instruction::Sub) return OffsetIndex{i->getOperand(0), -offset->getValue()};
  return std::nullopt;
}

/// Writes offsets as second operands, and replaces chains of them, such as n + 3 - 3, by one addition: how an index was
/// computed must not make repeated instructions differ.
void fold_offsets(llvm::BasicBlock& block) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(block)) {
    if (i.getOpcode() == llvm::Instruction::Add && llvm::isa<llvm::ConstantInt>(i.getOperand(0)))
      llvm::cast<llvm::BinaryOperator>(i).swapOperands();
    std::optional<OffsetIndex> outer = as_offset_index(&i);
    if (!outer) continue;
    const std::optional<OffsetIndex> inner = as_offset_index(outer->index);
    if (!inner) continue;
    const llvm::APInt sum = outer->offset + inner->offset;
    llvm::Value* folded = inner->index;
    if (!sum.isZero())
      folded = llvm::BinaryOperator::CreateAdd(folded, llvm::ConstantInt::get(i.getType(), sum), "", i.getIterator());
    i.replaceAllUsesWith(folded);
    i.eraseFromParent();
  }
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::reverse(block)))
    if (i.use_empty() && as_offset_index(&i)) i.eraseFromParent();
}

void FunctionSplitter::find_long_blocks() {
  for (llvm::BasicBlock& block : function_) {
    if (block.size() <= kLongest) continue;
    fold_offsets(block);
    LongBlock long_block{block, {}, nullptr, {}};
    for (llvm::Instruction& i : block) {
      if (llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::AllocaInst>(i)) {
        long_block.instructions.clear();
      } else if (!i.isTerminator()) {
        long_block.instructions.push_back(&i);
      }
    }
    if (long_block.instructions.size() > kLongest) blocks_.push_back(std::move(long_block));
  }
}

/// By position in a block: a hash of the next instructions, the same where instructions repeat.
std::vector<uint64_t> hash_next_instructions(const std::vector<llvm::Instruction*>& long_block, const Positions& at) {
  constexpr size_t kWindow = 64,
                   kNear = 256;  // repeated instructions have operands of the same distance if it is short
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  const auto mix = [](uint64_t hash, uint64_t word) { return (hash ^ (hash >> 29U) ^ word) * kFactor; };
  std::vector<uint64_t> each;
  each.reserve(long_block.size());
  for (size_t i = 0; i < long_block.size(); ++i) {
    uint64_t hash = mix(long_block[i]->getOpcode(), long_block[i]->getType()->getTypeID());
    for (const llvm::Value* operand : long_block[i]->operand_values()) {
      const auto found = at.find(operand);
      const bool is_near = found != at.end() && found->second + kNear > i;
      hash = mix(hash, is_near ? i - found->second : 0);
    }
    each.push_back(hash);
  }
  // A polynomial over the window.
  uint64_t leaving = 1;
  for (size_t i = 0; i < kWindow; ++i) leaving *= kFactor;
  std::vector<uint64_t> hashes(each.size());
  uint64_t hash = 0;
  for (size_t i = each.size(); i-- > 0;) {
    hash = hash * kFactor + each[i];
    if (i + kWindow < each.size()) hash -= leaving * each[i + kWindow];
    hashes[i] = hash;
  }
  return hashes;
}

/// How many values are live before each instruction, of those that the block computes.
std::vector<int> count_live_values(const std::vector<llvm::Instruction*>& long_block, const Positions& at) {
  std::vector<int> live(long_block.size() + 1);  // at first, the change of the number
  for (size_t i = 0; i < long_block.size(); ++i) {
    size_t last = i;
    for (const llvm::User* user : long_block[i]->users()) {
      const auto found = at.find(user);
      last = std::max(last, found == at.end() ? long_block.size() - 1 : found->second);
    }
    if (last == i) continue;
    ++live[i + 1];
    --live[last + 1];
  }
  for (size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
  return live;
}

/// The begin of each segment and the end of the last one: near multiples of kSegment, where the fewest values are live,
/// or, if that is about as good, where the instructions after an earlier split point are repeated: the segments of
/// repeated instructions are merged.
std::vector<size_t> FunctionSplitter::choose_split_points(const std::vector<llvm::Instruction*>& long_block) {
  Positions at;
  at.reserve(static_cast<unsigned>(long_block.size()));
  for (size_t i = 0; i < long_block.size(); ++i) at[long_block[i]] = i;
  const std::vector<int> live = count_live_values(long_block, at);
  const std::vector<uint64_t> next = hash_next_instructions(long_block, at);
  std::unordered_map<uint64_t, size_t> known;  // by hash: the first split point before these instructions
  std::vector<size_t> split_points{0};
  while (long_block.size() - split_points.back() > kSegment * 5 / 4) {
    const size_t low = split_points.back() + kSegment * 3 / 4;
    const size_t high = std::min(low + kSegment / 2, long_block.size());
    const auto first = live.begin() + static_cast<std::ptrdiff_t>(low);
    const auto least = std::min_element(first, live.begin() + static_cast<std::ptrdiff_t>(high));
    auto best = static_cast<size_t>(least - live.begin());
    const int most = *least + *least / 2 + 8;
    size_t earliest = SIZE_MAX;
    for (size_t i = low; i < high; ++i) {
      const auto it = known.find(next[i]);
      if (it == known.end() || it->second >= earliest || live[i] > most) continue;
      earliest = it->second;
      best = i;
    }
    known.try_emplace(next[best], best);
    split_points.push_back(best);
  }
  split_points.push_back(long_block.size());
  return split_points;
}

llvm::Value* FunctionSplitter::slot(llvm::Value* value, llvm::Value* frame) {
  const auto [it, fresh] = field_of_.try_emplace(value, static_cast<unsigned>(fields_.size()));
  if (fresh) fields_.push_back(value->getType());
  auto* address = llvm::GetElementPtrInst::Create(b_.getInt8Ty(), frame, {b_.getInt64(0)});
  b_.Insert(address);
  addresses_.emplace_back(address, it->second);
  return address;
}

llvm::Function* FunctionSplitter::outline_segment(const LongBlock& long_block, size_t begin, size_t end) {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, function_.getName() + ".segment", module_);
  f->addFnAttrs(llvm::AttrBuilder(module_.getContext(), function_.getAttributes().getFnAttrs()));
  f->addFnAttr(kSegmentAttribute);
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  auto* body = llvm::BasicBlock::Create(module_.getContext(), "", f);
  const auto& instructions = long_block.instructions;
  const auto stop =
      end == instructions.size() ? long_block.block.getTerminator()->getIterator() : instructions[end]->getIterator();
  body->splice(body->end(), &long_block.block, instructions[begin]->getIterator(), stop);
  llvm::ReturnInst::Create(module_.getContext(), nullptr, body);
  return f;
}

void FunctionSplitter::split_block(size_t long_block) {
  LongBlock& l = blocks_[long_block];
  const std::vector<size_t> split_points = choose_split_points(l.instructions);
  const size_t first = segments_.size();
  for (size_t p = 0; p + 1 < split_points.size(); ++p)
    for (size_t i = split_points[p]; i < split_points[p + 1]; ++i) segment_of_[l.instructions[i]] = first + p;
  for (size_t p = 0; p + 1 < split_points.size(); ++p)
    segments_.push_back({outline_segment(l, split_points[p], split_points[p + 1]), long_block});
  b_.SetInsertPoint(l.block.getTerminator());
  for (size_t p = first; p < segments_.size(); ++p) {
    llvm::Instruction* call = b_.CreateCall(segments_[p].function, {frame_});
    if (p == first) l.first_call = call;
  }
}

/// Loads the values of other segments, and from outside of all, before their first uses in a segment.
void FunctionSplitter::load_inputs(size_t segment) {
  llvm::Function* f = segments_[segment].function;
  llvm::BasicBlock& body = f->getEntryBlock();
  llvm::DenseMap<llvm::Value*, llvm::Value*> loaded;
  for (llvm::Instruction& i : body) {
    for (llvm::Use& use : i.operands()) {
      llvm::Value* v = use.get();
      const auto owner = segment_of_.find(v);
      const bool outside =
          llvm::isa<llvm::Argument>(v) || (llvm::isa<llvm::Instruction>(v) && owner == segment_of_.end());
      if (!outside && (owner == segment_of_.end() || owner->second == segment)) continue;
      llvm::Value*& local = loaded[v];
      if (!local) {
        if (outside) blocks_[segments_[segment].long_block].from_outside.push_back(v);
        b_.SetInsertPoint(&i);
        llvm::Value* address = slot(v, f->getArg(0));
        llvm::LoadInst* load = b_.CreateLoad(v->getType(), address);
        // A segment does not write the fields that it reads, so the load need not be ordered with stores.
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
        local = load;
      }
      use.set(local);
    }
  }
}

/// Replaces uses outside of all segments by loads.
void FunctionSplitter::load_for_later_uses(const LongBlock& long_block) {
  for (llvm::Instruction* i : long_block.instructions) {
    llvm::Value* local = nullptr;
    for (llvm::Use& use : llvm::make_early_inc_range(i->uses())) {
      const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (user->getFunction() != &function_) continue;
      if (!local) {
        b_.SetInsertPoint(long_block.block.getTerminator());
        llvm::Value* address = slot(i, frame_);
        local = b_.CreateLoad(i->getType(), address);
      }
      use.set(local);
    }
  }
}

void FunctionSplitter::store(llvm::Value* value, llvm::Value* frame, llvm::Instruction* before) {
  b_.SetInsertPoint(before);
  llvm::Value* address = slot(value, frame);
  b_.CreateStore(value, address);
}

/// Stores the values of the frame: those that segments compute in these, for the segments of every block; arguments
/// once; all others before the first segment of a block.
void FunctionSplitter::store_values() {
  std::vector<llvm::Value*> passed(fields_.size());
  for (const auto& [value, field] : field_of_) passed[field] = value;
  for (llvm::Value* v : passed) {
    const auto owner = segment_of_.find(v);
    if (owner != segment_of_.end())
      store(v, segments_[owner->second].function->getArg(0), llvm::cast<llvm::Instruction>(v)->getNextNode());
    else if (llvm::isa<llvm::Argument>(v))
      store(v, frame_, frame_->getNextNode());  // once, not each time a block runs
  }
  for (const LongBlock& long_block : blocks_) {
    llvm::DenseSet<llvm::Value*> stored;
    for (llvm::Value* v : long_block.from_outside)
      if (!llvm::isa<llvm::Argument>(v) && stored.insert(v).second) store(v, frame_, long_block.first_call);
  }
}

/// Fields of one type side by side, in the order in which their values are computed: where instructions repeat, so do
/// the distances between fields, and merged segments have few parameters.
std::vector<unsigned> FunctionSplitter::fields_in_order() const {
  Positions at;
  const auto add = [&](const llvm::Value* value) { at.try_emplace(value, at.size()); };
  for (const llvm::Argument& a : function_.args()) add(&a);
  for (const llvm::BasicBlock& block : function_) {
    for (const llvm::Instruction& i : block) {
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&i); call && call->getNumOperands() == 2) {
        const llvm::Function* f = call->getCalledFunction();
        if (f && call->getArgOperand(0) == frame_ && !f->isDeclaration())
          for (const llvm::Instruction& inner : f->getEntryBlock()) add(&inner);
      }
      add(&i);
    }
  }
  using Key = std::tuple<int64_t, llvm::Type::TypeID, uint64_t, size_t>;
  std::vector<Key> keys(fields_.size());
  const llvm::DataLayout& data = module_.getDataLayout();
  for (const auto& [value, field] : field_of_) {
    llvm::Type* type = fields_[field];
    const auto alignment = static_cast<int64_t>(data.getABITypeAlign(type).value());
    keys[field] = {-alignment, type->getTypeID(), data.getTypeAllocSize(type).getFixedValue(), at.at(value)};
  }
  std::vector<unsigned> order(fields_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  return order;
}

void FunctionSplitter::lay_out_frame() {
  std::vector<llvm::Type*> types;
  std::vector<unsigned> position(fields_.size());
  for (const unsigned field : fields_in_order()) {
    position[field] = static_cast<unsigned>(types.size());
    types.push_back(fields_[field]);
  }
  auto* type = llvm::StructType::get(module_.getContext(), types);
  const llvm::StructLayout* layout = module_.getDataLayout().getStructLayout(type);
  for (const auto& [address, field] : addresses_)
    address->setOperand(1, b_.getInt64(layout->getElementOffset(position[field])));
  frame_->setAllocatedType(type);
  frame_->setOperand(0, b_.getInt64(1));
  frame_->setAlignment(layout->getAlignment());
  for (const Segment& segment : segments_) {
    segment.function->addDereferenceableParamAttr(0, layout->getSizeInBytes());
    segment.function->addParamAttr(0, llvm::Attribute::getWithAlignment(module_.getContext(), layout->getAlignment()));
  }
}

void FunctionSplitter::merge() {
  std::vector<llvm::Function*> segments;
  for (const Segment& segment : segments_) segments.push_back(segment.function);
  merge_segments(segments);
}

void FunctionSplitter::split() {
  find_long_blocks();
  if (blocks_.empty()) return;
  llvm::BasicBlock& start = function_.getEntryBlock();
  frame_ = llvm::IRBuilder<>(&start, start.begin()).CreateAlloca(b_.getInt8Ty(), b_.getInt64(0));
  for (size_t long_block = 0; long_block < blocks_.size(); ++long_block) split_block(long_block);
  for (size_t segment = 0; segment < segments_.size(); ++segment) load_inputs(segment);
  for (const LongBlock& long_block : blocks_) load_for_later_uses(long_block);
  store_values();
  lay_out_frame();
  merge();
}

}  // namespace

void outline(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  // Functions of lib/math access no memory, so neither may their segments.
  for (llvm::Function& f : module)
    if (!is_math_function(f)) functions.push_back(&f);
  for (llvm::Function* f : functions) FunctionSplitter(*f).split();
}

}  // namespace calque::codegen
