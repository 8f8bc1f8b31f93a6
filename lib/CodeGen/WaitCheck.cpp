//===- WaitCheck.cpp - counted waits against the machine code ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WaitCheck.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Support/FormatVariadic.h"

#include <optional>

using namespace llvm;

namespace {
constexpr unsigned mostCounted = 1 << 16;

/// What has been issued since the last statement with counts, on any path.
struct Issued {
  unsigned least = 0;
  unsigned leastCopies = 0, mostCopies = 0;
  /// The count of a wait that has been announced and not been found yet.
  std::optional<unsigned> wait;

  bool operator==(const Issued &) const = default;

  void join(const Issued &other) {
    least = std::min(least, other.least);
    leastCopies = std::min(leastCopies, other.leastCopies);
    mostCopies = std::max(mostCopies, other.mostCopies);
    if (!wait || (other.wait && *other.wait < *wait)) {
      wait = other.wait ? other.wait : wait;
    }
  }
};

class WaitCheck : public MachineFunctionPass {
public:
  static char ID;
  explicit WaitCheck(std::string &errors)
      : MachineFunctionPass(ID), errors(errors) {}

  StringRef getPassName() const override { return "Tenon wait check"; }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction &function) override;

private:
  void visit(const MachineInstr &instr, Issued &state, bool report);
  void visitStatement(StringRef text, Issued &state, bool report);
  void complain(const Twine &what);

  const TargetInstrInfo *info = nullptr;
  const MachineFunction *function = nullptr;
  std::string &errors;
};
char WaitCheck::ID = 0;

/// The text of an inline-assembly statement behind "; tenon ", or nothing.
std::optional<StringRef> statementOf(const MachineInstr &instr) {
  if (!instr.isInlineAsm()) {
    return std::nullopt;
  }
  StringRef text = instr.getOperand(InlineAsm::MIOp_AsmString).getSymbolName();
  if (!text.consume_front("; tenon ")) {
    return std::nullopt;
  }
  return text;
}

/// vmcnt of s_waitcnt on gfx9: bits 3:0 and 15:14.
unsigned vectorMemoryCount(int64_t bits) {
  return (bits & 15) | ((bits >> 14) & 3) << 4;
}
} // namespace

void WaitCheck::complain(const Twine &what) {
  errors += formatv("kernel {0}: a copy into LDS may not be covered by its "
                    "wait: {1}\n",
                    function->getName(), what.str());
}

void WaitCheck::visitStatement(StringRef text, Issued &state, bool report) {
  if (state.wait) {
    if (report) {
      complain(formatv("no wait that leaves at most {0} vector-memory "
                       "instructions in flight where one was written",
                       *state.wait));
    }
    state.wait.reset();
  }
  unsigned count = 0;
  if (text.consume_front("wait ")) {
    text.consumeInteger(10, count);
    state.wait = count;
    return;
  }
  if (!text.consume_front("issued ")) {
    return;
  }
  unsigned copies = 0;
  text.consumeInteger(10, count);
  text.consume_front(" copies ");
  text.consumeInteger(10, copies);
  if (report && state.least < count) {
    complain(formatv("{0} vector-memory instructions were written and are "
                     "counted, the machine code has {1}",
                     count, state.least));
  }
  if (report && (state.leastCopies != copies || state.mostCopies != copies)) {
    complain(formatv(
        "{0} copies were written here, the machine code has {1}", copies,
        state.leastCopies == copies ? state.mostCopies : state.leastCopies));
  }
  state = Issued();
}

void WaitCheck::visit(const MachineInstr &instr, Issued &state, bool report) {
  if (std::optional<StringRef> text = statementOf(instr)) {
    return visitStatement(*text, state, report);
  }
  StringRef name = info->getName(instr.getOpcode());
  if (name == "S_WAITCNT") {
    if (state.wait &&
        vectorMemoryCount(instr.getOperand(0).getImm()) <= *state.wait) {
      state.wait.reset();
    }
    return;
  }
  bool vectorMemory =
      instr.mayLoadOrStore() &&
      any_of(ArrayRef<StringRef>{"BUFFER_", "GLOBAL_", "FLAT_", "SCRATCH_"},
             [&](StringRef prefix) { return name.starts_with(prefix); });
  if (!vectorMemory && !instr.isReturn()) {
    return;
  }
  if (state.wait) {
    if (report) {
      complain(formatv("an access or the end before the wait that leaves at "
                       "most {0} vector-memory instructions in flight",
                       *state.wait));
    }
    state.wait.reset();
  }
  if (instr.isReturn()) {
    if (report && state.mostCopies != 0) {
      complain("a copy was moved to the end of the kernel");
    }
    return;
  }
  bool copies = name.contains("_LDS");
  state.least = std::min(state.least + 1, mostCounted);
  state.leastCopies = std::min(state.leastCopies + copies, mostCounted);
  state.mostCopies = std::min(state.mostCopies + copies, mostCounted);
}

bool WaitCheck::runOnMachineFunction(MachineFunction &machineFunction) {
  function = &machineFunction;
  info = machineFunction.getSubtarget().getInstrInfo();
  bool written = false;
  for (const MachineBasicBlock &block : machineFunction) {
    for (const MachineInstr &instr : block.instrs()) {
      written |= statementOf(instr).has_value();
    }
  }
  if (!written) {
    return false;
  }
  // What is true at the start of each block: down to a fixed point, then once
  // more to report.
  DenseMap<const MachineBasicBlock *, Issued> starts;
  starts[&machineFunction.front()] = Issued();
  ReversePostOrderTraversal<const MachineFunction *> order(&machineFunction);
  for (bool changed = true; changed;) {
    changed = false;
    for (const MachineBasicBlock *block : order) {
      Issued state = starts[block];
      for (const MachineInstr &instr : block->instrs()) {
        visit(instr, state, /*report=*/false);
      }
      for (const MachineBasicBlock *next : block->successors()) {
        auto [entry, isNew] = starts.try_emplace(next, state);
        Issued before = entry->second;
        entry->second.join(state);
        changed |= isNew || !(entry->second == before);
      }
    }
  }
  for (const MachineBasicBlock *block : order) {
    Issued state = starts[block];
    for (const MachineInstr &instr : block->instrs()) {
      visit(instr, state, /*report=*/true);
    }
  }
  return false;
}

FunctionPass *tenon::codegen::createWaitCheckPass(std::string &errors) {
  return new WaitCheck(errors);
}
