//===- WaveChecks.cpp - the checks of a wave while it runs ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WaveChecks.h"

#include "LdsBanks.h"
#include "Program.h"
#include "Wave.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace tenon::sim {

void WaveChecks::reset(GroupChecks &groupChecks, const Wave &wave,
                       unsigned scalars) {
  group = &groupChecks;
  hazards.reset(group->launch->program);
  taint.reset(scalars, wave.scratchBytes);
  current = wave.pc;
  completed.clear();
}

void WaveChecks::report(Check check, const Wave &wave, int lane,
                        std::string message, std::optional<FindingSite> other) {
  if (!has(check)) {
    return;
  }
  if (other) {
    other->workgroup = wave.workgroup->linearId;
  }
  group->log.add({check,
                  {wave.workgroup->linearId, wave.waveIndex, lane, current},
                  other,
                  std::move(message)});
}

void WaveChecks::before(Wave &wave, uint32_t record) {
  current = record;
  const CheckRecord &now = group->launch->program.records()[record];
  const Footprint &footprint = wave.program->footprints()[record];
  if (wave.waits.anyPending() && wave.waits.conflicts(footprint)) [[unlikely]] {
    report(Check::Wait, wave, -1,
           wave.waits.firstConflict(footprint) +
               " is used before the wait for its load");
  }
  if (has(Check::Hazard)) {
    HazardFinding finding;
    if (hazards.issue(record, finding)) [[unlikely]] {
      report(Check::Hazard, wave, -1, std::move(finding.message),
             FindingSite{0, wave.waveIndex, -1, finding.producer});
    }
  }
  if (now.memoryOrder != MemoryOrder::None && group->order) {
    trackOrder(wave, now);
  }
  if (has(Check::Uninit)) {
    TaintFault fault = taint.step(wave, now, wave.program->records()[record],
                                  group->ldsUndefined);
    if (fault.message) [[unlikely]] {
      report(Check::Uninit, wave, fault.lane, fault.message);
    }
    if (now.is(checkFlat)) {
      followFlat(wave, now);
    }
  }
  if (now.is(checkFlat) || now.is(checkScratch)) {
    localAccess(wave, now);
  } else if (now.kind == CheckKind::Lds && now.bytes) {
    ldsAccess(wave, now);
  } else if (now.is(checkToLds)) {
    copyToLds(wave, now);
  } else if (now.kind == CheckKind::Smem && now.defCount) {
    group->statistics.scalarLoadBytes += 4 * now.defs[0].count;
  }
}

void WaveChecks::after(Wave &wave) {
  wave.waits.currentAccess = 0;
  if (!completed.empty()) {
    for (uint32_t access : completed) {
      group->ldsOrder.complete(access);
    }
    completed.clear();
  }
}

namespace {

/// Where a lane of a FLAT instruction goes.
enum class FlatSpace { Global, Lds, Private };
struct FlatPlace {
  FlatSpace space;
  uint32_t offset; ///< in LDS or in the private segment
};

} // namespace

static FlatPlace flatPlace(const Wave &wave, const Instr &instr,
                           unsigned lane) {
  uint64_t address = (wave.v[instr.addr][lane] |
                      uint64_t(wave.v[instr.addr + 1][lane]) << 32) +
                     uint64_t(int64_t(instr.imm));
  uint32_t aperture = uint32_t(address >> 32);
  return {aperture == sharedAperture    ? FlatSpace::Lds
          : aperture == privateAperture ? FlatSpace::Private
                                        : FlatSpace::Global,
          uint32_t(address)};
}

static std::string describe(const LdsConflict &conflict, const Wave &wave,
                            LdsAccessKind kind) {
  bool own = conflict.wave == wave.waveIndex;
  const char *now = kind == LdsAccessKind::Read || kind == LdsAccessKind::Poll
                        ? "read"
                    : kind == LdsAccessKind::Write ? "write"
                    : kind == LdsAccessKind::Copy  ? "copy"
                                                   : "atomic";
  const char *then = conflict.isCopy    ? "copy into it"
                     : conflict.isWrite ? "write"
                                        : "read";
  std::string text = formatv("{0} of LDS byte {1} ", now, conflict.address);
  if (own) {
    return text + formatv("while the wave's own {0} is in flight: no wait "
                          "covers it",
                          then)
                      .str();
  }
  text +=
      formatv("is not ordered after the {0} by wave {1}", then, conflict.wave)
          .str();
  return text +
         (conflict.inFlight
              ? ", which no wait of that wave has covered"
              : ": no barrier lies between its completion and this access");
}

