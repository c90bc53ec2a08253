#include "compile/stored_code.h"

#include <cstring>
#include <exception>
#include <optional>
#include <type_traits>

#include "calque/ir/errors.h"

#include "compile/pipeline.h"
#include "compile/source_hash.h"
#include "ir/stopwatch.h"
#include "runtime/process/disk_cache.h"
#include "runtime/process/environment.h"
#include "runtime/process/log.h"

namespace calque::runtime {
namespace {

class Writer {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void number(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void bytes(const void* data, size_t size) {
    number(uint64_t{size});
    text_.append(static_cast<const char*>(data), size);
  }
  void string(std::string_view s) { bytes(s.data(), s.size()); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

struct Malformed {};

/// Throws Malformed where the text ends early.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view string() { return take(number<uint64_t>()); }
  /// The length of a list whose elements take at least a byte each.
  uint64_t length() {
    const auto n = number<uint64_t>();
    if (n > rest_.size()) throw Malformed();
    return n;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view take(uint64_t bytes) {
    if (bytes > rest_.size()) throw Malformed();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::string_view rest_;
};

void write(Writer& out, const codegen::CodeImage& image) {
  out.number(image.scalar);
  out.number(uint64_t{image.objects.size()});
  for (const std::string& object : image.objects) out.string(object);
  out.number(uint64_t{image.math_functions.size()});
  for (const std::string& name : image.math_functions) out.string(name);
  out.number(uint64_t{image.math.size()});
  for (const auto& object : image.math) {
    out.number(uint64_t{object.names.size()});
    for (const std::string& name : object.names) out.string(name);
    out.string(object.object);
  }
}

std::vector<std::string> read_strings(Reader& in) {
  std::vector<std::string> strings(in.length());
  for (std::string& s : strings) s = in.string();
  return strings;
}

codegen::CodeImage read_image(Reader& in) {
  codegen::CodeImage image;
  image.scalar = in.number<bool>();
  image.objects = read_strings(in);
  image.math_functions = read_strings(in);
  image.math.resize(in.length());
  for (auto& object : image.math) {
    object.names = read_strings(in);
    object.object = in.string();
  }
  return image;
}

void write(Writer& out, const AnyArray& array) {
  out.number(static_cast<uint8_t>(array.dtype()));
  out.number(static_cast<uint64_t>(array.shape().rank()));
  for (const int64_t extent : array.shape()) out.number(extent);
  out.bytes(array.data(), array.bytes());
}

AnyArray read_array(Reader& in) {
  const auto dtype = static_cast<DType>(in.number<uint8_t>());
  std::vector<int64_t> dims(in.length());
  for (int64_t& extent : dims) extent = in.number<int64_t>();
  AnyArray array = AnyArray::uninitialized({dtype, Shape(std::span<const int64_t>(dims))});
  const std::string_view bytes = in.string();
  if (bytes.size() != array.bytes()) throw Malformed();
  if (!bytes.empty()) std::memcpy(array.mutable_data(), bytes.data(), bytes.size());
  return array;
}

std::shared_ptr<Executable> read_executable(std::string_view text, const CompileOptions& options,
                                            CompileReport& report) {
  Reader in(text);
  auto executable = std::make_shared<Executable>();
  report.kernels = in.number<uint64_t>();
  executable->workspace_bytes = in.number<int64_t>();
  executable->in_place.resize(in.length());
  for (int32_t& input : executable->in_place) input = in.number<int32_t>();
  for (uint64_t n = in.length(); n > 0; --n) executable->constant_arrays.push_back(read_array(in));
  const codegen::CodeImage image = read_image(in);
  if (!in.at_end()) throw Malformed();
  executable->code = codegen::link(image, codegen_options(options));
  return executable;
}

}  // namespace

std::string stored_key(const ExecutableKey& key) {
  const CompileOptions& o = key.options;
  const Environment& e = environment();
  const bool stores = DiskCache::shared() != nullptr && o.device.kind == Device::Kind::cpu && !o.reference &&
                      o.tier != tier::quick && !e.sanitize && e.dump.empty();
  if (!stores) return {};
  Writer out;
  out.string(kSourceHash);
  out.string(codegen::llvm_version());
  out.string(key.target);
  for (const GraphHash& hash : {key.graph, key.constants}) {
    out.number(hash.low);
    out.number(hash.high);
  }
  out.number(uint64_t{key.strides.size()});
  for (const int64_t stride : key.strides) out.number(stride);
  for (const bool option : {o.strict, o.fast_math, o.deterministic, o.flush_subnormals}) out.number(option);
  out.number(int64_t{o.scalar_arguments});
  out.number(key.threads.split_above);
  out.number(key.threads.chunk);
  out.number(uint64_t{o.donated.size()});
  for (const bool donated : o.donated) out.number(donated);
  return out.take();
}

std::shared_ptr<const Executable> load_executable(const std::string& key, const Graph& graph,
                                                  std::span<const Strides> strides, const CompileOptions& options,
                                                  CompileReport& report) {
  if (key.empty()) return nullptr;
  Stopwatch stopwatch;
  DiskCache& cache = *DiskCache::shared();
  std::optional<std::string> value;
  try {
    value = cache.load(key);
    if (!value) return nullptr;
    const auto executable = read_executable(*value, options, report);
    set_interface(*executable, graph, strides);
    report.load = stopwatch.lap();
    return executable;
  } catch (const Malformed&) {
    log().warn("cache on disk: an entry is complete, but no executable; it is replaced");
    cache.remove(key);
  } catch (const std::exception& e) {  // memory is short, the linker fails, or the program is ending
    log().info("cache on disk: an entry is not used: {}", e.what());
  }
  return nullptr;
}

void store_executable(const std::string& key, const Executable& executable, const codegen::CodeImage& image,
                      size_t kernels) noexcept {
  if (key.empty() || !executable.host_functions.empty()) return;
  try {
    Writer out;
    out.number(uint64_t{kernels});
    out.number(executable.workspace_bytes);
    out.number(uint64_t{executable.in_place.size()});
    for (const int32_t input : executable.in_place) out.number(input);
    out.number(uint64_t{executable.constant_arrays.size()});
    for (const AnyArray& array : executable.constant_arrays) write(out, array);
    write(out, image);
    DiskCache::shared()->store(key, out.take());
  } catch (const std::exception&) {  // no memory: it is not stored
  }
}

}  // namespace calque::runtime
