// Every field is hashed after its length or kind, so that different graphs produce different byte streams. Values are
// hashed by their position in canonical order, primitives and attributes by name: the hash must be stable across
// processes.
#include <bit>
#include <cstring>
#include <memory>

#include "calque/ir/graph.h"

#include "ir/graph/canonical.h"
#include "xxhash.h"

namespace calque {
namespace {

/// Constants up to this size (in bytes) are embedded in the compiled code.
constexpr size_t kFoldedBytes = 64;

class Stream {
 public:
  Stream() : state_(XXH3_createState(), &XXH3_freeState) { XXH3_128bits_reset(state_.get()); }

  void bytes(const void* data, size_t count) {
    if (count > sizeof buffer_ - used_) {
      flush();
      if (count > sizeof buffer_) {
        XXH3_128bits_update(state_.get(), data, count);
        return;
      }
    }
    if (count != 0) std::memcpy(buffer_ + used_, data, count);
    used_ += count;
  }
  template <class T>
  void number(T value) {
    bytes(&value, sizeof value);
  }
  void text(std::string_view text) {
    number(static_cast<uint32_t>(text.size()));
    bytes(text.data(), text.size());
  }
  void type(const Type& type) {
    number(type.dtype);
    number(static_cast<uint32_t>(type.shape.rank()));
    bytes(type.shape.dims().data(), type.shape.size() * sizeof(int64_t));
  }
  GraphHash finish() {
    flush();
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.low64, hash.high64};
  }

 private:
  void flush() {
    XXH3_128bits_update(state_.get(), buffer_, used_);
    used_ = 0;
  }
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
  size_t used_ = 0;
  char buffer_[4096];
};

enum class Tag : uint8_t { value, literal, folded_constant, constant };

void hash_attribute(Stream& s, const AttributeValue& value) {
  s.number(static_cast<uint8_t>(value.index()));
  std::visit(
      [&s]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, std::string>) {
          s.text(v);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          s.number(static_cast<uint32_t>(v.size()));
          s.bytes(v.data(), v.size() * sizeof(int64_t));
        } else if constexpr (std::is_same_v<T, std::vector<Type>>) {
          s.number(static_cast<uint32_t>(v.size()));
          for (const Type& t : v) s.type(t);
        } else if constexpr (std::is_same_v<T, std::shared_ptr<const Opaque>>) {
          s.number(v ? v->identity() : uint64_t{0});
        } else {
          s.number(v);
        }
      },
      value);
}

class GraphHasher {
 public:
  GraphHasher(Stream& stream, const Graph& graph) : s_(stream), g_(graph), numbers_(graph.num_values(), kUnseen) {}

  void hash() {
    s_.number(static_cast<uint32_t>(g_.inputs().size()));
    for (const Value v : g_.inputs()) {
      numbers_[v.id()] = next_++;
      s_.type(g_.type(v));
    }
    const auto order = canonical_order(g_);
    s_.number(static_cast<uint64_t>(order.size()));
    for (const Equation* e : order) equation(*e);
    s_.number(static_cast<uint32_t>(g_.outputs().size()));
    for (const Value v : g_.outputs()) use(v);
  }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX;

  void equation(const Equation& e) {
    s_.text(e.primitive());
    s_.number(static_cast<uint32_t>(e.operands().size()));
    for (const Value v : e.operands()) use(v);
    s_.number(static_cast<uint32_t>(e.attributes().size()));
    for (const Attribute& a : e.attributes()) {
      s_.text(a.name);
      hash_attribute(s_, a.value);
    }
    s_.number(static_cast<uint32_t>(e.subgraphs().size()));
    for (const Graph& g : e.subgraphs()) GraphHasher(s_, g).hash();
    s_.number(static_cast<uint32_t>(e.results().size()));
    for (const Value v : e.results()) numbers_[v.id()] = next_++;
  }

  void use(Value v) {
    switch (g_.kind(v)) {
      case ValueKind::input:
      case ValueKind::result:
        s_.number(Tag::value);
        s_.number(numbers_[v.id()]);
        break;
      case ValueKind::literal:
        s_.number(Tag::literal);
        s_.type(g_.type(v));
        s_.number(g_.literal(v));
        break;
      case ValueKind::constant:
        constant(v);
        break;
    }
  }

  void constant(Value v) {
    const AnyArray& array = g_.constant(v);
    if (array.bytes() <= kFoldedBytes && array.has_data()) {
      s_.number(Tag::folded_constant);
      s_.type(g_.type(v));
      s_.bytes(array.data(), array.bytes());
      return;
    }
    s_.number(Tag::constant);
    s_.type(g_.type(v));
    // All uses of one constant are one parameter; distinct constants are distinct parameters.
    if (numbers_[v.id()] == kUnseen) numbers_[v.id()] = next_constant_++;
    s_.number(numbers_[v.id()]);
  }

  Stream& s_;
  const Graph& g_;
  std::vector<uint32_t> numbers_;
  uint32_t next_ = 0, next_constant_ = 0;
};

}  // namespace

GraphHash canonical_hash(const Graph& graph) {
  Stream stream;
  GraphHasher(stream, graph).hash();
  return stream.finish();
}

}  // namespace calque
