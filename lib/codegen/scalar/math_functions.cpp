// A function runs its common path, and calls the general body if any lane needs it. Both are pure, so that a function
// may be called for lanes whose results are unused; but neither is speculatable, or LLVM would hoist calls of the
// general body.
#include "codegen/scalar/math_functions.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "codegen/llvm/flush_mode.h"
#include "codegen/llvm/function_attributes.h"
#include "codegen/scalar/math_backend.h"
#include "math/cost.h"
#include "primitives/registry.h"

namespace calque::codegen {

using llvm::Value;

namespace {

/// The address space of constants on devices.
constexpr unsigned kConstantSpace = 4;

bool is_for_device(const llvm::Module& module) { return module.getTargetTriple().isNVPTX(); }

class FunctionBuilder final : public MathBuilder {
 public:
  FunctionBuilder(llvm::IRBuilder<>& b, ScalarOps& ops, llvm::Module& module, unsigned lanes, bool fused, bool general)
      : MathBuilder(fused, general), b_(b), ops_(ops), module_(module), lanes_(lanes) {}

  Value* constant(DType dtype, const Literal& value) override {
    llvm::Constant* one = scalar(dtype, value);
    return lanes_ == 0 ? one : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), one);
  }
  Value* emit(ScalarOp op, DType dtype, std::initializer_list<Value*> operands, bool approximate) override {
    return ops_.emit(op, dtype, llvm::ArrayRef(operands.begin(), operands.size()), !approximate);
  }
  Value* bitcast(Value* v, DType to) override { return ops_.bitcast(v, to); }
  Value* convert(Value* v, DType from, DType to) override { return ops_.convert(v, from, to); }
  Value* lookup(const void* table, size_t count, DType element, Value* index) override;
  Values loop(const Values& initial, const std::function<Value*(const Values&)>& condition,
              const std::function<Values(const Values&)>& body) override;

 private:
  llvm::Constant* scalar(DType dtype, const Literal& value) const;
  llvm::GlobalVariable* table_constant(const void* table, size_t count, DType element);

  llvm::IRBuilder<>& b_;
  ScalarOps& ops_;
  llvm::Module& module_;
  unsigned lanes_;
};

llvm::Constant* FunctionBuilder::scalar(DType dtype, const Literal& value) const {
  llvm::Type* type = ops_.register_type(dtype);
  if (dtype == DType::f32) return llvm::ConstantFP::get(type, llvm::APFloat(value.as<float>()));
  if (dtype == DType::f64) return llvm::ConstantFP::get(type, llvm::APFloat(value.as<double>()));
  if (is_bool(dtype)) return b_.getInt1(value.as<bool>());
  return llvm::ConstantInt::get(type, value.as<uint64_t>() & (~uint64_t{0} >> (64 - 8 * size_of(dtype))));
}

llvm::GlobalVariable* FunctionBuilder::table_constant(const void* table, size_t count, DType element) {
  const llvm::StringRef bytes(static_cast<const char*>(table), count * size_of(element));
  llvm::Constant* const values = element == DType::f32
                                     ? llvm::ConstantDataArray::getRaw(bytes, count, b_.getFloatTy())
                                     : llvm::ConstantDataArray::getRaw(bytes, count, b_.getDoubleTy());
  for (llvm::GlobalVariable& known : module_.globals())
    if (known.isConstant() && known.hasInitializer() && known.getInitializer() == values) return &known;
  auto* made = new llvm::GlobalVariable(module_, values->getType(), true, llvm::GlobalValue::PrivateLinkage, values,
                                        "calque.table", nullptr, llvm::GlobalValue::NotThreadLocal,
                                        is_for_device(module_) ? kConstantSpace : 0);
  made->setAlignment(llvm::Align(64));
  made->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  // Lookups stay in bounds.
  llvm::GlobalValue::SanitizerMetadata plain;
  plain.NoAddress = true;
  made->setSanitizerMetadata(plain);
  return made;
}

