#include "compile/stored_code.h"

#include <exception>
#include <optional>
#include <sstream>
#include <vector>

#include "calque/ir/errors.h"

#include "compile/compilation.h"
#include "compile/device_executable.h"
#include "compile/native_executable.h"
#include "compile/source_hash.h"
#include "compile/stored_format.h"
#include "ir/log.h"
#include "ir/stopwatch.h"
#include "kernel/text/parse.h"
#include "runtime/device/device_api.h"
#include "runtime/process/disk_cache.h"
#include "runtime/process/environment.h"

namespace calque::runtime {
namespace {

using Strings = std::vector<std::string>;

void write(ByteWriter& out, const Strings& strings) {
  out.list(strings, [&](const std::string& s) { out.string(s); });
}

Strings read_strings(ByteReader& in) {
  return in.list<Strings>([&] { return std::string(in.string()); });
}

void write(ByteWriter& out, const codegen::CodeImage::MathObject& object) {
  write(out, object.names);
  out.string(object.object);
}

codegen::CodeImage::MathObject read_math(ByteReader& in) {
  Strings names = read_strings(in);
  return {std::move(names), std::string(in.string())};
}

void write(ByteWriter& out, const codegen::CodeImage& image) {
  out.number(image.scalar);
  out.number(image.quick);
  write(out, image.objects);
  write(out, image.math_functions);
  out.list(image.math, [&](const codegen::CodeImage::MathObject& object) { write(out, object); });
}

codegen::CodeImage read_code(ByteReader& in) {
  codegen::CodeImage image;
  image.scalar = in.number<bool>();
  image.quick = in.number<bool>();
  image.objects = read_strings(in);
  image.math_functions = read_strings(in);
  image.math = in.list<std::vector<codegen::CodeImage::MathObject>>([&] { return read_math(in); });
  return image;
}

void write(ByteWriter& out, const codegen::DeviceImage& image) {
  out.list(image.functions, [&](const codegen::DeviceFunction& f) {
    out.string(f.name);
    out.number(f.blocks);
    out.number(f.threads);
    out.number(f.shared_bytes);
  });
  for (const std::string* code : {&image.ptx, &image.cubin, &image.simulated}) out.string(*code);
}

codegen::DeviceImage read_device_code(ByteReader& in) {
  codegen::DeviceImage image;
  image.functions = in.list<codegen::DeviceFunctions>([&] {
    codegen::DeviceFunction f;
    f.name = in.string();
    f.blocks = in.number<int64_t>();
    f.threads = in.number<int32_t>();
    f.shared_bytes = in.number<int32_t>();
    return f;
  });
  for (std::string* code : {&image.ptx, &image.cubin, &image.simulated}) *code = in.string();
  return image;
}

void write(ByteWriter& out, const AnyArray& array) {
  out.number(static_cast<uint8_t>(array.dtype()));
  out.list(array.shape(), [&](int64_t extent) { out.number(extent); });
  out.bytes(array.data(), array.bytes());
}

AnyArray read_array(ByteReader& in) {
  const auto dtype = static_cast<DType>(in.number<uint8_t>());
  const auto dims = in.list<std::vector<int64_t>>([&] { return in.number<int64_t>(); });
  AnyArray array = AnyArray::uninitialized({dtype, Shape(std::span<const int64_t>(dims))});
  const std::string_view bytes = in.string();
  if (bytes.size() != array.bytes()) throw MalformedEntry();
  if (!bytes.empty()) std::memcpy(array.mutable_data(), bytes.data(), bytes.size());
  return array;
}

void write(ByteWriter& out, const Type& type) {
  out.number(static_cast<uint8_t>(type.dtype));
  out.list(type.shape, [&](int64_t extent) { out.number(extent); });
}

Type read_type(ByteReader& in) {
  const auto dtype = static_cast<DType>(in.number<uint8_t>());
  const auto dims = in.list<std::vector<int64_t>>([&] { return in.number<int64_t>(); });
  return {dtype, Shape(std::span<const int64_t>(dims))};
}

/// Without its location, which only errors of compilation show.
void write(ByteWriter& out, const kernel::RoutineRef& routine) {
  out.number(static_cast<uint8_t>(routine.routine));
  out.number(routine.flags);
  for (const auto* types : {&routine.arguments, &routine.results})
    out.list(*types, [&](const Type& type) { write(out, type); });
}

kernel::RoutineRef read_routine(ByteReader& in) {
  kernel::RoutineRef routine;
  routine.routine = static_cast<primitives::Routine>(in.number<uint8_t>());
  routine.flags = in.number<uint32_t>();
  for (auto* types : {&routine.arguments, &routine.results})
    *types = in.list<std::vector<Type>>([&] { return read_type(in); });
  return routine;
}

/// Null for quickly made code that is not to run first.
std::shared_ptr<const Executable> read_executable(ByteReader& in, const std::string& key, const Graph& graph,
                                                  std::span<const Strides> strides, const CompileOptions& options,
                                                  const CompileReport& report) {
  auto executable = std::make_shared<Executable>();
  executable->workspace_bytes = in.number<int64_t>();
  executable->in_place = in.list<std::vector<int32_t>>([&] { return in.number<int32_t>(); });
  executable->constant_arrays = in.list<std::vector<AnyArray>>([&] { return read_array(in); });
  executable->routines = in.list<std::vector<kernel::RoutineRef>>([&] { return read_routine(in); });
  const codegen::CodeImage image = read_code(in);
  in.end();
  if (image.quick && !may_run_quick_code_first(options)) return nullptr;
  executable->code = codegen::link(image, codegen_options(options));
  set_interface(*executable, graph, strides);
  if (image.quick) optimize_stored(executable, graph, strides, options, key, report);
  return executable;
}

/// The program is stored as its text, which is exact.
std::shared_ptr<const Executable> read_device_executable(ByteReader& in, const Graph& graph,
                                                         const CompileOptions& options) {
  const std::string_view text = in.string();
  const codegen::DeviceImage image = read_device_code(in);
  in.end();
  kernel::Program program = kernel::parse_program(text);
  if (image.functions.size() != program.kernels.size()) throw MalformedEntry();
  return load_device_executable(graph, std::move(program), image, options);
}

/// Stores what write(out) writes.
template <class Write>
void store(const std::string& key, size_t kernels, const Write& write) noexcept {
  if (key.empty()) return;
  try {
    ByteWriter out;
    out.number(uint64_t{kernels});
    write(out);
    DiskCache::shared()->store(key, out.take());
  } catch (const std::exception&) {  // no memory: it is not stored
  }
}

class StoredFunctions final : public codegen::MathStore {
 public:
  std::optional<codegen::CodeImage::MathObject> load(const std::string& key) const override {
    try {
      const std::optional<std::string> value = DiskCache::shared()->load(full(key));
      if (!value) return std::nullopt;
      ByteReader in(*value);
      codegen::CodeImage::MathObject object = read_math(in);
      in.end();
      return object;
    } catch (const MalformedEntry&) {
      return std::nullopt;
    }
  }
  void store(const std::string& key, const codegen::CodeImage::MathObject& object) const noexcept override {
    try {
      ByteWriter out;
      write(out, object);
      DiskCache::shared()->store(full(key), out.take());
    } catch (const std::exception&) {  // no memory: it is not stored
    }
  }

