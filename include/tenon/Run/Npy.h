//===- Npy.h - Arrays in .npy files -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file format of numpy.save: numpy.lib.format, versions 1.0, 2.0 and 3.0,
// for little-endian numbers.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUN_NPY_H
#define TENON_RUN_NPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <vector>

namespace tenon::run {

/// The element types that are read and written.
enum class NpyType {
  Bool,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float16,
  Float32,
  Float64,
};

/// numpy's name: "float32".
llvm::StringRef name(NpyType type);

/// Bytes of one element.
unsigned byteSize(NpyType type);

/// An array in row-major order, read from a file.
class NpyArray {
public:
  NpyType type() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return sizes; }

  /// The elements, little endian, without gaps. They live as long as the array
  /// and stay in place when it is moved. Their address need not be aligned.
  llvm::ArrayRef<uint8_t> data() const { return bytes; }

  /// The array that \p file holds, whose data may be used in place. An array
  /// in Fortran order is brought to row-major order. Errors start with the
  /// buffer's identifier and say what was expected and what was found.
  static llvm::Expected<NpyArray>
  parse(std::unique_ptr<llvm::MemoryBuffer> file);

private:
  NpyArray() = default;

  NpyType elementType = NpyType::UInt8;
  llvm::SmallVector<int64_t, 4> sizes;
  llvm::ArrayRef<uint8_t> bytes; ///< in one of the two below
  std::unique_ptr<llvm::MemoryBuffer> file;
  std::vector<uint8_t> reordered;
};

/// Reads the file at \p path (by mapping it, when it is large).
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

/// Writes \p data, elements of \p type in row-major order of \p shape, to the
/// file at \p path, as version 1.0.
llvm::Error writeNpy(llvm::StringRef path, NpyType type,
                     llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<uint8_t> data);

/// What writeNpy writes in front of the data: a multiple of 64 bytes.
std::string npyHeader(NpyType type, llvm::ArrayRef<int64_t> shape);

} // namespace tenon::run

#endif // TENON_RUN_NPY_H
