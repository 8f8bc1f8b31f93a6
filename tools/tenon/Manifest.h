//===- Manifest.h - the kernels that a bundle is to hold --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TOOLS_TENON_MANIFEST_H
#define TENON_TOOLS_TENON_MANIFEST_H

#include "tenon/Runtime/OpParameters.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tenon::cli {

/// One kernel of a manifest.
struct ManifestKernel {
  std::string op;
  runtime::Settings settings;
  std::string where; ///< "kernels[3]", for messages
};

struct Manifest {
  std::string target;
  std::vector<ManifestKernel> kernels; ///< one per bucket
};

/// Reads a manifest and the specs that it names. Errors name the file and the
/// place in it: "m.json: kernels[3].buckets[0]: a positive integer expected".
llvm::Expected<Manifest> readManifest(const std::string &path);

} // namespace tenon::cli

#endif // TENON_TOOLS_TENON_MANIFEST_H