/// Whether LDS holds already what a lane is about to write.
static bool leavesUnchanged(const Wave &wave, unsigned row, unsigned lane,
                            uint32_t address, unsigned bytes) {
  const std::vector<uint8_t> &lds = wave.workgroup->lds;
  bool isEqual = uint64_t(address) + bytes <= lds.size();
  for (unsigned i = 0; i < bytes && isEqual; ++i) {
    isEqual =
        lds[address + i] == uint8_t(wave.v[row + i / 4][lane] >> (8 * (i % 4)));
  }
  return isEqual;
}

void WaveChecks::ldsPart(Wave &wave, const CheckRecord &record,
                         const uint32_t *address, uint32_t offset, unsigned row,
                         LdsAccessKind kind) {
  unsigned bytes = record.bytes;
  unsigned unit = record.is(checkTransposed) ? 8 : std::min(bytes, 4u);
  if (record.is(checkAtomic)) {
    unit = bytes;
  }
  uint64_t exec = wave.exec();
  uint32_t first = address[0] + offset;
  if (exec == allLanes && first % unit == 0 &&
      isOneLdsBlock(*wave.workgroup, address, offset, bytes) &&
      !group->ldsOrder.touch(first, bytes * waveSize)) [[likely]] {
    if (bytes == 12) { // the others have no conflicts side by side
      countBankConflicts(record, address, offset, exec);
    }
    return;
  }
  bool raced = false, misaligned = false, outside = false;
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    uint32_t at = address[lane] + offset;
    if (at % unit && !misaligned) [[unlikely]] {
      misaligned = true;
      report(Check::Align, wave, int(lane),
             formatv("{0} bytes at LDS address {1:x}, which is no multiple of "
                     "{2}",
                     bytes, at, unit)
                 .str());
    }
    uint64_t size = wave.workgroup->lds.size();
    if (uint64_t(at) + bytes > size && !outside) [[unlikely]] {
      outside = true;
      report(
          Check::Bounds, wave, int(lane),
          formatv("{0} bytes at LDS address {1:x}, beyond the {2} bytes that "
                  "the workgroup has",
                  bytes, at, size)
              .str());
    }
    std::optional<LdsConflict> conflict = group->ldsOrder.touch(at, bytes);
    if (conflict && kind == LdsAccessKind::Write &&
        leavesUnchanged(wave, row, lane, at, bytes)) {
      conflict = group->ldsOrder.touch(at, bytes, /*unchanged=*/true);
    }
    if (conflict && !raced) [[unlikely]] {
      raced = true;
      report(conflict->wave == wave.waveIndex ? Check::Wait : Check::LdsRace,
             wave, int(lane), describe(*conflict, wave, kind),
             FindingSite{0, conflict->wave, -1, conflict->record});
    }
  }
  countBankConflicts(record, address, offset, exec);
}

void WaveChecks::ldsAccess(Wave &wave, const CheckRecord &record) {
  const Instr &instr = wave.program->records()[current];
  if (instr.addr == noRow) {
    return; // counters, and addresses by lane number
  }
  LdsAccessKind kind = record.is(checkAtomic)  ? LdsAccessKind::Atomic
                       : record.is(checkStore) ? LdsAccessKind::Write
                       : record.polls          ? LdsAccessKind::Poll
                                               : LdsAccessKind::Read;
  wave.waits.currentAccess =
      group->ldsOrder.begin(wave.waveIndex, current, kind);
  wave.waits.completed = &completed;
  uint64_t bytes =
      uint64_t(record.bytes) * unsigned(std::popcount(wave.exec()));
  const uint32_t *address = wave.v[instr.addr];
  unsigned parts = record.is(checkTwoAddress) ? 2 : 1;
  for (unsigned part = 0; part < parts; ++part) {
    uint32_t offset = uint32_t(part ? instr.imm1 : instr.imm);
    ldsPart(wave, record, address, offset, part ? instr.data1 : instr.data,
            kind);
    bool synchronises =
        kind == LdsAccessKind::Atomic || kind == LdsAccessKind::Poll;
    for (uint64_t rest = synchronises ? wave.exec() : 0; rest;
         rest &= rest - 1) {
      group->ldsOrder.synchronise(address[std::countr_zero(rest)] + offset,
                                  record.is(checkLoad));
    }
  }
  AccessStatistics &statistics = group->statistics;
  (kind == LdsAccessKind::Read    ? statistics.ldsReadBytes
   : kind == LdsAccessKind::Write ? statistics.ldsWriteBytes
                                  : statistics.ldsAtomicBytes) += parts * bytes;
}

