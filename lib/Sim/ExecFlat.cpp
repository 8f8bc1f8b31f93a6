//===- ExecFlat.cpp - GLOBAL, SCRATCH and FLAT instructions -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Atomic.h"
#include "LdsAccess.h"
#include "MemoryAccess.h"

#include "llvm/ADT/Twine.h"

namespace tenon::sim {

/// Addresses of GLOBAL and FLAT instructions.
static void flatAddresses(const Wave &wave, const Instr &instr,
                          LaneAddresses &lanes) {
  lanes.active = wave.exec();
  const uint32_t *lo = wave.v[instr.addr];
  uint64_t offset = uint64_t(int64_t(instr.imm));
  if (instr.saddrUsed) {
    uint64_t base = wave.pair(instr.sbase) + offset;
    TENON_LANES
    for (unsigned i = 0; i < waveSize; ++i) {
      lanes.address[i] = base + lo[i];
    }
    return;
  }
  const uint32_t *hi = wave.v[instr.addr + 1];
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    lanes.address[i] = (lo[i] | uint64_t(hi[i]) << 32) + offset;
  }
}

template <Format format>
static void execGlobalLoad(Wave &wave, const Instr &instr) {
  LaneAddresses lanes;
  flatAddresses(wave, instr, lanes);
  if (!awaitsAtomics(wave, lanes, memoryBytes(format))) {
    loadLanes<format>(wave, instr.dst, lanes);
    endPoll(wave, instr, lanes);
  }
}

template <Format format>
static void execGlobalStore(Wave &wave, const Instr &instr) {
  LaneAddresses lanes;
  flatAddresses(wave, instr, lanes);
  if (!awaitsAtomics(wave, lanes, memoryBytes(format))) {
    storeLanes<format>(wave, instr.data, lanes);
  }
}

/// Copies bytes of a lane's private segment; false after an error.
static bool copyScratch(Wave &wave, unsigned lane, int64_t offset,
                        uint8_t *bytes, unsigned count, bool isStore) {
  if (offset < 0 || offset + count > wave.scratchBytes) {
    wave.fail("lane " + llvm::Twine(lane) + ": scratch " +
                  (isStore ? "store" : "load") + " of " + llvm::Twine(count) +
                  " bytes at offset " + llvm::Twine(offset) +
                  " of a private segment of " + llvm::Twine(wave.scratchBytes) +
                  " bytes",
              Check::Bounds);
    return false;
  }
  for (unsigned i = 0; i < count; ++i) {
    uint64_t at = uint64_t(offset) + i;
    uint8_t &cell = wave.scratch[((at / 4) * waveSize + lane) * 4 + at % 4];
    if (isStore) {
      cell = bytes[i];
    } else {
      bytes[i] = cell;
    }
  }
  return true;
}

/// Offset of each lane in the private segment; a uniform one when no VGPR
/// takes part.
static int64_t scratchOffset(const Wave &wave, const Instr &instr,
                             unsigned lane) {
  int64_t offset = instr.imm;
  if (instr.saddrUsed) {
    offset += int32_t(wave.s[instr.sbase]);
  }
  if (instr.addrUsed) {
    offset += int32_t(wave.v[instr.addr][lane]);
  }
  return offset;
}

/// The dwords of all lanes at a uniform aligned offset, or null. They lie side
/// by side, so that spills are plain copies.
static uint32_t *uniformScratch(Wave &wave, const Instr &instr,
                                unsigned dwords) {
  if (instr.addrUsed || wave.exec() != allLanes) {
    return nullptr;
  }
  int64_t offset = scratchOffset(wave, instr, 0);
  if (offset < 0 || offset % 4 || offset + 4 * dwords > wave.scratchBytes) {
    return nullptr;
  }
  return reinterpret_cast<uint32_t *>(wave.scratch.data() + offset * waveSize);
}

template <Format format>
static void execScratchLoad(Wave &wave, const Instr &instr) {
  constexpr unsigned dwords = formatDwords(format);
  checkLoadTarget(wave, instr.dst, dwords);
  wave.waits.issueVmem(instr.dst, dwords);
  if constexpr (memoryBytes(format) >= 4) {
    if (const uint32_t *from = uniformScratch(wave, instr, dwords)) {
      std::memcpy(wave.v[instr.dst], from, 4 * waveSize * dwords);
      return;
    }
  }
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint8_t bytes[16];
    if (!copyScratch(wave, lane, scratchOffset(wave, instr, lane), bytes,
                     memoryBytes(format), /*isStore=*/false)) {
      return;
    }
    loadLane<format>(wave, instr.dst, lane, bytes);
  }
}

