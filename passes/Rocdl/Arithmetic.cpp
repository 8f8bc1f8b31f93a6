//===- Arithmetic.cpp - element-wise ops and register renaming --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Rocdl/Emitter.h"

#include "tenon/Layout/Conversion.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

/// Pairs where they are possible: FP32 arithmetic and 16-bit conversions have
/// packed forms.
static unsigned widthFor(int64_t registers) {
  return registers % 2 == 0 ? 2 : 1;
}

const Parts &Emitter::parts(Value value) {
  auto found = tiles.find(value);
  assert(found != tiles.end() && "operands are emitted before their users");
  return found->second;
}

Value Emitter::element(const Parts &parts, int64_t reg) {
  Value part = parts.values[reg / parts.width];
  if (parts.width == 1) {
    return part;
  }
  return LLVM::ExtractElementOp::create(b, loc, part, i32(reg % parts.width));
}

Parts Emitter::fromElements(ArrayRef<Value> elements) {
  Parts result;
  result.width = widthFor(elements.size());
  if (result.width == 1) {
    result.values.assign(elements.begin(), elements.end());
    return result;
  }
  auto type = VectorType::get(2, elements.front().getType());
  for (size_t reg = 0; reg < elements.size(); reg += 2) {
    Value pair = LLVM::PoisonOp::create(b, loc, type);
    pair = LLVM::InsertElementOp::create(b, loc, pair, elements[reg], i32(0));
    pair =
        LLVM::InsertElementOp::create(b, loc, pair, elements[reg + 1], i32(1));
    result.values.push_back(pair);
  }
  return result;
}

Parts Emitter::repack(const Parts &source, unsigned width) {
  if (source.width == width) {
    return source;
  }
  Parts result;
  result.width = width;
  for (int64_t reg = 0; reg < source.registers(); reg += width) {
    if (width < source.width && width > 1) {
      SmallVector<int32_t> places(width);
      std::iota(places.begin(), places.end(), reg % source.width);
      Value whole = source.values[reg / source.width];
      result.values.push_back(
          LLVM::ShuffleVectorOp::create(b, loc, whole, whole, places));
      continue;
    }
    if (width == 2 * source.width && source.width > 1) {
      // Two vectors end to end.
      SmallVector<int32_t> places(width);
      std::iota(places.begin(), places.end(), 0);
      int64_t part = reg / source.width;
      result.values.push_back(LLVM::ShuffleVectorOp::create(
          b, loc, source.values[part], source.values[part + 1], places));
      continue;
    }
    result.values.push_back(toVector(source, reg, width));
  }
  return result;
}

Parts Emitter::pairs(Value tile) {
  const Parts &kept = parts(tile);
  return repack(kept, std::min(kept.width, 2u));
}

Parts Emitter::rename(const Parts &source, ArrayRef<int64_t> map) {
  Parts result;
  result.width = widthFor(map.size());
  if (result.width == 1) {
    for (int64_t reg : map) {
      result.values.push_back(element(source, reg));
    }
    return result;
  }
  for (size_t reg = 0; reg < map.size(); reg += 2) {
    int64_t low = map[reg];
    int64_t high = map[reg + 1];
    if (source.width == 2 && low / 2 == high / 2) {
      Value part = source.values[low / 2];
      if (low % 2 != 0 || high % 2 != 1) {
        part = LLVM::ShuffleVectorOp::create(
            b, loc, part, part,
            ArrayRef<int32_t>{static_cast<int32_t>(low % 2),
                              static_cast<int32_t>(high % 2)});
      }
      result.values.push_back(part);
    } else {
      result.values.push_back(
          fromElements({element(source, low), element(source, high)})
              .values.front());
    }
  }
  return result;
}

Parts Emitter::splat(Value scalar, int64_t registers) {
  Parts result;
  result.width = widthFor(registers);
  Value part = scalar;
  if (result.width == 2) {
    part = fromElements({scalar, scalar}).values.front();
  }
  result.values.assign(registers / result.width, part);
  return result;
}

