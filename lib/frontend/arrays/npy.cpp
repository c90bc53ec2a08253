// NumPy's file format (numpy.lib.format): a magic string, a version, the length of a header, a Python dictionary as
// text, then the elements. All fields of a file are validated before they are used.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "calque/detail/array_data.h"

namespace calque::detail {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;
constexpr uint32_t kMaxHeader = 1 << 20;

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// Reads the dictionary literal that NumPy writes.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, const std::string& text, size_t offset, Location location)
      : path_(path), text_(text), offset_(offset), location_(location) {}

  Header parse() {
    Header header;
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        once(seen[0], key);
        skip();
        if (at_ < text_.size() && text_[at_] == '[') {
          throw DTypeError("load_npy: " + path_ + " holds records of several fields, which are no element type" +
                           where_text(location_));
        }
        header.descr = quoted();
      } else if (key == "fortran_order") {
        once(seen[1], key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(seen[2], key);
        header.shape = tuple();
      } else {
        fail("the keys descr, fortran_order and shape, got '" + key + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size()) fail("the end of the header");
    if (!seen[0] || !seen[1] || !seen[2]) fail("the keys descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) {
    throw ParseError("load_npy: " + path_ + ": damaged header at byte " + std::to_string(offset_ + at_) +
                     ", expected " + expected + where_text(location_));
  }
  void once(bool& seen, const std::string& key) {
    if (seen) fail("the key '" + key + "' once");
    seen = true;
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "'");
  }
  std::string quoted() {
    skip();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) fail("a quoted string");
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string::npos) fail("the end of a string");
    std::string value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip();
    for (const bool value : {true, false}) {
      const std::string word = value ? "True" : "False";
      if (text_.compare(at_, word.size(), word) == 0) {
        at_ += word.size();
        return value;
      }
    }
    fail("True or False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t value = 0;
      size_t digits = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value)) {
          fail("an extent below 2^63");
        }
      }
      if (digits == 0) fail("a number");
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
      values.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  const std::string& path_;
  const std::string& text_;
  size_t offset_, at_ = 0;
  Location location_;
};

/// The type code without byte order. NumPy has no bf16, which other writers store as two opaque bytes.
std::string code_of(DType dtype) {
  const std::string size = std::to_string(size_of(dtype));
  if (dtype == DType::bf16) return "V2";
  const char kind = is_bool(dtype)               ? 'b'
                    : is_signed_integer(dtype)   ? 'i'
                    : is_unsigned_integer(dtype) ? 'u'
                    : is_complex(dtype)          ? 'c'
                                                 : 'f';
  return kind + size;
}

std::optional<DType> dtype_of_code(const std::string& code) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (code_of(static_cast<DType>(i)) == code) return static_cast<DType>(i);
  }
  return std::nullopt;
}

void swap_bytes(void* data, size_t count, size_t width) {
  auto* bytes = static_cast<unsigned char*>(data);
  for (size_t i = 0; i < count; ++i) std::reverse(bytes + i * width, bytes + (i + 1) * width);
}

/// The number of elements, or nullopt when their size in bytes overflows.
std::optional<int64_t> count_of(const std::vector<int64_t>& shape, size_t width) {
  int64_t count = 1, bounded = static_cast<int64_t>(width);
  for (const int64_t extent : shape) {
    count = extent == 0 ? 0 : count;
    if (extent != 0 && __builtin_mul_overflow(bounded, extent, &bounded)) return std::nullopt;
  }
  return count == 0 ? 0 : bounded / static_cast<int64_t>(width);
}

}  // namespace