template <Format format>
static void execScratchStore(Wave &wave, const Instr &instr) {
  constexpr unsigned dwords = formatDwords(format);
  wave.waits.issueVmem(0, 0);
  if constexpr (memoryBytes(format) >= 4) {
    if (uint32_t *to = uniformScratch(wave, instr, dwords)) {
      std::memcpy(to, wave.v[instr.data], 4 * waveSize * dwords);
      return;
    }
  }
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint8_t bytes[16];
    storeLane<format>(wave, instr.data, lane, bytes);
    if (!copyScratch(wave, lane, scratchOffset(wave, instr, lane), bytes,
                     memoryBytes(format), /*isStore=*/true)) {
      return;
    }
  }
}

/// Splits the lanes of a FLAT access: those that go to LDS or to the private
/// segment are handled by `local`, the others stay active.
template <typename Local>
static void splitFlat(Wave &wave, LaneAddresses &lanes, Local local) {
  for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint32_t aperture = uint32_t(lanes.address[lane] >> 32);
    if (aperture == sharedAperture || aperture == privateAperture) {
      lanes.active &= ~(uint64_t(1) << lane);
      local(lane, uint32_t(lanes.address[lane]), aperture == sharedAperture);
    }
  }
}

template <Format format>
static void execFlatLoad(Wave &wave, const Instr &instr) {
  LaneAddresses lanes;
  flatAddresses(wave, instr, lanes);
  if (awaitsAtomics(wave, lanes, memoryBytes(format))) {
    return;
  }
  splitFlat(wave, lanes, [&](unsigned lane, uint32_t offset, bool isLds) {
    uint8_t bytes[16];
    if (isLds) {
      readLds(*wave.workgroup, offset, bytes, memoryBytes(format));
    } else if (!copyScratch(wave, lane, offset, bytes, memoryBytes(format),
                            /*isStore=*/false)) {
      return;
    }
    loadLane<format>(wave, instr.dst, lane, bytes);
  });
  loadLanes<format>(wave, instr.dst, lanes);
  // A FLAT load counts in both counters.
  wave.waits.issueLds(instr.dst, formatDwords(format));
  endPoll(wave, instr, lanes);
}

template <Format format>
static void execFlatStore(Wave &wave, const Instr &instr) {
  LaneAddresses lanes;
  flatAddresses(wave, instr, lanes);
  if (awaitsAtomics(wave, lanes, memoryBytes(format))) {
    return;
  }
  splitFlat(wave, lanes, [&](unsigned lane, uint32_t offset, bool isLds) {
    uint8_t bytes[16];
    storeLane<format>(wave, instr.data, lane, bytes);
    if (isLds) {
      writeLds(*wave.workgroup, offset, bytes, memoryBytes(format));
    } else {
      copyScratch(wave, lane, offset, bytes, memoryBytes(format),
                  /*isStore=*/true);
    }
  });
  storeLanes<format>(wave, instr.data, lanes);
  wave.waits.issueLds(0, 0);
}

/// An atomic on every lane; a FLAT one may go to LDS or to the private segment.
template <typename T, bool isFlat>
static void atomicOfLanes(Wave &wave, const Instr &instr,
                          PendingAtomic::Update update, bool compares) {
  constexpr unsigned dwords = sizeof(T) / 4;
  LaneAddresses lanes;
  flatAddresses(wave, instr, lanes);
  if constexpr (isFlat) {
    splitFlat(wave, lanes, [&](unsigned lane, uint32_t offset, bool isLds) {
      T old;
      auto *bytes = reinterpret_cast<uint8_t *>(&old);
      if (isLds) {
        readLds(*wave.workgroup, offset, bytes, sizeof(T));
      } else if (!copyScratch(wave, lane, offset, bytes, sizeof(T),
                              /*isStore=*/false)) {
        return;
      }
      T value = T(
          update(old, laneData<T>(wave, instr.data, lane),
                 compares ? laneData<T>(wave, instr.data + dwords, lane) : 0));
      bytes = reinterpret_cast<uint8_t *>(&value);
      if (isLds) {
        writeLds(*wave.workgroup, offset, bytes, sizeof(T));
      } else {
        copyScratch(wave, lane, offset, bytes, sizeof(T), /*isStore=*/true);
      }
      for (unsigned d = 0; instr.returns && d < dwords; ++d) {
        wave.v[instr.dst + d][lane] = uint32_t(uint64_t(old) >> (32 * d));
      }
    });
  }
  atomicLanes<T>(wave, instr.dst, instr.returns, instr.data, lanes, update,
                 compares);
  if (isFlat) {
    wave.waits.issueLds(instr.returns ? instr.dst : 0,
                        instr.returns ? dwords : 0);
  }
}