Value* FunctionBuilder::lookup(const void* table, size_t count, DType element, Value* index) {
  llvm::Type* const type = ops_.register_type(element);
  Value* const wide = b_.CreateSExt(index, ops_.same_lanes(b_.getInt64Ty(), index));
  Value* const address = b_.CreateInBoundsGEP(type, table_constant(table, count, element), wide);
  const llvm::Align alignment(size_of(element));
  if (lanes_ == 0) return b_.CreateAlignedLoad(type, address, alignment);
  return b_.CreateMaskedGather(llvm::FixedVectorType::get(type, lanes_), address, alignment);
}

MathBuilder::Values FunctionBuilder::loop(const Values& initial, const std::function<Value*(const Values&)>& condition,
                                          const std::function<Values(const Values&)>& body) {
  llvm::Function* const f = b_.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(module_.getContext(), name, f); };
  llvm::BasicBlock *const before = b_.GetInsertBlock(), *const head = block("head"), *const step = block("step"),
                          *const after = block("after");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  // Carries may be infinite or NaN in every mode.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  Values carries;
  for (Value* v : initial) {
    llvm::PHINode* phi = b_.CreatePHI(v->getType(), 2);
    phi->addIncoming(v, before);
    carries.push_back(phi);
  }
  Value* const active = condition(carries);
  b_.CreateCondBr(lanes_ == 0 ? active : b_.CreateOrReduce(active), step, after);
  b_.SetInsertPoint(step);
  // A body with a loop of its own ends in another block.
  const Values next = body(carries);
  for (size_t c = 0; c < carries.size(); ++c)
    llvm::cast<llvm::PHINode>(carries[c])
        ->addIncoming(lanes_ == 0 ? next[c] : b_.CreateSelect(active, next[c], carries[c]), b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
  return carries;
}

// Preserves more of the caller's registers than the default convention, where LLVM has such a convention.
llvm::CallingConv::ID general_convention(const TargetInfo& target) {
  const llvm::Triple triple(target.triple);
  return triple.isX86() || triple.isAArch64() ? llvm::CallingConv::PreserveMost : llvm::CallingConv::Fast;
}
llvm::CallingConv::ID common_convention(const TargetInfo& target) {
  if (target.avx512) return llvm::CallingConv::Intel_OCL_BI;
  return llvm::Triple(target.triple).isAArch64() ? llvm::CallingConv::AArch64_VectorCall : llvm::CallingConv::Fast;
}

/// An argument for which every function of lib/math stays on its common path.
constexpr double kOrdinary = 1;

unsigned lanes_of(const Value* v) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return type ? type->getNumElements() : 0;
}

constexpr const char *kPrefix = "calque.", *kGeneral = ".general", *kInlined = ".inlined", *kPair = "sincos";

thread_local MathBuilder* current_builder = nullptr;

}  // namespace

MathBuilder::MathBuilder(bool fused, bool general)
    : outer_(std::exchange(current_builder, this)), fused_(fused), general_(general) {}

MathBuilder::~MathBuilder() { current_builder = outer_; }

MathBuilder& MathBuilder::current() { return *current_builder; }

math::MathForms math_forms(const TargetInfo& target, const CodegenOptions& options) {
  // In strict mode the forms do not depend on the target.
  return {.fused = options.strict || target.fma,
          .estimates = !options.strict && target.x86 && target.fma,
          .fast_math = options.fast_math && !options.strict};
}

math::MathForms math_forms(const CodegenOptions& options) {
  return math_forms(resolve_target(options.target), options);
}

std::string MathFunctions::name(const Signature& s) {
  std::string text = kPrefix + (s.paired ? kPair : primitive(s.id).name) + "." + std::string(calque::name(s.dtype));
  if (s.lanes != 0) text += "x" + std::to_string(s.lanes);
  return text;
}

llvm::Function* MathFunctions::declare(const Signature& s, const std::string& text) {
  llvm::IRBuilder<> b(module_.getContext());
  llvm::Type* type = ScalarOps(b, target_, options_).register_type(s.dtype);
  if (s.lanes != 0) type = llvm::FixedVectorType::get(type, s.lanes);
  const llvm::SmallVector<llvm::Type*, 2> parameters(s.operands, type);
  llvm::Type* const result = s.paired ? llvm::StructType::get(type, type) : type;
  auto* f = llvm::Function::Create(llvm::FunctionType::get(result, parameters, false), llvm::Function::ExternalLinkage,
                                   text, module_);
  if (is_for_device(module_)) {
    f->setDoesNotThrow();
    if (options_.flush_subnormals) f->addFnAttr(kFlushAttribute, "preserve-sign,preserve-sign");
  } else {
    set_function_attributes(*f, target_, options_);
  }
  f->setDoesNotAccessMemory();
  f->setWillReturn();
  return f;
}

