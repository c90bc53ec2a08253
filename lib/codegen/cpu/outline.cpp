// A cut block becomes calls of `void part(ptr frame)`. What one part computes and another needs goes through the frame,
// a local of the function that all its cut blocks share: stored where it is computed, or before a block's first part if
// no part computes it, and loaded at the start of each part that uses it.
#include "codegen/cpu/outline.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "calque/ir/errors.h"

#include "codegen/llvm/llvm_target.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

namespace {

constexpr size_t kLongest = 2000, kPart = 1000;
// A part of a module has about so many instructions, a module below twice that is one.
constexpr size_t kModule = 1500;
// A shorter function costs little however it is compiled.
constexpr size_t kFewInstructions = 32;
// A function of steps with loops and branches that is longer is compiled as quickly as can be.
constexpr size_t kLongSteps = 700;

/// Cuts the long blocks of a function, which share a frame.
class FunctionCutter {
 public:
  explicit FunctionCutter(llvm::Function& function)
      : function_(function), module_(*function.getParent()), b_(function.getContext()) {}
  void cut();

 private:
  /// What is cut of a block: all behind its phis and allocas.
  struct Line {
    llvm::BasicBlock& block;
    std::vector<llvm::Instruction*> instructions;
    llvm::Instruction* first_call = nullptr;
    std::vector<llvm::Value*> from_outside;  ///< what its parts need that no part computes
  };
  struct Part {
    llvm::Function* function;
    size_t line;
  };

  void find_lines();
  static std::vector<size_t> choose_cuts(const std::vector<llvm::Instruction*>& line);
  void make_parts(size_t line);
  llvm::Function* make_part(const Line& line, size_t begin, size_t end);
  llvm::Value* slot(llvm::Value* value, llvm::Value* frame);
  void pass_values(size_t part);
  void load_behind(const Line& line);
  void store(llvm::Value* value, llvm::Value* frame, llvm::Instruction* before);
  void store_values();
  void lay_out();

