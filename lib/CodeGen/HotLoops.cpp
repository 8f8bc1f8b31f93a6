//===- HotLoops.cpp - what the loops of matrix kernels hold -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/CodeGen/HotLoops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>

using namespace tenon;
using namespace tenon::codegen;

/// The address that \p instruction jumps to, or nothing when it is no branch.
static std::optional<uint64_t>
branchTarget(const sim::StaticInstruction &instruction) {
  auto [mnemonic, operand] = llvm::StringRef(instruction.text).split(' ');
  uint16_t words;
  if (!(mnemonic == "s_branch" || mnemonic.starts_with("s_cbranch_")) ||
      operand.trim().getAsInteger(10, words)) {
    return std::nullopt;
  }
  constexpr int64_t wordBytes = 4;
  return instruction.address + instruction.bytes +
         static_cast<int16_t>(words) * wordBytes;
}

namespace {
/// A range of vector registers, accumulation registers behind the others.
struct Registers {
  unsigned first = 0;
  unsigned last = 0;

  bool overlaps(const Registers &other) const {
    return first <= other.last && other.first <= last;
  }
};
} // namespace

/// The vector registers that \p operand names, such as `v3` or `a[0:15]`.
static std::optional<Registers> registersOf(llvm::StringRef operand) {
  constexpr unsigned firstAccumulation = 256;
  operand = operand.trim();
  unsigned base = operand.starts_with("a") ? firstAccumulation : 0;
  if (!operand.consume_front("v") && !operand.consume_front("a")) {
    return std::nullopt;
  }
  Registers result;
  if (operand.consume_front("[")) {
    if (operand.consumeInteger(10, result.first) ||
        !operand.consume_front(":")) {
      return std::nullopt;
    }
    if (operand.consumeInteger(10, result.last)) {
      return std::nullopt;
    }
  } else {
    if (operand.consumeInteger(10, result.first)) {
      return std::nullopt;
    }
    result.last = result.first;
  }
  result.first += base;
  result.last += base;
  return result;
}

/// The vector registers among the operands in \p text, in order.
static std::vector<Registers> operandsOf(llvm::StringRef text) {
  std::vector<Registers> result;
  llvm::SmallVector<llvm::StringRef> operands;
  text.split(' ').second.split(operands, ',');
  for (llvm::StringRef operand : operands) {
    if (auto registers = registersOf(operand)) {
      result.push_back(*registers);
    }
  }
  return result;
}

/// Whether \p text moves a register to a register, one of which matrix
/// instructions use. Others hold addresses.
static bool isRegisterMove(llvm::StringRef text,
                           llvm::ArrayRef<Registers> ofProducts) {
  if (!text.starts_with("v_mov_b") && !text.starts_with("v_pk_mov") &&
      !text.starts_with("v_accvgpr_")) {
    return false;
  }
  std::vector<Registers> operands = operandsOf(text);
  return operands.size() > 1 &&
         llvm::any_of(operands, [&](const Registers &operand) {
           return llvm::any_of(ofProducts, [&](const Registers &registers) {
             return registers.overlaps(operand);
           });
         });
}

/// Whether instruction \p index of \p body copies a register that is then
/// swapped with its copy. A swap of lanes changes both of its registers: to
/// meet another lane's value of the same register, as a reduction over lanes
/// does, takes a copy, however many registers are free.
static bool isCopyForSwap(llvm::ArrayRef<const sim::StaticInstruction *> body,
                          size_t index) {
  if (!llvm::StringRef(body[index]->text).starts_with("v_mov_b32")) {
    return false;
  }
  std::vector<Registers> move = operandsOf(body[index]->text);
  if (move.size() != 2) {
    return false;
  }
  auto names = [](llvm::ArrayRef<Registers> operands, const Registers &wanted) {
    return llvm::any_of(operands, [&](const Registers &operand) {
      return operand.overlaps(wanted);
    });
  };
  for (const sim::StaticInstruction *later : body.drop_front(index + 1)) {
    std::vector<Registers> operands = operandsOf(later->text);
    llvm::StringRef text = later->text;
    if (text.starts_with("v_permlane") && text.contains("_swap_") &&
        names(operands, move[0]) && names(operands, move[1])) {
      return true;
    }
    bool changesSource = !operands.empty() && operands[0].overlaps(move[1]);
    if (names(operands, move[0]) || changesSource) {
      return false;
    }
  }
  return false;
}

