// NumPy files: round trips of every element type, files as NumPy writes them, damaged files.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "calque/array.h"

#include "classes/traced.h"

namespace calque::test {
namespace {

/// A file in the temporary directory, deleted by the destructor.
class File {
 public:
  explicit File(const std::string& name)
      : path_((std::filesystem::temp_directory_path() / ("calque_npy_" + std::to_string(getpid()) + "_" + name))
                  .string()) {}
  File(const std::string& name, const std::string& bytes) : File(name) {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~File() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

/// A file of format `version` with this header.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string text = header + std::string(16, ' ') + '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(text.size() >> (8 * i));
  return bytes + text + data;
}
template <class T>
std::string raw(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
class NpyRoundTrip : public testing::Test {};
using All = testing::Types<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float16,
                           bfloat16, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(NpyRoundTrip, All);

TYPED_TEST(NpyRoundTrip, GivesTheSameArray) {
  using T = TypeParam;
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 4}, Shape{1, 2, 3, 1}}) {
    Array<T> a = Array<T>(AnyArray::uninitialized({dtype_of<T>, shape}));
    AnyArray any = a.any();
    for (int64_t i = 0; i < a.size(); ++i)
      static_cast<T*>(any.mutable_data())[i] = static_cast<T>(static_cast<float>(i % 2));
    const File file("round_trip");
    save_npy(file.path(), a);
    const Array<T> b = load_npy<T>(file.path());
    EXPECT_EQ(b.shape(), shape);
    EXPECT_TRUE(array_equal(a, b));
    EXPECT_EQ((file.bytes().size() - a.any().bytes()) % 64, 0u);
  }
}

TEST(NpyFile, IsWrittenAsNumPyWritesIt) {
  const File file("written");
  save_npy(file.path(), Array<float>{{1, 2, 3}, {4, 5, 6}});
  const std::string bytes = file.bytes();
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(bytes.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes.size(), 128u + 24u);
  save_npy(file.path(), Array<int8_t>{1, 2});
  EXPECT_NE(file.bytes().find("{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }"), std::string::npos);
  save_npy(file.path(), Array<double>(1.0));
  EXPECT_NE(file.bytes().find("{'descr': '<f8', 'fortran_order': False, 'shape': (), }"), std::string::npos);
}

TEST(NpyFile, ReadsFortranOrder) {
  const File file("fortran",
                  npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }", raw<int32_t>({1, 4, 2, 5, 3, 6})));
  EXPECT_TRUE(array_equal(load_npy<int>(file.path()), Array<int>{{1, 2, 3}, {4, 5, 6}}));
}

TEST(NpyFile, ReadsBigEndianAndOtherVersions) {
  const File big("big",
                 npy("{'shape': (2,), 'fortran_order': False, 'descr': '>i2'}", std::string("\x01\x02\xff\xfe", 4)));
  EXPECT_TRUE(array_equal(load_npy<int16_t>(big.path()), Array<int16_t>{0x0102, -2}));
  const File complex("complex", npy("{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }",
                                    std::string("\x3f\x80\x00\x00\x40\x00\x00\x00", 8)));
  EXPECT_EQ(load_npy<std::complex<float>>(complex.path())(0), std::complex<float>(1, 2));
  for (const int version : {2, 3}) {
    const File file("version",
                    npy("{\"descr\": \"=f4\", 'fortran_order': False, 'shape': (1L,)}", raw<float>({2.5f}), version));
    EXPECT_EQ(load_npy<float>(file.path())(0), 2.5f);
  }
}

TEST(NpyFile, ReadsAnyByteAsBool) {
  const File file("bool",
                  npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", std::string("\x00\x01\x07", 3)));
  EXPECT_TRUE(array_equal(load_npy<bool>(file.path()), Array<bool>{false, true, true}));
}

TEST(NpyFile, OfAnotherElementTypeIsADTypeError) {
  const File file("dtype", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", raw<float>({1})));
  const std::string message = message_of<DTypeError>([&] { load_npy<double>(file.path()); });
  EXPECT_NE(message.find("elements of f64 were expected, got f32 (npy_test.cpp:"), std::string::npos) << message;
  const File object("object", npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "x"));
  EXPECT_NE(message_of<DTypeError>([&] { load_npy<float>(object.path()); }).find("got '|O'"), std::string::npos);
  const File record("record", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "xxxx"));
  EXPECT_NE(message_of<DTypeError>([&] { load_npy<float>(record.path()); }).find("several fields"), std::string::npos);
}

TEST(NpyFile, ThatIsMissingIsAnError) {
  const std::string message = message_of<Error>([] { load_npy<float>("/nonexistent/a.npy"); });
  EXPECT_NE(message.find("load_npy: cannot read /nonexistent/a.npy"), std::string::npos) << message;
  message_of<Error>([] { save_npy("/nonexistent/a.npy", Array<float>{1}); });
  message_of<Error>([] { load_npy<float>(std::filesystem::temp_directory_path().string()); });
}

TEST(NpyFile, DamageIsAParseErrorThatNamesTheByte) {
  const auto message = [](const std::string& bytes) {
    const File file("damaged", bytes);
    return message_of<ParseError>([&] { load_npy<float>(file.path()); });
  };
  EXPECT_NE(message("").find("not a NumPy file"), std::string::npos);
  EXPECT_NE(message("PK\x03\x04 something else").find("not a NumPy file"), std::string::npos);
  EXPECT_NE(message(npy("{}", "", 9)).find("format version 1, 2 or 3 was expected, got 9"), std::string::npos);
  EXPECT_NE(message(npy("{}", "")).find("the keys descr, fortran_order and shape"), std::string::npos);
  EXPECT_NE(
      message(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), ", "")).find("damaged header at byte"),
      std::string::npos);
  EXPECT_NE(message(npy("{'descr': '<f4', 'fortran_order': maybe, 'shape': (2, 3), }", ""))
                .find("at byte 44, expected True or False"),
            std::string::npos);
  EXPECT_NE(message(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "")).find("expected a number"),
            std::string::npos);
  EXPECT_NE(message(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "12345678"))
                .find("more bytes than the 8"),
            std::string::npos);
  EXPECT_NE(
      message(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999999,), }", "")).find("2^63"),
      std::string::npos);
  EXPECT_NE(message(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0), }", ""))
                .find("more bytes"),
            std::string::npos);
  EXPECT_NE(message(std::string("\x93NUMPY\x01\x00\xff\xff{", 11)).find("ends inside its header"), std::string::npos);
}

TEST(NpyFile, AnyDamageIsAnErrorAndNoCrash) {
  const std::string good =
      npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", raw<float>({1, 2, 3, 4, 5, 6}));
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < changes; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    const File file("fuzzed", bytes);
    try {
      read += load_npy<float>(file.path()).size() >= 0;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace calque::test