/// Fails for tiles of 8-bit floats, which are held as bytes: they can be moved
/// but not computed with.
static LogicalResult checkArithmetic(Operation *op) {
  if (isa<arith::BitcastOp>(op)) {
    return success();
  }
  for (Value value :
       llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                           SmallVector<Value>(op->getResults()))) {
    Type element = getElementTypeOrSelf(value.getType());
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8) {
      return op->emitOpError("has a tile of ")
             << element << ", which is not lowered yet";
    }
  }
  return success();
}

LogicalResult Emitter::emitConstant(arith::ConstantOp op) {
  Type element = cast<RankedTensorType>(op.getType()).getElementType();
  bool isSmall = registerType(element) != element;
  if (!isSmall && failed(checkArithmetic(op))) {
    return failure();
  }
  auto layout = layoutOf(op.getResult());
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (failed(layout)) {
    return failure();
  }
  if (!dense || !dense.isSplat()) {
    return op.emitOpError("a constant tile must have one value everywhere");
  }
  auto value = dense.getSplatValue<TypedAttr>();
  if (isSmall) {
    llvm::APInt bits = cast<FloatAttr>(value).getValue().bitcastToAPInt();
    value = b.getIntegerAttr(registerType(element), bits);
  }
  Value scalar = LLVM::ConstantOp::create(b, loc, value.getType(), value);
  tiles[op.getResult()] = splat(scalar, layout->numRegisters());
  return success();
}

Value Emitter::transcendental(Operation *op, Value x) {
  if (isa<math::Exp2Op>(op)) {
    return ROCDL::ROCDLExp2::create(b, loc, x.getType(), x);
  }
  if (isa<math::Log2Op>(op)) {
    return ROCDL::ROCDLLog::create(b, loc, x.getType(), x);
  }
  if (isa<math::RsqrtOp>(op)) {
    return intrinsic("llvm.amdgcn.rsq", x.getType(), x);
  }
  return ROCDL::ROCDLRcp::create(b, loc, x.getType(), x);
}

/// The operand of an approximate transcendental, or null when \p op is none;
/// fails when \p op asks for an exact one.
static FailureOr<Value> approximated(Operation *op) {
  arith::FastMathFlags flags = arith::FastMathFlags::none;
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op)) {
    if (arith::FastMathFlagsAttr attr = fast.getFastMathFlagsAttr()) {
      flags = attr.getValue();
    }
  }
  if (auto divide = dyn_cast<arith::DivFOp>(op)) {
    auto constant = divide.getLhs().getDefiningOp<arith::ConstantOp>();
    auto one = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue())
                        : DenseFPElementsAttr();
    if (!bitEnumContainsAny(flags, arith::FastMathFlags::arcp) || !one ||
        !one.isSplat() || !one.getSplatValue<APFloat>().isExactlyValue(1.0)) {
      op->emitOpError("only 1/x with the arcp flag is lowered (one v_rcp_f32)");
      return failure();
    }
    return divide.getRhs();
  }
  if (!isa<math::Exp2Op, math::Log2Op, math::RsqrtOp>(op)) {
    return Value();
  }
  if (!bitEnumContainsAny(flags, arith::FastMathFlags::afn) ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isF32()) {
    op->emitOpError("only the FP32 form with the afn flag is lowered (one "
                    "instruction of the chip)");
    return failure();
  }
  return op->getOperand(0);
}

