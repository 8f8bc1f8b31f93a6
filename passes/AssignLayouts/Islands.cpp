//===- Islands.cpp - tiles that take one layout together --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/AssignLayouts/Islands.h"
#include "passes/AssignLayouts/Relations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::assign;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

std::vector<Seed> Island::demands() const {
  std::vector<Seed> seeds;
  auto want = [&](Value value, layout::Layout layout) {
    bool known = llvm::any_of(seeds, [&](const Seed &seed) {
      return seed.value == value && seed.layout == layout;
    });
    if (!known) {
      seeds.push_back({value, std::move(layout)});
    }
  };
  for (Value value : values) {
    for (Operation *user : value.getUsers()) {
      if (auto wanted = wantedBy(user, value)) {
        want(value, std::move(*wanted));
      }
    }
  }
  return seeds;
}

std::vector<Seed> Island::anchors() const {
  std::vector<Seed> seeds;
  for (Value value : values) {
    auto visit = [&](Operation *op) {
      // A broadcast takes its source in any layout, at the cost of a
      // conversion.
      if (isa<tile::BroadcastOp>(op)) {
        return;
      }
      for (Value other :
           llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                               SmallVector<Value>(op->getResults()))) {
        if (tile::LayoutAttr layout = tile::getLayout(other.getType())) {
          relate(op, other, layout.getLayout(),
                 [&](Value tied, layout::Layout wanted) {
                   if (tied == value) {
                     seeds.push_back({value, std::move(wanted)});
                   }
                 });
        }
      }
    };
    visit(makerOf(value));
    for (Operation *user : value.getUsers()) {
      visit(user);
    }
  }
  return seeds;
}

bool Island::holdsAccumulators() const {
  return llvm::any_of(values, [](Value value) {
    return isa_and_nonnull<tile::MmaOp>(value.getDefiningOp());
  });
}

/// Whether the right operand of \p mma, or its scales, are read into registers
/// from memory where rows along n lie in blocks: one instruction then reads
/// whole blocks when its rows follow each other.
static bool readsBlocks(tile::MmaOp mma) {
  Value operand = mma.getRhs();
  if (auto dequantize = operand.getDefiningOp<tile::DequantizeOp>()) {
    operand = dequantize.getCodes();
  }
  auto isBlocked = [](Value tile) {
    auto load = tile ? tile.getDefiningOp<tile::LoadOp>() : nullptr;
    auto view = load ? load.getView().getDefiningOp<tile::ViewOp>() : nullptr;
    return view && !view.getDimBlocks().back().empty();
  };
  return isBlocked(operand) || isBlocked(mma.getRhsScale());
}

std::vector<Seed> Island::accumulators() const {
  std::vector<Seed> seeds;
  for (Value value : values) {
    auto mma = dyn_cast_or_null<tile::MmaOp>(value.getDefiningOp());
    if (!mma || !mma.getInstruction()) {
      continue;
    }
    ArrayRef<int64_t> shape = cast<RankedTensorType>(mma.getType()).getShape();
    int64_t slices = shape.size() == 3 ? shape.front() : 1;
    std::optional<ArrayRef<int64_t>> given = mma.getWaves();
    // All waves share the product, or, where it is too small, as many of them
    // as can.
    for (int64_t replicas = 1; seeds.empty() && replicas * slices <= waves;
         replicas *= 2) {
      int64_t sharing = waves / (slices * replicas);
      for (int64_t wavesM = 1; wavesM <= sharing; ++wavesM) {
        if (sharing * slices * replicas != waves || sharing % wavesM != 0 ||
            (given && (*given)[0] != wavesM)) {
          continue;
        }
        // Rows of the instruction along n: a lane then holds consecutive
        // elements of a row of the result.
        auto layout = layout::mfmaTile(shape[shape.size() - 2], shape.back(),
                                       {(*mma.getInstruction())[0], wavesM,
                                        sharing / wavesM,
                                        /*rowDim=*/1, slices * replicas,
                                        /*wholeRows=*/readsBlocks(mma)});
        if (layout && shape.size() == 3) {
          layout = layout::sliceOverWaves(*layout, slices);
        }
        if (layout) {
          seeds.push_back({value, std::move(*layout)});
        } else {
          llvm::consumeError(layout.takeError());
        }
      }
    }
    break;
  }
  return seeds;
}