// Appends to f the value of the function for the arguments of f.
Value* MathFunctions::append(const Signature& s, llvm::Function& f) const {
  Value *const x = f.getArg(0), *const y = f.getArg(s.operands - 1);
  if (s.dtype == DType::f32) return append_f32(s.id, forms_.fast_math, x, y);
  if (s.dtype == DType::f64) return append_f64(s.id, forms_.fast_math, x, y);
  return append_integer_power(s.dtype, x, y);
}

// The process's functions are compiled for the default mode of the processor: where subnormals are flushed, compilers'
// rewritings of comparisons change results. Fast mathematics flushes, too.
bool MathFunctions::process_evaluates(const Signature& s) const {
  return options_.quick && !options_.flush_subnormals && !forms_.fast_math && !is_for_device(module_) &&
         is_floating(s.dtype);
}

llvm::Function* MathFunctions::general_function(const Signature& s) {
  if (llvm::Function* known = module_.getFunction(name(s) + kGeneral)) return known;
  llvm::Function* const f = declare(s, name(s) + kGeneral);
  f->addFnAttr(llvm::Attribute::Cold);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->setCallingConv(general_convention(target_));
  if (options_.shares_functions()) return f;
  f->setLinkage(llvm::Function::InternalLinkage);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module_.getContext(), "start", f));
  ScalarOps ops(b, target_, options_);
  const FunctionBuilder builder(b, ops, module_, s.lanes, forms_.fused, true);
  b.CreateRet(append(s, *f));
  return f;
}

// Quick code leaves rare arguments to the process's own instance of lib/math, which computes the same bits: general
// bodies are most of the time that compiling functions takes, and even one that forwards each lane is a third of it.
Value* MathFunctions::call_process(llvm::IRBuilder<>& b, const Signature& s, llvm::Function& f) {
  llvm::IRBuilder<> start(&f.getEntryBlock(), f.getEntryBlock().begin());
  const auto memory_of = [&](Value* operand) {
    Value* const memory = start.CreateAlloca(operand->getType());
    b.CreateStore(operand, memory);
    return memory;
  };
  Value* const values = memory_of(f.getArg(0));
  Value* const others = s.operands == 1 ? values : memory_of(f.getArg(1));
  llvm::FunctionCallee evaluate =
      module_.getOrInsertFunction(s.dtype == DType::f32 ? kEvaluateF32 : kEvaluateF64, b.getVoidTy(), b.getInt32Ty(),
                                  b.getInt32Ty(), b.getInt32Ty(), b.getPtrTy(), b.getPtrTy());
  auto* const declared = llvm::cast<llvm::Function>(evaluate.getCallee());
  declared->setOnlyAccessesArgMemory();
  declared->setDoesNotThrow();
  declared->setWillReturn();
  b.CreateCall(evaluate, {b.getInt32(static_cast<uint32_t>(s.id)), b.getInt32(forms_.fused),
                          b.getInt32(std::max(1U, s.lanes)), values, others});
  return b.CreateLoad(f.getArg(0)->getType(), values);
}

// A thread of a device has no vectors: calling the function for one lane at a time takes fewer registers.
Value* MathFunctions::call_general(llvm::IRBuilder<>& b, Signature s, llvm::Function& f) {
  const unsigned lanes = s.lanes;
  if (is_for_device(module_)) s.lanes = 0;
  llvm::Function* const general = general_function(s);
  const auto call = [&](llvm::ArrayRef<Value*> arguments) {
    llvm::CallInst* const made = b.CreateCall(general, arguments);
    made->setCallingConv(general->getCallingConv());
    return made;
  };
  const llvm::SmallVector<Value*, 2> arguments(llvm::make_pointer_range(f.args()));
  if (lanes == s.lanes) return call(arguments);
  Value* all = llvm::PoisonValue::get(f.getArg(0)->getType());
  for (uint64_t l = 0; l < lanes; ++l) {
    llvm::SmallVector<Value*, 2> of_lane;
    for (Value* v : arguments) of_lane.push_back(b.CreateExtractElement(v, l));
    all = b.CreateInsertElement(all, call(of_lane), l);
  }
  return all;
}

