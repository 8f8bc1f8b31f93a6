//===- Mma.cpp - matrix products --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/AssignLayouts/Relations.h"
#include "passes/Rocdl/Emitter.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

/// Registers, in elements of the tile, of an operand that a lane holds of one
/// instruction [mn, k], of which \p mma may have half the values of k; \p
/// packing values are one element.
static unsigned operandElements(tile::MmaOp mma, int64_t packing) {
  ArrayRef<int64_t> instruction = *mma.getInstruction();
  return instruction[0] * std::min(instruction[1], mma.getDepth()) / 64 /
         packing;
}

/// Bytes of a register, of which instructions select one as their scale.
static constexpr int64_t scalesPerRegister = 4;

/// The width in which a product takes an operand of \p registers registers.
static unsigned widthIn(tile::MmaOp mma, Value operand, int64_t registers) {
  std::optional<ArrayRef<int64_t>> instruction = mma.getInstruction();
  if (!instruction) {
    return 0;
  }
  if (operand == mma.getLhs()) {
    return operandElements(mma, mma.getLhsPacking());
  }
  if (operand == mma.getRhs()) {
    return operandElements(mma, mma.getRhsPacking());
  }
  if (operand == mma.getAccumulator()) {
    return (*instruction)[0] * (*instruction)[0] / 64;
  }
  return std::gcd(registers, scalesPerRegister);
}

unsigned Emitter::keptWidth(Value tile, int64_t registers) {
  unsigned width = 0;
  if (auto mma = dyn_cast_or_null<tile::MmaOp>(tile.getDefiningOp())) {
    if (std::optional<ArrayRef<int64_t>> instruction = mma.getInstruction()) {
      width = (*instruction)[0] * (*instruction)[0] / 64;
    }
  }
  for (Operation *user : tile.getUsers()) {
    if (auto mma = dyn_cast<tile::MmaOp>(user)) {
      width = std::max(width, widthIn(mma, tile, registers));
    } else if (isa<tile::DequantizeOp>(user)) {
      width = std::max<unsigned>(width, std::gcd(registers, int64_t(4)));
    }
  }
  if (width == 0 || registers % width != 0) {
    width = registers % 2 == 0 ? 2 : 1;
  }
  return width;
}

bool Emitter::isForProducts(Value tile) {
  return llvm::all_of(tile.getUsers(),
                      llvm::IsaPred<tile::MmaOp, scf::ForOp, scf::YieldOp>);
}

/// Whether what \p loop carries leaves room for parts of registers in a
/// register each.
bool Emitter::hasRoomForParts(scf::ForOp loop) {
  // Operands of the iteration itself, addresses and LLVM take the others.
  constexpr double mostCarried = 0.4;
  int64_t bits = 0;
  for (Value init : loop.getInitArgs()) {
    if (auto type = dyn_cast<RankedTensorType>(init.getType())) {
      bits += tile::getLayout(type).getLayout().numRegisters() *
              type.getElementTypeBitWidth();
    }
  }
  unsigned waves =
      llvm::divideCeil(unsigned(kernel.getWaves()), target.facts().simdsPerCu);
  return double(bits) / 32 <= mostCarried * target.maxVgprsForWaves(waves);
}

bool Emitter::joinsLate(tile::LoadOp load) {
  Value tile = load.getResult();
  SmallVector<scf::ForOp> loops;
  for (Operation *user : tile.getUsers()) {
    Operation *carrier = isa<scf::YieldOp>(user) ? user->getParentOp() : user;
    if (auto loop = dyn_cast<scf::ForOp>(carrier)) {
      loops.push_back(loop);
    }
  }
  if (auto around = dyn_cast<scf::ForOp>(load->getParentOp());
      around &&
      llvm::any_of(around.getResultTypes(), llvm::IsaPred<RankedTensorType>)) {
    loops.push_back(around);
  }
  return !loops.empty() && isForProducts(tile) &&
         llvm::all_of(loops,
                      [&](scf::ForOp loop) { return hasRoomForParts(loop); });
}

/// The name of the instruction [mn, k] on elements of \p type, empty when there
/// is none.
static std::string mfmaName(ArrayRef<int64_t> instruction, Type type) {
  bool wide = (instruction[0] == 16 && instruction[1] == 32) ||
              (instruction[0] == 32 && instruction[1] == 16);
  bool fp32 = (instruction[0] == 16 && instruction[1] == 4) ||
              (instruction[0] == 32 && instruction[1] == 2);
  std::string shape =
      llvm::formatv("{0}x{0}x{1}", instruction[0], instruction[1]);
  if ((type.isBF16() || type.isF16()) && wide) {
    return "llvm.amdgcn.mfma.f32." + shape + (type.isBF16() ? ".bf16" : ".f16");
  }
  bool narrow = (instruction[0] == 16 && instruction[1] == 16) ||
                (instruction[0] == 32 && instruction[1] == 8);
  if ((type.isBF16() || type.isF16()) && narrow) {
    return "llvm.amdgcn.mfma.f32." + shape +
           (type.isBF16() ? "bf16.1k" : "f16");
  }
  if (isa<Float8E4M3FNType>(type) && wide) {
    return "llvm.amdgcn.mfma.f32." + shape + ".fp8.fp8";
  }
  if (type.isF32() && fp32) {
    return "llvm.amdgcn.mfma.f32." + shape + "f32";
  }
  return "";
}

