//===- ExecSmem.cpp - scalar memory instructions ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Atomic.h"
#include "MemoryAccess.h"
#include "Opcode.h"

#include "llvm/Support/FormatVariadic.h"

namespace tenon::sim {

/// Whether an atomic of the workgroup has yet to change what is accessed; the
/// instruction then comes again.
static bool awaitsAtomics(Wave &wave, uint64_t address, unsigned dwords) {
  if (!dwords || !wave.memory->hasAtomics() ||
      !wave.memory->isAwaited(address, 4 * dwords)) {
    return false;
  }
  wave.stop = WaveStop::Again;
  return true;
}

/// Reads dwords into scalar registers and puts them, with those that are not
/// loaded and read zero, in flight.
static void loadScalars(Wave &wave, const Instr &instr, uint64_t address,
                        unsigned dwords) {
  if (awaitsAtomics(wave, address, dwords)) {
    return;
  }
  if (wave.checks && dwords) [[unlikely]] {
    noteScalarAccess(wave, instr.dst, address, dwords, MemoryAccessKind::Load);
  }
  uint32_t words[16] = {};
  uint8_t own[sizeof(words)];
  if (const uint8_t *host = wave.memory->read(address, 4 * dwords, own)) {
    std::memcpy(words, host, 4 * dwords);
  } else {
    for (unsigned i = 0; i < dwords; ++i) {
      host = wave.memory->window(address + 4 * i).at(address + 4 * i, 4);
      if (!host) {
        return wave.fail(
            llvm::formatv("scalar load of {0} bytes at {1:x} is outside every "
                          "allocation: {2}",
                          4 * dwords, address,
                          wave.memory->describe(address + 4 * i))
                .str(),
            Check::Bounds);
      }
      std::memcpy(&words[i], host, 4);
    }
  }
  std::memcpy(&wave.s[instr.dst], words, 4 * instr.dwords);
  noteScalarAccess(wave, address, 4 * dwords, MemoryAccessKind::Load);
  wave.waits.issueSmem(instr.dst, instr.dwords);
  constexpr uint8_t glc = 1;
  if (instr.cachePolicy & glc) {
    endPoll(wave, address);
  }
}

static uint64_t offsetOf(const Wave &wave, const Instr &instr) {
  uint64_t offset = uint64_t(int64_t(instr.imm));
  return instr.saddrUsed ? offset + wave.readScalar(instr.src[0]) : offset;
}

static void execLoad(Wave &wave, const Instr &instr) {
  // The two lowest bits of the address are ignored.
  uint64_t address = (wave.pair(instr.sbase) + offsetOf(wave, instr)) & ~3ull;
  loadScalars(wave, instr, address, instr.dwords);
}

namespace {

/// A scalar access through a buffer resource: its dwords below the number of
/// records.
struct ScalarBuffer {
  uint64_t address;
  unsigned inRange;

