// Ahead-of-time export: an object file with the entry under a separate symbol, and a C header with a function of plain
// pointers that calls it. Captured arrays become data in the header, so the two files are self-contained.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

#include "calque/jit.h"

#include "compile/passes.h"
#include "ir/values/cpp_name.h"
#include "runtime/call/function_state.h"
#include "transform/complex/split_complex.h"

namespace calque::detail {
namespace {

/// Of a parameter, in C and C++: 16-bit floats are passed as their bits. Complex numbers are refused before.
std::string_view c_type(DType dtype) {
  if (dtype == DType::bool_) return "uint8_t";
  return dtype == DType::f16 || dtype == DType::bf16 ? "uint16_t" : cpp_name(real_of(dtype));
}

/// Keywords of C and of C++: the header is valid in both.
bool is_keyword(const std::string& word) {
  static constexpr std::string_view kWords =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
      "compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype "
      "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline "
      "int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
      "reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch "
      "template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using "
      "virtual void volatile wchar_t while xor xor_eq ";
  return kWords.find(" " + word + " ") != std::string_view::npos;
}

bool is_identifier(const std::string& text) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), part) && !is_keyword(text);
}

std::string identifier(const std::string& text) {
  std::string id;
  for (char c : text) id += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (!is_identifier(id)) id.insert(0, "calque_");
  return id;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  if (!out.flush()) throw CacheError("export_object: cannot write " + path);
}

std::string constant_data(const std::string& name, const AnyArray& array) {
  std::ostringstream out;
  out << "_Alignas(64) static const unsigned char " << name << "[" << std::max<size_t>(array.bytes(), 1) << "] = {";
  const auto* bytes = static_cast<const unsigned char*>(array.data());
  for (size_t i = 0; i < array.bytes(); ++i) out << (i % 24 == 0 ? "\n    " : "") << int(bytes[i]) << ',';
  out << "};\n";
  return out.str();
}

void describe(std::ostream& out, const Type& type, const runtime::Strides& strides) {
  out << type;
  const runtime::Strides rows = row_major_strides(type.shape);
  if (type.shape.num_elements() <= 1 || strides == rows) return;
  out << " with strides [";
  for (size_t i = 0; i < strides.size(); ++i) out << (i ? "," : "") << strides[i];
  out << "]";
}

constexpr uint32_t kVersion = codegen::RuntimeTable{}.version;

/// The version is part of the symbol: an object and a header that disagree about the table do not link.
std::string entry_symbol(const std::string& symbol) { return symbol + "_entry_" + std::to_string(kVersion); }

/// The runtime functions that the entry needs (codegen::RuntimeTable): loops run on the calling thread, scratch memory
/// lives for one call.
void write_context(std::ostream& out, const std::string& symbol) {
  std::string text = R"(struct $_table {
  uint32_t version;
  int32_t (*host_call)(void* context, int32_t index, void* const* pointers);
  void (*parallel_for)(void* context, int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t),
                       void* environment);
  void* (*scratch)(void* context, int64_t bytes);
  int32_t (*num_threads)(void* context);
  void* (*private_memory)(void* context, int64_t bytes);
  int32_t (*routine)(void* context, int32_t index, void* const* pointers);
};
struct $_memory {
  void* data;
  int64_t bytes;
};
struct $_context {
  const struct $_table* table;
  int64_t failed, caller_mode;
  struct $_memory scratch, own;
};
static inline void $_for(void* context, int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t),
                         void* environment) {
  (void)context;
  (void)grain;
  body(environment, 0, count);
}
static inline int32_t $_threads(void* context) {
  (void)context;
  return 1;
}
static inline void* $_get(struct $_context* call, struct $_memory* memory, int64_t bytes) {
  if (bytes > memory->bytes) {
    free(memory->data);
    memory->bytes = (bytes + 63) / 64 * 64;
    memory->data = aligned_alloc(64, (size_t)memory->bytes);
    if (!memory->data) {
      memory->bytes = 0;
      call->failed = bytes;
    }
  }
  return memory->data;
}
static inline void* $_scratch(void* context, int64_t bytes) {
  struct $_context* call = (struct $_context*)context;
  return $_get(call, &call->scratch, bytes);
}
static inline void* $_private(void* context, int64_t bytes) {
  struct $_context* call = (struct $_context*)context;
  return $_get(call, &call->own, bytes);
}
)";
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at)) text.replace(at, 1, symbol);
  out << text;
}

