//===- Assembler.cpp - code objects from assembly text ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include "lld/Common/Driver.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include <algorithm>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace tenon::sim::test {

/// Text to a relocatable object.
static SmallVector<char, 0> assembleObject(StringRef text, StringRef cpu) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(
      target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, cpu, ""));
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text), SMLoc());
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(),
                    &sources);
  std::unique_ptr<MCObjectFileInfo> fileInfo(
      target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(fileInfo.get());
  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  std::unique_ptr<MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::unique_ptr<MCCodeEmitter>(
          target->createMCCodeEmitter(*instructions, context)),
      *subtarget));
  std::unique_ptr<MCAsmParser> parser(
      createMCAsmParser(sources, context, *streamer, *asmInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false)) {
    ADD_FAILURE() << "cannot assemble:\n" << text.str();
    object.clear();
  }
  return object;
}

std::vector<uint8_t> assembleText(StringRef text, StringRef cpu) {
  SmallVector<char, 0> object = assembleObject(text, cpu);
  if (object.empty()) {
    return {};
  }
  SmallString<128> input, output;
  cantFail(
      errorCodeToError(sys::fs::createTemporaryFile("tenon-sim", "o", input)));
  cantFail(errorCodeToError(
      sys::fs::createTemporaryFile("tenon-sim", "co", output)));
  FileRemover removeInput(input), removeOutput(output);
  {
    std::error_code code;
    raw_fd_ostream stream(input, code);
    stream.write(object.data(), object.size());
  }
  const char *args[] = {"ld.lld", "-shared", input.c_str(), "-o",
                        output.c_str()};
  lld::Result result =
      lld::lldMain(args, outs(), errs(), {{lld::Gnu, &lld::elf::link}});
  EXPECT_EQ(result.retCode, 0);
  auto buffer = MemoryBuffer::getFile(output);
  if (!buffer) {
    ADD_FAILURE() << "the linker wrote nothing";
    return {};
  }
  StringRef bytes = (*buffer)->getBuffer();
  return {bytes.bytes_begin(), bytes.bytes_end()};
}

std::vector<uint8_t> assemble(StringRef body, const KernelOptions &options) {
  std::string text =
      formatv(R"(
  .amdgcn_target "amdgcn-amd-amdhsa--{0}"
  .text
  .globl k
  .p2align 8
  .type k,@function
k:
{1}
  s_endpgm
.Lkernel_end:
  .size k, .Lkernel_end-k
  .rodata
  .p2align 6
  .amdhsa_kernel k
    .amdhsa_group_segment_fixed_size {2}
    .amdhsa_private_segment_fixed_size {3}
    .amdhsa_kernarg_size {4}
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_system_sgpr_workgroup_id_x {12}
    .amdhsa_system_sgpr_workgroup_id_y {13}
    .amdhsa_system_sgpr_workgroup_id_z {14}
    .amdhsa_system_vgpr_workitem_id 2
    .amdhsa_enable_private_segment {5}
    .amdhsa_next_free_vgpr {6}
    .amdhsa_next_free_sgpr 96
    .amdhsa_accum_offset {7}
    .amdhsa_float_denorm_mode_32 {11}
{8}
  .end_amdhsa_kernel
  .amdgpu_metadata
  amdhsa.version: [1, 2]
  amdhsa.target: amdgcn-amd-amdhsa--{0}
  amdhsa.kernels:
    - .name: k
      .symbol: k.kd
      .kernarg_segment_size: {4}
      .kernarg_segment_align: 8
      .group_segment_fixed_size: {2}
      .private_segment_fixed_size: {3}
      .wavefront_size: 64
      .sgpr_count: 96
      .vgpr_count: {6}
      .agpr_count: {9}
      .max_flat_workgroup_size: {10}
  .end_amdgpu_metadata
)",
              options.cpu, body, options.ldsBytes, options.scratchBytes,
              options.kernargBytes, options.scratchBytes ? 1 : 0, options.vgprs,
              options.accumOffset, options.directives,
              options.vgprs - options.accumOffset, options.maxWorkgroup,
              options.denormals32, options.workgroupIds & 1,
              options.workgroupIds >> 1 & 1, options.workgroupIds >> 2 & 1)
          .str();
  return assembleText(text, options.cpu);
}

std::shared_ptr<const CodeObject> loadObject(ArrayRef<uint8_t> bytes) {
  Expected<std::shared_ptr<const CodeObject>> object = CodeObject::load(bytes);
  if (!object) {
    ADD_FAILURE() << toString(object.takeError());
    return nullptr;
  }
  return *object;
}