  llvm::Function& function_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  std::vector<Line> lines_;
  std::vector<Part> parts_;
  std::unordered_map<const llvm::Value*, size_t> part_;  ///< of the instructions of lines
  std::vector<llvm::Type*> fields_;
  std::unordered_map<llvm::Value*, unsigned> field_of_;
  /// Their offsets are known when all fields are.
  std::vector<std::pair<llvm::GetElementPtrInst*, unsigned>> addresses_;
  llvm::AllocaInst* frame_ = nullptr;
};

void FunctionCutter::find_lines() {
  for (llvm::BasicBlock& block : function_) {
    if (block.size() <= kLongest) continue;
    Line line{block, {}, nullptr, {}};
    for (llvm::Instruction& i : block) {
      if (llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::AllocaInst>(i)) {
        line.instructions.clear();
      } else if (!i.isTerminator()) {
        line.instructions.push_back(&i);
      }
    }
    if (line.instructions.size() > kLongest) lines_.push_back(std::move(line));
  }
}

/// Where parts begin and the last one ends: near multiples of kPart, where the fewest values are live.
std::vector<size_t> FunctionCutter::choose_cuts(const std::vector<llvm::Instruction*>& line) {
  std::unordered_map<const llvm::Value*, size_t> at;
  for (size_t i = 0; i < line.size(); ++i) at[line[i]] = i;
  std::vector<int> live(line.size() + 1);  // behind each instruction; first: how the number changes there
  for (size_t i = 0; i < line.size(); ++i) {
    size_t last = i;
    for (const llvm::User* user : line[i]->users()) {
      const auto found = at.find(user);
      last = std::max(last, found == at.end() ? line.size() : found->second);
    }
    ++live[i];
    --live[last];
  }
  for (size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
  std::vector<size_t> cuts{0};
  while (line.size() - cuts.back() > kPart * 5 / 4) {
    const auto low = live.begin() + static_cast<std::ptrdiff_t>(cuts.back() + kPart * 3 / 4 - 1);
    const auto best = std::min_element(low, low + std::min<std::ptrdiff_t>(kPart / 2, live.end() - low - 1));
    cuts.push_back(static_cast<size_t>(best - live.begin()) + 1);
  }
  cuts.push_back(line.size());
  return cuts;
}

llvm::Value* FunctionCutter::slot(llvm::Value* value, llvm::Value* frame) {
  const auto [it, fresh] = field_of_.try_emplace(value, static_cast<unsigned>(fields_.size()));
  if (fresh) fields_.push_back(value->getType());
  auto* address = llvm::GetElementPtrInst::Create(b_.getInt8Ty(), frame, {b_.getInt64(0)});
  b_.Insert(address);
  addresses_.emplace_back(address, it->second);
  return address;
}

llvm::Function* FunctionCutter::make_part(const Line& line, size_t begin, size_t end) {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, function_.getName() + ".line", module_);
  f->addFnAttrs(llvm::AttrBuilder(module_.getContext(), function_.getAttributes().getFnAttrs()));
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  auto* body = llvm::BasicBlock::Create(module_.getContext(), "", f);
  const auto& instructions = line.instructions;
  const auto stop =
      end == instructions.size() ? line.block.getTerminator()->getIterator() : instructions[end]->getIterator();
  body->splice(body->end(), &line.block, instructions[begin]->getIterator(), stop);
  llvm::ReturnInst::Create(module_.getContext(), nullptr, body);
  return f;
}

void FunctionCutter::make_parts(size_t line) {
  Line& l = lines_[line];
  const std::vector<size_t> cuts = choose_cuts(l.instructions);
  const size_t first = parts_.size();
  for (size_t p = 0; p + 1 < cuts.size(); ++p)
    for (size_t i = cuts[p]; i < cuts[p + 1]; ++i) part_[l.instructions[i]] = first + p;
  for (size_t p = 0; p + 1 < cuts.size(); ++p) parts_.push_back({make_part(l, cuts[p], cuts[p + 1]), line});
  b_.SetInsertPoint(l.block.getTerminator());
  for (size_t p = first; p < parts_.size(); ++p) {
    llvm::Instruction* call = b_.CreateCall(parts_[p].function, {frame_});
    if (p == first) l.first_call = call;
  }
}

/// Loads at the start of a part what it needs of others, and of what is outside all.
void FunctionCutter::pass_values(size_t part) {
  llvm::Function* f = parts_[part].function;
  llvm::BasicBlock& body = f->getEntryBlock();
  llvm::Instruction* const first = &*body.begin();
  std::unordered_map<llvm::Value*, llvm::Value*> loaded;
  for (llvm::Instruction* i = first; i; i = i->getNextNode()) {
    for (llvm::Use& use : i->operands()) {
      llvm::Value* v = use.get();
      const auto home = part_.find(v);
      const bool outside = llvm::isa<llvm::Argument>(v) || (llvm::isa<llvm::Instruction>(v) && home == part_.end());
      if (!outside && (home == part_.end() || home->second == part)) continue;
      llvm::Value*& local = loaded[v];
      if (!local) {
        if (outside) lines_[parts_[part].line].from_outside.push_back(v);
        b_.SetInsertPoint(first);
        llvm::Value* address = slot(v, f->getArg(0));
        llvm::LoadInst* load = b_.CreateLoad(v->getType(), address);
        // Nothing that a part reads of the frame is written by it, so the load needs no place among the stores.
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
        local = load;
      }
      use.set(local);
    }
  }
}

/// Uses outside all parts.
void FunctionCutter::load_behind(const Line& line) {
  for (llvm::Instruction* i : line.instructions) {
    llvm::Value* local = nullptr;
    for (llvm::Use& use : llvm::make_early_inc_range(i->uses())) {
      const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (user->getFunction() != &function_) continue;
      if (!local) {
        b_.SetInsertPoint(line.block.getTerminator());
        llvm::Value* address = slot(i, frame_);
        local = b_.CreateLoad(i->getType(), address);
      }
      use.set(local);
    }
  }
}

void FunctionCutter::store(llvm::Value* value, llvm::Value* frame, llvm::Instruction* before) {
  b_.SetInsertPoint(before);
  llvm::Value* address = slot(value, frame);
  b_.CreateStore(value, address);
}

/// What parts compute is stored by them, for the parts of every line; arguments once; the rest before a line's first
/// part.
void FunctionCutter::store_values() {
  std::vector<llvm::Value*> passed(fields_.size());
  for (const auto& [value, field] : field_of_) passed[field] = value;
  for (llvm::Value* v : passed) {
    const auto home = part_.find(v);
    if (home != part_.end())
      store(v, parts_[home->second].function->getArg(0), llvm::cast<llvm::Instruction>(v)->getNextNode());
    else if (llvm::isa<llvm::Argument>(v))
      store(v, frame_, frame_->getNextNode());  // once, not whenever a block runs
  }
  for (const Line& line : lines_) {
    std::unordered_set<llvm::Value*> stored;
    for (llvm::Value* v : line.from_outside)
      if (!llvm::isa<llvm::Argument>(v) && stored.insert(v).second) store(v, frame_, line.first_call);
  }
}

void FunctionCutter::lay_out() {
  auto* type = llvm::StructType::get(module_.getContext(), fields_);
  const llvm::StructLayout* layout = module_.getDataLayout().getStructLayout(type);
  for (const auto& [address, field] : addresses_) address->setOperand(1, b_.getInt64(layout->getElementOffset(field)));
  frame_->setAllocatedType(type);
  frame_->setOperand(0, b_.getInt64(1));
  frame_->setAlignment(layout->getAlignment());
  for (const Part& part : parts_) {
    part.function->addDereferenceableParamAttr(0, layout->getSizeInBytes());
    part.function->addParamAttr(0, llvm::Attribute::getWithAlignment(module_.getContext(), layout->getAlignment()));
  }
}

void FunctionCutter::cut() {
  find_lines();
  if (lines_.empty()) return;
  llvm::BasicBlock& start = function_.getEntryBlock();
  frame_ = llvm::IRBuilder<>(&start, start.begin()).CreateAlloca(b_.getInt8Ty(), b_.getInt64(0));
  for (size_t line = 0; line < lines_.size(); ++line) make_parts(line);
  for (size_t part = 0; part < parts_.size(); ++part) pass_values(part);
  for (const Line& line : lines_) load_behind(line);
  store_values();
  lay_out();
}

/// What steps are besides calls: loops, branches, and the choice of buffers by an iteration's number.
bool steers(const llvm::Instruction& i) {
  return i.isTerminator() || llvm::isa<llvm::IntrinsicInst>(i) || i.getType()->isIntOrPtrTy() ||
         (llvm::isa<llvm::StoreInst>(i) && i.getOperand(0)->getType()->isIntegerTy());
}

/// Only reads, writes and computes addresses of buffers, and calls.
bool passes_pointers_on(const llvm::Instruction& i) {
  switch (i.getOpcode()) {
    case llvm::Instruction::Load:
      return i.getType()->isPointerTy();
    case llvm::Instruction::Store:
      return i.getOperand(0)->getType()->isPointerTy();
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::Alloca:
    case llvm::Instruction::Ret:
      return true;
    case llvm::Instruction::Call:
      return !llvm::isa<llvm::IntrinsicInst>(i);
    default:
      return false;
  }
}

size_t num_instructions(const llvm::Function& f) {
  size_t n = 0;
  for (const llvm::BasicBlock& block : f) n += block.size();
  return n;
}

}  // namespace