std::vector<Seed> Island::spreads() const {
  // The tile of the highest rank determines those that are slices of it.
  Value largest = *llvm::max_element(values, [](Value left, Value right) {
    auto a = cast<RankedTensorType>(left.getType());
    auto b = cast<RankedTensorType>(right.getType());
    return std::pair(a.getNumElements(), a.getRank()) <
           std::pair(b.getNumElements(), b.getRank());
  });
  SmallVector<Value> starts{largest};
  for (Value value : values) {
    if (cast<RankedTensorType>(value.getType()).getRank() == 1) {
      starts.push_back(value);
      break;
    }
  }
  // What is cut into blocks determines the blocks, not the other way round.
  for (Value value : values) {
    if (llvm::any_of(value.getUsers(), llvm::IsaPred<tile::SplitOp>)) {
      starts.push_back(value);
    }
  }
  std::vector<Seed> seeds;
  for (Value start : starts) {
    auto type = cast<RankedTensorType>(start.getType());
    for (int64_t run : {1, 2, 4, 8}) {
      auto layout =
          type.getRank() == 1
              ? layout::Layout::distribute1D(type.getDimSize(0), 64, waves, run)
              : spreadRows(type.getShape(), waves, run);
      if (layout) {
        seeds.push_back({start, std::move(*layout)});
      } else {
        llvm::consumeError(layout.takeError());
      }
    }
  }
  return seeds;
}

std::optional<Placement> Island::derive(const Seed &seed) const {
  Placement placement;
  SmallVector<Value> work;
  bool sound = true;
  auto assign = [&](Value value, layout::Layout layout) {
    if (!llvm::is_contained(values, value)) {
      return;
    }
    auto [entry, inserted] = placement.try_emplace(value, layout);
    if (inserted) {
      work.push_back(value);
    } else if (!(entry->second == layout)) {
      sound = false;
    }
  };
  assign(seed.value, seed.layout);
  while (!work.empty() && sound) {
    Value value = work.pop_back_val();
    // A copy: `assign` may move the placement's storage.
    layout::Layout layout = placement.find(value)->second;
    relate(makerOf(value), value, layout, assign);
    for (Operation *user : value.getUsers()) {
      relate(user, value, layout, assign);
    }
  }
  if (!sound || placement.size() != values.size()) {
    return std::nullopt;
  }
  return placement;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// Instructions of one wave for an element-wise operation on \p registers.
static double elementwiseCost(Operation *op, int64_t registers) {
  bool packs =
      isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(op);
  if (packs && registers % 2 == 0) {
    return registers / 2;
  }
  // Transcendentals issue at a quarter of the rate.
  bool slow = isa<math::Exp2Op, math::Log2Op, math::RsqrtOp, arith::DivFOp>(op);
  return slow ? 4.0 * registers : registers;
}

/// Instructions of one wave that access memory or LDS for a tile.
static double accessCost(const layout::Layout &layout, RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 2; dim >= 0; --dim) {
    strides[dim] = strides[dim + 1] * type.getDimSize(dim + 1);
  }
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  unsigned width = layout.vectorWidth(strides, bits, 128);
  // Addresses and waits make an access dearer than arithmetic.
  return 2.0 * layout.numRegisters() / width;
}

double Island::cost(const Placement &placement) const {
  // What an exchange costs besides its accesses: the guard of the store where
  // the layout replicates, the wait and the barrier.
  static constexpr double exchangeOverhead = 8.0;
  double total = 0.0;
  for (const auto &[value, layout] : placement) {
    auto type = cast<RankedTensorType>(value.getType());
    Operation *op = value.getDefiningOp();
    if (op && isElementwise(op)) {
      total += elementwiseCost(op, layout.numRegisters());
    } else if (isa_and_nonnull<tile::LoadOp, tile::LdsLoadOp>(op)) {
      total += accessCost(layout, type);
    }
    if (auto mma = dyn_cast_or_null<tile::MmaOp>(op)) {
      // What a wave reads of the operands.
      FailureOr<MmaLayouts> operands = operandLayouts(mma, layout);
      if (succeeded(operands)) {
        total +=
            (operands->lhs.numRegisters() + operands->rhs.numRegisters()) / 4.0;
      }
    }
    std::vector<layout::Layout> served;
    for (Operation *user : value.getUsers()) {
      if (isa<tile::StoreOp, tile::LdsStoreOp>(user)) {
        total += accessCost(layout, type);
      }
      std::optional<layout::Layout> wanted = wantedBy(user, value);
      if (!wanted || layout == *wanted || llvm::is_contained(served, *wanted)) {
        continue;
      }
      served.push_back(*wanted);
      if (assign::avoidsLds(layout, *wanted)) {
        // A move between lanes per register, with its hazards, at worst.
        total += 2.0 * wanted->numRegisters();
        continue;
      }
      total += exchangeOverhead + accessCost(layout, type) +
               accessCost(*wanted, type);
    }
  }
  return total;
}

