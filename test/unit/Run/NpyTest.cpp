//===- NpyTest.cpp - Arrays in .npy files -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Run/Npy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

using namespace tenon::run;

namespace {

using Shape = llvm::SmallVector<int64_t, 4>;

/// A file of version \p major with the header text and the data given.
std::string fileOf(llvm::StringRef header, llvm::StringRef data,
                   char major = 1) {
  std::string file = "\x93NUMPY";
  file.push_back(major);
  file.push_back(0);
  char length[4];
  llvm::support::endian::write32le(length, uint32_t(header.size()));
  file.append(length, major == 1 ? 2 : 4);
  return file + header.str() + data.str();
}

llvm::Expected<NpyArray> parse(llvm::StringRef file) {
  return NpyArray::parse(llvm::MemoryBuffer::getMemBufferCopy(file, "in.npy"));
}

std::string errorOf(llvm::StringRef file) {
  return llvm::toString(parse(file).takeError());
}

/// The error of a file with this header, without the file's name.
std::string headerErrorOf(llvm::StringRef header) {
  std::string text = errorOf(fileOf(header, ""));
  EXPECT_TRUE(llvm::StringRef(text).starts_with("in.npy: ")) << text;
  return text.substr(8);
}

std::vector<uint8_t> dataOf(const NpyArray &array) {
  return std::vector<uint8_t>(array.data().begin(), array.data().end());
}

// Byte for byte what numpy 1.26 and 2.x write for
// numpy.save(file, numpy.array([[1, 2, 3]], dtype='<i2')).
TEST(NpyTest, HeaderIsNumpys) {
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }";
  expected.append(127 - expected.size(), ' ');
  expected += '\n';
  EXPECT_EQ(npyHeader(NpyType::Int16, {1, 3}), expected);
}

TEST(NpyTest, EveryTypeAndRankRoundTrips) {
  for (NpyType type : {NpyType::Bool, NpyType::Int8, NpyType::UInt8,
                       NpyType::Int16, NpyType::UInt16, NpyType::Int32,
                       NpyType::UInt32, NpyType::Int64, NpyType::UInt64,
                       NpyType::Float16, NpyType::Float32, NpyType::Float64}) {
    for (const Shape &shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{2, 0, 3},
                               Shape{1, 2, 3, 4, 5}}) {
      size_t bytes = byteSize(type);
      for (int64_t size : shape) {
        bytes *= size;
      }
      std::string data;
      for (size_t i = 0; i < bytes; ++i) {
        data.push_back(char(i * 37));
      }
      std::string header = npyHeader(type, shape);
      EXPECT_EQ(header.size() % 64, 0u);
      NpyArray array = llvm::cantFail(parse(header + data));
      EXPECT_EQ(array.type(), type);
      EXPECT_EQ(Shape(array.shape()), shape);
      EXPECT_EQ(llvm::toStringRef(array.data()), data);
    }
  }
}

TEST(NpyTest, LaterVersionsAndSpellings) {
  const char *header =
      " { \"shape\" : (2L,) ,\n'descr':'|u1', \"fortran_order\": False}  \n";
  for (char version : {1, 2, 3}) {
    NpyArray array = llvm::cantFail(parse(fileOf(header, "ab", version)));
    EXPECT_EQ(array.type(), NpyType::UInt8);
    EXPECT_EQ(Shape(array.shape()), Shape({2}));
    EXPECT_EQ(dataOf(array), (std::vector<uint8_t>{'a', 'b'}));
  }
}

// [[0, 1, 2], [3, 4, 5]] column by column.
TEST(NpyTest, FortranOrderIsBroughtToRowMajor) {
  std::string file =
      fileOf("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
             llvm::StringRef("\x00\x03\x01\x04\x02\x05", 6));
  EXPECT_EQ(dataOf(llvm::cantFail(parse(file))),
            (std::vector<uint8_t>{0, 1, 2, 3, 4, 5}));
  // A wider type and a third dimension: element (i, j, k) is 100i + 10j + k.
  std::string data;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) {
        data.push_back(char(100 * i + 10 * j + k));
        data.push_back(1);
      }
    }
  }
  NpyArray array = llvm::cantFail(parse(fileOf(
      "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4), }", data)));
  size_t at = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(array.data()[at++], 100 * i + 10 * j + k);
        EXPECT_EQ(array.data()[at++], 1);
      }
    }
  }
}

