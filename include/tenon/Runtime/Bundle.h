//===- Bundle.h - kernels built ahead of time, in one file ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle holds kernels under their keys: per kernel its launch plan and its
// code object. Opening one maps the file and reads its index; plans and code
// objects are read, and held against their checksums, when they are asked for.
//
// The file, little-endian throughout:
//
//   header     128 bytes: magic "TENONBDL", format version, sizes and places of
//              index and strings, checksums of both and of the header itself
//   index      one record of 160 bytes per kernel, in the order of their keys
//   strings    what the records name, each text once, without separators
//   contents   plans (JSON) and code objects at multiples of 64 bytes; equal
//              ones are stored once
//
// Checksums are XXH3-64. docs/reference/bundle.md has the fields.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BUNDLE_H
#define TENON_RUNTIME_BUNDLE_H

#include "tenon/Runtime/OpParameters.h"
#include "tenon/Runtime/Plan.h"
#include "tenon/Runtime/Result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// A kernel as a bundle takes it.
struct BundleKernel {
  KernelKey key;
  std::string target;        ///< of the code object: "gfx950"
  std::string schedule;      ///< that was chosen, for people
  std::string llvmVersion;   ///< that made the code object
  std::string compilerBuild; ///< what tells compilers apart
  uint32_t contractVersion = 1;
  std::string plan; ///< toJson(Plan)
  std::vector<uint8_t> codeObject;
};

/// What the index says about a kernel. The texts live as long as the bundle.
struct BundleEntry {
  std::string_view op, statics, bucket, target;
  std::string_view schedule, llvmVersion, compilerBuild;
  uint32_t contractVersion = 0;
  uint64_t planBytes = 0;
  uint64_t codeBytes = 0;
};

/// The bytes of a bundle of \p kernels in any order: equal kernels give equal
/// bytes. Of kernels that are equal in all they hold one is kept; two that
/// differ under one key and target are an error.
Result<std::vector<uint8_t>> writeBundle(std::vector<BundleKernel> kernels);

/// Writes \p bytes to a file beside \p path and renames it to \p path.
Status writeBundleFile(const std::string &path, std::span<const uint8_t> bytes);

/// An open bundle; may be used by several threads.
class Bundle {
public:
  /// The format that this code writes, and the newest that it reads.
  static constexpr uint32_t formatVersion = 1;

  /// Maps the file \p path. A file that is truncated, damaged, newer than this
  /// code or no bundle is refused; so is one whose SHA-256 is not \p sha256
  /// (hexadecimal), when that is not empty, which reads all of the file.
  static Result<std::shared_ptr<const Bundle>>
  open(const std::string &path, std::string_view sha256 = {});

  /// The same for \p bytes, which errors call \p name.
  static Result<std::shared_ptr<const Bundle>>
  fromBytes(std::vector<uint8_t> bytes, std::string name);

  ~Bundle();
  Bundle(const Bundle &) = delete;
  Bundle &operator=(const Bundle &) = delete;

  /// What errors call the bundle: its path.
  const std::string &name() const { return bundleName; }

  /// Kernels are in the order of op, statics, target and bucket.
  size_t size() const { return count; }
  BundleEntry entry(size_t index) const;

  /// The range of kernels of this op, these statics and this target: its
  /// buckets.
  std::pair<size_t, size_t> find(std::string_view op, std::string_view statics,
                                 std::string_view target) const;

  /// The plan and the code object of a kernel; errors when they do not match
  /// their checksum, or the plan is not valid.
  Result<Plan> plan(size_t index) const;
  Result<std::string_view> planText(size_t index) const;
  Result<std::span<const uint8_t>> codeObject(size_t index) const;

  /// Everything that a kernel was written from.
  Result<BundleKernel> kernel(size_t index) const;

  /// The SHA-256 of the file, hexadecimal.
  std::string sha256() const;

private:
  Bundle() = default;
  Status readIndex();
  Status damaged(std::string_view what) const;
  std::string_view text(uint32_t offset, uint32_t length) const;
  Result<std::span<const uint8_t>> content(uint64_t offset, uint64_t length,
                                           uint64_t checksum,
                                           std::string_view what) const;

  std::string bundleName;
  std::vector<uint8_t> owned;     ///< of fromBytes
  std::span<const uint8_t> bytes; ///< the whole file
  bool isMapped = false;
  size_t count = 0;
  const uint8_t *records = nullptr;
  std::string_view strings;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_BUNDLE_H