/// Whether lanes have registers for \p placement, and \p imposed is kept.
static bool fits(const Placement &placement, ArrayRef<Seed> imposed) {
  for (const auto &[value, layout] : placement) {
    if (!tile::LayoutAttr::get(value.getContext(), layout).fitsRegisters()) {
      return false;
    }
  }
  return llvm::all_of(imposed, [&](const Seed &seed) {
    return placement.find(seed.value)->second == seed.layout;
  });
}

FailureOr<Placement> Island::choose() const {
  std::optional<Placement> best;
  double bestCost = 0.0;
  std::vector<Seed> imposed = anchors();
  std::vector<Seed> seeds = imposed;
  if (seeds.empty() && holdsAccumulators()) {
    seeds = accumulators();
  } else if (seeds.empty()) {
    seeds = spreads();
    for (Seed demand : demands()) {
      seeds.push_back(std::move(demand));
    }
  }
  for (const Seed &seed : seeds) {
    std::optional<Placement> placement = derive(seed);
    if (!placement || !fits(*placement, imposed)) {
      continue;
    }
    double placementCost = cost(*placement);
    if (!best || placementCost < bestCost) {
      best = std::move(placement);
      bestCost = placementCost;
    }
  }
  if (!best) {
    return emitError(values.front().getLoc(),
                     "no layout fits this tile and those tied to it");
  }
  return std::move(*best);
}

//===----------------------------------------------------------------------===//
// Islands of a kernel
//===----------------------------------------------------------------------===//

/// Gives constants and splats, which any layout suits, one user each, so that
/// they do not tie unrelated tiles together.
static void separateConstants(tile::KernelOp kernel) {
  SmallVector<Operation *> sources;
  kernel.walk([&](Operation *op) {
    if (isRematerialisable(op) && !op->use_empty()) {
      sources.push_back(op);
    }
  });
  for (Operation *op : sources) {
    OpBuilder builder(op);
    SmallVector<OpOperand *> uses(llvm::make_pointer_range(op->getUses()));
    for (OpOperand *use : llvm::drop_begin(uses)) {
      builder.setInsertionPoint(use->getOwner());
      use->set(builder.clone(*op)->getResult(0));
    }
  }
}

static void setLayout(Value value, const layout::Layout &layout) {
  auto type = cast<RankedTensorType>(value.getType());
  auto placed =
      tile::withLayout(type, tile::LayoutAttr::get(value.getContext(), layout));
  value.setType(placed);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    constant.setValueAttr(
        cast<DenseElementsAttr>(constant.getValue()).reshape(placed));
  }
}

/// Whether \p value is a tile without a layout.
static bool isUnplaced(Value value) {
  return isa<RankedTensorType>(value.getType()) &&
         !tile::getLayout(value.getType());
}

