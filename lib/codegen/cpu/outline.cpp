// A long block is split into segments, which become calls of `void segment(ptr frame)`. Values that one segment
// computes and another uses are passed in the frame, an alloca of the function that all its long blocks share: they are
// stored where they are computed, or before the first segment of a block if no segment computes them, and loaded at the
// start of each segment that uses them.
#include "codegen/cpu/outline.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "codegen/llvm/llvm_target.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

namespace {

// The most instructions of a block that is not split, and the approximate instructions of a segment.
constexpr size_t kLongest = 2000, kSegment = 1000;
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
  void lay_out_frame();

  llvm::Function& function_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  std::vector<LongBlock> blocks_;
  std::vector<Segment> segments_;
  std::unordered_map<const llvm::Value*, size_t> segment_of_;  ///< the index of an instruction's segment
  std::vector<llvm::Type*> fields_;
  std::unordered_map<llvm::Value*, unsigned> field_of_;
  /// Addresses of fields, whose offsets are set once all fields are known.
  std::vector<std::pair<llvm::GetElementPtrInst*, unsigned>> addresses_;
  llvm::AllocaInst* frame_ = nullptr;
};

void FunctionSplitter::find_long_blocks() {
  for (llvm::BasicBlock& block : function_) {
    if (block.size() <= kLongest) continue;
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

/// The begin of each segment and the end of the last one: near multiples of kSegment, where the fewest values are live.
std::vector<size_t> FunctionSplitter::choose_split_points(const std::vector<llvm::Instruction*>& long_block) {
  std::unordered_map<const llvm::Value*, size_t> at;
  for (size_t i = 0; i < long_block.size(); ++i) at[long_block[i]] = i;
  std::vector<int> live(long_block.size() + 1);  // after each instruction; computed from the changes of their number
  for (size_t i = 0; i < long_block.size(); ++i) {
    size_t last = i;
    for (const llvm::User* user : long_block[i]->users()) {
      const auto found = at.find(user);
      last = std::max(last, found == at.end() ? long_block.size() : found->second);
    }
    ++live[i];
    --live[last];
  }
  for (size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
  std::vector<size_t> split_points{0};
  while (long_block.size() - split_points.back() > kSegment * 5 / 4) {
    const auto low = live.begin() + static_cast<std::ptrdiff_t>(split_points.back() + kSegment * 3 / 4 - 1);
    const auto best = std::min_element(low, low + std::min<std::ptrdiff_t>(kSegment / 2, live.end() - low - 1));
    split_points.push_back(static_cast<size_t>(best - live.begin()) + 1);
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

/// Loads at the start of a segment the values of other segments, and from outside of all, that it uses.
void FunctionSplitter::load_inputs(size_t segment) {
  llvm::Function* f = segments_[segment].function;
  llvm::BasicBlock& body = f->getEntryBlock();
  llvm::Instruction* const first = &*body.begin();
  std::unordered_map<llvm::Value*, llvm::Value*> loaded;
  for (llvm::Instruction* i = first; i; i = i->getNextNode()) {
    for (llvm::Use& use : i->operands()) {
      llvm::Value* v = use.get();
      const auto owner = segment_of_.find(v);
      const bool outside =
          llvm::isa<llvm::Argument>(v) || (llvm::isa<llvm::Instruction>(v) && owner == segment_of_.end());
      if (!outside && (owner == segment_of_.end() || owner->second == segment)) continue;
      llvm::Value*& local = loaded[v];
      if (!local) {
        if (outside) blocks_[segments_[segment].long_block].from_outside.push_back(v);
        b_.SetInsertPoint(first);
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
    std::unordered_set<llvm::Value*> stored;
    for (llvm::Value* v : long_block.from_outside)
      if (!llvm::isa<llvm::Argument>(v) && stored.insert(v).second) store(v, frame_, long_block.first_call);
  }
}

void FunctionSplitter::lay_out_frame() {
  auto* type = llvm::StructType::get(module_.getContext(), fields_);
  const llvm::StructLayout* layout = module_.getDataLayout().getStructLayout(type);
  for (const auto& [address, field] : addresses_) address->setOperand(1, b_.getInt64(layout->getElementOffset(field)));
  frame_->setAllocatedType(type);
  frame_->setOperand(0, b_.getInt64(1));
  frame_->setAlignment(layout->getAlignment());
  for (const Segment& segment : segments_) {
    segment.function->addDereferenceableParamAttr(0, layout->getSizeInBytes());
    segment.function->addParamAttr(0, llvm::Attribute::getWithAlignment(module_.getContext(), layout->getAlignment()));
  }
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
