//===- CheckGlobal.h - order of memory accesses of workgroups ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two workgroups that access the same bytes race when one of them writes,
// unless synchronisation orders them. What synchronises are atomics, vector
// accesses with sc1, scalar loads with glc, and scalar stores (written through
// with glc, or written back by s_dcache_wb). Such a write releases what is
// complete before it: what a wait of its own wave has covered, and what waits
// of other waves had covered at the last barrier, and what a complete
// write-back has taken along. A read of the location acquires what the writes
// that it may see have released, from the wait for it on, and hands it to the
// other waves at the next barrier.
//
// Workgroup w runs on die w % 8. Data of another die must have been written
// back (buffer_wbl2 sc1 ahead of the release) or through (sc1), and must be
// read past the caches (sc1) or after buffer_inv sc1 behind the acquire: the
// memory model of gfx940 in LLVM's AMDGPU usage guide. Scalar loads want
// s_dcache_inv instead.
//
// A launch runs in quanta (MemoryView.h). Synchronising writes take effect at
// the end of a quantum, in the order in which memory changes.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_SIM_CHECKGLOBAL_H
#define TENON_LIB_SIM_CHECKGLOBAL_H

#include "CheckAccessMap.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <deque>
#include <memory>
#include <vector>

namespace tenon::sim {

/// What is complete at a point of one wave.
struct OrderSnapshot {
  uint32_t wave = 0;
  int32_t phase = 0;         ///< of the workgroup
  int32_t barrierPhase = -1; ///< the last one before the last barrier
  /// Accesses in flight: of the wave itself, of all waves at the barrier.
  std::vector<uint32_t> inFlight;
  std::shared_ptr<const std::vector<uint32_t>> inFlightAtBarrier;

  bool covers(const AccessEntry &entry) const;
};

/// A synchronising write.
struct ReleaseEvent {
  OrderSnapshot done;
  int32_t writeback = -1; ///< the last complete one
  /// What the wave had acquired: all edges below the second number and its own
  /// below the first.
  uint32_t edges = 0, edgesAtBarrier = 0;
};

/// The synchronising writes of one location from a store on: what a read may
/// see, each written value replacing or changing the one before.
struct SyncState {
  struct Write {
    uint64_t workgroup;
    uint32_t event;
  };
  std::vector<Write> writes;
  bool isShared = false; ///< several dwords have it
};

/// What one read of a synchronising location acquires.
struct AcquireEdge {
  const SyncState *state = nullptr;
  uint32_t upTo = 0; ///< the first so many of its writes
  uint32_t wave = 0;
  /// Every wave of the workgroup has caches without older data: vector, scalar.
  bool isClean[2] = {};
};

/// What other workgroups may know of one.
struct OrderHistory {
  std::vector<ReleaseEvent> events;
  std::vector<OrderSnapshot> writebacks;
  std::vector<AcquireEdge> edges;
};

class GlobalOrder;

/// Caches that hold old data until they are invalidated.
enum class OrderCache : uint8_t { Vector, Scalar };

/// The order of one workgroup: what is complete and what it has acquired.
class GroupOrder {
public:
  void reset(uint64_t workgroup, unsigned waves);

  uint64_t workgroup() const { return number; }
  uint32_t phase() const { return uint32_t(now); }
  void noteAccess() { accessed = true; }

  /// A vector memory instruction is issued, or a scalar one.
  void issue(unsigned wave, uint32_t access, bool isScalar);
  /// A wait leaves at most so many vector memory instructions in flight; for
  /// scalar ones only 0 says anything.
  void waitVector(unsigned wave, unsigned left);
  void waitScalar(unsigned wave);
  void barrier();
  /// buffer_wbl2 sc1, complete at the next wait for vmcnt 0.
  void writeBack(unsigned wave);
  void invalidate(unsigned wave, OrderCache cache);

  /// The instruction under way reads or writes a synchronising location.
  void read(unsigned wave, const GlobalOrder &order, uint64_t address,
            unsigned bytes, bool isScalar);
  /// The write returns the phase to which it belongs.
  uint32_t write(unsigned wave, uint64_t address, unsigned bytes, bool isAtomic,
                 bool returns, bool isScalar);
  /// A scalar store that stays in its cache until s_dcache_wb.
  void writeCached(unsigned wave, uint64_t address, unsigned bytes);
  void writeBackScalar(unsigned wave);