void save_npy(const std::string& path, const AnyArray& array, Location location) {
  const void* data = host_data(array, location);
  const std::string code = code_of(array.dtype());
  std::string header = "{'descr': '" + std::string(size_of(array.dtype()) == 1 ? "|" : "<") + code +
                       "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < array.shape().size(); ++i) {
    header += (i == 0 ? "" : ", ") + std::to_string(array.shape()[i]);
  }
  header += array.rank() == 1 ? ",), }" : "), }";
  const bool large = header.size() + 64 > UINT16_MAX;
  const size_t prefix = kMagicSize + 2 + (large ? 4 : 2);
  header += std::string(63 - (prefix + header.size()) % 64, ' ') + '\n';

  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) throw Error("save_npy: cannot write " + path + ": " + std::strerror(errno) + where_text(location));
  out.write(kMagic, kMagicSize);
  out.put(large ? 2 : 1).put(0);
  for (size_t i = 0; i < (large ? 4 : 2); ++i) out.put(static_cast<char>(header.size() >> (8 * i)));
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(array.bytes()));
  out.close();
  if (!out) throw Error("save_npy: writing " + path + " failed: " + std::strerror(errno) + where_text(location));
}

AnyArray load_npy(const std::string& path, DType wanted, Location location) {
  const auto damaged = [&](const std::string& what) {
    return ParseError("load_npy: " + path + ": " + what + where_text(location));
  };
  std::ifstream in(path, std::ios::binary);
  in.seekg(0, std::ios::end);
  const std::streamoff size = in.tellg();
  in.seekg(0);
  if (!in || size < 0)
    throw Error("load_npy: cannot read " + path + ": " + std::strerror(errno) + where_text(location));

  unsigned char start[12] = {};
  in.read(reinterpret_cast<char*>(start), 8);
  if (in.gcount() < 8 || std::memcmp(start, kMagic, kMagicSize) != 0) throw damaged("not a NumPy file");
  const int version = start[6];
  if (version < 1 || version > 3) {
    throw damaged("format version 1, 2 or 3 was expected, got " + std::to_string(version));
  }
  const int length_bytes = version == 1 ? 2 : 4;
  in.read(reinterpret_cast<char*>(start + 8), length_bytes);
  uint32_t length = 0;
  for (int i = 0; i < length_bytes; ++i) length |= static_cast<uint32_t>(start[8 + i]) << (8 * i);
  const size_t prefix = 8 + static_cast<size_t>(length_bytes);
  if (!in || length > kMaxHeader || static_cast<std::streamoff>(prefix + length) > size) {
    throw damaged("the file ends inside its header");
  }
  std::string text(length, '\0');
  in.read(text.data(), length);
  const Header header = HeaderParser(path, text, prefix, location).parse();

  const bool ordered = !header.descr.empty() && std::strchr("<>|=", header.descr[0]) != nullptr;
  const std::optional<DType> dtype = dtype_of_code(header.descr.substr(ordered ? 1 : 0));
  if (!dtype || *dtype != wanted) {
    throw DTypeError("load_npy: " + path + ": elements of " + std::string(name(wanted)) + " were expected, got " +
                     (dtype ? std::string(name(*dtype)) : "'" + header.descr + "'") + where_text(location));
  }
  const std::optional<int64_t> count = count_of(header.shape, size_of(wanted));
  const std::streamoff available = size - static_cast<std::streamoff>(prefix + length);
  if (!count || *count > available / static_cast<int64_t>(size_of(wanted))) {
    throw damaged("its shape needs more bytes than the " + std::to_string(available) + " that follow the header");
  }

  const Shape shape(header.shape);
  AnyArray array = AnyArray::uninitialized({wanted, shape});
  in.read(static_cast<char*>(array.mutable_data()), static_cast<std::streamsize>(array.bytes()));
  if (!in) throw Error("load_npy: reading " + path + " failed: " + std::strerror(errno) + where_text(location));
  if (header.descr[0] == '>') {
    const size_t parts = is_complex(wanted) ? 2 : 1;
    swap_bytes(array.mutable_data(), static_cast<size_t>(*count) * parts, size_of(wanted) / parts);
  }
  if (wanted == DType::bool_) {
    // Any byte other than 0 and 1 is not a valid C++ bool.
    auto* bytes = static_cast<unsigned char*>(array.mutable_data());
    std::transform(bytes, bytes + *count, bytes, [](unsigned char b) -> unsigned char { return b != 0; });
  }
  if (!header.fortran_order) return array;
  LeafView view{wanted, array.data(), shape, row_major_strides(shape)};
  int64_t step = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    view.strides[i] = step;
    step *= shape[i];
  }
  return copy_of(view);
}

}  // namespace calque::detail
