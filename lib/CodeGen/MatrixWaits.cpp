//===- MatrixWaits.cpp - wait states that LLVM 22 leaves out ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatrixWaits.h"

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSchedule.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

#include <set>

using namespace llvm;

namespace {
/// Wait states behind a product that LLVM looks at.
constexpr unsigned unseenStates = 19;
/// Those that a product's result needs besides its passes.
constexpr unsigned besidesPasses = 4;

class MatrixWaits : public MachineFunctionPass {
public:
  static char ID;
  MatrixWaits() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override { return "Tenon matrix waits"; }
  bool runOnMachineFunction(MachineFunction &function) override;

private:
  bool isProduct(const MachineInstr &instr) const {
    StringRef name = info->getName(instr.getOpcode());
    return name.starts_with("V_MFMA") || name.starts_with("V_SMFMAC");
  }
  unsigned statesOf(const MachineInstr &instr) const;
  bool usesResult(const MachineInstr &user, const MachineInstr &product) const;
  unsigned missing(const MachineBasicBlock &block,
                   MachineBasicBlock::const_reverse_instr_iterator from,
                   unsigned states, const MachineInstr &user, bool isSameBlock);

  const TargetInstrInfo *info = nullptr;
  const TargetRegisterInfo *registers = nullptr;
  TargetSchedModel schedules;
  /// Blocks that have been entered from their ends with so many states passed.
  std::set<std::pair<const MachineBasicBlock *, unsigned>> entered;
};
char MatrixWaits::ID = 0;
} // namespace

/// The wait states that \p instr is for what comes behind it.
unsigned MatrixWaits::statesOf(const MachineInstr &instr) const {
  if (instr.isMetaInstruction() || instr.isInlineAsm()) {
    return 0;
  }
  return info->getName(instr.getOpcode()) == "S_NOP"
             ? instr.getOperand(0).getImm() + 1
             : 1;
}

/// Whether \p user reads or writes a register that \p product writes.
bool MatrixWaits::usesResult(const MachineInstr &user,
                             const MachineInstr &product) const {
  Register result = product.getOperand(0).getReg();
  return any_of(user.operands(), [&](const MachineOperand &operand) {
    return operand.isReg() && operand.getReg().isPhysical() &&
           registers->regsOverlap(operand.getReg(), result);
  });
}

/// The wait states that \p user lacks behind products that it depends on, over
/// all ways back from \p from, where \p states have passed. Within a block LLVM
/// misses only what is unseenStates ahead; of several ways between blocks it
/// may take one for all.
unsigned
MatrixWaits::missing(const MachineBasicBlock &block,
                     MachineBasicBlock::const_reverse_instr_iterator from,
                     unsigned states, const MachineInstr &user,
                     bool isSameBlock) {
  unsigned most = 0;
  for (; from != block.instr_rend(); ++from) {
    if (isProduct(*from) && usesResult(user, *from)) {
      unsigned needed = schedules.computeInstrLatency(&*from) + besidesPasses;
      if (states == unseenStates) {
        most = std::max(most, 1U);
      } else if (!isSameBlock && needed > states) {
        most = std::max(most, needed - states);
      }
    }
    states += statesOf(*from);
    if (states > unseenStates) {
      return most;
    }
  }
  for (const MachineBasicBlock *before : block.predecessors()) {
    if (entered.insert({before, states}).second) {
      most = std::max(most, missing(*before, before->instr_rbegin(), states,
                                    user, /*isSameBlock=*/false));
    }
  }
  return most;
}

bool MatrixWaits::runOnMachineFunction(MachineFunction &function) {
  const TargetSubtargetInfo &subtarget = function.getSubtarget();
  info = subtarget.getInstrInfo();
  registers = subtarget.getRegisterInfo();
  schedules.init(&subtarget);
  unsigned nop = 0;
  while (info->getName(nop) != "S_NOP") {
    ++nop;
  }
  bool hasProducts = any_of(function, [&](const MachineBasicBlock &block) {
    return any_of(block.instrs(),
                  [&](const MachineInstr &instr) { return isProduct(instr); });
  });
  if (!hasProducts) {
    return false;
  }
  bool changed = false;
  for (MachineBasicBlock &block : function) {
    for (MachineInstr &instr : block.instrs()) {
      if (instr.isMetaInstruction() || instr.isInlineAsm() ||
          isProduct(instr)) {
        continue;
      }
      entered.clear();
      unsigned lacking =
          missing(block, std::next(instr.getReverseIterator()), 0, instr,
                  /*isSameBlock=*/true);
      // An instruction is 16 wait states at most.
      for (; lacking != 0; lacking -= std::min(lacking, 16U)) {
        BuildMI(block, instr, instr.getDebugLoc(), info->get(nop))
            .addImm(std::min(lacking, 16U) - 1);
        changed = true;
      }
    }
  }
  return changed;
}

FunctionPass *tenon::codegen::createMatrixWaitsPass() {
  return new MatrixWaits();
}