  ScalarBuffer(const Wave &wave, const Instr &instr) {
    const uint32_t *resource = &wave.s[instr.sbase];
    uint64_t base = resource[0] | uint64_t(resource[1] & 0xFFFF) << 32;
    uint64_t stride = (resource[1] >> 16) & 0x3FFF;
    uint64_t size = stride ? stride * resource[2] : resource[2];
    uint64_t offset = offsetOf(wave, instr) & ~3ull;
    address = base + offset;
    inRange = 0;
    while (inRange < instr.dwords && offset + 4 * inRange + 4 <= size) {
      ++inRange;
    }
  }
};

} // namespace

/// Dwords beyond the records of the resource read zero.
static void execBufferLoad(Wave &wave, const Instr &instr) {
  ScalarBuffer buffer(wave, instr);
  loadScalars(wave, instr, buffer.address, buffer.inRange);
}

/// Writes scalar registers to memory, dword by dword.
static void storeScalars(Wave &wave, const Instr &instr, uint64_t address,
                         unsigned dwords) {
  if (awaitsAtomics(wave, address, dwords)) {
    return;
  }
  if (wave.checks && dwords) [[unlikely]] {
    noteScalarAccess(wave, instr.data, address, dwords,
                     MemoryAccessKind::Store);
  }
  for (unsigned i = 0; i < dwords; ++i) {
    uint64_t at = address + 4 * i;
    uint8_t word[4];
    std::memcpy(word, &wave.s[instr.data + i], 4);
    if (!wave.memory->write(at, word, 4)) {
      return wave.fail(
          llvm::formatv("scalar store of {0} bytes at {1:x} is outside every "
                        "allocation: {2}",
                        4 * dwords, address, wave.memory->describe(at))
              .str(),
          Check::Bounds);
    }
  }
  noteScalarAccess(wave, address, 4 * dwords, MemoryAccessKind::Store);
  wave.waits.issueSmem(0, 0);
}

static void execStore(Wave &wave, const Instr &instr) {
  uint64_t address = (wave.pair(instr.sbase) + offsetOf(wave, instr)) & ~3ull;
  storeScalars(wave, instr, address, instr.dwords);
}

/// Dwords beyond the records are dropped.
static void execBufferStore(Wave &wave, const Instr &instr) {
  ScalarBuffer buffer(wave, instr);
  storeScalars(wave, instr, buffer.address, buffer.inRange);
}

template <typename T> static T scalarData(const Wave &wave, unsigned reg) {
  return sizeof(T) == 8 ? T(wave.pair(reg)) : T(wave.s[reg]);
}

/// Replaces a cell by `update` of its old value at the end of the quantum, once
/// per wave; with GLC the old value goes back to the data registers. Out of
/// range it reads zero.
template <typename T, bool isBuffer>
static void scalarAtomic(Wave &wave, const Instr &instr,
                         PendingAtomic::Update update, bool compares) {
  constexpr unsigned dwords = sizeof(T) / 4;
  PendingAtomic atomic;
  atomic.address = wave.pair(instr.sbase) + offsetOf(wave, instr);
  atomic.data = scalarData<T>(wave, instr.data);
  if (compares) {
    atomic.compare = scalarData<T>(wave, instr.data + dwords);
  }
  atomic.update = update;
  atomic.wave = &wave;
  atomic.reg = instr.data;
  atomic.bytes = sizeof(T);
  atomic.result = instr.returns ? PendingAtomic::Result::Scalar
                                : PendingAtomic::Result::None;
  bool inRange = true;
  if constexpr (isBuffer) {
    ScalarBuffer buffer(wave, instr);
    atomic.address = buffer.address;
    inRange = buffer.inRange >= dwords;
  }
  if (inRange) {
    if (atomic.address % sizeof(T)) {
      return wave.fail("scalar atomic on an unaligned address", Check::Align);
    }
    if (!wave.memory->isAllocated(atomic.address, sizeof(T))) {
      return wave.fail(
          llvm::formatv("scalar atomic of {0} bytes at {1:x} is outside every "
                        "allocation: {2}",
                        sizeof(T), atomic.address,
                        wave.memory->describe(atomic.address))
              .str(),
          Check::Bounds);
    }
    if (wave.checks) [[unlikely]] {
      noteScalarAccess(wave, instr.data, atomic.address, dwords,
                       MemoryAccessKind::Atomic);
    }
    wave.memory->postpone(atomic);
    noteScalarAccess(wave, atomic.address, sizeof(T), MemoryAccessKind::Atomic);
    if (instr.returns) {
      wave.stop = WaveStop::AwaitsOthers;
    }
  }
  for (unsigned d = 0; instr.returns && d < dwords; ++d) {
    wave.s[instr.data + d] = 0;
  }
  wave.waits.issueSmem(instr.data, instr.returns ? dwords : 0);
}

template <AtomicOp op, typename T, bool isBuffer>
static void execAtomic(Wave &wave, const Instr &instr) {
  scalarAtomic<T, isBuffer>(wave, instr, updateAtomic<op, T>,
                            /*compares=*/false);
}

/// The new value comes first, the one to compare with behind it.
template <typename T, bool isBuffer>
static void execCompareSwap(Wave &wave, const Instr &instr) {
  scalarAtomic<T, isBuffer>(wave, instr, updateCompareSwap<T>,
                            /*compares=*/true);
}

/// Clocks: the wave's own instruction count, which only ever grows.
static void execTime(Wave &wave, const Instr &instr) {
  wave.setPair(instr.dst, wave.executed);
  wave.waits.issueSmem(instr.dst, 2);
}

/// Caches and address translation have no state here.
static void execCacheControl(Wave &, const Instr &) {}

namespace {

/// Adds the entries of one address form; `base` is the type of SBASE.
template <bool isBuffer> class ScalarEntries {
public:
  ScalarEntries(OpcodeTable &table) : table(table) {
    addMoves();
    addAtomics();
  }

private:
  static constexpr ValueType base = isBuffer ? ValueType::B128 : ValueType::I64;

  void addLoad(const char *name, ValueType type) {
    table.add(prefix + "load_" + name,
              {"",
               isBuffer ? execBufferLoad : execLoad,
               type,
               {base, ValueType::None, ValueType::None}});
  }
  void addStore(const char *name, ValueType type) {
    table.add(prefix + "store_" + name, {"",
                                         isBuffer ? execBufferStore : execStore,
                                         ValueType::None,
                                         {base, type, ValueType::None},
                                         opStores});
  }
  void addMoves() {
    addLoad("dword", ValueType::I32);
    addLoad("dwordx2", ValueType::I64);
    addLoad("dwordx4", ValueType::B128);
    addLoad("dwordx8", ValueType::B256);
    addLoad("dwordx16", ValueType::B512);
    addStore("dword", ValueType::I32);
    addStore("dwordx2", ValueType::I64);
    addStore("dwordx4", ValueType::B128);
  }

  void addAtomic(const std::string &name, Handler handler, ValueType data) {
    table.add(prefix + "atomic_" + name, {"",
                                          handler,
                                          ValueType::None,
                                          {base, data, ValueType::None},
                                          uint32_t(opAtomic | opStores)});
  }
  template <AtomicOp op> void addBoth(const std::string &name) {
    addAtomic(name, execAtomic<op, uint32_t, isBuffer>, ValueType::I32);
    addAtomic(name + "_x2", execAtomic<op, uint64_t, isBuffer>, ValueType::I64);
  }
  void addAtomics() {
    addBoth<AtomicOp::Swap>("swap");
    addBoth<AtomicOp::Add>("add");
    addBoth<AtomicOp::Sub>("sub");
    addBoth<AtomicOp::MinI>("smin");
    addBoth<AtomicOp::MinU>("umin");
    addBoth<AtomicOp::MaxI>("smax");
    addBoth<AtomicOp::MaxU>("umax");
    addBoth<AtomicOp::And>("and");
    addBoth<AtomicOp::Or>("or");
    addBoth<AtomicOp::Xor>("xor");
    addBoth<AtomicOp::Inc>("inc");
    addBoth<AtomicOp::Dec>("dec");
    addAtomic("cmpswap", execCompareSwap<uint32_t, isBuffer>, ValueType::I64);
    addAtomic("cmpswap_x2", execCompareSwap<uint64_t, isBuffer>,
              ValueType::B128);
  }

  OpcodeTable &table;
  std::string prefix = isBuffer ? "s_buffer_" : "s_";
};

OpcodeTable buildScalarMemoryTable() {
  OpcodeTable table;
  ScalarEntries<false> direct(table);
  ScalarEntries<true> buffer(table);
  table.add("s_memtime", {"", execTime, ValueType::I64});
  table.add("s_memrealtime", {"", execTime, ValueType::I64});
  for (const char *name :
       {"s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol"}) {
    table.add(name, {"", execCacheControl});
  }
  constexpr ValueType none = ValueType::None;
  for (const char *name :
       {"s_dcache_discard", "s_dcache_discard_x2", "s_atc_probe"}) {
    table.add(name, {"", execCacheControl, none, {ValueType::I64, none, none}});
  }
  table.add("s_atc_probe_buffer",
            {"", execCacheControl, none, {ValueType::B128, none, none}});
  return table;
}

} // namespace

llvm::ArrayRef<OpcodeInfo> scalarMemoryTable() {
  static const OpcodeTable table = buildScalarMemoryTable();
  return table.all();
}

} // namespace tenon::sim