/// Checks what the placement takes for granted: tiles placed by hand are spread
/// over the kernel's waves, and constants to be placed are dense.
static LogicalResult checkTiles(tile::KernelOp kernel) {
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      tile::LayoutAttr layout = tile::getLayout(value.getType());
      if (layout && layout.getLayout().numWaves() != kernel.getWaves()) {
        op->emitOpError("has a tile laid out over ")
            << layout.getLayout().numWaves() << " waves, the kernel has "
            << kernel.getWaves();
        return WalkResult::interrupt();
      }
    }
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (constant && isUnplaced(constant) &&
        !isa<DenseElementsAttr>(constant.getValue())) {
      op->emitOpError("a constant tile must be dense");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// How many of the operands of \p mma that are placed would go through LDS.
static unsigned exchangedOperands(tile::MmaOp mma) {
  FailureOr<MmaLayouts> wanted =
      operandLayouts(mma, tile::getLayout(mma.getType()).getLayout());
  if (failed(wanted)) {
    return 0;
  }
  unsigned count = 0;
  for (auto [operand, layout] : {std::pair(mma.getLhs(), wanted->lhs),
                                 std::pair(mma.getRhs(), wanted->rhs)}) {
    tile::LayoutAttr held = tile::getLayout(operand.getType());
    count += held && !assign::avoidsLds(held.getLayout(), layout);
  }
  return count;
}

/// Gives products whose operands are accumulators of others the contraction
/// order in which these serve as they are.
static void relabelContractions(tile::KernelOp kernel) {
  kernel.walk([](tile::MmaOp mma) {
    if (mma.getContraction() || mma.getLhsScale() || mma.getRhsScale() ||
        !mma.getInstruction() || !tile::getLayout(mma.getType())) {
      return;
    }
    int64_t depth = (*mma.getInstruction())[1];
    int64_t count = mma.getDepth() / depth;
    if (count == 0) {
      return; // Half an instruction has one order.
    }
    unsigned best = exchangedOperands(mma);
    std::optional<std::array<int64_t, 2>> chosen;
    for (int64_t steps = 2; best != 0 && count % steps == 0; steps *= 2) {
      for (int64_t run = 1; depth % run == 0; run *= 2) {
        mma.setContraction(ArrayRef<int64_t>{run, steps});
        unsigned exchanged = exchangedOperands(mma);
        if (exchanged < best) {
          best = exchanged;
          chosen = {run, steps};
        }
      }
    }
    mma.removeContractionAttr();
    if (chosen) {
      mma.setContraction(ArrayRef<int64_t>(*chosen));
    }
  });
}

LogicalResult tenon::assign::placeIslands(tile::KernelOp kernel) {
  if (failed(checkTiles(kernel))) {
    return failure();
  }
  separateConstants(kernel);
  unsigned waves = kernel.getWaves();
  layout::Layout scalar = scalarLayout(waves);

  kernel.walk([&](tile::TopKOp top) {
    for (Value result : top.getResults()) {
      if (isUnplaced(result)) {
        auto type = cast<RankedTensorType>(result.getType());
        setLayout(result, tile::topKLayout(type.getDimSize(0), waves));
      }
    }
  });
  kernel.walk([&](tile::ScanOp scan) {
    auto type = cast<RankedTensorType>(scan.getSource().getType());
    if (isUnplaced(scan.getSource())) {
      layout::Layout layout = tile::scanLayout(type.getDimSize(0), waves);
      setLayout(scan.getSource(), layout);
      setLayout(scan.getResult(), layout);
    }
  });
  llvm::EquivalenceClasses<void *> classes;
  SmallVector<Value> unplaced;
  auto note = [&](Value value) {
    if (!isUnplaced(value)) {
      return;
    }
    if (cast<RankedTensorType>(value.getType()).getRank() == 0) {
      setLayout(value, scalar);
      return;
    }
    unplaced.push_back(value);
    classes.insert(value.getAsOpaquePointer());
  };
  kernel.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), note);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      llvm::for_each(loop.getRegionIterArgs(), note);
    }
  });
  for (Value value : unplaced) {
    for (Value other : tiedTo(value)) {
      if (isUnplaced(other)) {
        classes.unionSets(value.getAsOpaquePointer(),
                          other.getAsOpaquePointer());
      }
    }
  }
  llvm::MapVector<void *, Island> islands;
  for (Value value : unplaced) {
    void *leader = classes.getLeaderValue(value.getAsOpaquePointer());
    islands.try_emplace(leader, waves).first->second.add(value);
  }
  // Wanted layouts are read from the types, so islands choose before any of
  // their types changes: those of accumulators first, which decide what layouts
  // their operands are wanted in.
  for (bool accumulators : {true, false}) {
    std::vector<Placement> placements;
    for (auto &[leader, island] : islands) {
      if (island.holdsAccumulators() != accumulators) {
        continue;
      }
      FailureOr<Placement> placement = island.choose();
      if (failed(placement)) {
        return failure();
      }
      placements.push_back(std::move(*placement));
    }
    for (const Placement &placement : placements) {
      for (const auto &[value, layout] : placement) {
        setLayout(value, layout);
      }
    }
    if (accumulators) {
      relabelContractions(kernel);
    }
  }
  return insertConversions(kernel);
}
