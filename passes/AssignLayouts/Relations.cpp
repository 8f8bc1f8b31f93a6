//===- Relations.cpp - how operations tie layouts together ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/AssignLayouts/Relations.h"

#include "tenon/Layout/Conversion.h"
#include "tenon/Layout/Scatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::assign;
using layout::Basis;
using layout::HwDim;

bool assign::isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

bool assign::isRematerialisable(Operation *op) {
  return isa<arith::ConstantOp, tile::SplatOp, tile::IotaOp>(op) &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

layout::Layout assign::scalarLayout(unsigned waves) {
  layout::Repeat replicas{HwDim::Wave, waves, std::nullopt};
  return llvm::cantFail(layout::Layout::repeat(layout::Layout(), replicas));
}

llvm::Expected<layout::Layout> assign::spreadRows(ArrayRef<int64_t> shape,
                                                  unsigned waves, int64_t run) {
  unsigned rank = shape.size();
  SmallVector<unsigned> order;
  for (unsigned dim = rank; dim > 0; --dim) {
    order.push_back(dim - 1);
  }
  SmallVector<int64_t> perThread(rank, 1);
  SmallVector<int64_t> lanes(rank, 1);
  SmallVector<int64_t> waveCounts(rank, 1);
  perThread[rank - 1] = std::gcd(run, shape[rank - 1]);
  // Lanes, then waves, from the fastest dimension on, as far as they divide it.
  int64_t lanesLeft = 64;
  int64_t wavesLeft = waves;
  for (unsigned dim : order) {
    int64_t rest = shape[dim] / perThread[dim];
    lanes[dim] = std::gcd(rest, lanesLeft);
    lanesLeft /= lanes[dim];
    waveCounts[dim] = std::gcd(rest / lanes[dim], wavesLeft);
    wavesLeft /= waveCounts[dim];
  }
  auto spread =
      layout::Layout::blocked(shape, order, perThread, lanes, waveCounts);
  if (!spread || wavesLeft == 1) {
    return spread;
  }
  layout::Repeat replicas{HwDim::Wave, wavesLeft, std::nullopt};
  return layout::Layout::repeat(*spread, replicas);
}

/// \p layout with a new dimension \p dim of extent \p extent in registers: in
/// the lowest register bits when the extent is a power of two (so that memory
/// that is contiguous along it is read in one access), else as a digit.
static std::optional<layout::Layout>
withRegisterDim(const layout::Layout &layout, unsigned dim, int64_t extent) {
  SmallVector<int64_t> shape(layout.shape());
  shape.insert(shape.begin() + dim, extent);
  auto widen = [&](HwDim input) {
    SmallVector<Basis> bases(layout.bases(input));
    for (Basis &basis : bases) {
      basis.insert(basis.begin() + dim, 0);
    }
    return bases;
  };
  SmallVector<Basis> registers;
  SmallVector<layout::OuterMode> modes;
  if (llvm::isPowerOf2_64(extent)) {
    for (int64_t bit = 1; bit < extent; bit *= 2) {
      Basis basis(shape.size(), 0);
      basis[dim] = bit;
      registers.push_back(basis);
    }
  } else {
    modes.push_back({HwDim::Register, extent, dim, 1});
  }
  registers.append(widen(HwDim::Register));
  for (layout::OuterMode mode : layout.outerModes()) {
    mode.dim += mode.dim >= dim;
    modes.push_back(mode);
  }
  auto result = layout::Layout::create(shape, registers, widen(HwDim::Lane),
                                       widen(HwDim::Wave), modes);
  if (!result) {
    llvm::consumeError(result.takeError());
    return std::nullopt;
  }
  return std::move(*result);
}

Operation *assign::makerOf(Value value) {
  if (Operation *op = value.getDefiningOp()) {
    return op;
  }
  return value.getParentBlock()->getParentOp();
}

/// The four values that are one tile carried by \p loop: at its start, in its
/// body, at the end of its body, after it.
static std::array<Value, 4> carriedTile(scf::ForOp loop, unsigned index) {
  return {loop.getInitArgs()[index], loop.getRegionIterArg(index),
          loop.getBody()->getTerminator()->getOperand(index),
          loop.getResult(index)};
}

/// \p operands in elements of tiles, some of which hold several values along k.
static llvm::Expected<layout::MfmaOperands>
inElements(const layout::MfmaOperands &operands, int64_t lhsFactor,
           int64_t rhsFactor) {
  auto lhs = operands.lhs.coarsen(1, lhsFactor);
  if (!lhs) {
    return lhs.takeError();
  }
  auto rhs = operands.rhs.coarsen(0, rhsFactor);
  if (!rhs) {
    return rhs.takeError();
  }
  return layout::MfmaOperands{std::move(*lhs), std::move(*rhs),
                              operands.rowDim};
}

/// \p layout with its registers in the order in which the view of the load that
/// makes \p tile has them in memory, so that neighbours are read at once.
static layout::Layout inMemoryOrder(Value tile, const layout::Layout &layout) {
  auto load = tile.getDefiningOp<tile::LoadOp>();
  auto view = load ? load.getView().getDefiningOp<tile::ViewOp>() : nullptr;
  if (!view) {
    return layout;
  }
  SmallVector<OpFoldResult> strides = view.getMixedStrides();
  auto blocks = view.getDimBlocks();
  return layout.reorderRegisters([&](const Basis &basis) {
    unsigned stride = 0;
    int64_t offset = 0;
    for (unsigned dim = 0; dim < basis.size(); ++dim) {
      int64_t rest = basis[dim];
      auto add = [&](int64_t steps) {
        // Strides that vary are those of whole rows.
        constexpr int64_t far = int64_t(1) << 40;
        offset += steps * getConstantIntValue(strides[stride++]).value_or(far);
      };
      for (int64_t extent : blocks[dim]) {
        add(rest % extent);
        rest /= extent;
      }
      add(rest);
    }
    return offset;
  });
}

FailureOr<MmaLayouts> assign::operandLayouts(tile::MmaOp mma,
                                             const layout::Layout &accumulator,
                                             std::optional<int64_t> depth) {
  std::optional<ArrayRef<int64_t>> instruction = mma.getInstruction();
  if (!instruction) {
    mma.emitOpError("has no instruction: run tile-select-precision first");
    return failure();
  }
  auto lhs = cast<RankedTensorType>(mma.getLhs().getType());
  auto rhs = cast<RankedTensorType>(mma.getRhs().getType());
  auto lhsFormat = tile::mfmaFormat(lhs.getElementType());
  auto rhsFormat = tile::mfmaFormat(rhs.getElementType());
  if (!lhsFormat || !rhsFormat) {
    mma.emitOpError("no MFMA multiplies ")
        << lhs.getElementType() << " by " << rhs.getElementType();
    return failure();
  }
  // Of several products each is that of its waves.
  bool isSliced = accumulator.rank() == 3;
  layout::Layout own = isSliced && accumulator.isSeparable(0)
                           ? accumulator.slice({0})
                           : accumulator;
  auto layoutsFor =
      [&](int64_t extentK, layout::MfmaFormat left, layout::MfmaFormat right,
          int64_t leftFactor,
          int64_t rightFactor) -> FailureOr<layout::MfmaOperands> {
    auto operands =
        layout::mfmaOperands(own, (*instruction)[0], (*instruction)[1], extentK,
                             left, right, mma.getContractionOrder());
    if (operands) {
      operands = inElements(*operands, leftFactor, rightFactor);
    }
    if (!operands) {
      mma.emitOpError(llvm::toString(operands.takeError()));
      return failure();
    }
    if (!isSliced) {
      return std::move(*operands);
    }
    for (layout::Layout *operand : {&operands->lhs, &operands->rhs}) {
      auto sliced = layout::sliceOverWaves(*operand, accumulator.shape()[0]);
      if (!sliced) {
        mma.emitOpError(llvm::toString(sliced.takeError()));
        return failure();
      }
      *operand = std::move(*sliced);
    }
    return std::move(*operands);
  };
  FailureOr<layout::MfmaOperands> operands =
      layoutsFor(depth.value_or(mma.getDepth()), *lhsFormat, *rhsFormat,
                 mma.getLhsPacking(), mma.getRhsPacking());
  if (failed(operands)) {
    return failure();
  }
  MmaLayouts layouts{std::move(operands->lhs), std::move(operands->rhs),
                     std::nullopt, std::nullopt, operands->rowDim};
  // A scale lies in the lane that holds its block in the order of FP4, whatever
  // the format of the values. Its registers may have any order.
  auto scaleLayout = [&](Value scale, bool isRhs,
                         std::optional<layout::Layout> &layout) {
    if (!scale) {
      return success();
    }
    auto type = cast<RankedTensorType>(scale.getType());
    int64_t blocks = type.getDimSize(type.getRank() - (isRhs ? 2 : 1));
    FailureOr<layout::MfmaOperands> scales =
        layoutsFor(blocks * tile::MmaOp::scaleBlock, layout::MfmaFormat::F4,
                   layout::MfmaFormat::F4, tile::MmaOp::scaleBlock,
                   tile::MmaOp::scaleBlock);
    if (failed(scales)) {
      return failure();
    }
    layout = inMemoryOrder(scale, isRhs ? scales->rhs : scales->lhs);
    return success();
  };
  if (failed(scaleLayout(mma.getLhsScale(), false, layouts.lhsScale)) ||
      failed(scaleLayout(mma.getRhsScale(), true, layouts.rhsScale))) {
    return failure();
  }
  return layouts;
}

/// Where threads need the rows that \p op gathers or scatters of \p tile: where
/// they hold the tile, or copy it into LDS.
static std::optional<layout::Layout> rowsLayout(Operation *op, Value tile) {
  auto copied = [&](ArrayRef<int64_t> shape,
                    Type element) -> std::optional<layout::Layout> {
    FailureOr<layout::Layout> rows = tile::copyRowsLayout(op, shape, element);
    return succeeded(rows) ? std::optional(*rows) : std::nullopt;
  };
  if (auto buffer = dyn_cast<tile::LdsType>(tile.getType())) {
    return copied(buffer.getShape(), buffer.getElementType());
  }
  auto load = dyn_cast<tile::LoadOp>(op);
  if (load && load.getStaged()) {
    auto type = cast<RankedTensorType>(load.getType());
    return copied(type.getShape(), type.getElementType());
  }
  tile::LayoutAttr layout = tile::getLayout(tile.getType());
  if (!layout) {
    return std::nullopt;
  }
  SmallVector<unsigned> others;
  for (unsigned dim = 1; dim < layout.getLayout().rank(); ++dim) {
    others.push_back(dim);
  }
  return layout.getLayout().isSeparable(others)
             ? std::optional(layout.getLayout().slice(others))
             : std::nullopt;
}

std::optional<layout::Layout> assign::wantedBy(Operation *user, Value value) {
  if (auto mma = dyn_cast<tile::MmaOp>(user)) {
    tile::LayoutAttr layout = tile::getLayout(mma.getType());
    if (!layout || value == mma.getAccumulator()) {
      return std::nullopt;
    }
    FailureOr<MmaLayouts> operands = operandLayouts(mma, layout.getLayout());
    if (failed(operands)) {
      return std::nullopt;
    }
    if (value == mma.getLhsScale()) {
      return operands->lhsScale;
    }
    if (value == mma.getRhsScale()) {
      return operands->rhsScale;
    }
    return value == mma.getLhs() ? operands->lhs : operands->rhs;
  }
  if (auto convert = dyn_cast<tile::ConvertLayoutOp>(user)) {
    tile::LayoutAttr layout = tile::getLayout(convert.getType());
    return layout ? std::optional(layout.getLayout()) : std::nullopt;
  }
  if (auto load = dyn_cast<tile::LoadOp>(user)) {
    return load.getRows() == value ? rowsLayout(load, load.getResult())
                                   : std::nullopt;
  }
  if (auto store = dyn_cast<tile::StoreOp>(user)) {
    return store.getRows() == value ? rowsLayout(store, store.getValue())
                                    : std::nullopt;
  }
  if (auto copy = dyn_cast<tile::CopyToLdsOp>(user)) {
    return copy.getRows() == value ? rowsLayout(copy, copy.getBuffer())
                                   : std::nullopt;
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(user)) {
    tile::LayoutAttr layout = tile::getLayout(broadcast.getType());
    SmallVector<unsigned> repeated = broadcast.getRepeatedDims();
    return layout && layout.getLayout().isSeparable(repeated)
               ? std::optional(layout.getLayout().slice(repeated))
               : std::nullopt;
  }
  return std::nullopt;
}

/// Whether lanes hold pairs of elements along \p dim that instructions round to
/// codes of \p packing elements: neighbours, or any of a block.
static bool holdsPairs(const layout::Layout &layout, unsigned dim,
                       int64_t packing) {
  auto registers = layout.bases(HwDim::Register);
  if (registers.empty()) {
    return false;
  }
  Basis others(registers.front());
  int64_t step = others[dim];
  others[dim] = 0;
  bool movesDim = llvm::all_of(others, [](int64_t move) { return move == 0; });
  return movesDim &&
         (packing == 2 ? step == 1
                       : step >= 1 && step < tile::MmaOp::scaleBlock);
}

void assign::relate(Operation *op, Value value, const layout::Layout &layout,
                    function_ref<void(Value, layout::Layout)> assign) {
  auto assignTile = [&](Value other, const layout::Layout &otherLayout) {
    if (isa<RankedTensorType>(other.getType()) && other != value) {
      assign(other, otherLayout);
    }
  };
  /// `whole` without dimension `dim` is each of `slices`.
  auto relateSlices = [&](Value whole, ValueRange slices, unsigned dim) {
    if (value == whole) {
      if (layout.isSeparable(dim)) {
        for (Value slice : slices) {
          assignTile(slice, layout.slice(dim));
        }
      }
      return;
    }
    // What was cut into blocks has the registers in an order of its own.
    auto type = cast<RankedTensorType>(whole.getType());
    if (whole.getDefiningOp<tile::SplitOp>()) {
      for (Value slice : slices) {
        assignTile(slice, layout);
      }
    } else if (auto wide = withRegisterDim(layout, dim, type.getDimSize(dim))) {
      assignTile(whole, *wide);
      for (Value slice : slices) {
        assignTile(slice, layout);
      }
    }
  };
  auto relateCarried = [&](scf::ForOp loop) {
    for (unsigned index = 0; index < loop.getInitArgs().size(); ++index) {
      auto carried = carriedTile(loop, index);
      if (llvm::is_contained(carried, value)) {
        for (Value other : carried) {
          assignTile(other, layout);
        }
      }
    }
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>(relateCarried)
      .Case<scf::YieldOp>([&](auto yield) {
        relateCarried(cast<scf::ForOp>(yield->getParentOp()));
      })
      .Case<tile::MmaOp>([&](auto mma) {
        if (value == mma.getAccumulator() || value == mma.getResult()) {
          assignTile(mma.getAccumulator(), layout);
          assignTile(mma.getResult(), layout);
        }
      })
      .Case<tile::SplitOp>([&](auto split) {
        // Only downwards, as reductions.
        if (value != split.getSource()) {
          return;
        }
        if (auto cut = split.splitLayout(layout)) {
          assignTile(split.getResult(), *cut);
        } else {
          llvm::consumeError(cut.takeError());
        }
      })
      .Case<tile::ExtractOp>([&](auto extract) {
        relateSlices(extract.getSource(), extract.getResult(),
                     extract.getDim());
      })
      .Case<tile::StackOp>([&](auto stack) {
        relateSlices(stack.getResult(), stack.getSources(), stack.getDim());
      })
      .Case<tile::TransposeOp>([&](auto transpose) {
        if (value == transpose.getSource()) {
          assignTile(transpose.getResult(),
                     layout.transposed(transpose.getOrder()));
        } else {
          assignTile(transpose.getSource(),
                     layout.transposed(transpose.getInverseOrder()));
        }
      })
      .Case<tile::ReduceOp, tile::DotOp>([&](auto reduce) {
        // Only downwards: the result does not say how the rest was spread.
        if (value != reduce.getResult() &&
            layout.isSeparable(reduce.getReducedDims())) {
          for (Value operand : reduce->getOperands()) {
            assignTile(operand, layout);
          }
          assignTile(reduce.getResult(), layout.slice(reduce.getReducedDims()));
        }
      })
      .Case<tile::BroadcastOp>([&](auto broadcast) {
        if (value == broadcast.getResult() &&
            layout.isSeparable(broadcast.getRepeatedDims())) {
          assignTile(broadcast.getSource(),
                     layout.slice(broadcast.getRepeatedDims()));
        }
      })
      .Case<tile::DequantizeOp>([&](auto dequantize) {
        // From the values, which the others hold parts of, to the others.
        if (value != dequantize.getResult()) {
          return;
        }
        for (auto [other, factor] :
             {std::pair(dequantize.getCodes(), int64_t(2)),
              std::pair(dequantize.getScales(), tile::MmaOp::scaleBlock)}) {
          if (auto coarse = layout.coarsen(dequantize.getDim(), factor)) {
            assignTile(other, *coarse);
          } else {
            llvm::consumeError(coarse.takeError());
          }
        }
      })
      .Case<tile::QuantizeOp>([&](auto quantize) {
        // As the reduction from which the scales come.
        if (value != quantize.getValues() ||
            !holdsPairs(layout, quantize.getDim(), quantize.getPacking())) {
          return;
        }
        for (auto [other, factor] :
             {std::pair(quantize.getResult(), quantize.getPacking()),
              std::pair(quantize.getScales(), tile::MmaOp::scaleBlock)}) {
          if (auto coarse = layout.coarsen(quantize.getDim(), factor)) {
            assignTile(other, *coarse);
          } else {
            llvm::consumeError(coarse.takeError());
          }
        }
      })
      .Case<tile::ScanOp>([&](auto scan) {
        assignTile(scan.getSource(), layout);
        assignTile(scan.getResult(), layout);
      })
      .Case<tile::TopKOp>([&](auto top) {
        if (value == top.getValues() || value == top.getIds()) {
          assignTile(top.getValues(), layout);
          assignTile(top.getIds(), layout);
        }
      })
      .Default([&](Operation *other) {
        if (isElementwise(other)) {
          for (Value operand : other->getOperands()) {
            assignTile(operand, layout);
          }
          assignTile(other->getResult(0), layout);
        }
      });
}

bool assign::avoidsLds(const layout::Layout &from, const layout::Layout &to) {
  if (layout::matchScatter(to, from)) {
    return true;
  }
  layout::Conversion conversion = layout::classifyConversion(from, to);
  return conversion.kind <= layout::ConversionKind::WithinLane &&
         !conversion.selectsByLane() && !conversion.selectsByWave();
}

SmallVector<Value> assign::tiedTo(Value value) {
  SmallVector<Value> tied;
  auto visit = [&](Operation *op) {
    if (isa<scf::YieldOp>(op)) {
      op = op->getParentOp();
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (unsigned index = 0; index < loop.getInitArgs().size(); ++index) {
        auto carried = carriedTile(loop, index);
        if (llvm::is_contained(carried, value)) {
          llvm::append_range(tied, carried);
        }
      }
      return;
    }
    if (auto mma = dyn_cast<tile::MmaOp>(op)) {
      if (value == mma.getAccumulator() || value == mma.getResult()) {
        tied.append({mma.getAccumulator(), mma.getResult()});
      }
      return;
    }
    if (auto scan = dyn_cast<tile::ScanOp>(op)) {
      tied.append({scan.getSource(), scan.getResult()});
      return;
    }
    if (auto top = dyn_cast<tile::TopKOp>(op)) {
      if (value == top.getValues() || value == top.getIds()) {
        tied.append({top.getValues(), top.getIds()});
      }
      return;
    }
    if (!isElementwise(op) &&
        !isa<tile::SplitOp, tile::ExtractOp, tile::StackOp, tile::TransposeOp,
             tile::ReduceOp, tile::DotOp, tile::BroadcastOp, tile::DequantizeOp,
             tile::QuantizeOp>(op)) {
      return;
    }
    llvm::append_range(tied, op->getOperands());
    llvm::append_range(tied, op->getResults());
  };
  visit(makerOf(value));
  for (Operation *user : value.getUsers()) {
    visit(user);
  }
  return tied;
}

/// Makes \p operand of an operation take its tile in the layout \p wanted,
/// converted before the operation or behind what makes the tile.
static void convertOperand(OpOperand &operand, const layout::Layout &wanted,
                           bool atSource = false) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  Operation *op = operand.getOwner();
  auto layout = tile::LayoutAttr::get(op->getContext(), wanted);
  if (tile::getLayout(type) == layout) {
    return;
  }
  OpBuilder builder(op);
  if (atSource) {
    builder.setInsertionPointAfterValue(operand.get());
  }
  operand.set(tile::ConvertLayoutOp::create(
      builder, op->getLoc(), tile::withLayout(type, layout), operand.get()));
}

LogicalResult assign::insertConversions(tile::KernelOp kernel) {
  SmallVector<tile::BroadcastOp> broadcasts;
  kernel.walk([&](tile::BroadcastOp op) { broadcasts.push_back(op); });
  for (tile::BroadcastOp broadcast : broadcasts) {
    std::optional<layout::Layout> wanted =
        wantedBy(broadcast, broadcast.getSource());
    if (!wanted) {
      return broadcast.emitOpError("the layout ")
             << tile::getLayout(broadcast.getType())
             << " does not separate the repeated dimensions";
    }
    convertOperand(broadcast.getSourceMutable(), *wanted);
  }
  SmallVector<std::pair<OpOperand *, Value>> rows;
  kernel.walk([&](Operation *op) {
    if (auto gather = dyn_cast<tile::LoadOp>(op)) {
      for (OpOperand &operand : MutableOperandRange(gather.getRowsMutable())) {
        rows.emplace_back(&operand, gather.getResult());
      }
    } else if (auto copy = dyn_cast<tile::CopyToLdsOp>(op);
               copy && copy.hasRowNumbers()) {
      for (OpOperand &operand : MutableOperandRange(copy.getRowsMutable())) {
        rows.emplace_back(&operand, copy.getBuffer());
      }
    } else if (auto scatter = dyn_cast<tile::StoreOp>(op)) {
      for (OpOperand &operand : MutableOperandRange(scatter.getRowsMutable())) {
        rows.emplace_back(&operand, scatter.getValue());
      }
    }
  });
  for (auto [operand, tile] : rows) {
    std::optional<layout::Layout> wanted =
        rowsLayout(operand->getOwner(), tile);
    if (!wanted) {
      return operand->getOwner()->emitOpError("the layout of ")
             << tile.getType()
             << " does not separate the rows that it gathers or scatters";
    }
    // Where they come from, not in each step of a loop.
    convertOperand(*operand, *wanted, /*atSource=*/true);
  }
  SmallVector<tile::MmaOp> products;
  kernel.walk([&](tile::MmaOp op) { products.push_back(op); });
  for (tile::MmaOp mma : products) {
    FailureOr<MmaLayouts> operands =
        operandLayouts(mma, tile::getLayout(mma.getType()).getLayout());
    if (failed(operands)) {
      return failure();
    }
    convertOperand(mma.getLhsMutable(), operands->lhs);
    convertOperand(mma.getRhsMutable(), operands->rhs);
    for (auto [scales, layout] :
         {std::pair(mma.getLhsScaleMutable(), operands->lhsScale),
          std::pair(mma.getRhsScaleMutable(), operands->rhsScale)}) {
      for (OpOperand &scale : MutableOperandRange(scales)) {
        tile::LayoutAttr held = tile::getLayout(scale.get().getType());
        if (!held || !held.getLayout().holdsSameAs(*layout)) {
          convertOperand(scale, *layout);
        }
      }
    }
  }
  return success();
}