TEST(NpyTest, DataStaysInPlaceWhenMoved) {
  for (const char *order : {"False", "True"}) {
    std::string header = std::string("{'descr': '|u1', 'fortran_order': ") +
                         order + ", 'shape': (2, 2)}";
    NpyArray first = llvm::cantFail(parse(fileOf(header, "abcd")));
    const uint8_t *place = first.data().data();
    NpyArray second = std::move(first);
    EXPECT_EQ(second.data().data(), place);
    EXPECT_EQ(second.data()[0], 'a');
  }
}

//===----------------------------------------------------------------------===//
// Malformed files
//===----------------------------------------------------------------------===//

TEST(NpyTest, BadPrefix) {
  EXPECT_EQ(errorOf(""),
            "in.npy: not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(errorOf("PK\x03\x04 an .npz file"),
            "in.npy: not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(errorOf("\x93NUMPY"), "in.npy: truncated: no format version");
  EXPECT_EQ(errorOf(fileOf("{}", "", 4)), "in.npy: format version 1.0, 2.0 or "
                                          "3.0 expected, 4.0 found");
  EXPECT_EQ(errorOf(llvm::StringRef("\x93NUMPY\x01\x00\x10", 9)),
            "in.npy: truncated: no header length");
  EXPECT_EQ(errorOf(llvm::StringRef("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13)),
            "in.npy: truncated: a header of 4294967295 bytes expected, 1 "
            "found");
}

TEST(NpyTest, BadHeaders) {
  EXPECT_EQ(headerErrorOf("[1, 2]"),
            "header: a dictionary expected, '[1, 2]' found");
  EXPECT_EQ(headerErrorOf(""), "header: a dictionary expected, '' found");
  EXPECT_EQ(headerErrorOf("{1: 2}"), "header: a key expected, '1: 2}' found");
  EXPECT_EQ(headerErrorOf("{'descr"),
            "header: the end of a string expected, ''descr' found");
  EXPECT_EQ(headerErrorOf("{'descr' '<f4'}"),
            "header: ':' after 'descr' expected, ''<f4'}' found");
  EXPECT_EQ(headerErrorOf("{'descr': '<f4' 'shape': ()}"),
            "header: ',' or '}' expected, ''shape': ()}' found");
  EXPECT_EQ(headerErrorOf("{'descr': '<f4', 'shape': (3,)}"),
            "header: the key 'fortran_order' is missing");
  EXPECT_EQ(headerErrorOf("{'descr': '<f4', 'descr': '<f4'}"),
            "header: second key 'descr'");
  EXPECT_EQ(headerErrorOf("{'color': 1}"), "header: unknown key 'color'");
  EXPECT_EQ(headerErrorOf("{'fortran_order': 1}"),
            "header: True or False as 'fortran_order' expected, '1}' found");
  EXPECT_EQ(headerErrorOf("{'descr': '<f4', 'shape': (), "
                          "'fortran_order': False} x"),
            "header: nothing after the dictionary expected, 'x' found");
  EXPECT_EQ(headerErrorOf("{'descr': [('a', '<f4')]}"),
            "header: structured element types are not supported");
  EXPECT_EQ(headerErrorOf(llvm::StringRef("{\0\xff", 3)),
            "header: a key expected, '\\00\\FF' found");
}

/// The error of a file with this shape.
std::string shapeErrorOf(llvm::StringRef shape) {
  return headerErrorOf(
      ("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}")
          .str());
}

TEST(NpyTest, BadShapes) {
  EXPECT_EQ(shapeErrorOf("3"),
            "header: a tuple as 'shape' expected, '3}' found");
  EXPECT_EQ(shapeErrorOf("(2, -3)"), "header: sizes of at least 0 in 'shape' "
                                     "expected, '-3)}' found");
  EXPECT_EQ(shapeErrorOf("(2, x)"),
            "header: a size below 2^63 in 'shape' expected, 'x)}' found");
  EXPECT_EQ(shapeErrorOf("(9223372036854775808,)"),
            "header: a size below 2^63 in 'shape' expected, "
            "'9223372036854775808,' found");
  EXPECT_EQ(shapeErrorOf("(2 3)"),
            "header: ',' or ')' in 'shape' expected, '3)}' found");
  EXPECT_EQ(shapeErrorOf("(2, 3"),
            "header: ',' or ')' in 'shape' expected, '}' found");
  EXPECT_EQ(shapeErrorOf("(4294967296, 4294967296)"),
            "the shape has more than 2^64 bytes");
  EXPECT_EQ(shapeErrorOf("(3,)"), "12 bytes of data expected, 0 found");
  // Too large to count, but with no elements.
  EXPECT_TRUE(
      bool(parse(fileOf("{'descr': '<f4', 'fortran_order': False, 'shape': "
                        "(4294967296, 4294967296, 0)}",
                        ""))));
}

TEST(NpyTest, DataOfAnotherSize) {
  std::string header = npyHeader(NpyType::Float32, {2});
  EXPECT_EQ(errorOf(header + "1234567"),
            "in.npy: 8 bytes of data expected, 7 found");
  EXPECT_EQ(errorOf(header + "123456789"),
            "in.npy: 8 bytes of data expected, 9 found");
}

/// The error of a file with this element type.
std::string descrErrorOf(llvm::StringRef descr) {
  return headerErrorOf(
      ("{'descr': '" + descr + "', 'fortran_order': False, 'shape': ()}")
          .str());
}

TEST(NpyTest, UnsupportedTypes) {
  EXPECT_EQ(descrErrorOf(">f4"),
            "big-endian element type '>f4' is not supported");
  EXPECT_EQ(descrErrorOf("<c8"),
            "element type '<c8' is not supported; supported: bool, int8, "
            "uint8, int16, uint16, int32, uint32, int64, uint64, float16, "
            "float32, float64");
  for (const char *descr : {"|O", "<U7", "f4", "|f4", "<f", "", "<", "<V2"}) {
    EXPECT_NE(descrErrorOf(descr).find("is not supported"), std::string::npos)
        << descr;
  }
}

// Every prefix of a good file is refused, and no byte of the header can be
// changed so that reading crashes.
TEST(NpyTest, DamagedFilesAreRefusedOrRead) {
  std::string good = npyHeader(NpyType::Int32, {2, 2}) + std::string(16, 'x');
  EXPECT_TRUE(bool(parse(good)));
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(errorOf(good.substr(0, length)), "") << length;
  }
  for (size_t at = 0; at < good.size() - 16; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = good;
      damaged[at] = char(value);
      llvm::Expected<NpyArray> array = parse(damaged);
      if (!array) {
        llvm::consumeError(array.takeError());
        continue;
      }
      EXPECT_EQ(array->data().size(), 16u);
    }
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(NpyTest, FilesRoundTrip) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("tenon", "npy", path));
  std::vector<uint8_t> data(3 * 40000 * 4);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = uint8_t(i * 11);
  }
  EXPECT_EQ(llvm::toString(writeNpy(path, NpyType::Float32, {3, 40000}, data)),
            "");
  {
    NpyArray array = llvm::cantFail(readNpy(path));
    EXPECT_EQ(array.type(), NpyType::Float32);
    EXPECT_EQ(Shape(array.shape()), Shape({3, 40000}));
    EXPECT_EQ(dataOf(array), data);
  }
  EXPECT_FALSE(llvm::sys::fs::remove(path));
}

TEST(NpyTest, FileErrorsNameTheFile) {
  EXPECT_EQ(llvm::toString(readNpy("/no/such/file.npy").takeError()),
            "/no/such/file.npy: cannot be read: No such file or directory");
  EXPECT_EQ(
      llvm::toString(writeNpy("/no/such/file.npy", NpyType::UInt8, {1}, {7})),
      "/no/such/file.npy: cannot be written: No such file or directory");
  EXPECT_NE(llvm::toString(readNpy("/").takeError()), "");
}

} // namespace
