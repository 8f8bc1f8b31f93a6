//===- Assembler.h - code objects from assembly text ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_SIM_ASSEMBLER_H
#define TENON_TEST_UNIT_SIM_ASSEMBLER_H

#include "tenon/Sim/Device.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

namespace tenon::sim::test {

/// What a test kernel's descriptor says beyond the usual.
struct KernelOptions {
  std::string cpu = "gfx950";
  unsigned vgprs = 128;
  unsigned accumOffset = 64;
  unsigned ldsBytes = 0;
  unsigned scratchBytes = 0;
  unsigned kernargBytes = 64;
  unsigned maxWorkgroup = 1024;
  unsigned denormals32 = 3;  ///< FP_DENORM of single precision: keep
  unsigned workgroupIds = 7; ///< SGPRs for ids of x (1), y (2), z (4)
  /// More lines for the .amdhsa_kernel block.
  std::string directives;
};

/// Assembles and links one kernel called "k" with this body. The kernel gets
/// the kernarg address in s[0:1], the workgroup id in s2, s3, s4 and the packed
/// work-item id in v0.
std::vector<uint8_t> assemble(llvm::StringRef body,
                              const KernelOptions &options = {});

/// Assembles whole text, with its own descriptor and metadata.
std::vector<uint8_t> assembleText(llvm::StringRef text, llvm::StringRef cpu);

/// Loads a code object, or fails the test.
std::shared_ptr<const CodeObject> loadObject(llvm::ArrayRef<uint8_t> bytes);

/// One wave that computes `instructions` on inputs and stores results: the
/// kernel loads inputs[i] (64 dwords each) into v[10 + i], runs the
/// instructions, and stores v[40 ... 40 + outputs).
///
/// v1 holds 4 * lane. Registers v2 ... v9, s8 and above are free.
struct LaneProgram {
  std::string instructions;
  std::vector<std::vector<uint32_t>> inputs;
  unsigned outputs = 1;
  KernelOptions options;
  uint64_t perturb = 0; ///< seed of LaunchConfig

  /// The results by output and lane; an error text if the launch failed. What
  /// the checks found goes to `findings`.
  llvm::Expected<std::vector<std::vector<uint32_t>>>
  run(std::vector<Finding> *findings = nullptr) const;
};

/// Runs a program that must succeed.
std::vector<std::vector<uint32_t>> runLanes(const LaneProgram &program);

/// Text of the error of a program that must fail.
std::string runFailing(const LaneProgram &program);

/// The findings of a check in a program that must succeed, as text.
std::string findingsOf(const LaneProgram &program, Check check);

/// The pattern in registers, as floats and back.
inline uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
inline float floatOf(uint32_t bits) { return std::bit_cast<float>(bits); }

/// 64 lanes by a function of the lane.
template <typename F> std::vector<uint32_t> lanes(F function) {
  std::vector<uint32_t> values(64);
  for (unsigned i = 0; i < 64; ++i) {
    values[i] = function(i);
  }
  return values;
}

/// 64 floats that matter: zeros, denormals, ones, extremes, infinities, NaNs
/// and ordinary numbers; `rotate` shifts the order, so that two sets pair up in
/// many ways.
std::vector<uint32_t> edgeFloats(unsigned rotate = 0);

} // namespace tenon::sim::test

#endif // TENON_TEST_UNIT_SIM_ASSEMBLER_H