/// FP32 to E4M3 and back, and E4M3 to bf16, which is exact, through FP32.
LogicalResult Emitter::emitFp8Conversion(Operation *op) {
  auto layout = layoutOf(op->getResult(0));
  if (failed(layout)) {
    return failure();
  }
  if (target.facts().fp8Flavour != target::Fp8Flavour::OCP) {
    return op->emitOpError("converts E4M3 of OCP, which ")
           << target.chip() << " does not have";
  }
  constexpr int64_t perWord = 4;
  int64_t registers = layout->numRegisters();
  if (registers % perWord != 0) {
    return op->emitOpError("converts four elements of a thread at a time, "
                           "found ")
           << registers;
  }
  Type word = b.getI32Type();
  Type pair = VectorType::get(2, b.getF32Type());
  Type codes = VectorType::get(perWord, b.getI8Type());
  Parts result;
  if (isa<arith::TruncFOp>(op)) {
    result.width = perWord;
    Parts source = repack(parts(op->getOperand(0)), 1);
    for (int64_t reg = 0; reg < registers; reg += perWord) {
      Value packed = LLVM::PoisonOp::create(b, loc, word);
      for (bool high : {false, true}) {
        int64_t first = reg + (high ? 2 : 0);
        packed = ROCDL::CvtPkFp8F32Op::create(
            b, loc, word, source.values[first], source.values[first + 1],
            packed, b.getBoolAttr(high));
      }
      result.values.push_back(LLVM::BitcastOp::create(b, loc, codes, packed));
    }
  } else {
    result.width = 2;
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    Parts source = repack(parts(op->getOperand(0)), perWord);
    for (Value part : source.values) {
      Value packed = LLVM::BitcastOp::create(b, loc, word, part);
      for (bool high : {false, true}) {
        Value values = ROCDL::CvtPkF32Fp8Op::create(b, loc, pair, packed,
                                                    b.getBoolAttr(high));
        if (!element.isF32()) {
          values = LLVM::FPTruncOp::create(b, loc, VectorType::get(2, element),
                                           values);
        }
        result.values.push_back(values);
      }
    }
  }
  Parts kept = repack(result, keptWidth(op->getResult(0), registers));
  tiles[op->getResult(0)] = std::move(kept);
  return success();
}

LogicalResult Emitter::emitElementwise(Operation *op) {
  auto isE4M3 = [](Value value) {
    return isa<Float8E4M3FNType>(getElementTypeOrSelf(value.getType()));
  };
  if ((isa<arith::TruncFOp>(op) && isE4M3(op->getResult(0)) &&
       getElementTypeOrSelf(op->getOperand(0).getType()).isF32()) ||
      (isa<arith::ExtFOp>(op) && isE4M3(op->getOperand(0)))) {
    return emitFp8Conversion(op);
  }
  if (failed(checkArithmetic(op))) {
    return failure();
  }
  Value result = op->getResult(0);
  auto layout = layoutOf(result);
  if (failed(layout)) {
    return failure();
  }
  FailureOr<Value> argument = approximated(op);
  if (failed(argument)) {
    return failure();
  }
  if (*argument) {
    const Parts &source = parts(*argument);
    SmallVector<Value> elements;
    for (int64_t reg = 0; reg < source.registers(); ++reg) {
      elements.push_back(transcendental(op, element(source, reg)));
    }
    Parts emitted = fromElements(elements);
    tiles[result] = std::move(emitted);
    return success();
  }
  if (isa<arith::BitcastOp>(op)) {
    Type from = getElementTypeOrSelf(op->getOperand(0).getType());
    Type to = getElementTypeOrSelf(result.getType());
    if (registerType(from) == registerType(to)) {
      Parts same = parts(op->getOperand(0));
      tiles[result] = std::move(same);
      return success();
    }
  }
  if (isa<math::MathDialect>(op->getDialect()) &&
      !isa<math::FmaOp, math::CeilOp>(op)) {
    return op->emitOpError("has no lowering to per-lane code");
  }
  Parts emitted;
  emitted.width = widthFor(layout->numRegisters());
  SmallVector<Parts> sources;
  for (Value operand : op->getOperands()) {
    sources.push_back(isa<RankedTensorType>(operand.getType())
                          ? repack(parts(operand), emitted.width)
                          : Parts());
  }
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  Type type = emitted.width == 1
                  ? element
                  : Type(VectorType::get(emitted.width, element));
  for (int64_t part = 0; part < layout->numRegisters() / emitted.width;
       ++part) {
    SmallVector<Value> operands;
    for (auto [operand, source] : llvm::zip_equal(op->getOperands(), sources)) {
      operands.push_back(source.values.empty() ? scalars.lookup(operand)
                                               : source.values[part]);
    }
    if (isa<math::CeilOp>(op)) {
      emitted.values.push_back(LLVM::FCeilOp::create(b, loc, operands[0]));
      continue;
    }
    if (isa<math::FmaOp>(op)) {
      emitted.values.push_back(
          LLVM::FMAOp::create(b, loc, operands[0], operands[1], operands[2]));
      continue;
    }
    OperationState state(loc, op->getName(), operands, type, op->getAttrs());
    emitted.values.push_back(b.create(state)->getResult(0));
  }
  tiles[result] = std::move(emitted);
  return success();
}