Expected<std::vector<std::vector<uint32_t>>>
LaneProgram::run(std::vector<Finding> *findings) const {
  std::string body = R"(
  v_lshlrev_b32 v1, 2, v0
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
)";
  for (unsigned i = 0; i < inputs.size(); ++i) {
    body += formatv("  v_add_u32 v2, {1}, v1\n"
                    "  global_load_dword v{0}, v2, s[4:5]\n",
                    10 + i, 256 * i)
                .str();
  }
  body += "  s_waitcnt vmcnt(0)\n" + instructions + "\n";
  body += "  s_mov_b64 exec, -1\n  v_mbcnt_lo_u32_b32 v1, -1, 0\n"
          "  v_mbcnt_hi_u32_b32 v1, -1, v1\n  v_lshlrev_b32 v1, 2, v1\n";
  for (unsigned i = 0; i < outputs; ++i) {
    // The offset of an instruction reaches 4095 bytes.
    body +=
        formatv(i < 16 ? "  global_store_dword v1, v{0}, s[6:7] offset:{1}\n"
                       : "  v_add_u32 v2, {1}, v1\n"
                         "  global_store_dword v2, v{0}, s[6:7]\n",
                40 + i, 256 * i)
            .str();
  }
  std::shared_ptr<const CodeObject> object =
      loadObject(assemble(body, options));
  if (!object) {
    return createStringError("no code object");
  }
  Device device;
  Memory &memory = device.memory();
  uint64_t in = cantFail(memory.allocate(256 * inputs.size(), {"input", {}}));
  uint64_t out = cantFail(memory.allocate(256 * outputs, {"output", {}}));
  for (unsigned i = 0; i < inputs.size(); ++i) {
    cantFail(memory.write(
        in + 256 * i,
        ArrayRef(reinterpret_cast<const uint8_t *>(inputs[i].data()), 256)));
  }
  LaunchConfig config;
  config.block = {64, 1, 1};
  config.setArg(0, in);
  config.setArg(8, out);
  config.instructionBudget = 1 << 20;
  config.perturb = perturb;
  Expected<LaunchResult> result =
      device.launch(*object->findKernel("k"), config);
  if (!result) {
    return result.takeError();
  }
  if (findings) {
    *findings = std::move(result->findings);
  }
  std::vector<std::vector<uint32_t>> values(outputs, std::vector<uint32_t>(64));
  for (unsigned i = 0; i < outputs; ++i) {
    cantFail(memory.read(
        out + 256 * i,
        MutableArrayRef(reinterpret_cast<uint8_t *>(values[i].data()), 256)));
  }
  return values;
}

std::vector<std::vector<uint32_t>> runLanes(const LaneProgram &program) {
  auto values = program.run();
  if (!values) {
    ADD_FAILURE() << toString(values.takeError());
    return std::vector<std::vector<uint32_t>>(program.outputs,
                                              std::vector<uint32_t>(64));
  }
  return *values;
}

std::string runFailing(const LaneProgram &program) {
  auto values = program.run();
  if (values) {
    ADD_FAILURE() << "the launch should have failed";
    return "";
  }
  return toString(values.takeError());
}

std::string findingsOf(const LaneProgram &program, Check check) {
  std::vector<Finding> findings;
  auto values = program.run(&findings);
  if (!values) {
    ADD_FAILURE() << toString(values.takeError());
  }
  std::string text;
  for (const Finding &finding : findings) {
    if (finding.check == check) {
      text += formatFinding(finding);
    }
  }
  return text;
}

std::vector<uint32_t> edgeFloats(unsigned rotate) {
  std::vector<uint32_t> values = {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF,
      0x00800000, 0x80800000, 0x3F800000, 0xBF800000, 0x3F7FFFFF, 0x3F800001,
      0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000,
      0x7FC12345, 0x3EAAAAAB, 0x40490FDB, 0xC0490FDB, 0x4B000000, 0x4B000001,
      0xCB000000, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0x4F800000, 0x3F000000,
      0xBF000000, 0x40200000};
  uint32_t state = 12345;
  while (values.size() < 64) {
    state = state * 1664525 + 1013904223;
    values.push_back((state & 0x807FFFFF) | ((100 + state % 54) << 23));
  }
  std::rotate(values.begin(), values.begin() + rotate % 64, values.end());
  return values;
}

} // namespace tenon::sim::test
