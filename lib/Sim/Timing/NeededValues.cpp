//===- NeededValues.cpp - what the time of a launch depends on --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Liveness of vector registers over the flow graph, in which only those uses
// count that time depends on. Scalar instructions are cheap and always count.
// Memory is one cell, and so is LDS: if anything in the slice reads it, all
// that is written to it is in the slice. Scalar loads are the exception, since
// every kernel has them; the model watches where they read.
//
//===----------------------------------------------------------------------===//

#include "NeededValues.h"

#include <array>

using namespace llvm;

namespace tenon::sim {

namespace {

/// A set of rows of the vector register file.
using Rows = std::array<uint64_t, 8>;

/// How an instruction takes part in the slice.
enum class Part : uint8_t {
  Always,  ///< in it, with all its operands
  Product, ///< never in it
  Compute, ///< when its result is
  Load,    ///< the same; its address always counts
  ToLds,   ///< when LDS is; its address always counts
  Store,   ///< when memory is; its address always counts
  LdsStore ///< when LDS is; its address always counts
};

struct Node {
  Part part = Part::Always;
  Rows kills = {};     ///< written in all lanes
  Rows defines = {};   ///< written
  Rows addresses = {}; ///< operands that always count
  Rows operands = {};  ///< those that count when it is in the slice
  bool isLds = false;  ///< a load from LDS
  /// Whether what memory, or LDS, holds counts wherever it is executed.
  bool countsMemory = false, countsLds = false;
  bool isReached = false; ///< from the entry: other kernels are not
  uint32_t next[2] = {~0u, ~0u};
};

class Slice {
public:
  Slice(const Program &program, const CheckProgram &checks, uint32_t entry,
        bool entersFull);

  /// False for code whose flow or registers cannot be followed.
  bool isKnown() const { return known; }
  std::vector<bool> solve();

private:
  void describe(uint32_t record, StringRef text);
  void connect(uint32_t record, StringRef mnemonic);
  void findFullMasks(uint32_t entry, bool entersFull);
  bool isNeeded(const Node &node, const Rows &after) const;
  void propagate();

  const Program &program;
  const CheckProgram &checks;
  std::vector<Node> nodes;
  std::vector<Rows> before; ///< rows that count, before each record
  /// Of writes to EXEC: whether it has all lanes then.
  std::vector<bool> writesMask, fillsMask;
  bool known = true;
  bool memoryCounts = false, ldsCounts = false;
};

} // namespace

static void add(Rows &rows, const RegisterRange &range) {
  for (unsigned row = range.first; row < unsigned(range.first + range.count);
       ++row) {
    rows[row / 64] |= uint64_t(1) << (row % 64);
  }
}

static bool intersect(const Rows &a, const Rows &b) {
  uint64_t common = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    common |= a[i] & b[i];
  }
  return common != 0;
}

Slice::Slice(const Program &program, const CheckProgram &checks, uint32_t entry,
             bool entersFull)
    : program(program), checks(checks), nodes(program.recordCount()),
      before(nodes.size()), writesMask(nodes.size()), fillsMask(nodes.size()) {
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    std::string text = program.text(program.records()[i]);
    describe(i, StringRef(text).trim());
  }
  findFullMasks(entry, entersFull);
}

void Slice::describe(uint32_t index, StringRef text) {
  const CheckRecord &record = checks.records()[index];
  const Instr &instr = program.records()[index];
  Node &node = nodes[index];
  StringRef mnemonic = text.split(' ').first;
  connect(index, mnemonic);
  if (mnemonic.starts_with("s_set_gpr_idx") || mnemonic.contains("movrel")) {
    known = false; // registers by number
  }
  bool definesScalar = false;
  for (const RegisterRange &range : record.definitions()) {
    if (range.isScalar) {
      definesScalar = true;
      unsigned end = range.first + range.count;
      writesMask[index] =
          writesMask[index] || (range.first <= sgprExec + 1 && end > sgprExec);
    } else {
      add(node.defines, range);
    }
  }
  fillsMask[index] = text.starts_with("s_mov_b64 exec, -1") ||
                     (mnemonic == "s_or_saveexec_b64" && text.ends_with(" -1"));
  bool isBuffer = instr.encoding == Encoding::Mubuf;
  auto addOperands = [&](auto isAddress) {
    for (const RegisterRange &range : record.operands()) {
      if (!range.isScalar) {
        add(isAddress(range) ? node.addresses : node.operands, range);
      }
    }
  };
  auto all = [](const RegisterRange &) { return true; };
  auto none = [](const RegisterRange &) { return false; };
  switch (record.kind) {
  case CheckKind::Mfma:
    node.part = Part::Product;
    break;
  case CheckKind::Valu:
    node.part = definesScalar ? Part::Always : Part::Compute;
    addOperands(none);
    break;
  case CheckKind::Vmem:
    if (record.is(checkAtomic | checkFlat | checkScratch) ||
        !record.is(checkLoad | checkStore | checkToLds)) {
      addOperands(all);
      // FLAT may read either.
      node.countsLds = record.is(checkFlat);
      node.countsMemory = record.is(checkAtomic | checkFlat);
    } else if (record.is(checkToLds)) {
      node.part = Part::ToLds;
      addOperands(all);
    } else if (record.is(checkLoad)) {
      node.part = Part::Load;
      addOperands(all);
    } else {
      node.part = Part::Store;
      addOperands([&](const RegisterRange &range) {
        return range.operand != (isBuffer ? 0 : 1);
      });
    }
    break;
  case CheckKind::Lds:
    if (record.is(checkAtomic)) {
      addOperands(all);
      node.countsLds = true;
    } else if (!record.bytes) { // permutations of lanes
      node.part = record.is(checkLoad) ? Part::Compute : Part::Always;
      addOperands(none);
    } else if (record.is(checkStore)) {
      node.part = Part::LdsStore;
      addOperands(
          [&](const RegisterRange &range) { return range.operand == 0; });
    } else {
      node.part = Part::Load;
      node.isLds = true;
      addOperands(all);
    }
    break;
  default:
    addOperands(all);
    break;
  }
  // What keeps bits or lanes of its destination reads it, and kills nothing.
  if (record.is(checkReadsDst | checkTiedDst | checkPartialDst | checkDpp |
                checkSdwa | checkWriteLane | checkPermlaneSwap) ||
      record.keepsOther || record.halfResult) {
    for (size_t i = 0; i < node.operands.size(); ++i) {
      node.operands[i] |= node.defines[i];
    }
  } else {
    node.kills = node.defines;
  }
}

