#include "codegen/cpu/cpu_emitter.h"

#include "codegen/cpu/emit_contraction.h"
#include "codegen/cpu/join_kernels.h"
#include "codegen/llvm/function_attributes.h"

namespace calque::codegen {

using llvm::Value;

// The prefix distinguishes a kernel named `round` or `memcpy` from the library's functions.
llvm::Function* CpuEmitter::emit() {
  const kernel::Kernel& kernel = k_.kernel();
  llvm::Type* pointer = k_.builder().getPtrTy();
  const auto count = static_cast<int32_t>(kernel.num_parameters());
  size_t in_workspace = 0;
  for (int32_t i = 0; i < count; ++i) in_workspace += k_.buffers().in_workspace(i);
  const size_t others = (in_workspace > 0 ? 2 : 1) + (loaded_type_ ? 1 : 0);
  const std::vector<llvm::Type*> parameters(kernel.num_parameters() - in_workspace + others, pointer);
  auto* type = llvm::FunctionType::get(k_.builder().getVoidTy(), parameters, false);
  llvm::Function& function =
      *llvm::Function::Create(type, llvm::Function::InternalLinkage, "kernel." + kernel.name, k_.module());
  set_function_attributes(function, k_.target(), k_.options());
  constexpr int64_t kShort = 4096;  // bytes and operations of a call, which take less than a microsecond
  if (kernel.bytes_read + kernel.bytes_written + kernel.flops <= kShort) function.addFnAttr(kShortAttribute);
  unsigned argument = 1;
  if (in_workspace > 0) set_workspace_attributes(function, argument++);
  std::vector<Value*> pointers;
  for (int32_t i = 0; i < count; ++i) {
    if (k_.buffers().in_workspace(i)) {
      pointers.push_back(nullptr);
      continue;
    }
    set_attributes(function, argument, i);
    pointers.push_back(function.getArg(argument++));
  }
  k_.buffers().bind(std::move(pointers), in_workspace > 0 ? function.getArg(1) : nullptr);
  k_.runtime().bind(function.getArg(0));
  if (loaded_type_) bind_constants(function, argument);
  k_.begin_function(function);
  k_.run(kernel.body);
  k_.end_function();
  k_.buffers().mark_read_only_accesses(function);
  return &function;
}

llvm::Function* CpuEmitter::emit_loading(std::vector<kernel::Id> constants, llvm::StructType* type) {
  loaded_ = std::move(constants);
  loaded_type_ = type;
  return emit();
}

void CpuEmitter::bind_constants(llvm::Function& function, unsigned argument) {
  const llvm::StructLayout* layout = k_.module().getDataLayout().getStructLayout(loaded_type_);
  const auto none = llvm::CaptureInfo::none();
  function.addParamAttr(argument, llvm::Attribute::NoAlias);
  function.addParamAttr(argument, llvm::Attribute::getWithCaptureInfo(function.getContext(), none));
  function.addParamAttr(argument, llvm::Attribute::ReadOnly);
  function.addDereferenceableParamAttr(argument, layout->getSizeInBytes());
  function.addParamAttr(argument, llvm::Attribute::getWithAlignment(function.getContext(), layout->getAlignment()));
  KernelEmitter::LoadedConstants constants{function.getArg(argument), loaded_type_, {}};
  for (const kernel::Id id : loaded_) constants.fields.emplace(id, static_cast<unsigned>(constants.fields.size()));
  k_.load_constants(std::move(constants));
}

void CpuEmitter::set_attributes(llvm::Function& function, unsigned argument, int32_t number) {
  llvm::LLVMContext& context = function.getContext();
  const kernel::Buffer& buffer = k_.kernel().buffers[static_cast<size_t>(number)];
  if (!k_.buffers().overlaps(number)) function.addParamAttr(argument, llvm::Attribute::NoAlias);
  function.addParamAttr(argument, llvm::Attribute::getWithCaptureInfo(context, llvm::CaptureInfo::none()));
  if (!k_.analysis().stored(number)) function.addParamAttr(argument, llvm::Attribute::ReadOnly);
  if (buffer.extent == 0) return;
  function.addDereferenceableParamAttr(argument, static_cast<uint64_t>(buffer.extent) * size_of(buffer.dtype));
  if (buffer.alignment > 1)
    function.addParamAttr(
        argument, llvm::Attribute::getWithAlignment(context, llvm::Align(static_cast<uint64_t>(buffer.alignment))));
}

void CpuEmitter::set_workspace_attributes(llvm::Function& function, unsigned argument) {
  bool no_overlap = true;
  for (int32_t i = 0; i < static_cast<int32_t>(k_.kernel().num_parameters()); ++i)
    no_overlap &= !k_.buffers().in_workspace(i) || !k_.buffers().overlaps(i);
  if (no_overlap) function.addParamAttr(argument, llvm::Attribute::NoAlias);
  function.addParamAttr(argument,
                        llvm::Attribute::getWithCaptureInfo(function.getContext(), llvm::CaptureInfo::none()));
}

void CpuEmitter::contraction(const kernel::Instruction& i) {
  if (!i.cpu_tiles) k_.refuse("a contraction has no tiles for a CPU");
  ContractionEmitter(k_, i).emit();
}

}  // namespace calque::codegen