/// The code of an element type in f8f6f4 instructions, or nothing.
static std::optional<int64_t> smallFormat(Type type) {
  if (isa<Float8E4M3FNType>(type)) {
    return 0;
  }
  if (isa<Float8E5M2Type>(type)) {
    return 1;
  }
  if (type.isInteger(8)) {
    return 4;
  }
  return std::nullopt;
}

static bool isSmallInstruction(ArrayRef<int64_t> instruction) {
  return (instruction[0] == 16 && instruction[1] == 128) ||
         (instruction[0] == 32 && instruction[1] == 64);
}

Emitter::MfmaForm Emitter::mfmaForm(tile::MmaOp op, unsigned rowDim) {
  ArrayRef<int64_t> instruction = *op.getInstruction();
  Type lhs = cast<RankedTensorType>(op.getLhs().getType()).getElementType();
  Type rhs = cast<RankedTensorType>(op.getRhs().getType()).getElementType();
  MfmaForm form;
  std::optional<int64_t> left = smallFormat(lhs);
  std::optional<int64_t> right = smallFormat(rhs);
  Value zero = i32(0);
  if (left && right && isSmallInstruction(instruction)) {
    form.name = llvm::formatv("llvm.amdgcn.mfma.scale.f32.{0}x{0}x{1}.f8f6f4",
                              instruction[0], instruction[1]);
    if (rowDim == 1) {
      std::swap(left, right);
    }
    // Behind A, B and C stand their formats, then for each the byte of a scale
    // register. With registers of 0 LLVM takes the form without scales.
    form.rest = {i32(*left), i32(*right), zero, zero, zero, zero};
    form.inWords = true;
  } else if (lhs == rhs) {
    form.name = mfmaName(instruction, lhs);
    form.rest = {zero, zero, zero};
    // These take bf16 as integers, and eight FP8 as one.
    form.inHalves = StringRef(form.name).ends_with("bf16.1k");
    form.inLong = StringRef(form.name).ends_with(".fp8.fp8");
  }
  return form;
}

/// The scales of \p tile as 32-bit registers of up to four.
Emitter::ScaleRegisters Emitter::scaleRegisters(Value tile) {
  ScaleRegisters scales;
  int64_t count = parts(tile).registers();
  scales.perRegister = std::gcd(count, scalesPerRegister);
  Parts packed = repack(parts(tile), scales.perRegister);
  for (Value value : packed.values) {
    unsigned bits = 8 * scales.perRegister;
    Type type = b.getIntegerType(bits);
    if (value.getType() != type) {
      value = LLVM::BitcastOp::create(b, loc, type, value);
    }
    if (bits < 32) {
      value = LLVM::ZExtOp::create(b, loc, b.getI32Type(), value);
    }
    scales.values.push_back(value);
  }
  return scales;
}

/// The vector \p words, and as many zeros behind it.
Value Emitter::withUpperZeros(Value words) {
  int64_t count = cast<VectorType>(words.getType()).getNumElements();
  Value zeros = LLVM::ZeroOp::create(b, loc, words.getType());
  SmallVector<int32_t> all(2 * count);
  std::iota(all.begin(), all.end(), 0);
  return LLVM::ShuffleVectorOp::create(b, loc, words, zeros, all);
}

