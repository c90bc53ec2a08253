#pragma once
// Numbers and texts as bytes, for the cache on disk. Entries are read by the library that wrote them, on the same
// processor, and have a checksum: there is neither a version nor a byte order.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace calque::runtime {

class ByteWriter {
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
  /// The length, then each element by write(element).
  template <class List, class Write>
  void list(const List& list, const Write& write) {
    number(uint64_t{list.size()});
    for (const auto& element : list) write(element);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Bytes that no ByteWriter wrote for this purpose.
struct MalformedEntry {};

/// Throws MalformedEntry where the bytes end early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view text) : rest_(text) {}
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view string() { return take(number<uint64_t>()); }
  /// The list of what read() returns, whose elements take at least a byte each.
  template <class List, class Read>
  List list(const Read& read) {
    const auto n = number<uint64_t>();
    if (n > rest_.size()) throw MalformedEntry();
    List list;
    list.reserve(n);
    for (uint64_t i = 0; i < n; ++i) list.push_back(read());
    return list;
  }
  /// Throws MalformedEntry unless all is read.
  void end() const {
    if (!rest_.empty()) throw MalformedEntry();
  }

 private:
  std::string_view take(uint64_t bytes) {
    if (bytes > rest_.size()) throw MalformedEntry();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::string_view rest_;
};

}  // namespace calque::runtime