void outline(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  // Functions of mathematics access no memory, nor may their parts.
  for (llvm::Function& f : module)
    if (!is_math_function(f)) functions.push_back(&f);
  for (llvm::Function* f : functions) FunctionCutter(*f).cut();
}

bool only_passes_on(const llvm::Function& f) {
  if (f.size() == 1 && f.front().size() > kFewInstructions &&
      std::all_of(f.front().begin(), f.front().end(), passes_pointers_on))
    return true;
  // The steps of a short loop are worth optimizing. In a long one they are few against what they call.
  return f.hasFnAttribute(kStepsAttribute) && num_instructions(f) > kLongSteps &&
         std::all_of(f.begin(), f.end(), [](const llvm::BasicBlock& block) {
           return std::all_of(block.begin(), block.end(),
                              [](const llvm::Instruction& i) { return passes_pointers_on(i) || steers(i); });
         });
}

Parts parts_of(llvm::Module& module) {
  size_t all = 0;
  std::vector<llvm::Function*> work, passing;
  for (llvm::Function& f : module) {
    if (f.hasFnAttribute(llvm::Attribute::AlwaysInline)) return {{}};  // belongs together
    if (f.isDeclaration()) continue;
    all += num_instructions(f);
    (only_passes_on(f) ? passing : work).push_back(&f);
  }
  if (all < 2 * kModule) return {{}};
  Parts parts;
  size_t in_part = kModule;
  for (llvm::Function* f : work) {
    if (in_part >= kModule) {
      parts.emplace_back();
      in_part = 0;
    }
    parts.back().push_back(f);
    in_part += num_instructions(*f);
  }
  if (!passing.empty()) parts.push_back(std::move(passing));
  return parts;
}

