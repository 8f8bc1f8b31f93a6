//===- OrderStatements.cpp - statements that keep order ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OrderStatements.h"

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"

using namespace llvm;

namespace {
class OrderStatements : public MachineFunctionPass {
public:
  static char ID;
  OrderStatements() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override { return "Tenon order statements"; }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction &function) override;
};
char OrderStatements::ID = 0;
} // namespace

bool OrderStatements::runOnMachineFunction(MachineFunction &function) {
  constexpr int64_t effects = InlineAsm::Extra_HasSideEffects;
  constexpr int64_t memory =
      InlineAsm::Extra_MayLoad | InlineAsm::Extra_MayStore;
  bool changed = false;
  for (MachineBasicBlock &block : function) {
    for (MachineInstr &instr : block.instrs()) {
      if (!instr.isInlineAsm()) {
        continue;
      }
      MachineOperand &info = instr.getOperand(InlineAsm::MIOp_ExtraInfo);
      bool hasOperands =
          instr.getNumOperands() > InlineAsm::MIOp_FirstOperand &&
          instr.getOperand(InlineAsm::MIOp_FirstOperand).isImm();
      if ((info.getImm() & effects) && !hasOperands) {
        info.setImm(info.getImm() | memory);
        changed = true;
      }
    }
  }
  return changed;
}

FunctionPass *tenon::codegen::createOrderStatementsPass() {
  return new OrderStatements();
}