void MathFunctions::append_common(const Signature& s, llvm::Function& f) {
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module_.getContext(), "start", &f));
  ScalarOps ops(b, target_, options_);
  const FunctionBuilder builder(b, ops, module_, s.lanes, forms_.fused, false);
  llvm::SmallVector<Signature, 2> functions{s};
  functions[0].paired = false;
  if (s.paired) functions.push_back({primitives::id_of<primitives::Cos>, s.dtype, s.lanes, s.operands});
  llvm::SmallVector<Value*, 2> results;
  for (const Signature& function : functions) results.push_back(append(function, f));
  b.clearFastMathFlags();
  if (!builder.cold_masks().empty()) {
    Value* is_cold = builder.cold_masks()[0];
    for (Value* mask : llvm::ArrayRef(builder.cold_masks()).drop_front()) is_cold = b.CreateOr(is_cold, mask);
    llvm::BasicBlock *const from = b.GetInsertBlock(),
                            *const cold = llvm::BasicBlock::Create(f.getContext(), "cold", &f),
                            *const done = llvm::BasicBlock::Create(f.getContext(), "done", &f);
    b.CreateCondBr(s.lanes == 0 ? is_cold : b.CreateOrReduce(is_cold), cold, done,
                   llvm::MDBuilder(f.getContext()).createUnlikelyBranchWeights());
    b.SetInsertPoint(cold);
    llvm::SmallVector<Value*, 2> general;
    for (const Signature& function : functions)
      general.push_back(process_evaluates(s) ? call_process(b, function, f) : call_general(b, function, f));
    b.CreateBr(done);
    b.SetInsertPoint(done);
    for (size_t i = 0; i < functions.size(); ++i) {
      llvm::PHINode* const phi = b.CreatePHI(results[i]->getType(), 2);
      phi->addIncoming(results[i], from);
      phi->addIncoming(general[i], cold);
      results[i] = phi;
    }
  }
  if (!s.paired) {
    b.CreateRet(results[0]);
    return;
  }
  Value* both = llvm::PoisonValue::get(f.getReturnType());
  for (unsigned i = 0; i < results.size(); ++i) both = b.CreateInsertValue(both, results[i], i);
  b.CreateRet(both);
}

// A module that shares functions still defines those that are inlined into its kernels.
llvm::Function* MathFunctions::function(const Signature& s, bool inlined) {
  const bool shared = options_.shares_functions();
  const std::string text = shared && inlined ? name(s) + kInlined : name(s);
  if (llvm::Function* known = module_.getFunction(text)) return known;
  llvm::Function* const f = declare(s, text);
  f->setCallingConv(common_convention(target_));
  if (shared && !inlined) return f;
  f->setLinkage(llvm::Function::InternalLinkage);
  append_common(s, *f);
  return f;
}

MathFunctions::Signature MathFunctions::signature(llvm::StringRef text, unsigned operands) {
  if (!text.consume_back(kGeneral)) text.consume_back(kInlined);
  text.consume_front(kPrefix);
  const auto [function_name, element] = text.rsplit('.');
  const auto [dtype, lanes] = element.split('x');
  const bool paired = function_name == kPair;
  return {paired ? primitives::id_of<primitives::Sin> : find_primitive(function_name)->id,
          *dtype_from_name(std::string_view(dtype)),
          lanes.empty() ? 0U : static_cast<unsigned>(std::stoul(lanes.str())), operands, paired};
}

std::vector<MathUse> math_uses(const llvm::Module& module) {
  std::vector<MathUse> uses;
  for (const llvm::Function& f : module)
    if (f.isDeclaration() && is_math_function(f))
      uses.push_back({f.getName().str(), static_cast<unsigned>(f.arg_size())});
  return uses;
}