/// FLAT accesses to LDS: alignment and order.
void WaveChecks::localAccess(Wave &wave, const CheckRecord &record) {
  const Instr &instr = wave.program->records()[current];
  LdsAccessKind kind = record.is(checkAtomic)  ? LdsAccessKind::Atomic
                       : record.is(checkStore) ? LdsAccessKind::Write
                                               : LdsAccessKind::Read;
  unsigned bytes = record.bytes;
  unsigned unit = record.is(checkAtomic) ? bytes : std::min(bytes, 4u);
  bool hasBegun = false, raced = false, misaligned = false;
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    FlatPlace place = {FlatSpace::Private, 0};
    if (record.is(checkFlat)) {
      place = flatPlace(wave, instr, lane);
    } else {
      place.offset = uint32_t(scratchAddress(wave, instr, lane));
    }
    if (place.space == FlatSpace::Global) {
      continue;
    }
    bool isLds = place.space == FlatSpace::Lds;
    // Scratch takes any alignment, and compilers rely on it.
    if (!isLds) {
      if (!record.is(checkFlat) && !instr.addrUsed) {
        break; // all lanes have the same offset
      }
      continue;
    }
    if (place.offset % unit && !misaligned) [[unlikely]] {
      misaligned = true;
      report(Check::Align, wave, int(lane),
             formatv("{0} bytes at LDS address {1:x}, which is no multiple of "
                     "{2}",
                     bytes, place.offset, unit)
                 .str());
    }
    if (!hasBegun) {
      // FLAT accesses count in both counters.
      hasBegun = true;
      wave.waits.currentAccess =
          group->ldsOrder.begin(wave.waveIndex, current, kind, /*waits=*/2);
      wave.waits.completed = &completed;
    }
    std::optional<LdsConflict> conflict =
        group->ldsOrder.touch(place.offset, bytes);
    if (conflict && kind == LdsAccessKind::Write &&
        leavesUnchanged(wave, instr.data, lane, place.offset, bytes)) {
      conflict = group->ldsOrder.touch(place.offset, bytes, /*unchanged=*/true);
    }
    if (kind == LdsAccessKind::Atomic) {
      group->ldsOrder.synchronise(place.offset, record.is(checkLoad));
    }
    if (conflict && !raced) [[unlikely]] {
      raced = true;
      report(conflict->wave == wave.waveIndex ? Check::Wait : Check::LdsRace,
             wave, int(lane), describe(*conflict, wave, kind),
             FindingSite{0, conflict->wave, -1, conflict->record});
    }
  }
}

/// A load into LDS writes at M0 + offset + lane * size.
void WaveChecks::copyToLds(Wave &wave, const CheckRecord &record) {
  const Instr &instr = wave.program->records()[current];
  wave.waits.currentAccess =
      group->ldsOrder.begin(wave.waveIndex, current, LdsAccessKind::Copy);
  wave.waits.completed = &completed;
  uint32_t base = wave.s[sgprM0] + uint32_t(instr.imm);
  bool raced = false;
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    uint64_t begin = base + lane * record.bytes,
             size = group->ldsUndefined.size();
    std::fill(
        group->ldsUndefined.begin() + std::min(begin, size),
        group->ldsUndefined.begin() + std::min(begin + record.bytes, size), 0);
    std::optional<LdsConflict> conflict =
        group->ldsOrder.touch(base + lane * record.bytes, record.bytes);
    if (conflict && !raced) [[unlikely]] {
      raced = true;
      report(conflict->wave == wave.waveIndex ? Check::Wait : Check::LdsRace,
             wave, int(lane), describe(*conflict, wave, LdsAccessKind::Copy),
             FindingSite{0, conflict->wave, -1, conflict->record});
    }
  }
}

void WaveChecks::countBankConflicts(const CheckRecord &record,
                                    const uint32_t *address, uint32_t offset,
                                    uint64_t lanes) {
  bool isRead = record.is(checkLoad) && !record.is(checkStore);
  group->statistics.ldsExtraPhases +=
      ldsExtraPhases(ldsRuleOf(group->launch->chip, record.bytes, isRead),
                     record.bytes, address, offset, lanes);
}