template <AtomicOp op, typename T, bool isFlat>
static void execAtomic(Wave &wave, const Instr &instr) {
  atomicOfLanes<T, isFlat>(wave, instr, updateAtomic<op, T>,
                           /*compares=*/false);
}

template <typename T, bool isFlat>
static void execCompareSwap(Wave &wave, const Instr &instr) {
  atomicOfLanes<T, isFlat>(wave, instr, updateCompareSwap<T>,
                           /*compares=*/true);
}

/// Loads into LDS at M0 + offset + lane * size; visible after vmcnt.
template <unsigned bytes, bool isSigned = false>
static void execGlobalLoadLds(Wave &wave, const Instr &instr) {
  LaneAddresses lanes;
  flatAddresses(wave, instr, lanes);
  // The offset applies to both sides.
  loadToLds(wave, lanes, lanes.active, wave.s[sgprM0] + uint32_t(instr.imm),
            bytes, isSigned);
}

namespace {

/// Adds the loads and stores of one segment.
template <template <Format> class Load, template <Format> class Store>
void addMoves(OpcodeTable &table, const std::string &prefix) {
  auto load = [&]<Format format>(const char *name) {
    OpcodeInfo info = {"", Load<format>::handler, formatType(format)};
    info.flags = opReturns;
    table.add(prefix + "load_" + name, info);
  };
  auto store = [&]<Format format>(const char *name) {
    OpcodeInfo info = {"",
                       Store<format>::handler,
                       ValueType::None,
                       {formatType(format), ValueType::None, ValueType::None}};
    info.flags = opStores;
    table.add(prefix + "store_" + name, info);
  };
  load.template operator()<Format::U8>("ubyte");
  load.template operator()<Format::I8>("sbyte");
  load.template operator()<Format::U16>("ushort");
  load.template operator()<Format::I16>("sshort");
  load.template operator()<Format::B32>("dword");
  load.template operator()<Format::B64>("dwordx2");
  load.template operator()<Format::B96>("dwordx3");
  load.template operator()<Format::B128>("dwordx4");
  load.template operator()<Format::U8D16>("ubyte_d16");
  load.template operator()<Format::U8D16Hi>("ubyte_d16_hi");
  load.template operator()<Format::I8D16>("sbyte_d16");
  load.template operator()<Format::I8D16Hi>("sbyte_d16_hi");
  load.template operator()<Format::B16D16>("short_d16");
  load.template operator()<Format::B16D16Hi>("short_d16_hi");
  store.template operator()<Format::U8>("byte");
  store.template operator()<Format::U8D16Hi>("byte_d16_hi");
  store.template operator()<Format::U16>("short");
  store.template operator()<Format::B16D16Hi>("short_d16_hi");
  store.template operator()<Format::B32>("dword");
  store.template operator()<Format::B64>("dwordx2");
  store.template operator()<Format::B96>("dwordx3");
  store.template operator()<Format::B128>("dwordx4");
}

template <Format format> struct GlobalLoad {
  static constexpr Handler handler = execGlobalLoad<format>;
};
template <Format format> struct GlobalStore {
  static constexpr Handler handler = execGlobalStore<format>;
};
template <Format format> struct ScratchLoad {
  static constexpr Handler handler = execScratchLoad<format>;
};
template <Format format> struct ScratchStore {
  static constexpr Handler handler = execScratchStore<format>;
};
template <Format format> struct FlatLoad {
  static constexpr Handler handler = execFlatLoad<format>;
};
template <Format format> struct FlatStore {
  static constexpr Handler handler = execFlatStore<format>;
};

template <bool isFlat>
void addAtomics(OpcodeTable &table, const std::string &prefix) {
  auto add = [&](const char *name, Handler handler, ValueType dst,
                 ValueType data) {
    table.add(prefix + name, {"",
                              handler,
                              dst,
                              {data, ValueType::None, ValueType::None},
                              uint32_t(opAtomic | opStores)});
  };
  auto both = [&]<AtomicOp op>(const std::string &name) {
    add(name.c_str(), execAtomic<op, uint32_t, isFlat>, ValueType::I32,
        ValueType::I32);
    add((name + "_x2").c_str(), execAtomic<op, uint64_t, isFlat>,
        ValueType::I64, ValueType::I64);
  };
  both.template operator()<AtomicOp::Swap>("swap");
  both.template operator()<AtomicOp::Add>("add");
  both.template operator()<AtomicOp::Sub>("sub");
  both.template operator()<AtomicOp::MinI>("smin");
  both.template operator()<AtomicOp::MinU>("umin");
  both.template operator()<AtomicOp::MaxI>("smax");
  both.template operator()<AtomicOp::MaxU>("umax");
  both.template operator()<AtomicOp::And>("and");
  both.template operator()<AtomicOp::Or>("or");
  both.template operator()<AtomicOp::Xor>("xor");
  both.template operator()<AtomicOp::Inc>("inc");
  both.template operator()<AtomicOp::Dec>("dec");
  add("cmpswap", execCompareSwap<uint32_t, isFlat>, ValueType::I32,
      ValueType::I64);
  add("cmpswap_x2", execCompareSwap<uint64_t, isFlat>, ValueType::I64,
      ValueType::B128);
  add("add_f32", execAtomic<AtomicOp::AddF, uint32_t, isFlat>, ValueType::I32,
      ValueType::I32);
  add("add_f64", execAtomic<AtomicOp::AddF, uint64_t, isFlat>, ValueType::I64,
      ValueType::I64);
  add("min_f64", execAtomic<AtomicOp::MinF, uint64_t, isFlat>, ValueType::I64,
      ValueType::I64);
  add("max_f64", execAtomic<AtomicOp::MaxF, uint64_t, isFlat>, ValueType::I64,
      ValueType::I64);
  add("pk_add_f16", execAtomic<AtomicOp::PackedAddHalf, uint32_t, isFlat>,
      ValueType::I32, ValueType::I32);
  add("pk_add_bf16", execAtomic<AtomicOp::PackedAddBf16, uint32_t, isFlat>,
      ValueType::I32, ValueType::I32);
}

OpcodeTable buildFlatTable() {
  OpcodeTable table;
  addMoves<GlobalLoad, GlobalStore>(table, "global_");
  addMoves<ScratchLoad, ScratchStore>(table, "scratch_");
  addMoves<FlatLoad, FlatStore>(table, "flat_");
  addAtomics<false>(table, "global_atomic_");
  addAtomics<true>(table, "flat_atomic_");
  OpcodeInfo toLds;
  toLds.flags = opToLds;
  toLds.handler = execGlobalLoadLds<1>;
  table.add("global_load_lds_ubyte", toLds);
  toLds.handler = execGlobalLoadLds<1, true>;
  table.add("global_load_lds_sbyte", toLds);
  toLds.handler = execGlobalLoadLds<2>;
  table.add("global_load_lds_ushort", toLds);
  toLds.handler = execGlobalLoadLds<2, true>;
  table.add("global_load_lds_sshort", toLds);
  toLds.handler = execGlobalLoadLds<4>;
  table.add("global_load_lds_dword", toLds);
  toLds.handler = execGlobalLoadLds<12>;
  table.add("global_load_lds_dwordx3", toLds);
  toLds.handler = execGlobalLoadLds<16>;
  table.add("global_load_lds_dwordx4", toLds);
  return table;
}

} // namespace

llvm::ArrayRef<OpcodeInfo> flatMemoryTable() {
  static const OpcodeTable table = buildFlatTable();
  return table.all();
}

} // namespace tenon::sim
