//===- Npy.cpp - Arrays in .npy files ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Run/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <cstring>
#include <optional>

namespace tenon::run {

namespace {

struct TypeRow {
  NpyType type;
  llvm::StringLiteral descr; ///< kind and size, without the byte order
  llvm::StringLiteral name;
  unsigned size;
};

constexpr TypeRow typeRows[] = {
    {NpyType::Bool, "b1", "bool", 1},
    {NpyType::Int8, "i1", "int8", 1},
    {NpyType::UInt8, "u1", "uint8", 1},
    {NpyType::Int16, "i2", "int16", 2},
    {NpyType::UInt16, "u2", "uint16", 2},
    {NpyType::Int32, "i4", "int32", 4},
    {NpyType::UInt32, "u4", "uint32", 4},
    {NpyType::Int64, "i8", "int64", 8},
    {NpyType::UInt64, "u8", "uint64", 8},
    {NpyType::Float16, "f2", "float16", 2},
    {NpyType::Float32, "f4", "float32", 4},
    {NpyType::Float64, "f8", "float64", 8},
};

const TypeRow &rowOf(NpyType type) {
  return *llvm::find_if(typeRows,
                        [&](const TypeRow &row) { return row.type == type; });
}

constexpr llvm::StringLiteral magic("\x93NUMPY");

/// The dictionary of a header.
struct Header {
  std::string descr;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t, 4> shape;
};

/// Parses the header, a Python dictionary of three known keys.
class HeaderParser {
public:
  explicit HeaderParser(llvm::StringRef text) : rest(text) {}

  llvm::Expected<Header> parse() {
    if (!take("{")) {
      return expected("a dictionary");
    }
    Header header;
    bool hasDescr = false, hasOrder = false, hasShape = false;
    while (!take("}")) {
      llvm::Expected<std::string> key = parseString("a key");
      if (!key) {
        return key.takeError();
      }
      bool *seen = llvm::StringSwitch<bool *>(*key)
                       .Case("descr", &hasDescr)
                       .Case("fortran_order", &hasOrder)
                       .Case("shape", &hasShape)
                       .Default(nullptr);
      if (!seen || *seen) {
        return llvm::createStringError(
            "header: " + llvm::Twine(seen ? "second" : "unknown") + " key '" +
            *key + "'");
      }
      *seen = true;
      if (!take(":")) {
        return expected("':' after '" + *key + "'");
      }
      if (llvm::Error error = parseValue(*key, header)) {
        return std::move(error);
      }
      if (!take(",") && !rest.starts_with("}")) {
        return expected("',' or '}'");
      }
    }
    if (!rest.empty()) {
      return expected("nothing after the dictionary");
    }
    if (!hasDescr || !hasOrder || !hasShape) {
      return llvm::createStringError("header: the key '" +
                                     llvm::Twine(!hasDescr   ? "descr"
                                                 : !hasOrder ? "fortran_order"
                                                             : "shape") +
                                     "' is missing");
    }
    return header;
  }

private:
  llvm::Error parseValue(llvm::StringRef key, Header &header) {
    if (key == "shape") {
      return parseShape(header.shape);
    }
    if (key == "fortran_order") {
      header.fortranOrder = take("True");
      return header.fortranOrder || take("False")
                 ? llvm::Error::success()
                 : expected("True or False as 'fortran_order'");
    }
    if (rest.starts_with("[")) {
      return llvm::createStringError(
          "header: structured element types are not supported");
    }
    llvm::Expected<std::string> descr = parseString("a string as 'descr'");
    if (!descr) {
      return descr.takeError();
    }
    header.descr = std::move(*descr);
    return llvm::Error::success();
  }

  /// Skips \p token, and white space behind it, if it is next.
  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    if (!rest.consume_front(token)) {
      return false;
    }
    rest = rest.ltrim();
    return true;
  }

  /// What was expected, and the beginning of what is there.
  llvm::Error expected(const llvm::Twine &what) const {
    std::string found;
    llvm::raw_string_ostream out(found);
    llvm::printEscapedString(rest.take_front(20), out);
    return llvm::createStringError("header: " + what + " expected, '" + found +
                                   "' found");
  }

