//===- MfmaTest.cpp - The MFMA tables against LLVM --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every entry of the tables is assembled with operands of the widths that the
// entry implies, and its passes are compared with LLVM's scheduling model.
//
//===----------------------------------------------------------------------===//

#include "tenon/Target/TargetInfo.h"

#include "llvm-c/Target.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace tenon::target;

namespace {

/// Keeps the instructions that it is given.
class RecordingStreamer : public llvm::MCStreamer {
public:
  explicit RecordingStreamer(llvm::MCContext &context) : MCStreamer(context) {}

  bool emitSymbolAttribute(llvm::MCSymbol *, llvm::MCSymbolAttr) override {
    return true;
  }
  void emitCommonSymbol(llvm::MCSymbol *, uint64_t, llvm::Align) override {}
  void emitInstruction(const llvm::MCInst &inst,
                       const llvm::MCSubtargetInfo &) override {
    instructions.push_back(inst);
  }

  std::vector<llvm::MCInst> instructions;
};

/// LLVM's assembler and scheduling model of one chip.
class Assembler {
public:
  explicit Assembler(llvm::StringRef chip) : triple("amdgcn-amd-amdhsa") {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    std::string error;
    target = llvm::TargetRegistry::lookupTarget(triple, error);
    registers.reset(target->createMCRegInfo(triple));
    asmInfo.reset(target->createMCAsmInfo(*registers, triple, options));
    instructions.reset(target->createMCInstrInfo());
    subtarget.reset(target->createMCSubtargetInfo(triple, chip, ""));
  }

  /// The instruction that \p text is, if it is legal on the chip.
  std::optional<llvm::MCInst> assemble(const std::string &text) {
    llvm::SourceMgr sources;
    sources.setDiagHandler([](const llvm::SMDiagnostic &, void *) {});
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(text + "\n"), llvm::SMLoc());
    llvm::MCContext context(triple, asmInfo.get(), registers.get(),
                            subtarget.get(), &sources, &options);
    std::unique_ptr<llvm::MCObjectFileInfo> objectInfo(
        target->createMCObjectFileInfo(context, /*PIC=*/true));
    context.setObjectFileInfo(objectInfo.get());
    RecordingStreamer streamer(context);
    target->createNullTargetStreamer(streamer);
    std::unique_ptr<llvm::MCAsmParser> parser(
        llvm::createMCAsmParser(sources, context, streamer, *asmInfo));
    std::unique_ptr<llvm::MCTargetAsmParser> targetParser(
        target->createMCAsmParser(*subtarget, *parser, *instructions, options));
    parser->setTargetParser(*targetParser);
    if (parser->Run(/*NoInitialTextSection=*/false) ||
        streamer.instructions.size() != 1) {
      return std::nullopt;
    }
    return streamer.instructions.front();
  }

  /// Passes for which \p inst occupies the matrix core, by LLVM's model.
  double passes(const llvm::MCInst &inst) const {
    return subtarget->getSchedModel().getReciprocalThroughput(
        *subtarget, *instructions, inst);
  }

private:
  llvm::Triple triple;
  llvm::MCTargetOptions options;
  const llvm::Target *target;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
};

/// "v8" or "v[8:11]".
std::string registers(unsigned first, unsigned count) {
  if (count == 1) {
    return "v" + std::to_string(first);
  }
  return "v[" + std::to_string(first) + ":" +
         std::to_string(first + count - 1) + "]";
}

bool isF8F6F4(const Mfma &mfma) { return mfma.mnemonic.ends_with("_f8f6f4"); }

/// The cbsz or blgp that names \p format.
unsigned formatCode(MatrixFormat format) {
  switch (format) {
  case MatrixFormat::FP8:
    return 0;
  case MatrixFormat::BF8:
    return 1;
  case MatrixFormat::FP6:
    return 2;
  case MatrixFormat::BF6:
    return 3;
  case MatrixFormat::FP4:
    return 4;
  default:
    ADD_FAILURE() << "no operand of f8f6f4";
    return 0;
  }
}

std::string assemblyOf(const Mfma &mfma, bool scaled) {
  std::string acc = registers(0, mfma.accRegisters());
  std::string text = (scaled ? mfma.scaledMnemonic : mfma.mnemonic).str() +
                     " " + acc + ", " + registers(64, mfma.aRegisters()) +
                     ", " + registers(128, mfma.bRegisters()) + ", " + acc;
  if (scaled) {
    text += ", v200, v201";
  }
  if (isF8F6F4(mfma)) {
    text += " cbsz:" + std::to_string(formatCode(mfma.a)) +
            " blgp:" + std::to_string(formatCode(mfma.b));
  }
  return text;
}

class MfmaTest : public testing::TestWithParam<const char *> {
protected:
  TargetInfo info = llvm::cantFail(TargetInfo::get(GetParam()));
  Assembler assembler{GetParam()};
};

TEST_P(MfmaTest, AssemblesWithTheseOperandWidths) {
  for (const Mfma &mfma : info.mfmas()) {
    EXPECT_TRUE(assembler.assemble(assemblyOf(mfma, false)))
        << assemblyOf(mfma, false);
    if (mfma.isScalable()) {
      EXPECT_TRUE(assembler.assemble(assemblyOf(mfma, true)))
          << assemblyOf(mfma, true);
    }
    // The assembler does tell widths apart.
    Mfma wider = mfma;
    wider.k *= 2;
    EXPECT_FALSE(assembler.assemble(assemblyOf(wider, false)))
        << assemblyOf(wider, false);
  }
}