void Slice::connect(uint32_t index, StringRef mnemonic) {
  const Instr &instr = program.records()[index];
  Node &node = nodes[index];
  bool isBranch = instr.instructionClass == InstructionClass::Branch;
  if (isBranch && mnemonic != "s_branch" &&
      !mnemonic.starts_with("s_cbranch") && !mnemonic.starts_with("s_endpgm")) {
    known = false; // goes where a register says
  }
  if (mnemonic != "s_branch" && !mnemonic.starts_with("s_endpgm") &&
      index + 1 < nodes.size()) {
    node.next[0] = index + 1;
  }
  if (mnemonic == "s_branch" || mnemonic.starts_with("s_cbranch")) {
    node.next[1] = instr.target;
  }
}

/// Where EXEC may lack lanes, writes leave a part of a row as it was.
void Slice::findFullMasks(uint32_t entry, bool entersFull) {
  enum : uint8_t { Unseen, Full, Partial };
  std::vector<uint8_t> states(nodes.size(), Unseen);
  std::vector<uint32_t> work;
  auto reach = [&](uint32_t record, uint8_t state) {
    if (record < nodes.size() && states[record] < state) {
      states[record] = state;
      work.push_back(record);
    }
  };
  reach(entry, entersFull ? Full : Partial);
  while (!work.empty()) {
    uint32_t record = work.back();
    work.pop_back();
    uint8_t after = fillsMask[record]    ? Full
                    : writesMask[record] ? Partial
                                         : states[record];
    for (uint32_t next : nodes[record].next) {
      reach(next, after);
    }
  }
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i].isReached = states[i] != Unseen;
    // Matrix products ignore the mask.
    if (states[i] != Full && nodes[i].part != Part::Product) {
      nodes[i].kills = {};
    }
  }
}

bool Slice::isNeeded(const Node &node, const Rows &after) const {
  switch (node.part) {
  case Part::Always:
    return true;
  case Part::Product:
    return false;
  case Part::Compute:
  case Part::Load:
    return intersect(node.defines, after);
  case Part::ToLds:
  case Part::LdsStore:
    return ldsCounts;
  case Part::Store:
    return memoryCounts;
  }
  return true;
}

void Slice::propagate() {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = uint32_t(nodes.size()); i-- > 0;) {
      const Node &node = nodes[i];
      if (!node.isReached) {
        continue;
      }
      Rows after = {};
      for (uint32_t next : node.next) {
        for (size_t w = 0; next < nodes.size() && w < after.size(); ++w) {
          after[w] |= before[next][w];
        }
      }
      bool needed = isNeeded(node, after);
      Rows rows;
      for (size_t w = 0; w < rows.size(); ++w) {
        rows[w] = (after[w] & ~node.kills[w]) | node.addresses[w] |
                  (needed ? node.operands[w] : 0);
      }
      changed |= rows != before[i];
      before[i] = rows;
    }
  }
}

std::vector<bool> Slice::solve() {
  std::vector<bool> needed(nodes.size());
  for (const Node &node : nodes) {
    memoryCounts |= node.isReached && node.countsMemory;
    ldsCounts |= node.isReached && node.countsLds;
  }
  for (bool changed = true; changed;) {
    propagate();
    bool memory = memoryCounts, lds = ldsCounts;
    bool copies = false;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const Node &node = nodes[i];
      if (!node.isReached) {
        continue;
      }
      Rows after = {};
      for (uint32_t next : node.next) {
        for (size_t w = 0; next < nodes.size() && w < after.size(); ++w) {
          after[w] |= before[next][w];
        }
      }
      needed[i] = isNeeded(node, after);
      copies |= node.part == Part::ToLds;
      if (node.part == Part::Load && needed[i]) {
        (node.isLds ? lds : memory) = true;
      }
    }
    memory |= lds && copies;
    changed = memory != memoryCounts || lds != ldsCounts;
    memoryCounts = memory;
    ldsCounts = lds;
  }
  return needed;
}

std::vector<bool> valuesForTime(const Program &program,
                                const CheckProgram &checks, uint32_t entry,
                                bool entersFull) {
  Slice slice(program, checks, entry, entersFull);
  if (slice.isKnown()) {
    return slice.solve();
  }
  std::vector<bool> needed(program.recordCount(), true);
  for (size_t i = 0; i < needed.size(); ++i) {
    needed[i] = checks.records()[i].kind != CheckKind::Mfma;
  }
  return needed;
}

} // namespace tenon::sim