void MathFunctions::define(const MathUse& use) {
  const Signature s = signature(use.name, use.operands);
  if (llvm::StringRef(use.name).ends_with(kGeneral))
    general_function(s);
  else
    function(s, false);
  for (llvm::Function& f : module_)
    if (!f.isDeclaration()) f.setLinkage(llvm::Function::ExternalLinkage);
}

bool MathFunctions::call_widest() {
  bool any = false;
  for (const MathUse& use : math_uses(module_)) {
    const Signature s = signature(use.name, use.operands);
    const unsigned most = static_cast<unsigned>(target_.vector_bits) / static_cast<unsigned>(8 * size_of(s.dtype));
    if (s.paired || s.lanes >= most || !is_floating(s.dtype)) continue;
    Signature wide = s;
    wide.lanes = most;
    const bool general = llvm::StringRef(use.name).ends_with(kGeneral);
    llvm::Function* const widest = module_.getFunction(name(wide) + (general ? kGeneral : ""));
    if (!widest || !widest->isDeclaration()) continue;
    llvm::Function& f = *module_.getFunction(use.name);
    f.setLinkage(llvm::Function::InternalLinkage);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(f.getContext(), "start", &f));
    Value* const ordinary = llvm::ConstantFP::get(widest->getReturnType(), kOrdinary);
    llvm::SmallVector<int, 64> widen, narrow;
    for (unsigned l = 0; l < most; ++l) widen.push_back(static_cast<int>(l < s.lanes ? l : s.lanes));
    for (unsigned l = 0; l < s.lanes; ++l) narrow.push_back(static_cast<int>(l));
    llvm::SmallVector<Value*, 2> arguments;
    for (llvm::Argument& v : f.args()) {
      if (s.lanes == 0) {
        arguments.push_back(b.CreateInsertElement(ordinary, &v, uint64_t{0}));
      } else {
        Value* const other = llvm::ConstantFP::get(v.getType(), kOrdinary);
        arguments.push_back(b.CreateShuffleVector(&v, other, widen));
      }
    }
    llvm::CallInst* const results = b.CreateCall(widest, arguments);
    results->setCallingConv(widest->getCallingConv());
    b.CreateRet(s.lanes == 0 ? b.CreateExtractElement(results, uint64_t{0}) : b.CreateShuffleVector(results, narrow));
    any = true;
  }
  return any;
}

namespace {

/// The first sine and the first cosine of a value in a block.
struct SinePair {
  llvm::CallInst *sine = nullptr, *cosine = nullptr, *first = nullptr;
};

/// Identifies an operand. Under a mask each call has a separate select, of the same values in the same lanes.
using OperandKey = std::tuple<Value*, Value*, Value*>;
OperandKey key_of(Value* operand) {
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(operand))
    return {select->getCondition(), select->getTrueValue(), select->getFalseValue()};
  return {operand, nullptr, nullptr};
}

}  // namespace

// Separate common paths would share the argument reduction after CSE, but would test for the cold path twice.
void MathFunctions::pair_sines() {
  const auto is_function = [](const llvm::Function& f, const char* name) {
    return f.getName().starts_with(name) && !f.getName().ends_with(kGeneral);
  };
  if (std::none_of(module_.begin(), module_.end(),
                   [&](const llvm::Function& f) { return is_function(f, "calque.sin."); }))
    return;
  using Key = std::pair<OperandKey, unsigned>;  // and whether the call is to be inlined
  std::vector<SinePair> pairs;
  for (llvm::Function& caller : module_) {
    for (llvm::BasicBlock& block : caller) {
      llvm::MapVector<Key, SinePair> of_block;
      for (llvm::Instruction& i : block) {
        auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
        const llvm::Function* f = call ? call->getCalledFunction() : nullptr;
        const bool sine = f && is_function(*f, "calque.sin."), cosine = f && is_function(*f, "calque.cos.");
        if (!sine && !cosine) continue;
        const unsigned inlined = call->hasFnAttr(llvm::Attribute::AlwaysInline) ? 1 : 0;
        SinePair& pair = of_block[{key_of(call->getArgOperand(0)), inlined}];
        llvm::CallInst*& known = sine ? pair.sine : pair.cosine;
        if (!known) known = call;
        if (!pair.first) pair.first = call;
      }
      for (const auto& [key, pair] : of_block)
        if (pair.sine && pair.cosine) pairs.push_back(pair);
    }
  }
  for (const SinePair& pair : pairs) {
    const llvm::Function& sine = *pair.sine->getCalledFunction();
    Signature s = signature(sine.getName(), static_cast<unsigned>(sine.arg_size()));
    s.paired = true;
    llvm::IRBuilder<> b(pair.first);
    const bool inlined = pair.sine->hasFnAttr(llvm::Attribute::AlwaysInline);
    llvm::CallInst* const both = call_function(b, s, {pair.first->getArgOperand(0)}, inlined);
    pair.sine->replaceAllUsesWith(b.CreateExtractValue(both, 0));
    pair.cosine->replaceAllUsesWith(b.CreateExtractValue(both, 1));
    pair.sine->eraseFromParent();
    pair.cosine->eraseFromParent();
  }
  if (!pairs.empty()) remove_unused_math(module_);
}