LogicalResult Emitter::emitBroadcast(tile::BroadcastOp op) {
  auto layout = layoutOf(op.getResult());
  if (failed(layout)) {
    return failure();
  }
  Parts emitted = rename(pairs(op.getSource()),
                         layout->sliceRegisterMap(op.getRepeatedDims()));
  tiles[op.getResult()] = std::move(emitted);
  return success();
}

LogicalResult Emitter::emitIota(tile::IotaOp op) {
  auto layout = layoutOf(op.getResult());
  if (failed(layout)) {
    return failure();
  }
  unsigned dim = op.getDim();
  FailureOr<Value> ofThread = threadCoordinate(*layout, dim);
  if (failed(ofThread)) {
    return failure();
  }
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
    int64_t ofRegister = layout->coordinates(reg, 0, 0)[dim];
    Value constant = i32(ofRegister);
    if (!*ofThread) {
      elements.push_back(constant);
    } else if (ofRegister == 0) {
      elements.push_back(*ofThread);
    } else if (overlapsThreads(*layout, dim, ofRegister)) {
      // Bits of registers and threads are combined by xor; modes lie above.
      int64_t block = int64_t(1) << layout->coreBits(dim);
      Value low =
          LLVM::XOrOp::create(b, loc, *ofThread, i32(ofRegister % block));
      elements.push_back(addI32(low, i32(ofRegister / block * block)));
    } else {
      elements.push_back(addI32(*ofThread, constant));
    }
  }
  tiles[op.getResult()] = fromElements(elements);
  return success();
}

LogicalResult Emitter::emitTranspose(tile::TransposeOp op) {
  auto source = layoutOf(op.getSource());
  auto result = layoutOf(op.getResult());
  if (failed(source) || failed(result)) {
    return failure();
  }
  Parts kept = parts(op.getSource());
  tiles[op.getResult()] = std::move(kept);
  return success();
}

LogicalResult Emitter::emitExtract(tile::ExtractOp op) {
  auto source = layoutOf(op.getSource());
  auto result = layoutOf(op.getResult());
  if (failed(source) || failed(result)) {
    return failure();
  }
  unsigned dim = op.getDim();
  SmallVector<int64_t> toSlice = source->sliceRegisterMap(dim);
  SmallVector<int64_t> map(result->numRegisters(), -1);
  for (auto [reg, slice] : llvm::enumerate(toSlice)) {
    if (source->coordinates(reg, 0, 0)[dim] ==
        static_cast<int64_t>(op.getIndex())) {
      map[slice] = reg;
    }
  }
  Parts emitted = rename(pairs(op.getSource()), map);
  tiles[op.getResult()] = std::move(emitted);
  return success();
}

LogicalResult Emitter::emitStack(tile::StackOp op) {
  auto result = layoutOf(op.getResult());
  if (failed(result)) {
    return failure();
  }
  unsigned dim = op.getDim();
  SmallVector<int64_t> toSlice = result->sliceRegisterMap(dim);
  SmallVector<Value> elements;
  for (auto [reg, slice] : llvm::enumerate(toSlice)) {
    int64_t index = result->coordinates(reg, 0, 0)[dim];
    elements.push_back(element(parts(op.getSources()[index]), slice));
  }
  tiles[op.getResult()] = fromElements(elements);
  return success();
}

LogicalResult Emitter::emitConvert(tile::ConvertLayoutOp op) {
  auto source = layoutOf(op.getSource());
  auto result = layoutOf(op.getResult());
  if (failed(source) || failed(result)) {
    return failure();
  }
  if (auto moves = layout::matchScatter(*result, *source)) {
    Parts gathered = gather(parts(op.getSource()), *result, *moves);
    tiles[op.getResult()] = std::move(gathered);
    return success();
  }
  layout::Conversion conversion = layout::classifyConversion(*source, *result);
  if (conversion.kind > layout::ConversionKind::WithinLane ||
      conversion.selectsByLane() || conversion.selectsByWave()) {
    return op.emitOpError("moves elements between threads: run "
                          "tile-assign-layouts first");
  }
  Parts emitted = rename(pairs(op.getSource()), conversion.registers);
  tiles[op.getResult()] = std::move(emitted);
  return success();
}
