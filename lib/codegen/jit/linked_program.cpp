// Linked code belongs to a JITDylib that is removed with its CompiledProgram. One ORC session serves the process and is
// never destroyed.
#include "codegen/jit/linked_program.h"

#include "codegen/codegen.h"
#include "codegen/cpu/entry.h"
#include "codegen/jit/math_library.h"
#include "codegen/jit/session.h"
#include "codegen/llvm/llvm_errors.h"

namespace calque::codegen {

namespace {

size_t bytes_of(const std::vector<Object>& objects) {
  // Unused parts of the pages of segments, and the linker's tables; measured.
  constexpr size_t kLinked = size_t{24} << 10;
  size_t bytes = 0;
  for (const Object& object : objects) bytes += kLinked + object.size();
  return bytes;
}

}  // namespace

LinkedProgram::LinkedProgram(std::vector<Object> objects, bool scalar, bool quick, Session& session,
                             const Session::Libraries& libraries)
    : bytes_(bytes_of(objects)),
      quick_(quick),
      linked_(std::move(objects), scalar ? kScalarEntryName : kEntryName, session, libraries) {
  if (scalar) {
    scalar_entry_ = linked_.address();
  } else {
    entry_ = reinterpret_cast<Entry>(linked_.address());
  }
}

std::shared_ptr<const CompiledProgram> link(const CodeImage& image, const CodegenOptions& options) {
  return inside_llvm([&] {
    Session& session = Session::instance();
    const Session::Libraries libraries = session.math().libraries_for(image, options);
    std::vector<Object> objects;
    for (const std::string& object : image.objects) objects.emplace_back(object.begin(), object.end());
    return std::make_shared<LinkedProgram>(std::move(objects), image.scalar, image.quick, session, libraries);
  });
}

bool can_compile() { return !llvm_has_ended(); }

void forget_other_threads() noexcept { forget_threads_inside_llvm(); }

std::string llvm_version() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

}  // namespace calque::codegen