void WaveChecks::memoryAccess(Wave &wave, const LaneAddresses &lanes,
                              unsigned bytes, MemoryAccessKind kind) {
  AccessStatistics &statistics = group->statistics;
  uint64_t moved = uint64_t(bytes) * unsigned(std::popcount(lanes.active));
  switch (kind) {
  case MemoryAccessKind::Load:
    statistics.loadBytes += moved;
    break;
  case MemoryAccessKind::Store:
    statistics.storeBytes += moved;
    break;
  case MemoryAccessKind::Atomic:
    statistics.atomicBytes += moved;
    break;
  case MemoryAccessKind::ToLds:
    statistics.loadToLdsBytes += moved;
    break;
  }
  if (group->order) {
    followOrder(wave, lanes, bytes, kind);
  }
  if (has(Check::Uninit)) {
    followUndefined(wave, lanes, bytes, kind);
  }
  if (has(Check::Align)) {
    unsigned unit = std::min(bytes, 4u);
    for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
      unsigned lane = unsigned(std::countr_zero(rest));
      if (lanes.address[lane] % unit) [[unlikely]] {
        report(Check::Align, wave, int(lane),
               formatv("{0} bytes at {1:x}, which is no multiple of {2}", bytes,
                       lanes.address[lane], unit)
                   .str());
        break;
      }
    }
  }
}

/// What an instruction under way means for the order of memory accesses.
void WaveChecks::trackOrder(const Wave &wave, const CheckRecord &record) {
  GroupOrder &order = *group->order;
  unsigned index = wave.waveIndex;
  switch (record.memoryOrder) {
  case MemoryOrder::Vector:
  case MemoryOrder::Scalar:
    return order.issue(index, record.memoryId,
                       record.memoryOrder == MemoryOrder::Scalar);
  case MemoryOrder::Wait: {
    uint32_t bits = uint16_t(wave.program->records()[current].imm);
    unsigned vector = (bits & 15) | ((bits >> 14) << 4);
    if (vector < 63) {
      order.waitVector(index, vector);
    }
    if (!((bits >> 8) & 15)) {
      order.waitScalar(index);
    }
    return;
  }
  case MemoryOrder::WriteBack:
    return order.writeBack(index);
  case MemoryOrder::Invalidate:
    return order.invalidate(index, OrderCache::Vector);
  case MemoryOrder::ScalarWriteBack:
    return order.writeBackScalar(index);
  case MemoryOrder::ScalarInvalidate:
    return order.invalidate(index, OrderCache::Scalar);
  case MemoryOrder::None:
    return;
  }
}

/// Races of one range of bytes with other workgroups.
void WaveChecks::touch(const Wave &wave, GlobalOrder::Access access,
                       uint64_t address, uint64_t bytes) {
  GroupOrder &order = *group->order;
  SmallVector<GlobalOrder::Conflict, 4> conflicts;
  order.noteAccess();
  group->launch->globalOrder.touch(order, access, address, bytes, conflicts);
  const CheckProgram &program = group->launch->program;
  for (const GlobalOrder::Conflict &conflict : conflicts) {
    const AccessEntry &earlier = conflict.earlier;
    uint32_t lane = access.lane;
    if (access.laneBytes && conflict.address > address) {
      lane += uint32_t((conflict.address - address) / access.laneBytes);
    }
    FindingSite here = {order.workgroup(), wave.waveIndex, int32_t(lane),
                        current};
    FindingSite there = {earlier.workgroup, earlier.wave, int32_t(earlier.lane),
                         program.memoryRecord(earlier.id)};
    for (FindingSite *site : {&here, &there}) {
      bool isScalar = program.records()[site->record].kind == CheckKind::Smem;
      site->lane = isScalar ? -1 : site->lane;
    }
    using Standing = GroupOrder::Standing;
    if (conflict.standing != Standing::Unordered) {
      const char *what =
          conflict.standing == Standing::Incomplete
              ? "no wait covers them ahead of its release"
          : conflict.standing == Standing::NotWrittenBack
              ? "no buffer_wbl2 sc1 writes them back ahead of its release"
          : access.isScalar ? "no s_dcache_inv comes behind the acquire"
                            : "no buffer_inv sc1 comes behind the acquire";
      group->log.add({Check::GlobalRace, here, there,
                      formatv("{0} bytes that {1} {2}: {3}",
                              access.writes ? "writes" : "reads",
                              conflict.standing == Standing::Incomplete
                                  ? "another workgroup"
                                  : "a workgroup of another die",
                              conflict.isWrite ? "has written" : "reads", what)
                          .str()});
      continue;
    }
    // The finding is about the later workgroup, whichever ran first.
    bool isLater = here.workgroup > there.workgroup;
    bool siteWrites = isLater ? access.writes : conflict.isWrite;
    bool otherWrites = isLater ? conflict.isWrite : access.writes;
    group->log.add({Check::GlobalRace, isLater ? here : there,
                    isLater ? there : here,
                    formatv("{0} bytes that another workgroup {1}: no "
                            "synchronisation orders the two workgroups",
                            siteWrites ? "writes" : "reads",
                            otherWrites ? "writes" : "reads")
                        .str()});
  }
}