  llvm::Expected<std::string> parseString(const llvm::Twine &what) {
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"')) {
      return expected(what);
    }
    size_t end = rest.find(rest[0], 1);
    if (end == llvm::StringRef::npos) {
      return expected("the end of a string");
    }
    std::string result = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1).ltrim();
    return result;
  }

  llvm::Error parseShape(llvm::SmallVectorImpl<int64_t> &shape) {
    if (!take("(")) {
      return expected("a tuple as 'shape'");
    }
    while (!take(")")) {
      if (rest.starts_with("-")) {
        return expected("sizes of at least 0 in 'shape'");
      }
      int64_t size;
      llvm::StringRef digits = rest;
      if (rest.consumeInteger(10, size)) {
        rest = digits;
        return expected("a size below 2^63 in 'shape'");
      }
      // Python 2 marked long integers.
      rest.consume_front("L");
      shape.push_back(size);
      if (!take(",") && !rest.ltrim().starts_with(")")) {
        return expected("',' or ')' in 'shape'");
      }
    }
    return llvm::Error::success();
  }

  llvm::StringRef rest;
};

/// The type that \p descr names, which has its byte order in front.
llvm::Expected<NpyType> parseDescr(llvm::StringRef descr) {
  if (descr.starts_with(">")) {
    return llvm::createStringError("big-endian element type '" + descr +
                                   "' is not supported");
  }
  for (const TypeRow &row : typeRows) {
    // '|' is for types without a byte order, '=' for that of the writer, which
    // numpy itself never stores.
    bool order =
        descr.starts_with("<") || (row.size == 1 && descr.starts_with("|"));
    if (order && descr.drop_front() == row.descr) {
      return row.type;
    }
  }
  return llvm::createStringError(
      "element type '" + descr + "' is not supported; supported: " +
      llvm::join(llvm::map_range(typeRows,
                                 [](const TypeRow &row) {
                                   return llvm::StringRef(row.name);
                                 }),
                 ", "));
}

/// Bytes of an array, if they can be counted.
llvm::Expected<uint64_t> arrayBytes(NpyType type,
                                    llvm::ArrayRef<int64_t> shape) {
  // Factors before a 0 may overflow: there are no elements at all.
  if (llvm::is_contained(shape, 0)) {
    return 0;
  }
  std::optional<uint64_t> bytes = byteSize(type);
  for (int64_t size : shape) {
    bytes = llvm::checkedMulUnsigned<uint64_t>(*bytes, size);
    if (!bytes) {
      return llvm::createStringError("the shape has more than 2^64 bytes");
    }
  }
  return *bytes;
}

/// The elements \p source of \p size bytes each, in Fortran order of \p shape,
/// in row-major order.
std::vector<uint8_t> toRowMajor(llvm::ArrayRef<uint8_t> source,
                                llvm::ArrayRef<int64_t> shape, unsigned size) {
  std::vector<uint8_t> result(source.size());
  llvm::SmallVector<int64_t, 4> index(shape.size(), 0);
  for (uint64_t to = 0; to < result.size(); to += size) {
    uint64_t from = 0;
    for (size_t d = shape.size(); d > 0; --d) {
      from = from * shape[d - 1] + index[d - 1];
    }
    std::memcpy(&result[to], &source[from * size], size);
    for (size_t d = shape.size(); d > 0 && ++index[d - 1] == shape[d - 1];
         --d) {
      index[d - 1] = 0;
    }
  }
  return result;
}

/// The text of the header and the data behind it.
struct Sections {
  llvm::StringRef header;
  llvm::ArrayRef<uint8_t> data;
};

