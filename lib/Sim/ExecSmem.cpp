//===- ExecSmem.cpp - scalar memory instructions ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Atomic.h"
#include "Opcode.h"
#include "Wave.h"

#include "llvm/Support/FormatVariadic.h"

#include <atomic>

namespace tenon::sim {

/// Reads dwords into scalar registers and puts them in flight.
static void loadScalars(Wave &wave, unsigned reg, uint64_t address,
                        unsigned dwords) {
  if (dwords == 0) {
    return;
  }
  uint32_t words[16] = {};
  if (const uint8_t *host =
          wave.memory->translate(address, 4 * dwords, /*forWrite=*/false)) {
    std::memcpy(words, host, 4 * dwords);
  } else {
    for (unsigned i = 0; i < dwords; ++i) {
      host = wave.memory->translate(address + 4 * i, 4, /*forWrite=*/false);
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
  std::memcpy(&wave.s[reg], words, 4 * dwords);
}

static uint64_t offsetOf(const Wave &wave, const Instr &instr) {
  uint64_t offset = uint64_t(int64_t(instr.imm));
  return instr.saddrUsed ? offset + wave.readScalar(instr.src[0]) : offset;
}

static void execLoad(Wave &wave, const Instr &instr) {
  // The two lowest bits of the address are ignored.
  uint64_t address = (wave.pair(instr.sbase) + offsetOf(wave, instr)) & ~3ull;
  loadScalars(wave, instr.dst, address, instr.dwords);
  wave.waits.issueSmem(instr.dst, instr.dwords);
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
  for (unsigned i = buffer.inRange; i < instr.dwords; ++i) {
    wave.s[instr.dst + i] = 0;
  }
  loadScalars(wave, instr.dst, buffer.address, buffer.inRange);
  wave.waits.issueSmem(instr.dst, instr.dwords);
}

/// Writes scalar registers to memory, dword by dword.
static void storeScalars(Wave &wave, unsigned reg, uint64_t address,
                         unsigned dwords) {
  for (unsigned i = 0; i < dwords; ++i) {
    uint64_t at = address + 4 * i;
    uint8_t *host = wave.memory->translate(at, 4, /*forWrite=*/true);
    if (!host) {
      return wave.fail(
          llvm::formatv("scalar store of {0} bytes at {1:x} is outside every "
                        "allocation: {2}",
                        4 * dwords, address, wave.memory->describe(at))
              .str());
    }
    std::memcpy(host, &wave.s[reg + i], 4);
  }
}

static void execStore(Wave &wave, const Instr &instr) {
  uint64_t address = (wave.pair(instr.sbase) + offsetOf(wave, instr)) & ~3ull;
  storeScalars(wave, instr.data, address, instr.dwords);
  wave.waits.issueSmem(0, 0);
}

/// Dwords beyond the records are dropped.
static void execBufferStore(Wave &wave, const Instr &instr) {
  ScalarBuffer buffer(wave, instr);
  storeScalars(wave, instr.data, buffer.address, buffer.inRange);
  wave.waits.issueSmem(0, 0);
}

template <typename T> static T scalarData(const Wave &wave, unsigned reg) {
  return sizeof(T) == 8 ? T(wave.pair(reg)) : T(wave.s[reg]);
}

/// Replaces a cell by `update` of its old value, once per wave; with GLC the
/// old value goes back to the data registers. Out of range it reads zero.
template <typename T, bool isBuffer, typename Update>
static void scalarAtomic(Wave &wave, const Instr &instr, Update update) {
  constexpr unsigned dwords = sizeof(T) / 4;
  uint64_t address = wave.pair(instr.sbase) + offsetOf(wave, instr);
  T old = 0;
  bool inRange = true;
  if constexpr (isBuffer) {
    ScalarBuffer buffer(wave, instr);
    address = buffer.address;
    inRange = buffer.inRange >= dwords;
  }
  if (inRange) {
    if (address % sizeof(T)) {
      return wave.fail("scalar atomic on an unaligned address");
    }
    uint8_t *host =
        wave.memory->translate(address, sizeof(T), /*forWrite=*/true);
    if (!host) {
      return wave.fail(
          llvm::formatv("scalar atomic of {0} bytes at {1:x} is outside every "
                        "allocation: {2}",
                        sizeof(T), address, wave.memory->describe(address))
              .str());
    }
    std::atomic_ref<T> cell(*reinterpret_cast<T *>(host));
    old = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(old, update(old))) {
    }
  }
  if (instr.returns) {
    for (unsigned d = 0; d < dwords; ++d) {
      wave.s[instr.data + d] = uint32_t(uint64_t(old) >> (32 * d));
    }
  }
  wave.waits.issueSmem(instr.data, instr.returns ? dwords : 0);
}

template <AtomicOp op, typename T, bool isBuffer>
static void execAtomic(Wave &wave, const Instr &instr) {
  T data = scalarData<T>(wave, instr.data);
  scalarAtomic<T, isBuffer>(
      wave, instr, [data](T old) { return atomicResult<op>(old, data); });
}

/// The new value comes first, the one to compare with behind it.
template <typename T, bool isBuffer>
static void execCompareSwap(Wave &wave, const Instr &instr) {
  T data = scalarData<T>(wave, instr.data);
  T compare = scalarData<T>(wave, instr.data + sizeof(T) / 4);
  scalarAtomic<T, isBuffer>(wave, instr,
                            [=](T old) { return old == compare ? data : old; });
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