/// Races with other workgroups, by runs of lanes that are side by side.
void WaveChecks::followOrder(Wave &wave, const LaneAddresses &lanes,
                             unsigned bytes, MemoryAccessKind kind) {
  constexpr uint8_t sc1 = 4;
  const Instr &instr = wave.program->records()[current];
  const CheckRecord &record = group->launch->program.records()[current];
  GroupOrder &order = *group->order;
  GlobalOrder::Access access;
  access.wave = wave.waveIndex;
  access.id = record.memoryId;
  access.phase = order.phase();
  access.writes =
      kind == MemoryAccessKind::Store || kind == MemoryAccessKind::Atomic;
  access.synchronises =
      kind == MemoryAccessKind::Atomic || (instr.cachePolicy & sc1);
  auto run = [&](uint64_t address, uint64_t size) {
    if (access.synchronises && access.writes) {
      access.phase = order.write(wave.waveIndex, address, unsigned(size),
                                 kind == MemoryAccessKind::Atomic,
                                 record.is(checkLoad), /*isScalar=*/false);
    } else if (access.synchronises) {
      order.read(wave.waveIndex, group->launch->globalOrder, address,
                 unsigned(size), /*isScalar=*/false);
    }
    touch(wave, access, address, size);
  };
  access.laneBytes = bytes;
  if (lanes.active == allLanes && areAdjacent(lanes, bytes)) {
    return run(lanes.address[0], uint64_t(bytes) * waveSize);
  }
  uint64_t begin = 0, end = 0;
  unsigned next = 0;
  for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    uint64_t address = lanes.address[lane];
    if (address != end || lane != next || begin == end) {
      if (begin != end) {
        run(begin, end - begin);
      }
      begin = address;
      access.lane = lane;
    }
    end = address + bytes;
    next = lane + 1;
  }
  if (begin != end) {
    run(begin, end - begin);
  }
}

/// The lanes of a FLAT access that go to LDS or to the private segment: their
/// undefined data.
void WaveChecks::followFlat(Wave &wave, const CheckRecord &record) {
  const Instr &instr = wave.program->records()[current];
  bool isFault = false;
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    FlatPlace place = flatPlace(wave, instr, lane);
    uint8_t data[16] = {};
    if (record.is(checkStore)) {
      taint.stored(record, instr.data, lane, data);
    }
    uint8_t any = 0;
    for (unsigned i = 0; i < record.bytes; ++i) {
      any |= data[i];
    }
    if (place.space == FlatSpace::Global) {
      if (any && !isFault) {
        isFault = true;
        report(Check::Uninit, wave, int(lane), "undefined data are stored");
      }
      continue;
    }
    uint8_t old[16] = {};
    for (unsigned i = 0; i < record.bytes; ++i) {
      uint8_t *byte = nullptr;
      if (place.space == FlatSpace::Private) {
        byte = taint.scratchByte(lane, uint64_t(place.offset) + i);
      } else if (uint64_t at = uint64_t(place.offset) + i;
                 at < group->ldsUndefined.size()) {
        byte = &group->ldsUndefined[at];
      }
      if (byte) {
        old[i] = *byte;
        uint8_t kept = record.is(checkAtomic) ? *byte : 0;
        *byte = record.is(checkStore) ? uint8_t(data[i] | kept) : *byte;
      }
    }
    if (record.is(checkLoad)) {
      taint.load(record, instr.dst, lane, old);
    }
  }
}

