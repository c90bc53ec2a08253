// Kernels of many buffers receive one pointer to the workspace instead of one to each buffer in it. Metadata of the
// loads and stores then replaces the aliasing attributes of separate pointers.
#include "codegen/emit/buffer_access.h"

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using llvm::Value;

namespace {

/// Metadata of addresses in buffers that the kernel does not write.
constexpr const char* kOnlyRead = "calque.only_read";
// Words of the longest vector: the widest elements in the largest number of lanes.
constexpr unsigned kSpareWords = 64;

}  // namespace

void BufferAccess::bind(std::vector<Value*> pointers, Value* workspace) {
  pointers_ = std::move(pointers);
  pointers_.resize(k_.kernel().buffers.size());
  local_masks_.resize(pointers_.size());
  workspace_ = workspace;
}

void BufferAccess::bind_local(int32_t buffer, Value* pointer, Value* mask) {
  pointers_[static_cast<size_t>(buffer)] = pointer;
  local_masks_[static_cast<size_t>(buffer)] = mask;
}

bool BufferAccess::is_local(int32_t buffer) const { return k_.kernel().buffers[static_cast<size_t>(buffer)].local; }

Value* BufferAccess::needed_mask(int32_t buffer, const Reg& index, Value* mask) const {
  return is_local(buffer) && index.uniform() && mask == local_masks_[static_cast<size_t>(buffer)] ? nullptr : mask;
}

// Element i of lane l is at i * lanes + l.
Reg BufferAccess::lane_index(int32_t buffer, const Reg& index) {
  const int64_t lanes = k_.vectors().lanes();
  if (lanes == 0 || !k_.analysis().is_lane_private(buffer)) return index;
  Reg out = index;
  if (index.form == Reg::Form::varying) {
    Value* const first = k_.builder().CreateMul(index.v, k_.ops().integer(index.v, lanes));
    out.v = k_.builder().CreateAdd(first, k_.as_vector(k_.linear(k_.integer(0))));
    return out;
  }
  out.v = k_.mul(index.v, lanes);
  out.stride = (index.uniform() ? 0 : index.stride * lanes) + 1;
  out.form = Reg::Form::linear;
  return out;
}

llvm::Type* BufferAccess::element(int32_t buffer) const {
  return k_.ops().memory_type(k_.kernel().buffers[static_cast<size_t>(buffer)].dtype);
}

llvm::Align BufferAccess::alignment(int32_t buffer) const {
  return llvm::Align(size_of(k_.kernel().buffers[static_cast<size_t>(buffer)].dtype));
}

Value* BufferAccess::address(int32_t buffer, Value* index) {
  llvm::IRBuilder<>& b = k_.builder();
  const auto i = static_cast<size_t>(buffer);
  if (pointers_[i]) return b.CreateInBoundsGEP(element(buffer), pointers_[i], index);
  Value* start =
      b.CreateInBoundsGEP(b.getInt8Ty(), workspace_, b.getInt64(static_cast<uint64_t>(workspace_offsets_[i])));
  Value* p = b.CreateInBoundsGEP(element(buffer), start, index);
  auto* address = llvm::dyn_cast<llvm::Instruction>(p);
  if (address && address != start && !overlaps_[i] && !k_.analysis().stored(buffer))
    address->setMetadata(kOnlyRead, llvm::MDNode::get(b.getContext(), {}));
  return p;
}

Value* BufferAccess::gather(int32_t buffer, Value* index, Value* mask) {
  llvm::IRBuilder<>& b = k_.builder();
  const unsigned lanes = k_.vectors().lanes();
  auto* type = llvm::FixedVectorType::get(element(buffer), lanes);
  llvm::Constant* const nothing = llvm::Constant::getNullValue(type);
  if (k_.target().gathers(static_cast<int>(alignment(buffer).value())))
    return b.CreateMaskedGather(type, address(buffer, index), alignment(buffer), mask, nothing);
  // Inactive lanes read element 0, which exists: empty buffers are never read.
  if (mask) index = b.CreateSelect(mask, index, k_.ops().integer(index, 0));
  Value* v = llvm::PoisonValue::get(type);
  for (unsigned l = 0; l < lanes; ++l) {
    Value* p = address(buffer, b.CreateExtractElement(index, l));
    v = b.CreateInsertElement(v, b.CreateAlignedLoad(element(buffer), p, alignment(buffer)), l);
  }
  return mask ? b.CreateSelect(mask, v, nothing) : v;
}

// Lanes store in order, so of two lanes with the same index the last one wins.
void BufferAccess::scatter(int32_t buffer, Value* index, Value* value, Value* mask) {
  llvm::IRBuilder<>& b = k_.builder();
  if (k_.target().scatters(static_cast<int>(alignment(buffer).value()))) {
    b.CreateMaskedScatter(value, address(buffer, index), alignment(buffer), mask);
    return;
  }
  for (unsigned l = 0; l < k_.vectors().lanes(); ++l) {
    Value* p = address(buffer, b.CreateExtractElement(index, l));
    if (mask) p = b.CreateSelect(b.CreateExtractElement(mask, l), p, sink());
    b.CreateAlignedStore(b.CreateExtractElement(value, l), p, alignment(buffer));
  }
}

Value* BufferAccess::zeros() {
  if (zeros_) return zeros_;
  llvm::Module& module = k_.module();
  auto* type = llvm::ArrayType::get(k_.builder().getInt64Ty(), kSpareWords);
  zeros_ = module.getNamedGlobal("calque_zeros");
  if (!zeros_) {
    auto* global = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage,
                                            llvm::ConstantAggregateZero::get(type), "calque_zeros");
    global->setAlignment(llvm::Align(64));
    zeros_ = global;
  }
  return zeros_;
}

Value* BufferAccess::sink() {
  if (!sink_) sink_ = k_.local(llvm::ArrayType::get(k_.builder().getInt64Ty(), kSpareWords));
  return sink_;
}

/// Puts loads from read-only buffers into an alias scope with which no store aliases.
void BufferAccess::mark_read_only_accesses(llvm::Function& first) const {
  if (!workspace_) return;
  llvm::Module& module = k_.module();
  llvm::LLVMContext& context = module.getContext();
  llvm::MDBuilder metadata(context);
  llvm::MDNode* const scope = metadata.createAnonymousAliasScope(metadata.createAnonymousAliasScopeDomain());
  llvm::MDNode* const scopes = llvm::MDNode::get(context, {scope});
  const auto is_only_read = [](const Value* p) {
    const auto* address = llvm::dyn_cast<llvm::Instruction>(p);
    return address && address->hasMetadata(kOnlyRead);
  };
  for (auto f = first.getIterator(); f != module.end(); ++f)
    for (llvm::BasicBlock& block : *f)
      for (llvm::Instruction& i : block) {
        const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        const bool stores = llvm::isa<llvm::StoreInst>(i) || (call && call->mayWriteToMemory());
        if (stores) i.setMetadata(llvm::LLVMContext::MD_noalias, scopes);
        const bool masked = call && call->getIntrinsicID() == llvm::Intrinsic::masked_load;
        if ((masked || llvm::isa<llvm::LoadInst>(i)) && is_only_read(i.getOperand(0)))
          i.setMetadata(llvm::LLVMContext::MD_alias_scope, scopes);
      }
  for (auto f = first.getIterator(); f != module.end(); ++f)
    for (llvm::BasicBlock& block : *f)
      for (llvm::Instruction& i : block)
        if (llvm::isa<llvm::GetElementPtrInst>(i)) i.setMetadata(kOnlyRead, nullptr);
}

}  // namespace calque::codegen