llvm::Expected<Sections> split(llvm::StringRef file) {
  if (!file.consume_front(magic)) {
    return llvm::createStringError(
        "not a .npy file: it does not start with \\x93NUMPY");
  }
  if (file.size() < 2) {
    return llvm::createStringError("truncated: no format version");
  }
  unsigned major = uint8_t(file[0]), minor = uint8_t(file[1]);
  file = file.drop_front(2);
  if (major < 1 || major > 3 || minor != 0) {
    return llvm::createStringError("format version 1.0, 2.0 or 3.0 expected, " +
                                   llvm::Twine(major) + "." +
                                   llvm::Twine(minor) + " found");
  }
  unsigned lengthBytes = major == 1 ? 2 : 4;
  if (file.size() < lengthBytes) {
    return llvm::createStringError("truncated: no header length");
  }
  uint64_t length = major == 1 ? llvm::support::endian::read16le(file.data())
                               : llvm::support::endian::read32le(file.data());
  file = file.drop_front(lengthBytes);
  if (file.size() < length) {
    return llvm::createStringError("truncated: a header of " +
                                   llvm::Twine(length) + " bytes expected, " +
                                   llvm::Twine(file.size()) + " found");
  }
  return Sections{file.take_front(length),
                  llvm::arrayRefFromStringRef(file.drop_front(length))};
}

} // namespace

llvm::StringRef name(NpyType type) { return rowOf(type).name; }

unsigned byteSize(NpyType type) { return rowOf(type).size; }

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

llvm::Expected<NpyArray>
NpyArray::parse(std::unique_ptr<llvm::MemoryBuffer> file) {
  auto failure = [&](llvm::Error error) {
    return llvm::createStringError(file->getBufferIdentifier() + ": " +
                                   llvm::toString(std::move(error)));
  };
  llvm::Expected<Sections> sections = split(file->getBuffer());
  if (!sections) {
    return failure(sections.takeError());
  }
  llvm::Expected<Header> header = HeaderParser(sections->header.trim()).parse();
  if (!header) {
    return failure(header.takeError());
  }
  llvm::Expected<NpyType> type = parseDescr(header->descr);
  if (!type) {
    return failure(type.takeError());
  }
  llvm::Expected<uint64_t> size = arrayBytes(*type, header->shape);
  if (!size) {
    return failure(size.takeError());
  }
  if (*size != sections->data.size()) {
    return failure(llvm::createStringError(
        llvm::Twine(*size) + " bytes of data expected, " +
        llvm::Twine(sections->data.size()) + " found"));
  }

  NpyArray array;
  array.elementType = *type;
  array.sizes = header->shape;
  array.bytes = sections->data;
  if (header->fortranOrder && header->shape.size() > 1) {
    array.reordered =
        toRowMajor(sections->data, header->shape, byteSize(*type));
    array.bytes = array.reordered;
  } else {
    array.file = std::move(file);
  }
  return array;
}

llvm::Expected<NpyArray> readNpy(llvm::StringRef path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false);
  if (!file) {
    return llvm::createStringError(
        path + ": cannot be read: " + file.getError().message());
  }
  return NpyArray::parse(std::move(*file));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string npyHeader(NpyType type, llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{'descr': '" << (byteSize(type) == 1 ? "|" : "<") << rowOf(type).descr
      << "', 'fortran_order': False, 'shape': (";
  llvm::interleave(shape, out, ", ");
  // A tuple of one needs its comma.
  out << (shape.size() == 1 ? ",), }" : "), }");
  // Spaces and a newline bring the data to a multiple of 64 bytes.
  const size_t prefix = magic.size() + 2 + 2;
  text.append(
      llvm::offsetToAlignment(prefix + text.size() + 1, llvm::Align(64)), ' ');
  text.push_back('\n');
  assert(text.size() <= UINT16_MAX && "header too long for version 1.0");
  char length[2];
  llvm::support::endian::write16le(length, uint16_t(text.size()));
  return (magic + llvm::StringRef("\x01\x00", 2) + llvm::StringRef(length, 2) +
          text)
      .str();
}

llvm::Error writeNpy(llvm::StringRef path, NpyType type,
                     llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<uint8_t> data) {
  assert(llvm::cantFail(arrayBytes(type, shape)) == data.size() &&
         "data of another size than the shape");
  std::error_code code;
  llvm::raw_fd_ostream out(path, code, llvm::sys::fs::OF_None);
  if (!code) {
    out << npyHeader(type, shape) << llvm::toStringRef(data);
    out.close();
    code = out.error();
    // An error that is reported must not end the process as well.
    out.clear_error();
  }
  if (code) {
    return llvm::createStringError(path +
                                   ": cannot be written: " + code.message());
  }
  return llvm::Error::success();
}

} // namespace tenon::run