/// Undefined bytes of device memory that are loaded, and those that a store
/// defines. Atomics define theirs when they take place.
void WaveChecks::followUndefined(Wave &wave, const LaneAddresses &lanes,
                                 unsigned bytes, MemoryAccessKind kind) {
  const Instr &instr = wave.program->records()[current];
  const CheckRecord &record = group->launch->program.records()[current];
  MemoryView &memory = *wave.memory;
  if (kind == MemoryAccessKind::Atomic && !record.is(checkLoad)) {
    return;
  }
  // Calls `visit` with the shadow of each piece of a range that lies in one
  // block of the view, where there is a shadow.
  auto eachPiece = [&](uint64_t begin, uint64_t size, auto visit) {
    for (uint64_t done = 0; done < size;) {
      uint64_t at = begin + done;
      uint64_t count = std::min(size - done, MemoryView::blockBytes -
                                                 at % MemoryView::blockBytes);
      if (kind == MemoryAccessKind::Store) {
        if (uint8_t *shadow = memory.undefinedBytesToWrite(at, count)) {
          std::memset(shadow, 0, count);
        }
      } else if (const uint8_t *shadow = memory.undefinedBytes(at, count)) {
        visit(done, shadow, count);
      }
      done += count;
    }
  };
  if (lanes.active == allLanes && areAdjacent(lanes, bytes)) {
    uint8_t any = 0;
    eachPiece(lanes.address[0], uint64_t(bytes) * waveSize,
              [&](uint64_t, const uint8_t *shadow, uint64_t count) {
                for (uint64_t i = 0; i < count; ++i) {
                  any |= shadow[i];
                }
              });
    if (!any) [[likely]] {
      return;
    }
  }
  for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    uint8_t masks[16] = {};
    uint8_t any = 0;
    eachPiece(lanes.address[lane], bytes,
              [&](uint64_t done, const uint8_t *shadow, uint64_t count) {
                for (uint64_t i = 0; i < count; ++i) {
                  masks[done + i] = shadow[i] ? 0xFF : 0;
                  any |= shadow[i];
                }
              });
    if (!any) {
      continue;
    }
    if (kind != MemoryAccessKind::ToLds) {
      taint.load(record, instr.dst, lane, masks);
      continue;
    }
    uint64_t at = wave.s[sgprM0] + uint32_t(instr.imm) +
                  uint64_t(lane) * std::max(bytes, 4u);
    for (unsigned i = 0; i < bytes && at + i < group->ldsUndefined.size();
         ++i) {
      group->ldsUndefined[at + i] = masks[i];
    }
  }
}

void noteMemoryAccess(Wave &wave, const LaneAddresses &lanes, unsigned bytes,
                      MemoryAccessKind kind) {
  wave.checks->memoryAccess(wave, lanes, bytes, kind);
}

void WaveChecks::scalarAccess(Wave &wave, unsigned reg, uint64_t address,
                              unsigned dwords, MemoryAccessKind kind) {
  const CheckRecord &record = group->launch->program.records()[current];
  if (GroupOrder *order = group->order) {
    constexpr uint8_t glc = 1;
    bool isGlc = wave.program->records()[current].cachePolicy & glc;
    GlobalOrder::Access access;
    access.wave = wave.waveIndex;
    access.id = record.memoryId;
    access.phase = order->phase();
    access.writes = kind != MemoryAccessKind::Load;
    access.synchronises = access.writes || isGlc;
    access.isScalar = true;
    if (kind == MemoryAccessKind::Store && !isGlc) {
      order->writeCached(wave.waveIndex, address, 4 * dwords);
    } else if (access.writes) {
      access.phase = order->write(wave.waveIndex, address, 4 * dwords,
                                  kind == MemoryAccessKind::Atomic,
                                  record.is(checkLoad), /*isScalar=*/true);
    } else if (isGlc) {
      order->read(wave.waveIndex, group->launch->globalOrder, address,
                  4 * dwords, /*isScalar=*/true);
    }
    touch(wave, access, address, 4 * dwords);
  }
  if (!has(Check::Uninit)) {
    return;
  }
  for (uint64_t i = 0; i < 4 * dwords; ++i) {
    if (kind == MemoryAccessKind::Store) {
      if (uint8_t *shadow =
              wave.memory->undefinedBytesToWrite(address + i, 1)) {
        *shadow = 0;
      }
    } else if (record.is(checkLoad)) {
      const uint8_t *shadow = wave.memory->undefinedBytes(address + i, 1);
      if (shadow && *shadow) {
        taint.loadScalar(reg + unsigned(i / 4), 0xFFu << (8 * (i % 4)));
      }
    }
  }
}

void noteScalarAccess(Wave &wave, unsigned reg, uint64_t address,
                      unsigned dwords, MemoryAccessKind kind) {
  wave.checks->scalarAccess(wave, reg, address, dwords, kind);
}

void reportLoadTarget(Wave &wave) {
  wave.checks->report(
      Check::Wait, wave, -1,
      "a register is overwritten before the wait for its LDS load");
}

} // namespace tenon::sim