  /// What a wave knows of an access of another workgroup.
  /// Incomplete: it comes before a release that the wave has acquired, but no
  /// wait covers it.
  enum class Standing {
    Unordered,
    Incomplete,
    NotWrittenBack,
    NotInvalidated,
    Fine
  };
  /// `needs` says what the access under way requires beyond the order.
  struct Needs {
    bool writeback = false;
    bool clean = false;
    OrderCache cache = OrderCache::Vector;
  };
  Standing standing(unsigned wave, const GlobalOrder &order,
                    const AccessEntry &earlier, Needs needs);

  /// Takes what the quantum has brought to the launch.
  void publish(GlobalOrder &order);

private:
  struct Issued {
    uint32_t access;
    uint64_t serial;
    llvm::SmallVector<AcquireEdge, 0> edges;
  };
  struct WaveOrder {
    std::vector<Issued> vector, scalar;
    uint64_t serial = 0;
    int32_t pendingWriteback = -1, writeback = -1;
    int32_t event = -1; ///< the last one, as long as it says all
    /// Edges that this wave has clean: all below the first, its own below the
    /// second; by cache.
    uint32_t clean[2][2] = {};
    llvm::DenseSet<std::pair<uint64_t, uint32_t>> seen;
    std::vector<std::pair<uint64_t, unsigned>> cachedStores;
  };
  /// The last event known of each wave of each workgroup.
  struct Known {
    llvm::DenseMap<uint64_t, uint32_t> events;
    llvm::DenseMap<const SyncState *, uint32_t> states;
    std::vector<bool> done; ///< by edge
  };
  struct PendingWrite {
    uint64_t address;
    uint32_t bytes;
    uint32_t event;
    uint32_t wave;
    uint64_t serial;
    bool isAtomic, returns, isScalar;
  };

  uint32_t release(unsigned wave, bool isScalar);
  OrderSnapshot snapshot(unsigned wave) const;
  void complete(unsigned wave, Issued &issued);
  void addEdge(unsigned wave, Issued &issued, const SyncState *state,
               uint32_t upTo);
  bool isVisible(const AcquireEdge &edge, size_t index, unsigned wave) const;
  bool isClean(const AcquireEdge &edge, size_t index, unsigned wave,
               unsigned cache) const;
  const Known &known(unsigned wave, unsigned level, const GlobalOrder &order);
  void nextPhase();

  uint64_t number = 0;
  int32_t now = 0;
  int32_t barrierPhase = -1;
  bool accessed = false;
  std::shared_ptr<const std::vector<uint32_t>> inFlightAtBarrier;
  uint32_t edgesAtBarrier = 0;
  int32_t sharedWriteback = -1; ///< known to all since the last barrier
  std::vector<WaveOrder> waves;
  OrderHistory own;
  std::vector<PendingWrite> pending;
  std::vector<std::array<Known, 3>> knowledge; ///< by wave and level
};

/// The accesses of all workgroups of a launch to device memory.
class GlobalOrder {
public:
  /// An access that is in conflict with an earlier one.
  struct Conflict {
    AccessEntry earlier;
    bool isWrite = false; ///< the earlier one
    uint64_t address = 0; ///< of a dword
    GroupOrder::Standing standing = GroupOrder::Standing::Unordered;
  };
  struct Access {
    uint32_t wave = 0;
    uint32_t id = 0; ///< of the instruction
    uint32_t phase = 0;
    uint32_t lane = 0, laneBytes = 0; ///< as in AccessEntry
    bool writes = false;
    bool synchronises = false;
    bool isScalar = false;
  };

  /// Adds bytes [address, address + bytes) to what the access of a workgroup
  /// touches. Earlier accesses that are in conflict with it are appended.
  void touch(GroupOrder &group, const Access &access, uint64_t address,
             uint64_t bytes, llvm::SmallVectorImpl<Conflict> &conflicts);

  const SyncState *stateOf(uint64_t address) const {
    return states.lookup(address / 4);
  }
  const OrderHistory *historyOf(uint64_t workgroup) const {
    auto found = histories.find(workgroup);
    return found == histories.end() ? nullptr : found->second.get();
  }
  /// Whether anything has been released.
  bool hasReleases() const { return !histories.empty(); }

private:
  friend class GroupOrder;

  AccessMap plain, synchronising;
  std::atomic<bool> anySynchronising = false;
  // These change between quanta only.
  std::deque<SyncState> arena;
  llvm::DenseMap<uint64_t, SyncState *> states; ///< by dword
  llvm::DenseMap<uint64_t, std::unique_ptr<OrderHistory>> histories;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_CHECKGLOBAL_H