/// `f(x0, x1, ..., y0, ..., workspace)`, which fills the entry's argument block.
std::string header_text(const LoweredState& lowered, const kernel::Program& program, const std::string& symbol) {
  const std::string entry = entry_symbol(symbol);
  const std::vector<Type> inputs = lowered.graph.input_types(), outputs = lowered.graph.output_types();
  std::ostringstream out, block;
  out << "/* " << lowered.function->title() << ": ";
  for (size_t i = 0; i < inputs.size(); ++i) {
    out << (i ? ", " : "");
    describe(out, inputs[i], lowered.strides[i]);
  }
  out << " -> ";
  for (size_t i = 0; i < outputs.size(); ++i) out << (i ? ", " : "") << outputs[i];
  out << "\n   Row-major unless strides (in elements) are given. 16-bit floats are passed as their bits, "
      << "complex\n   numbers as pairs of real and imaginary part. */\n"
      << "#pragma once\n#include <stdint.h>\n#include <stdlib.h>\n#ifdef __cplusplus\n#define " << symbol
      << "_ALIGNAS alignas(64)\n"
      << "extern \"C\" {\n#else\n#define " << symbol << "_ALIGNAS _Alignas(64)\n#endif\n"
      << "/* Bytes that `workspace` points to, 64-byte aligned; null will do where it is 0. */\n"
      << "enum { " << symbol << "_workspace_bytes = " << program.workspace_bytes << " };\n"
      << "int32_t " << entry << "(void* context, void* const* buffers);\n";
  for (size_t i = 0; i < program.constants.size(); ++i) {
    std::string data = constant_data(symbol + "_constant" + std::to_string(i), program.constants[i]);
    data.replace(0, std::string("_Alignas(64)").size(), symbol + "_ALIGNAS");
    out << data;
  }
  write_context(out, symbol);
  out << "/* Returns 0, or 1 when there was no memory to work with. */\nstatic inline int32_t " << symbol << "(";
  for (size_t i = 0; i < inputs.size(); ++i) {
    out << "const " << c_type(inputs[i].dtype) << "* x" << i << ", ";
    block << "(void*)x" << i << ", ";
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out << c_type(outputs[i].dtype) << "* y" << i << ", ";
    block << "(void*)y" << i << ", ";
  }
  for (size_t i = 0; i < program.constants.size(); ++i) block << "(void*)" << symbol << "_constant" << i << ", ";
  out << "void* workspace) {\n  void* buffers[] = {" << block.str() << "workspace};\n"
      << "  static const struct " << symbol << "_table table = {" << kVersion << ", 0, " << symbol << "_for, " << symbol
      << "_scratch, " << symbol << "_threads, " << symbol << "_private, 0};\n"
      << "  struct " << symbol << "_context context = {&table, 0, 0, {0, 0}, {0, 0}};\n"
      << "  const int32_t status = " << entry
      << "(&context, buffers);\n  free(context.scratch.data);\n  free(context.own.data);\n  return "
         "status;\n}\n#ifdef "
         "__cplusplus\n}\n#endif\n#undef "
      << symbol << "_ALIGNAS\n";
  return out.str();
}

}  // namespace

void export_lowered(const LoweredState& lowered, const std::string& path, const ExportOptions& options) {
  const std::string where = where_text(lowered.function->location);
  if (!options.symbol.empty() && !is_identifier(options.symbol)) {
    throw CompileError("export_object: the symbol \"" + options.symbol + "\" is no name that C and C++ allow" + where);
  }
  // Captured arrays stay constants here: a C caller could not pass them.
  runtime::CompileOptions host = lowered.options;
  host.device = cpu();
  runtime::Compilation c(lowered.graph, std::span(lowered.strides).first(lowered.graph.inputs().size()), host);
  const std::string symbol = identifier(options.symbol.empty() ? lowered.function->title() : options.symbol);
  c.native.sanitize = false;
  c.native.target = {options.cpu, options.triple};
  c.native.entry_name = entry_symbol(symbol);
  const std::string_view last = runtime::last_program_pass(c.kind);
  runtime::run_passes(c, runtime::kTracePass.name, last);
  for (const kernel::HostFunctionRef& f : c.program->host_functions) {
    const std::string_view evaluated = f.function ? transform::evaluated_primitive(*f.function) : "";
    if (evaluated.empty() || evaluated == "debug_print") continue;
    throw CompileError("export_object: " + lowered.function->title() + " calls " + std::string(evaluated) +
                       " of complex numbers, which an object file cannot" + where_text(f.location));
  }
  if (!c.program->host_functions.empty()) {
    throw CompileError("export_object: " + lowered.function->title() +
                       " calls back into C++ (host_call, debug_print), which an object file cannot" + where);
  }
  if (!c.program->routines.empty()) {
    const kernel::RoutineRef& r = c.program->routines[0];
    throw CompileError("export_object: " + lowered.function->title() + " calls the routine " +
                       std::string(primitives::kRoutineNames[static_cast<size_t>(r.routine)]) + " for " +
                       to_string(r.arguments[0]) + ", which an object file cannot" + where);
  }
  write_file(path, runtime::make_object(c, last));
  if (!options.header.empty()) write_file(options.header, header_text(lowered, *c.program, symbol));
}

}  // namespace calque::detail
