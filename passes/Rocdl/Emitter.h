//===- Emitter.h - per-lane code of one tile kernel -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of convert-tile-to-rocdl for one kernel. The pass is split by
// concern: Emitter.cpp (kernel, scalars), Arithmetic.cpp (element-wise ops and
// renaming of registers), Memory.cpp (device memory), Lds.cpp (LDS), Copy.cpp
// (copies into LDS, waits, barriers), Arrive.cpp (order between workgroups),
// Mma.cpp (matrix products), Scales.cpp (FP4 and FP8 codes), Reduce.cpp
// (reductions), Scan.cpp, TopK.cpp, LaneMap.cpp (thread index to
// coordinates), BlockedView.cpp (offsets along blocked dimensions of views).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_ROCDL_EMITTER_H
#define TENON_PASSES_ROCDL_EMITTER_H

#include "passes/Passes.h"

#include "tenon/Layout/LdsCopy.h"
#include "tenon/Layout/Scatter.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace tenon::rocdl {

/// What one thread holds of a tile: registers in order, in vectors of `width`
/// (1: scalars) elements. FP32 pairs let the backend choose packed arithmetic.
struct Parts {
  unsigned width = 1;
  llvm::SmallVector<mlir::Value> values;

  int64_t registers() const {
    return static_cast<int64_t>(width) * values.size();
  }
};

/// Bit `nt` of the cache policy of a buffer access.
inline constexpr int32_t nontemporalPolicy = 2;

/// Bit `sc1`: past the caches of compute unit and die.
inline constexpr int32_t coherentPolicy = 16;

/// A view of device memory: buffer descriptor and strides in bytes. A blocked
/// dimension has several, the innermost first.
struct BufferView {
  mlir::Value resource;
  mlir::Value pointer;
  mlir::Value bytes; ///< i64, the bound
  llvm::SmallVector<mlir::OpFoldResult> strideBytes;
  /// Powers of two that divide the strides, in elements.
  llvm::SmallVector<int64_t> strideDivisors;
  /// Of each dimension the extents of its blocks, the innermost first.
  llvm::SmallVector<llvm::SmallVector<int64_t, 2>> blocks;
  unsigned elementBytes = 1;
  /// A power of two that divides the distances of rows named by index, in
  /// elements.
  int64_t rowDivisor = int64_t(1) << 30;
  /// Whether the bound is a run-time value, so that it may be 0.
  bool maybeEmpty = false;

  /// The first of the strides of dimension \p dim, and the last, which steps
  /// from block to block (both the only one of a plain dimension).
  unsigned firstStride(unsigned dim) const;
  unsigned lastStride(unsigned dim) const {
    return firstStride(dim) + blocks[dim].size();
  }
  /// Elements that the last stride of dimension \p dim steps over.
  int64_t blockExtent(unsigned dim) const;
};

/// Threads that hold replicas: those with a bit of these masks set are not the
/// owner.
struct ReplicaMask {
  uint64_t lanes = 0;
  uint64_t waves = 0;

  bool any() const { return lanes != 0 || waves != 0; }
  bool operator==(const ReplicaMask &) const = default;
};

/// One buffer instruction: registers [first, first + count) of the thread.
struct BufferAccess {
  int64_t first;
  unsigned count;
  mlir::Value offset;        ///< per lane, bytes
  mlir::Value uniformOffset; ///< bytes, not range-checked
  mlir::Value resource;
  mlir::Value farRow = {}; ///< i32: `resource` is to be that of this row
};

/// Where a buffer, or a stage of it, lies in LDS.
struct LdsPlace {
  int64_t begin = 0;   ///< bytes from the start of the workgroup's LDS
  mlir::Value uniform; ///< bytes beyond that known at run time, or null
};

/// The accesses of a thread to a tile in LDS, in the order of the registers.
struct LdsAddresses {
  unsigned count = 1; ///< registers per access
  unsigned bytes = 1; ///< per access
  llvm::SmallVector<mlir::Value> pointers;
};

