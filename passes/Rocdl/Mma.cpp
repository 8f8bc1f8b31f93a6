//===- Mma.cpp - matrix products --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/AssignLayouts/Relations.h"
#include "passes/Rocdl/Emitter.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

/// Elements of an operand that a lane holds of one instruction [mn, k].
static unsigned operandElements(ArrayRef<int64_t> instruction) {
  return instruction[0] * instruction[1] / 64;
}

unsigned Emitter::keptWidth(Value tile, int64_t registers) {
  auto widthIn = [&](tile::MmaOp mma, bool isOperand) -> unsigned {
    std::optional<ArrayRef<int64_t>> instruction = mma.getInstruction();
    if (!instruction) {
      return 0;
    }
    return isOperand ? operandElements(*instruction)
                     : (*instruction)[0] * (*instruction)[0] / 64;
  };
  unsigned width = 0;
  if (auto mma = dyn_cast_or_null<tile::MmaOp>(tile.getDefiningOp())) {
    width = widthIn(mma, /*isOperand=*/false);
  }
  for (OpOperand &use : tile.getUses()) {
    if (auto mma = dyn_cast<tile::MmaOp>(use.getOwner())) {
      width = std::max(width, widthIn(mma, use.getOperandNumber() < 2));
    }
  }
  if (width == 0 || registers % width != 0) {
    width = registers % 2 == 0 ? 2 : 1;
  }
  return width;
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
    // Formats of A and B, then a byte of a scale register of each: 2^0 here,
    // with which LLVM takes the form without scales.
    form.rest = {i32(*left), i32(*right), zero, zero, zero, zero};
    form.inWords = true;
  } else if (lhs == rhs) {
    form.name = mfmaName(instruction, lhs);
    form.rest = {zero, zero, zero};
    // These take bf16 as integers.
    form.inHalves = StringRef(form.name).ends_with("bf16.1k");
  }
  return form;
}

LogicalResult Emitter::emitMma(tile::MmaOp op) {
  auto accumulator = layoutOf(op.getResult());
  auto lhs = layoutOf(op.getLhs());
  auto rhs = layoutOf(op.getRhs());
  if (failed(accumulator) || failed(lhs) || failed(rhs)) {
    return failure();
  }
  auto wanted = assign::operandLayouts(op, *accumulator);
  if (failed(wanted)) {
    return failure();
  }
  if (!(wanted->lhs == *lhs) || !(wanted->rhs == *rhs)) {
    return op.emitOpError("has operands that are not in the layout of the "
                          "instruction: run tile-assign-layouts first");
  }
  ArrayRef<int64_t> instruction = *op.getInstruction();
  MfmaForm form = mfmaForm(op, wanted->rowDim);
  if (form.name.empty()) {
    return op.emitOpError("no lowering for the product of ")
           << op.getLhs().getType() << " and " << op.getRhs().getType()
           << " by " << instruction[0] << "x" << instruction[0] << "x"
           << instruction[1] << " instructions";
  }
  unsigned elements = operandElements(instruction);
  unsigned held = instruction[0] * instruction[0] / 64;
  Parts a = repack(parts(op.getLhs()), elements);
  Parts c = repack(parts(op.getRhs()), elements);
  Parts sums = repack(parts(op.getAccumulator()), held);
  if (form.inWords || form.inHalves) {
    auto words = form.inWords ? VectorType::get(elements / 4, b.getI32Type())
                              : VectorType::get(elements, b.getI16Type());
    for (Parts *operand : {&a, &c}) {
      for (Value &value : operand->values) {
        value = LLVM::BitcastOp::create(b, loc, words, value);
      }
    }
  }
  int64_t extentK = lhs->shape().back();
  // All instructions of one step along k before the next, so that those that
  // follow each other do not depend on each other.
  for (int64_t k = 0; k < extentK; k += instruction[1]) {
    for (size_t part = 0; part < sums.values.size(); ++part) {
      SmallVector<int64_t> place = accumulator->coordinates(part * held, 0, 0);
      SmallVector<int64_t> leftPlace(place);
      SmallVector<int64_t> rightPlace(place);
      leftPlace.back() = k;
      rightPlace[place.size() - 2] = k;
      int64_t left = *lhs->registerOf(leftPlace, 0, 0);
      int64_t right = *rhs->registerOf(rightPlace, 0, 0);
      Value rows = a.values[left / elements];
      Value columns = c.values[right / elements];
      if (wanted->rowDim == 1) {
        std::swap(rows, columns);
      }
      SmallVector<Value> arguments{rows, columns, sums.values[part]};
      arguments.append(form.rest);
      sums.values[part] =
          intrinsic(form.name, sums.values[part].getType(), arguments);
    }
  }
  tiles[op.getResult()] = std::move(sums);
  return success();
}
