//===- Scales.cpp - codes and the scales of their blocks --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Rocdl/Emitter.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

/// Fails with an error at \p op unless \p held is \p layout in blocks of
/// \p factor along \p dim.
static LogicalResult checkCoarse(Operation *op, const layout::Layout &layout,
                                 const layout::Layout &held, unsigned dim,
                                 int64_t factor) {
  auto expected = layout.coarsen(dim, factor);
  if (!expected) {
    return op->emitOpError(llvm::toString(expected.takeError()));
  }
  if (!(*expected == held)) {
    return op->emitOpError("has codes or scales in another layout than that of "
                           "the values: run tile-assign-layouts first");
  }
  return success();
}

LogicalResult Emitter::emitDequantize(tile::DequantizeOp op) {
  auto layout = layoutOf(op.getResult());
  auto codeLayout = layoutOf(op.getCodes());
  auto scaleLayout = layoutOf(op.getScales());
  if (failed(layout) || failed(codeLayout) || failed(scaleLayout)) {
    return failure();
  }
  unsigned dim = op.getDim();
  if (failed(checkCoarse(op, *layout, *codeLayout, dim, 2)) ||
      failed(checkCoarse(op, *layout, *scaleLayout, dim,
                         tile::MmaOp::scaleBlock))) {
    return failure();
  }
  Type element = cast<RankedTensorType>(op.getType()).getElementType();
  if (!target.hasScaledConversions()) {
    return op.emitOpError("is not lowered for ")
           << target.chip() << ", which has no scaled conversions";
  }
  // Words of codes: an instruction takes one byte of it.
  int64_t codes = parts(op.getCodes()).registers();
  int64_t perWord = std::gcd(codes, int64_t(4));
  Parts packed = repack(parts(op.getCodes()), perWord);
  for (Value &value : packed.values) {
    Type type = b.getIntegerType(8 * perWord);
    if (value.getType() != type) {
      value = LLVM::BitcastOp::create(b, loc, type, value);
    }
    if (perWord < 4) {
      value = LLVM::ZExtOp::create(b, loc, b.getI32Type(), value);
    }
  }
  // The exponent of a scale is that of an FP32 number.
  ScaleRegisters scales = scaleRegisters(op.getScales());
  std::map<int64_t, Value> factors;
  auto factorOf = [&](int64_t reg) {
    Value &factor = factors[reg];
    if (!factor) {
      Value word = scales.values[reg / scales.perRegister];
      Value byte = LLVM::AndOp::create(
          b, loc,
          LLVM::LShrOp::create(b, loc, word,
                               i32(8 * (reg % scales.perRegister))),
          i32(0xff));
      factor = LLVM::BitcastOp::create(
          b, loc, b.getF32Type(), LLVM::ShlOp::create(b, loc, byte, i32(23)));
    }
    return factor;
  };
  std::string name = llvm::formatv("llvm.amdgcn.cvt.scalef32.pk.{0}.fp4",
                                   element.isBF16() ? "bf16" : "f16");
  auto pair = VectorType::get(2, element);
  Parts result;
  result.width = 2;
  for (int64_t reg = 0; reg < layout->numRegisters(); reg += 2) {
    SmallVector<int64_t> place = layout->coordinates(reg, 0, 0);
    auto registerIn = [&](const layout::Layout &held, int64_t factor) {
      SmallVector<int64_t> coarse(place);
      coarse[dim] /= factor;
      return *held.registerOf(coarse, 0, 0);
    };
    int64_t code = registerIn(*codeLayout, 2);
    Value factor = factorOf(registerIn(*scaleLayout, tile::MmaOp::scaleBlock));
    result.values.push_back(intrinsic(
        name, pair,
        {packed.values[code / perWord], factor, i32(code % perWord)}));
  }
  Parts kept =
      repack(result, keptWidth(op.getResult(), layout->numRegisters()));
  tiles[op.getResult()] = std::move(kept);
  return success();
}

