//===- Report.cpp - the resources that a kernel takes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/CodeGen/Report.h"

#include "tenon/Sim/CodeObject.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numeric>

using namespace tenon;
using namespace tenon::codegen;

llvm::Expected<std::vector<KernelReport>>
codegen::reportKernels(llvm::ArrayRef<uint8_t> codeObject,
                       const target::TargetInfo &target) {
  auto object = sim::CodeObject::load(codeObject);
  if (!object) {
    return object.takeError();
  }
  std::vector<KernelReport> reports;
  for (const sim::Kernel &kernel : (*object)->kernels()) {
    const sim::KernelInfo &info = kernel.info();
    auto counts = sim::countStaticInstructions(kernel);
    if (!counts) {
      return counts.takeError();
    }
    auto loops = findHotLoops(kernel);
    if (!loops) {
      return loops.takeError();
    }
    KernelReport report;
    report.loops = std::move(*loops);
    report.name = info.name;
    report.vgprs = info.vgprs;
    report.agprs = info.agprs;
    report.sgprs = info.sgprs;
    report.ldsBytes = info.ldsBytes;
    report.scratchBytes = info.scratchBytes;
    report.spills = info.vgprSpills;
    report.scalarSpills = info.sgprSpills;
    report.workgroupSize = info.requiredWorkgroup[0]
                               ? info.requiredWorkgroup[0] *
                                     info.requiredWorkgroup[1] *
                                     info.requiredWorkgroup[2]
                               : info.maxWorkgroup;
    report.codeBytes = kernel.codeBytes();
    report.wavesPerSimd =
        target.wavesPerSimd(info.vgprs, info.agprs, info.sgprs);
    report.workgroupsPerCu =
        target.workgroupsPerCu(info.vgprs, info.agprs, info.ldsBytes,
                               report.workgroupSize, info.sgprs);
    report.ldsAllocated = target.ldsAllocation(info.ldsBytes);
    report.instructions = *counts;
    reports.push_back(std::move(report));
  }
  return reports;
}

static std::string className(unsigned index) {
  return sim::instructionClassName(static_cast<sim::InstructionClass>(index))
      .str();
}

std::string codegen::formatReports(llvm::ArrayRef<KernelReport> reports,
                                   const target::TargetInfo &target) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const KernelReport &report : reports) {
    unsigned granule = target.facts().ldsGranule;
    fmt::format_to(out, "kernel {} for {}\n", report.name, target.chip().str());
    fmt::format_to(out, "  registers       {} VGPRs, {} AGPRs, {} SGPRs\n",
                   report.vgprs, report.agprs, report.sgprs);
    fmt::format_to(out, "  LDS             {} bytes, {} granules of {}\n",
                   report.ldsBytes, report.ldsAllocated / granule, granule);
    fmt::format_to(out, "  scratch         {} bytes per work-item\n",
                   report.scratchBytes);
    fmt::format_to(out,
                   "  occupancy       {} waves per SIMD, {} workgroups of "
                   "{} per compute unit\n",
                   report.wavesPerSimd, report.workgroupsPerCu,
                   report.workgroupSize);
    uint64_t total = std::accumulate(report.instructions.begin(),
                                     report.instructions.end(), uint64_t(0));
    fmt::format_to(out, "  code            {} bytes, {} instructions:",
                   report.codeBytes, total);
    const char *separator = " ";
    for (unsigned index = 0; index < sim::instructionClassCount; ++index) {
      if (report.instructions[index] != 0) {
        fmt::format_to(out, "{}{} {}", separator, report.instructions[index],
                       className(index));
        separator = ", ";
      }
    }
    text += "\n";
    for (const HotLoop &loop : report.loops) {
      fmt::format_to(
          out,
          "  loop            {} bytes, {} mfma, {:.2f} register moves per 16, "
          "{} salu, {} other valu, {} lds reads, {} copies, {} loads\n",
          loop.bytes, loop.products, 16.0 * loop.registerMoves / loop.products,
          loop.scalarAlu, loop.vectorAlu, loop.ldsReads, loop.copies,
          loop.loads);
    }
  }
  return text;
}

std::string codegen::reportsToJson(llvm::ArrayRef<KernelReport> reports) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const KernelReport &report : reports) {
    nlohmann::ordered_json instructions;
    for (unsigned index = 0; index < sim::instructionClassCount; ++index) {
      instructions[className(index)] = report.instructions[index];
    }
    nlohmann::ordered_json loops = nlohmann::ordered_json::array();
    for (const HotLoop &loop : report.loops) {
      loops.push_back({{"bytes", loop.bytes},
                       {"mfma", loop.products},
                       {"register_moves", loop.registerMoves},
                       {"salu", loop.scalarAlu},
                       {"other_valu", loop.vectorAlu},
                       {"lds_reads", loop.ldsReads},
                       {"copies", loop.copies},
                       {"loads", loop.loads}});
    }
    kernels.push_back({{"name", report.name},
                       {"vgprs", report.vgprs},
                       {"agprs", report.agprs},
                       {"sgprs", report.sgprs},
                       {"lds_bytes", report.ldsBytes},
                       {"scratch_bytes", report.scratchBytes},
                       {"waves_per_simd", report.wavesPerSimd},
                       {"workgroups_per_cu", report.workgroupsPerCu},
                       {"workgroup_size", report.workgroupSize},
                       {"code_bytes", report.codeBytes},
                       {"instructions", instructions},
                       {"loops", loops}});
  }
  nlohmann::ordered_json root;
  root["kernels"] = kernels;
  return root.dump(2) + "\n";
}