/// Whether a bit of a register's coordinate along \p dim is also moved by a
/// lane or a wave. If not, the coordinates of register and thread add up.
bool overlapsThreads(const layout::Layout &layout, unsigned dim,
                     int64_t coordinate);

/// The largest power of two that a uniform index is known to be a multiple of;
/// 2^30 for 0.
int64_t knownDivisor(mlir::OpFoldResult value);

/// Whether adding \p offset to coordinates along \p dim of \p view adds the
/// same bytes to all of them: it moves by whole blocks.
bool movesByBlocks(const BufferView &view, unsigned dim, mlir::Value offset);

class Emitter {
public:
  Emitter(tile::KernelOp kernel, const target::TargetInfo &target)
      : kernel(kernel), target(target), b(kernel.getContext()),
        loc(kernel.getLoc()) {}

  /// Writes the function before the kernel. Emits an error and fails on what
  /// cannot be lowered.
  mlir::LogicalResult emit();

private:
  // Emitter.cpp
  void createFunction();
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult emitIf(mlir::scf::IfOp branch);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitScalar(mlir::Operation *op);
  mlir::Value i32(int64_t value);
  mlir::Value threadId();
  mlir::Value waveId();
  mlir::Value addI32(mlir::Value a, mlir::Value b);
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type type,
                        mlir::ValueRange args);
  mlir::FailureOr<layout::Layout> layoutOf(mlir::Value tile);
  /// The type in which registers hold elements: 8-bit floats are bytes.
  mlir::Type registerType(mlir::Type element);

  // LaneMap.cpp
  /// The part of coordinate `dim` that lane and wave contribute, or null when
  /// they contribute nothing.
  mlir::FailureOr<mlir::Value> threadCoordinate(const layout::Layout &layout,
                                                unsigned dim);
  /// Offset in bytes of the thread's element in register 0, or null for 0.
  mlir::FailureOr<mlir::Value>
  threadOffset(const layout::Layout &layout,
               llvm::ArrayRef<mlir::OpFoldResult> strideBytes);

  // Arithmetic.cpp
  const Parts &parts(mlir::Value tile);
  mlir::Value element(const Parts &parts, int64_t reg);
  /// Registers `map[0], map[1], ...` of `source`.
  Parts rename(const Parts &source, llvm::ArrayRef<int64_t> map);
  Parts fromElements(llvm::ArrayRef<mlir::Value> elements);
  /// \p source in vectors of \p width, a power of two that divides its
  /// registers.
  Parts repack(const Parts &source, unsigned width);
  /// \p tile as others than matrix products take it: pairs where possible.
  Parts pairs(mlir::Value tile);
  Parts splat(mlir::Value scalar, int64_t registers);
  mlir::LogicalResult emitElementwise(mlir::Operation *op);
  mlir::LogicalResult emitFp8Conversion(mlir::Operation *op);
  mlir::LogicalResult emitConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult emitBroadcast(tile::BroadcastOp op);
  mlir::LogicalResult emitExtract(tile::ExtractOp op);
  mlir::LogicalResult emitIota(tile::IotaOp op);
  mlir::LogicalResult emitTranspose(tile::TransposeOp op);
  mlir::LogicalResult emitStack(tile::StackOp op);
  mlir::LogicalResult emitConvert(tile::ConvertLayoutOp op);
  mlir::Value transcendental(mlir::Operation *op, mlir::Value x);

  // Scales.cpp
  mlir::LogicalResult emitDequantize(tile::DequantizeOp op);
  mlir::LogicalResult emitQuantize(tile::QuantizeOp op);
  mlir::Value clamped(mlir::Value pair, mlir::Value scale, float largest);

  // Mma.cpp
  mlir::LogicalResult emitMma(tile::MmaOp op);
  /// Scales in registers, the first in the lowest byte.
  struct ScaleRegisters {
    int64_t perRegister = 1; ///< 1, 2 or 4
    llvm::SmallVector<mlir::Value> values;
  };
  mlir::Value withUpperZeros(mlir::Value words);
  ScaleRegisters scaleRegisters(mlir::Value tile);
  /// The intrinsic of a product and what it takes behind A, B and C.
  struct MfmaForm {
    std::string name; ///< empty: there is none
    llvm::SmallVector<mlir::Value> rest;
    bool inWords = false;  ///< operands are vectors of i32
    bool inHalves = false; ///< ... of i16
    bool inLong = false;   ///< operands are i64
  };
  MfmaForm mfmaForm(tile::MmaOp op, unsigned rowDim);
  /// The vector width in which \p tile is kept between operations.
  unsigned keptWidth(mlir::Value tile, int64_t registers);
  /// Whether products alone take \p tile, now or in later iterations.
  static bool isForProducts(mlir::Value tile);
  bool hasRoomForParts(mlir::scf::ForOp loop);
  /// Whether what \p load gives, if its accesses load parts of registers, is
  /// joined to whole ones by the products that take it, in a loop.
  bool joinsLate(tile::LoadOp load);

  // Memory.cpp
  mlir::LogicalResult emitView(tile::ViewOp op);
  const BufferView &viewOf(mlir::Value value);
  mlir::LogicalResult emitLoadScalar(tile::LoadScalarOp op);
  mlir::LogicalResult emitLoad(tile::LoadOp op);
  mlir::Value makeResource(mlir::Value pointer, mlir::Value bytes);
  /// The accesses of \p op to a tile laid out as \p layout.
  template <typename AccessOp>
  mlir::FailureOr<llvm::SmallVector<BufferAccess>>
  planAccesses(AccessOp op, const layout::Layout &layout);
  mlir::LogicalResult addRows(mlir::Operation *op, mlir::Value rows, bool far,
                              const layout::Layout &layout,
                              const BufferView &view,
                              llvm::MutableArrayRef<BufferAccess> accesses);
  mlir::Value nearRow(mlir::Value row, mlir::OpFoldResult rowBytes);
  void findFarRow(const BufferView &view, BufferAccess &access,
                  const BufferAccess *previous);
  mlir::LogicalResult emitStore(tile::StoreOp op);
  void emitAdds(const BufferAccess &access, mlir::Value vector,
                unsigned elementBytes, mlir::Value policy);
  mlir::Value toVector(const Parts &parts, int64_t first, unsigned count);
  void appendVector(llvm::SmallVectorImpl<mlir::Value> &elements,
                    mlir::Value vector, unsigned count);
  mlir::Value localise(mlir::Value offset);
  mlir::Value carryOffset(mlir::Value offset);
  mlir::FailureOr<llvm::SmallVector<BufferAccess>>
  planAccess(mlir::Operation *op, const BufferView &view,
             const layout::Layout &layout, mlir::OperandRange offsets,
             mlir::OperandRange limits,
             std::optional<llvm::ArrayRef<int64_t>> limitDivisors);
  mlir::FailureOr<ReplicaMask> replicas(const layout::Layout &layout);
  /// Runs `write` on the threads that own an element: at once when all do, else
  /// in a block of its own that flushGuarded writes.
  void guarded(ReplicaMask mask, std::function<void()> write);
  void flushGuarded();
  /// Finds the operations that only stores of one owner use, so that the other
  /// waves need not execute them.
  void planSinking();

  // BlockedView.cpp
  /// `index * stride` in bytes.
  mlir::Value scaledBytes(mlir::Value index, mlir::OpFoldResult strideBytes);
  /// The offset in bytes of \p coordinate, any per-lane or uniform value, along
  /// \p dim of \p view.
  mlir::Value viewBytes(const BufferView &view, unsigned dim,
                        mlir::Value coordinate);
  /// The offset in bytes that the offset \p index of an access adds along
  /// \p dim, null where it is known to be 0. \p index is a multiple of the
  /// view's blocks.
  mlir::Value blockOffset(const BufferView &view, unsigned dim,
                          mlir::Value index);

  // Lds.cpp
  mlir::Value xorOfImages(mlir::Value index, llvm::ArrayRef<int64_t> images);
  mlir::Value opaque(mlir::Value value, llvm::StringRef constraint);
  mlir::FailureOr<LdsPlace> ldsPlace(mlir::Operation *op, mlir::Value buffer);
  /// `offset` (or null) plus `constant` bytes from the start of LDS.
  mlir::Value ldsPointer(mlir::Value offset, int64_t constant);
  /// Of accesses of at most \p maxBits.
  mlir::FailureOr<LdsAddresses>
  ldsAddresses(mlir::Operation *op, mlir::Value buffer,
               const layout::Layout &layout,
               llvm::ArrayRef<int64_t> origin = {}, unsigned maxBits = 128);
  mlir::Value readTransposed(mlir::Value pointer, mlir::Type type);
  /// Tells LLVM that \p access and copies in flight do not overlap.
  void markLdsAccess(mlir::LLVM::AliasAnalysisOpInterface access);
  mlir::LogicalResult emitLdsStore(tile::LdsStoreOp op);
  mlir::LogicalResult emitLdsLoad(tile::LdsLoadOp op);

  // Arrive.cpp
  mlir::LogicalResult emitArrive(tile::ArriveOp op);
  void awaitStores();
  mlir::Value countArrival(tile::ArriveOp op, mlir::Value word);

  // Scan.cpp
  mlir::LogicalResult emitScan(tile::ScanOp op);
  mlir::Value sumOfLanesUpTo(mlir::Value x);

  // TopK.cpp
  mlir::LogicalResult emitTopK(tile::TopKOp op);

  // Copy.cpp
  /// Of all waves, or of those from \p waves[0] to \p waves[1] - 1.
  void emitBarrier(std::optional<llvm::ArrayRef<int64_t>> waves = std::nullopt);
  void meet();
  void emitOrderFence();
  mlir::LLVM::InlineAsmOp pin(uint32_t mayCross, const llvm::Twine &text = "");
  void findCopies();
  bool hasCopies() const { return copyScope != nullptr; }
  mlir::Value swizzleMask(const layout::LdsLayout &lds,
                          llvm::ArrayRef<mlir::Value> coordinates);
  llvm::SmallVector<mlir::Value> coordinatesAt(const layout::LdsLayout &lds,
                                               mlir::Value address);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  limitRests(tile::CopyToLdsOp op, llvm::ArrayRef<layout::LdsCopy> copies);
  mlir::LogicalResult emitCopy(tile::CopyToLdsOp op);
  /// The instructions of `copy` from range.first up to range.second.
  void emitCopyInstructions(tile::CopyToLdsOp op, const layout::LdsCopy &copy,
                            std::pair<int64_t, int64_t> range,
                            const LdsPlace &place, const LdsPlace *rows,
                            mlir::Value uniform,
                            llvm::ArrayRef<mlir::Value> rests);
  mlir::Value addressInRow(tile::CopyToLdsOp op, const LdsPlace &rows,
                           mlir::Value row, int64_t step, mlir::Value column);
  void copyRows(tile::CopyToLdsOp op);
  void emitWait(tile::WaitCopiesOp op);
  /// Notes that `op` has issued `count` vector-memory instructions, and pins
  /// them where waits are counted.
  void noteIssued(mlir::Operation *op, unsigned count);
  /// The same for each access of `op` in turn, one of `bytes` per lane.
  void noteAccess(mlir::Operation *op, unsigned bytes, bool last);
  mlir::LogicalResult countWaits();

  // Reduce.cpp
  mlir::LogicalResult emitReduction(mlir::Operation *op, mlir::Value lhs,
                                    mlir::Value rhs, tile::ReduceKind kind,
                                    llvm::ArrayRef<unsigned> dims);
  mlir::Value combine(tile::ReduceKind kind, mlir::Value a, mlir::Value b);

  // LaneExchange.cpp
  /// Lane bits that matter to an exchange: `uniform`, along which all lanes
  /// hold the same, and `pending`, which the reduction combines later.
  struct LaneState {
    uint64_t uniform = 0;
    uint64_t pending = 0;
  };
  /// The value of the lane that differs in \p laneBit (or one that stands for
  /// it under \p state).
  mlir::Value exchange(mlir::Value x, unsigned laneBit, LaneState state);
  /// `x` combined over \p laneBit, the same bits in both lanes.
  mlir::Value butterfly(tile::ReduceKind kind, mlir::Value x, unsigned laneBit,
                        LaneState state);
  /// `x` combined over \p laneBit in lanes where the bit is 0, `y` in others.
  mlir::Value scatterStep(tile::ReduceKind kind, mlir::Value x, mlir::Value y,
                          unsigned laneBit, LaneState state);
  /// The values of \p x in the lanes where \p laneBit is 0, and where it is 1.
  std::pair<mlir::Value, mlir::Value>
  gatherStep(mlir::Value x, unsigned laneBit, LaneState state);
  /// Every register of `target` from a tile that is a scatter of it.
  Parts gather(const Parts &source, const layout::Layout &target,
               llvm::ArrayRef<layout::RegisterToLane> moves);
  std::pair<mlir::Value, mlir::Value> permlaneSwap(mlir::Value x, mlir::Value y,
                                                   unsigned laneBit);
  bool hasSwap(unsigned laneBit) const;
  mlir::Value laneBitSet(unsigned laneBit);
  mlir::Value dpp(mlir::Value x, unsigned control);

  tile::KernelOp kernel;
  const target::TargetInfo &target;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp function;
  mlir::LLVM::GlobalOp lds;
  mlir::Value thread, wave;

  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Parts> tiles;
  /// Tiles loaded in parts of registers that the products which take them join:
  /// joining waits for the loads, which a loop may have in flight across its
  /// iterations.
  llvm::DenseSet<mlir::Value> joinedLate;
  llvm::DenseMap<mlir::Value, BufferView> views;
  llvm::SmallVector<std::pair<ReplicaMask, std::function<void()>>> waiting;
  llvm::DenseMap<mlir::Operation *, ReplicaMask> sunk;
  bool guardFailed = false;
  /// A loop whose body is being written.
  struct OpenLoop {
    mlir::Block *before, *test, *body;
    /// Offsets from outside that each iteration hands to the next, and what
    /// they are in the body.
    llvm::MapVector<mlir::Value, mlir::Value> carried;

    bool contains(mlir::Block *block) const;
    bool hoist(mlir::Value value) const;
  };
  llvm::SmallVector<OpenLoop> loops;
  /// Addresses in LDS of the lanes for places that are out of the reach of an
  /// instruction's constant.
  std::map<std::vector<int64_t>, mlir::Value> farBases;

  /// Set in kernels that copy into LDS: the alias scopes of the copies and of
  /// the other accesses to LDS.
  mlir::ArrayAttr copyScope, ldsScope;
  llvm::DenseMap<mlir::Operation *, unsigned> issuedBy;
  /// The statements that say so, by operation.
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::LLVM::InlineAsmOp>>
      issueStatements;
  /// The instructions of a copy of rows, until all addresses are there.
  struct RowCopy {
    mlir::Value from, place;
    int64_t laneBytes;
  };
  llvm::SmallVector<RowCopy> rowCopies;
  unsigned unpinned = 0; ///< accesses of the current op not noted yet
  struct CopyWait {
    tile::WaitCopiesOp op;
    mlir::LLVM::InlineAsmOp statement;
    mlir::ROCDL::SWaitcntOp instruction;
  };
  llvm::SmallVector<CopyWait> copyWaits;
};

} // namespace tenon::rocdl

#endif // TENON_PASSES_ROCDL_EMITTER_H