LogicalResult Emitter::emitMma(tile::MmaOp op) {
  auto accumulator = layoutOf(op.getResult());
  if (failed(accumulator)) {
    return failure();
  }
  auto wanted = assign::operandLayouts(op, *accumulator);
  if (failed(wanted)) {
    return failure();
  }
  for (auto [operand, expected] :
       {std::pair(op.getLhs(), std::optional(wanted->lhs)),
        std::pair(op.getRhs(), std::optional(wanted->rhs)),
        std::pair(op.getLhsScale(), wanted->lhsScale),
        std::pair(op.getRhsScale(), wanted->rhsScale)}) {
    if (!operand) {
      continue;
    }
    auto layout = layoutOf(operand);
    if (failed(layout)) {
      return failure();
    }
    bool isScale = operand != op.getLhs() && operand != op.getRhs();
    if (isScale ? !expected->holdsSameAs(*layout) : !(*expected == *layout)) {
      return op.emitOpError("has operands that are not in the layout of the "
                            "instruction: run tile-assign-layouts first");
    }
  }
  ArrayRef<int64_t> instruction = *op.getInstruction();
  MfmaForm form = mfmaForm(op, wanted->rowDim);
  if (form.name.empty()) {
    return op.emitOpError("no lowering for the product of ")
           << op.getLhs().getType() << " and " << op.getRhs().getType()
           << " by " << instruction[0] << "x" << instruction[0] << "x"
           << instruction[1] << " instructions";
  }
  /// One of the two operands.
  struct Side {
    const layout::Layout &layout;
    unsigned elements; ///< of a lane and instruction
    int64_t packing;
    unsigned depthDim; ///< of the last two
    Parts values;
    std::optional<layout::Layout> scaleLayout;
    ScaleRegisters scales;
  };
  auto side = [&](Value tile, int64_t packing, const layout::Layout &layout,
                  unsigned depthDim, Value scale) {
    unsigned elements = operandElements(op, packing);
    Side result{layout, elements, packing, depthDim, {}, {}, {}};
    result.values = repack(parts(tile), elements);
    if (form.inWords || form.inHalves || form.inLong) {
      Type words = b.getI64Type();
      if (form.inWords) {
        words = VectorType::get(elements / 4, b.getI32Type());
      } else if (form.inHalves) {
        words = VectorType::get(elements, b.getI16Type());
      }
      for (Value &value : result.values.values) {
        value = LLVM::BitcastOp::create(b, loc, words, value);
      }
      if (op.getDepth() < instruction[1]) {
        for (Value &value : result.values.values) {
          value = withUpperZeros(value);
        }
      }
    }
    if (scale) {
      result.scaleLayout = tile::getLayout(scale.getType()).getLayout();
      result.scales = scaleRegisters(scale);
    }
    return result;
  };
  Side lhs =
      side(op.getLhs(), op.getLhsPacking(), wanted->lhs, 1, op.getLhsScale());
  Side rhs =
      side(op.getRhs(), op.getRhsPacking(), wanted->rhs, 0, op.getRhsScale());
  bool isScaled = op.getLhsScale() || op.getRhsScale();
  unsigned held = instruction[0] * instruction[0] / 64;
  Parts sums = repack(parts(op.getAccumulator()), held);
  const auto [run, interleaved] = op.getContractionOrder();
  int64_t rank = accumulator->rank();
  // The place in \p layout of the row or column of `place` at `depth` along k.
  auto registerAt = [&](const layout::Layout &layout, const Side &side,
                        SmallVector<int64_t> place, int64_t depth) {
    place[rank - 2 + side.depthDim] = depth;
    return *layout.registerOf(place, 0, 0);
  };
  // A scale register and the byte of it; 2^0 for an operand without scales.
  auto scaleAt = [&](const Side &side, const SmallVector<int64_t> &place,
                     int64_t k) -> std::pair<Value, int64_t> {
    if (!side.scaleLayout) {
      return {i32(0x7f7f7f7f), 0};
    }
    int64_t block =
        k / tile::MmaOp::scaleBlock + op.getScaleBegin().value_or(0);
    int64_t reg = registerAt(*side.scaleLayout, side, place, block);
    return {side.scales.values[reg / side.scales.perRegister],
            reg % side.scales.perRegister};
  };
  // All instructions of one step along k before the next, so that those that
  // follow each other do not depend on each other.
  int64_t steps = llvm::divideCeil(op.getDepth(), instruction[1]);
  size_t first = 0;
  size_t end = sums.values.size();
  if (std::optional<ArrayRef<int64_t>> share = op.getPart()) {
    first = end * (*share)[0] / (*share)[1];
    end = end * ((*share)[0] + 1) / (*share)[1];
  }
  for (int64_t step = 0; step < steps; ++step) {
    int64_t k = step % interleaved * run +
                step / interleaved * interleaved * instruction[1];
    for (size_t part = first; part < end; ++part) {
      SmallVector<int64_t> place = accumulator->coordinates(part * held, 0, 0);
      auto valuesAt = [&](const Side &side) {
        int64_t reg = registerAt(side.layout, side, place, k / side.packing);
        return side.values.values[reg / side.elements];
      };
      const Side &rows = wanted->rowDim == 0 ? lhs : rhs;
      const Side &columns = wanted->rowDim == 0 ? rhs : lhs;
      SmallVector<Value> arguments{valuesAt(rows), valuesAt(columns),
                                   sums.values[part]};
      arguments.append(form.rest);
      if (isScaled) {
        auto [rowScale, rowByte] = scaleAt(rows, place, k);
        auto [columnScale, columnByte] = scaleAt(columns, place, k);
        size_t at = arguments.size() - 4;
        arguments[at] = i32(rowByte);
        arguments[at + 1] = rowScale;
        arguments[at + 2] = i32(columnByte);
        arguments[at + 3] = columnScale;
      }
      sums.values[part] =
          intrinsic(form.name, sums.values[part].getType(), arguments);
      if (kernel.getPinned()) {
        constexpr uint32_t nothingCrosses = 0;
        ROCDL::SchedBarrier::create(b, loc, nothingCrosses);
      }
    }
  }
  tiles[op.getResult()] = std::move(sums);
  return success();
}