llvm::CallInst* MathFunctions::call_function(llvm::IRBuilder<>& b, const Signature& s, llvm::ArrayRef<Value*> arguments,
                                             bool inlined) {
  llvm::Function* const f = function(s, inlined);
  llvm::CallInst* const call = b.CreateCall(f, arguments);
  call->setCallingConv(f->getCallingConv());
  if (inlined) call->addFnAttr(llvm::Attribute::AlwaysInline);
  return call;
}

Value* MathFunctions::call_one(llvm::IRBuilder<>& b, const Signature& s, llvm::ArrayRef<Value*> operands, Value* mask,
                               bool inlined) {
  llvm::SmallVector<Value*, 2> arguments(operands);
  if (mask && math::cost_of(s.id, s.dtype).cold != 0)
    for (Value*& v : arguments) v = b.CreateSelect(mask, v, llvm::ConstantFP::get(v->getType(), kOrdinary));
  return call_function(b, s, arguments, inlined);
}

Value* MathFunctions::call(llvm::IRBuilder<>& b, PrimitiveId id, DType dtype, llvm::ArrayRef<Value*> operands,
                           Value* mask, bool inlined) {
  const unsigned lanes = lanes_of(operands[0]);
  const auto native =
      std::max(1U, static_cast<unsigned>(target_.vector_bits) / static_cast<unsigned>(8 * size_of(dtype)));
  if (lanes <= native)
    return call_one(b, {id, dtype, lanes, static_cast<unsigned>(operands.size())}, operands, mask, inlined);
  // Split into halves and concatenated.
  llvm::SmallVector<int, 64> low, high, all;
  for (unsigned l = 0; l < lanes; ++l) {
    (l < lanes / 2 ? low : high).push_back(static_cast<int>(l));
    all.push_back(static_cast<int>(l));
  }
  const auto half = [&](const llvm::SmallVector<int, 64>& lanes_of_half) {
    llvm::SmallVector<Value*, 2> v;
    for (Value* operand : operands) v.push_back(b.CreateShuffleVector(operand, lanes_of_half));
    return call(b, id, dtype, v, mask ? b.CreateShuffleVector(mask, lanes_of_half) : nullptr, inlined);
  };
  Value *const first = half(low), *const second = half(high);
  return b.CreateShuffleVector(first, second, all);
}

bool is_math_function(const llvm::Function& f) { return f.getName().starts_with(kPrefix); }

void remove_unused_math(llvm::Module& module) {
  // General bodies are used by common ones.
  for (int pass = 0; pass < 2; ++pass)
    for (llvm::Function& f : llvm::make_early_inc_range(module))
      if (is_math_function(f) && (f.hasLocalLinkage() || f.isDeclaration()) && f.use_empty()) f.eraseFromParent();
}

Value* MathFunctions::nextafter_of_half(llvm::IRBuilder<>& b, ScalarOps& ops, DType half, llvm::ArrayRef<Value*> values,
                                        llvm::ArrayRef<Value*> bits) {
  const FunctionBuilder builder(b, ops, module_, lanes_of(bits[0]), forms_.fused, true);
  return append_nextafter_of_half(half, values[0], values[1], bits[0], bits[1]);
}

}  // namespace calque::codegen