 private:
  static std::string full(const std::string& key) {
    ByteWriter out;
    out.string(kSourceHash);
    out.string(codegen::llvm_version());
    out.string("lib/math");
    out.string(key);
    return out.take();
  }
};

}  // namespace

const codegen::MathStore* stored_functions() {
  const StoredFunctions& functions = process_wide([] { return new const StoredFunctions; });
  return DiskCache::shared() == nullptr ? nullptr : &functions;
}

std::string stored_key(const ExecutableKey& key) {
  const CompileOptions& o = key.options;
  const Environment& e = environment();
  const bool quick = o.tier == tier::quick && o.compiles_tiers();
  if (DiskCache::shared() == nullptr || o.reference || quick || e.sanitize || !e.dump.empty()) return {};
  ByteWriter out;
  out.string(kSourceHash);
  out.string(codegen::llvm_version());
  out.number(static_cast<uint8_t>(o.device.kind));
  out.string(key.target);
  for (const GraphHash& hash : {key.graph, key.constants}) {
    out.number(hash.low);
    out.number(hash.high);
  }
  out.list(key.strides, [&](int64_t stride) { out.number(stride); });
  for (const bool option : {o.strict, o.fast_math, o.deterministic, o.flush_subnormals}) out.number(option);
  out.number(int64_t{o.scalar_arguments});
  out.number(key.threads.split_above);
  out.number(key.threads.chunk);
  out.list(o.donated, [&](bool donated) { out.number(donated); });
  return out.take();
}

std::shared_ptr<const Executable> load_executable(const std::string& key, const Graph& graph,
                                                  std::span<const Strides> strides, const CompileOptions& options,
                                                  CompileReport& report) {
  if (key.empty()) return nullptr;
  Stopwatch stopwatch;
  DiskCache& cache = *DiskCache::shared();
  try {
    const std::optional<std::string> value = cache.load(key);
    if (!value) return nullptr;
    ByteReader in(*value);
    report.kernels = in.number<uint64_t>();
    const auto executable = has_host_memory(options.device) ? read_executable(in, key, graph, strides, options, report)
                                                            : read_device_executable(in, graph, options);
    report.load = stopwatch.lap();
    return executable;
  } catch (const MalformedEntry&) {
    library_log().warn("cache on disk: an entry is complete, but no executable; it is replaced");
    cache.remove(key);
  } catch (const std::exception& e) {  // memory is short, the linker fails, a driver refuses it, the program is ending
    library_log().info("cache on disk: an entry is not used: {}", e.what());
  }
  return nullptr;
}

void store_executable(const std::string& key, const Executable& executable, const codegen::CodeImage& image,
                      size_t kernels) noexcept {
  if (!executable.host_functions.empty()) return;
  store(key, kernels, [&](ByteWriter& out) {
    out.number(executable.workspace_bytes);
    out.list(executable.in_place, [&](int32_t input) { out.number(input); });
    out.list(executable.constant_arrays, [&](const AnyArray& array) { write(out, array); });
    out.list(executable.routines, [&](const kernel::RoutineRef& routine) { write(out, routine); });
    write(out, image);
  });
}

void store_executable(const std::string& key, const kernel::Program& program,
                      const codegen::DeviceImage& image) noexcept {
  if (!program.host_functions.empty()) return;
  store(key, program.kernels.size(), [&](ByteWriter& out) {
    std::ostringstream text;
    text << program;
    out.string(text.str());
    write(out, image);
  });
}

}  // namespace calque::runtime
