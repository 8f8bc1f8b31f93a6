//===- Comgr.h - ROCm's code object manager ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `--linker=comgr` takes instead of LLD: the library that ROCm's own
// tools link and read code objects with.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_CODEGEN_COMGR_H
#define TENON_CODEGEN_COMGR_H

#include "tenon/CodeGen/Report.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon::codegen {

/// What comgr reads of one kernel. Sizes are bytes.
struct ComgrKernel {
  std::string name;
  uint64_t sgprs = 0;
  uint64_t ldsBytes = 0;
  uint64_t scratchBytes = 0; ///< per work-item
  uint64_t kernargBytes = 0;
};

/// What comgr reads of a code object.
struct ComgrObject {
  std::string chip; ///< "gfx950"
  std::vector<ComgrKernel> kernels;
};

/// libamd_comgr.so of version 3 or 2. Its functions may be called by several
/// threads.
class Comgr {
public:
  /// The library of this process, opened at the first call and kept. Errors:
  /// it is not installed, or has not the functions that are needed.
  static llvm::Expected<const Comgr *> get();
  /// Opens it anew.
  static llvm::Expected<std::unique_ptr<const Comgr>> open();
  ~Comgr();

  /// "comgr 2.8 (libamd_comgr.so.2)".
  std::string name() const;
  /// "2.8", of its interface.
  std::string version() const;
  const std::string &librarySoname() const { return soname; }

  /// Chips that it makes code objects for.
  llvm::ArrayRef<std::string> knownChips() const { return chips; }
  bool knows(llvm::StringRef chip) const;

  /// Links one relocatable object into a code object. Errors hold what its
  /// linker printed.
  llvm::Expected<std::vector<uint8_t>> link(llvm::ArrayRef<char> object,
                                            llvm::StringRef chip) const;

  /// Reads the chip and the kernels of a code object.
  llvm::Expected<ComgrObject> inspect(llvm::ArrayRef<uint8_t> codeObject) const;

  /// Its functions; of no use outside Comgr.cpp.
  struct Library;

private:
  Comgr();
  std::unique_ptr<Library> functions;
  std::string soname;
  size_t major = 0, minor = 0;
  std::vector<std::string> chips;
};

/// Whether comgr and Tenon read the same of a code object: its chip, its
/// kernels, their SGPRs, LDS and scratch. The error names the first difference.
llvm::Error compareWithComgr(const ComgrObject &seen, llvm::StringRef chip,
                             llvm::ArrayRef<KernelReport> reports);

} // namespace tenon::codegen

#endif // TENON_CODEGEN_COMGR_H