static void count(HotLoop &loop,
                  llvm::ArrayRef<const sim::StaticInstruction *> body,
                  size_t index, llvm::ArrayRef<Registers> ofProducts) {
  llvm::StringRef text = body[index]->text;
  bool isMove = isRegisterMove(text, ofProducts) && !isCopyForSwap(body, index);
  switch (body[index]->instructionClass) {
  case sim::InstructionClass::Mfma:
    ++loop.products;
    break;
  case sim::InstructionClass::Valu:
  case sim::InstructionClass::Trans:
    ++(isMove ? loop.registerMoves : loop.vectorAlu);
    break;
  case sim::InstructionClass::Salu:
    ++loop.scalarAlu;
    break;
  case sim::InstructionClass::Lds:
    loop.ldsReads += text.starts_with("ds_read");
    break;
  case sim::InstructionClass::VmemLoad:
    ++(text.ends_with(" lds") || text.contains(" lds ") ||
               text.starts_with("global_load_lds")
           ? loop.copies
           : loop.loads);
    break;
  default:
    break;
  }
}

llvm::Expected<std::vector<HotLoop>>
codegen::findHotLoops(const sim::Kernel &kernel) {
  std::vector<sim::StaticInstruction> code;
  if (llvm::Error error = sim::forEachInstruction(
          kernel, [&](const sim::StaticInstruction &instruction) {
            code.push_back(instruction);
          })) {
    return std::move(error);
  }
  // The end of the loop that begins at an address.
  std::map<uint64_t, uint64_t> ends;
  for (const sim::StaticInstruction &instruction : code) {
    std::optional<uint64_t> target = branchTarget(instruction);
    if (target && *target <= instruction.address) {
      uint64_t &end = ends[*target];
      end = std::max(end, instruction.address + instruction.bytes);
    }
  }
  std::vector<HotLoop> loops;
  for (auto [begin, end] : ends) {
    HotLoop loop;
    loop.address = begin;
    loop.bytes = end - begin;
    std::vector<const sim::StaticInstruction *> body;
    std::vector<Registers> ofProducts;
    for (const sim::StaticInstruction &instruction : code) {
      if (instruction.address < begin || instruction.address >= end) {
        continue;
      }
      body.push_back(&instruction);
      if (instruction.instructionClass == sim::InstructionClass::Mfma) {
        llvm::append_range(ofProducts, operandsOf(instruction.text));
      }
    }
    for (size_t index = 0; index < body.size(); ++index) {
      count(loop, body, index, ofProducts);
    }
    if (loop.products == 0) {
      continue;
    }
    // Of nested loops the innermost.
    std::erase_if(loops, [&, from = begin, to = end](const HotLoop &outer) {
      return outer.address <= from && outer.address + outer.bytes >= to;
    });
    loops.push_back(loop);
  }
  return loops;
}

std::string codegen::objection(const HotLoop &loop) {
  if (loop.bytes > HotLoop::mostBytes) {
    return "a loop with matrix instructions has " + std::to_string(loop.bytes) +
           " bytes of code, the limit is " + std::to_string(HotLoop::mostBytes);
  }
  if (loop.registerMoves * HotLoop::productsPerMove > loop.products &&
      loop.registerMoves * HotLoop::instructionsPerMove > loop.instructions()) {
    return "a loop moves " + std::to_string(loop.registerMoves) +
           " registers for " + std::to_string(loop.products) +
           " matrix instructions, the limit is one for " +
           std::to_string(HotLoop::productsPerMove);
  }
  return "";
}