LogicalResult Emitter::emitQuantize(tile::QuantizeOp op) {
  auto layout = layoutOf(op.getValues());
  auto codeLayout = layoutOf(op.getResult());
  auto scaleLayout = layoutOf(op.getScales());
  if (failed(layout) || failed(codeLayout) || failed(scaleLayout)) {
    return failure();
  }
  unsigned dim = op.getDim();
  int64_t packing = op.getPacking();
  if (failed(checkCoarse(op, *layout, *codeLayout, dim, packing)) ||
      failed(checkCoarse(op, *layout, *scaleLayout, dim,
                         tile::MmaOp::scaleBlock))) {
    return failure();
  }
  if (!target.hasScaledConversions()) {
    return op.emitOpError("is not lowered for ")
           << target.chip() << ", which has no scaled conversions";
  }
  // An instruction takes a pair of values and writes a byte (FP4) or a half
  // (FP8) of a word.
  int64_t registers = layout->numRegisters();
  auto scaleOf = [&](int64_t reg) {
    SmallVector<int64_t> place = layout->coordinates(reg, 0, 0);
    place[dim] /= tile::MmaOp::scaleBlock;
    return *scaleLayout->registerOf(place, 0, 0);
  };
  for (int64_t reg = 0; reg < registers; reg += 2) {
    if (registers % 2 != 0 || scaleOf(reg) != scaleOf(reg + 1)) {
      return op.emitOpError("needs pairs of values along dimension ")
             << dim << " in each lane, found " << op.getValues().getType();
    }
  }
  bool isHalf = packing == 1;
  auto wide = cast<RankedTensorType>(op.getValues().getType()).getElementType();
  std::string name =
      llvm::formatv("llvm.amdgcn.cvt.scalef32.pk.{0}.{1}",
                    isHalf ? "fp8" : "fp4", wide.isF32() ? "f32" : "bf16");
  Parts values = repack(parts(op.getValues()), 2);
  Parts scales = repack(parts(op.getScales()), 1);
  int64_t perWord = std::gcd(codeLayout->numRegisters(), int64_t(4));
  auto halves = VectorType::get(2, b.getI16Type());
  Type wordType = isHalf ? Type(halves) : Type(b.getI32Type());
  Parts result;
  result.width = perWord;
  Value word;
  for (int64_t reg = 0; reg < registers; reg += 2) {
    int64_t code = reg / packing;
    Value scale = scales.values[scaleOf(reg)];
    if (code % perWord == 0) {
      word =
          LLVM::ConstantOp::create(b, loc, wordType, b.getZeroAttr(wordType));
    }
    Value pair = values.values[reg / 2];
    if (isHalf && op.getSaturate()) {
      pair = clamped(pair, scale, /*largest=*/448.0f);
    }
    SmallVector<Value> arguments{word};
    if (wide.isF32()) {
      appendVector(arguments, pair, 2);
    } else {
      arguments.push_back(pair);
    }
    arguments.push_back(scale);
    if (isHalf) {
      arguments.push_back(LLVM::ConstantOp::create(
          b, loc, b.getI1Type(), b.getBoolAttr(code % perWord != 0)));
    } else {
      arguments.push_back(i32(code % perWord));
    }
    word = intrinsic(name, wordType, arguments);
    int64_t done = code + 2 / packing;
    if (done % perWord != 0) {
      continue;
    }
    Value bytes = LLVM::BitcastOp::create(b, loc, b.getI32Type(), word);
    if (perWord < 4) {
      bytes =
          LLVM::TruncOp::create(b, loc, b.getIntegerType(8 * perWord), bytes);
    }
    Type type = perWord == 1 ? Type(b.getI8Type())
                             : Type(VectorType::get(perWord, b.getI8Type()));
    result.values.push_back(
        bytes.getType() == type
            ? bytes
            : LLVM::BitcastOp::create(b, loc, type, bytes).getResult());
  }
  Parts kept =
      repack(result, keptWidth(op.getResult(), codeLayout->numRegisters()));
  tiles[op.getResult()] = std::move(kept);
  return success();
}

/// \p pair limited to \p largest times \p scale in magnitude.
Value Emitter::clamped(Value pair, Value scale, float largest) {
  Type element = cast<VectorType>(pair.getType()).getElementType();
  Value factor = LLVM::ConstantOp::create(b, loc, b.getF32Type(),
                                          b.getF32FloatAttr(largest));
  Value most = LLVM::FMulOp::create(b, loc, scale, factor);
  Value least = LLVM::FNegOp::create(b, loc, most);
  SmallVector<Value> limited;
  for (int64_t index : {0, 1}) {
    Value value = LLVM::ExtractElementOp::create(b, loc, pair, i32(index));
    if (!element.isF32()) {
      value = LLVM::FPExtOp::create(b, loc, b.getF32Type(), value);
    }
    // Comparisons, which leave NaN as it is.
    for (auto [predicate, bound] :
         {std::pair(LLVM::FCmpPredicate::ogt, most),
          std::pair(LLVM::FCmpPredicate::olt, least)}) {
      Value beyond = LLVM::FCmpOp::create(b, loc, predicate, value, bound);
      value = LLVM::SelectOp::create(b, loc, beyond, bound, value);
    }
    if (!element.isF32()) {
      value = LLVM::FPTruncOp::create(b, loc, element, value);
    }
    limited.push_back(value);
  }
  return fromElements(limited).values.front();
}