namespace {

/// What functions that moved to another module refer to there: declarations of functions, copies of constant tables.
class References final : public llvm::ValueMaterializer {
 public:
  explicit References(llvm::Module& to) : to_(to) {}
  llvm::Value* materialize(llvm::Value* value) override {
    if (auto* f = llvm::dyn_cast<llvm::Function>(value)) {
      if (f->getParent() == &to_) return nullptr;
      auto* declared = llvm::Function::Create(f->getFunctionType(), llvm::Function::ExternalLinkage, f->getName(), to_);
      declared->setAttributes(f->getAttributes());
      declared->setCallingConv(f->getCallingConv());
      declared->setDSOLocal(f->isDSOLocal());
      return declared;
    }
    if (auto* table = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
      auto* copy = new llvm::GlobalVariable(to_, table->getValueType(), table->isConstant(), table->getLinkage(),
                                            table->getInitializer(), table->getName());
      copy->copyAttributesFrom(table);
      return copy;
    }
    return nullptr;
  }

 private:
  llvm::Module& to_;
};

/// Moves functions to a module of the same context.
void move_functions(const std::vector<llvm::Function*>& functions, llvm::Module& to) {
  for (llvm::Function* f : functions) {
    f->removeFromParent();
    to.getFunctionList().push_back(f);
  }
  References references(to);
  llvm::ValueToValueMapTy known;
  for (llvm::Function* f : functions)
    for (llvm::BasicBlock& block : *f)
      for (llvm::Instruction& i : block)
        for (llvm::Use& use : i.operands())
          if (llvm::isa<llvm::Constant>(use) && !llvm::isa<llvm::ConstantData>(use))
            use.set(llvm::MapValue(use.get(), known, llvm::RF_None, nullptr, &references));
}

std::string written(const llvm::Module& module) {
  llvm::SmallVector<char, 0> bytes;
  llvm::BitcodeWriter writer(bytes);
  writer.writeModule(module);
  writer.writeStrtab();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::vector<std::string> separate(llvm::Module& module, const Parts& parts) {
  for (llvm::Function& f : module) {
    if (!f.hasInternalLinkage()) continue;
    f.setLinkage(llvm::GlobalValue::ExternalLinkage);
    // Objects may come to lie more than 2 GiB apart: calls and addresses go through tables, not by distance.
    f.setDSOLocal(false);
  }
  std::vector<std::unique_ptr<llvm::Module>> modules;  // what is still to be moved refers to what was
  std::vector<std::string> texts;
  for (const auto& functions : parts) {
    modules.push_back(std::make_unique<llvm::Module>(module.getName(), module.getContext()));
    llvm::Module& part = *modules.back();
    part.setTargetTriple(module.getTargetTriple());
    part.setDataLayout(module.getDataLayout());
    move_functions(functions, part);
    texts.push_back(written(part));
  }
  return texts;
}

std::unique_ptr<llvm::Module> read_part(const std::string& text, llvm::LLVMContext& context) {
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(text, "calque"), context);
  if (!module) throw CompileError("compile: a part of the module is lost: " + llvm::toString(module.takeError()));
  return std::move(*module);
}

}  // namespace calque::codegen