TEST_P(MfmaTest, PassesAreThoseOfTheSchedulingModel) {
  for (const Mfma &mfma : info.mfmas()) {
    std::optional<llvm::MCInst> inst =
        assembler.assemble(assemblyOf(mfma, false));
    ASSERT_TRUE(inst) << assemblyOf(mfma, false);
    double passes = assembler.passes(*inst);
    // LLVM tells the formats of f8f6f4 apart on its own instructions only; for
    // those of MC it always assumes the fast ones.
    bool slow =
        isF8F6F4(mfma) && (bitWidth(mfma.a) == 8 || bitWidth(mfma.b) == 8);
    EXPECT_EQ(mfma.passes, slow ? 2 * passes : passes)
        << assemblyOf(mfma, false);
  }
}

TEST_P(MfmaTest, NamesSayTheShape) {
  for (const Mfma &mfma : info.mfmas()) {
    std::string shape = "_" + std::to_string(mfma.m) + "x" +
                        std::to_string(mfma.n) + "x" + std::to_string(mfma.k);
    if (mfma.blocks != 1) {
      shape += "_" + std::to_string(mfma.blocks) + "b";
    }
    EXPECT_TRUE(mfma.mnemonic.contains(shape + "_")) << mfma.mnemonic.str();
    EXPECT_EQ(mfma.mnemonic.drop_front(7).take_front(3), name(mfma.acc));
  }
}

// Each k of a row is in one lane, once.
TEST_P(MfmaTest, RunsCoverK) {
  for (const Mfma &mfma : info.mfmas()) {
    for (unsigned run : {mfma.aRun, mfma.bRun}) {
      unsigned groups = 64 / (mfma.m * mfma.blocks);
      ASSERT_EQ(mfma.kPerLane() % run, 0u) << mfma.mnemonic.str();
      std::vector<unsigned> seen(mfma.k, 0);
      for (unsigned group = 0; group < groups; ++group) {
        for (unsigned r = 0; r < mfma.kPerLane() / run; ++r) {
          for (unsigned i = 0; i < run; ++i) {
            ++seen.at(run * (group + groups * r) + i);
          }
        }
      }
      EXPECT_EQ(seen, std::vector<unsigned>(mfma.k, 1))
          << mfma.mnemonic.str() << " run " << run;
    }
  }
}

TEST_P(MfmaTest, EntriesAreUnique) {
  for (const Mfma &mfma : info.mfmas()) {
    EXPECT_EQ(llvm::count_if(info.mfmas(),
                             [&](const Mfma &other) {
                               return mfma.mnemonic == other.mnemonic &&
                                      mfma.a == other.a && mfma.b == other.b;
                             }),
              1)
        << mfma.mnemonic.str();
    if (mfma.blocks == 1) {
      EXPECT_EQ(info.findMfma(mfma.m, mfma.n, mfma.k, mfma.a, mfma.b), &mfma);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, MfmaTest, testing::Values("gfx942", "gfx950"),
                         [](const auto &test) { return test.param; });

/// Peak operations per second of the fastest MFMA of the formats.
double peak(llvm::StringRef chip, MatrixFormat a, MatrixFormat b) {
  TargetInfo info = llvm::cantFail(TargetInfo::get(chip));
  const ChipFacts &facts = info.facts();
  Mfma best = info.mfmasFor(a, b).front();
  return double(best.flops()) / best.cycles() * facts.computeUnits *
         facts.simdsPerCu * facts.clockHz;
}

// The peaks in AMD's data sheets of the MI355X and the MI300X.
TEST(MfmaPeakTest, AgreesWithDataSheets) {
  using enum MatrixFormat;
  EXPECT_NEAR(peak("gfx950", F64, F64), 78.6e12, 0.1e12);
  EXPECT_NEAR(peak("gfx950", F32, F32), 157.3e12, 0.1e12);
  EXPECT_NEAR(peak("gfx950", BF16, BF16), 2.5e15, 0.02e15);
  EXPECT_NEAR(peak("gfx950", FP8, FP8), 5.0e15, 0.04e15);
  EXPECT_NEAR(peak("gfx950", I8, I8), 5.0e15, 0.04e15);
  EXPECT_NEAR(peak("gfx950", FP8, FP4), 5.0e15, 0.04e15);
  EXPECT_NEAR(peak("gfx950", FP6, FP6), 10.1e15, 0.04e15);
  EXPECT_NEAR(peak("gfx950", FP4, FP4), 10.1e15, 0.04e15);
  EXPECT_NEAR(peak("gfx942", F64, F64), 163.4e12, 0.1e12);
  EXPECT_NEAR(peak("gfx942", F32, F32), 163.4e12, 0.1e12);
  EXPECT_NEAR(peak("gfx942", XF32, XF32), 653.7e12, 0.1e12);
  EXPECT_NEAR(peak("gfx942", BF16, BF16), 1307.4e12, 0.1e12);
  EXPECT_NEAR(peak("gfx942", FP8, FP8), 2614.9e12, 0.1e12);
}

// Fastest first, then the smaller tile.
TEST(MfmaOrderTest, FastestFirst) {
  TargetInfo info = llvm::cantFail(TargetInfo::get("gfx950"));
  std::vector<std::string> names;
  for (const Mfma &mfma :
       info.mfmasFor(MatrixFormat::BF16, MatrixFormat::BF16)) {
    names.push_back(mfma.mnemonic.str());
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "v_mfma_f32_16x16x32_bf16", "v_mfma_f32_32x32x16_bf16",
                       "v_mfma_f32_16x16x16_bf16", "v_mfma_f32_32x32x8_bf16"}));
  EXPECT_TRUE(info.mfmasFor(MatrixFormat::XF32, MatrixFormat::XF32).empty());
  EXPECT_EQ(info.findMfma(16, 16, 64, MatrixFormat::BF16, MatrixFormat::BF16),
            nullptr);
}

} // namespace
