//===- Report.h - the resources that a kernel takes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_CODEGEN_REPORT_H
#define TENON_CODEGEN_REPORT_H

#include "tenon/CodeGen/HotLoops.h"
#include "tenon/Sim/InstructionClass.h"
#include "tenon/Target/TargetInfo.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tenon::codegen {

/// What the code object says about one kernel. Sizes are bytes.
struct KernelReport {
  std::string name;
  unsigned vgprs = 0; ///< architectural, per lane
  unsigned agprs = 0; ///< accumulation, per lane
  unsigned sgprs = 0;
  uint64_t ldsBytes = 0;     ///< as requested, before rounding to granules
  uint64_t scratchBytes = 0; ///< per work-item
  unsigned spills = 0;       ///< VGPRs that were spilled, to AGPRs or scratch
  unsigned scalarSpills = 0; ///< SGPRs that were spilled, to lanes of VGPRs
  unsigned workgroupSize = 0;
  uint64_t codeBytes = 0;
  unsigned wavesPerSimd = 0;    ///< as far as registers go
  unsigned workgroupsPerCu = 0; ///< under registers, LDS and wave slots
  uint64_t ldsAllocated = 0;    ///< after rounding
  sim::InstructionCounts instructions = {}; ///< static, by class
  std::vector<HotLoop> loops;               ///< those with matrix instructions
};

/// Reads the reports of all kernels of a code object.
llvm::Expected<std::vector<KernelReport>>
reportKernels(llvm::ArrayRef<uint8_t> codeObject,
              const target::TargetInfo &target);

/// The reports as the table that `--report` prints.
std::string formatReports(llvm::ArrayRef<KernelReport> reports,
                          const target::TargetInfo &target);

/// The reports as the JSON text of `--report-json` (docs/reference/json.md).
std::string reportsToJson(llvm::ArrayRef<KernelReport> reports);

} // namespace tenon::codegen

#endif // TENON_CODEGEN_REPORT_H
