//===- TilePipeline.cpp - fetch what later iterations need ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over n iterations with S stages becomes
//
//     fetch 0 .. S-2
//     for i = 0, S, 2S, ... below n:
//       for j = 0 .. S-1 (unrolled):
//         fetch i + j + S-1        (nothing is read beyond n)
//         compute i + j            (on zeros beyond n)
//
// In the unrolled body every stage is a constant: what is fetched into
// registers comes back to the head of the loop in the registers in which it
// left, and stages in LDS have constant addresses. Where copies into LDS are
// among the fetches, computing begins with waiting for those of its iteration
// and a barrier: then they have all arrived, and the stage that the next fetch
// overwrites has been read by all waves.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TILEPIPELINE
#include "passes/Passes.h.inc"
} // namespace tenon

static constexpr llvm::StringLiteral stagesName = "tile.stages";

static bool isFetch(Operation *op) {
  return isa<tile::LoadOp, tile::CopyToLdsOp>(op);
}

namespace {
/// One loop and what becomes of it.
class Pipeline {
public:
  Pipeline(scf::ForOp loop, int64_t stages)
      : loop(loop), stages(stages), b(loop), loc(loop.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult collect();
  LogicalResult collectAddresses(Operation *fetch);
  LogicalResult checkNeutral();
  LogicalResult widenBuffers();
  Value iteration(Value first, int64_t number);
  void mapBuffers(IRMapping &map, int64_t stage);
  SmallVector<Value> fetch(Value index, int64_t stage);
  Operation *cloneView(tile::ViewOp view, IRMapping &map, Value within);
  void unroll(int64_t iterations);
  void pipeline();
  void await(ValueRange fetched);
  SmallVector<Value> compute(Value index, int64_t stage, ValueRange fetched,
                             ValueRange carried);

  scf::ForOp loop;
  int64_t stages;
  OpBuilder b;
  Location loc;
  /// The loop's fetches, and the scalar operations that lead to their places,
  /// in program order.
  SmallVector<Operation *> fetches;
  llvm::SetVector<Operation *> addresses;
  /// What the copies fill, and the buffers with room for all stages instead.
  SmallVector<std::pair<Value, Value>> buffers;
};
} // namespace

/// Finds what of the body leads to the place that \p fetch reads.
LogicalResult Pipeline::collectAddresses(Operation *fetch) {
  SmallVector<Value> work(fetch->getOperands());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value)) {
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op || !isMemoryEffectFree(op) ||
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>)) {
      InFlightDiagnostic diag = fetch->emitOpError(
          "cannot be fetched ahead of its iteration: where "
          "it reads depends on more than the loop's counter");
      diag.attachNote(value.getLoc()) << "on this";
      return diag;
    }
    addresses.insert(op);
    llvm::append_range(work, op->getOperands());
  }
  return success();
}

LogicalResult Pipeline::collect() {
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (op.getNumRegions() != 0) {
      return op.emitOpError(
          "is in a loop with stages, which must be innermost");
    }
    if (isFetch(&op)) {
      fetches.push_back(&op);
      if (failed(collectAddresses(&op))) {
        return failure();
      }
    }
  }
  if (fetches.empty()) {
    return loop.emitOpError("has stages, but fetches nothing");
  }
  return failure(failed(checkNeutral()) || failed(widenBuffers()));
}

/// Gives the buffers that the copies fill a stage per iteration in flight.
LogicalResult Pipeline::widenBuffers() {
  for (Operation *op : fetches) {
    auto copy = dyn_cast<tile::CopyToLdsOp>(op);
    if (!copy) {
      continue;
    }
    Value buffer = copy.getBuffer();
    auto alloc = buffer.getDefiningOp<tile::AllocLdsOp>();
    tile::LdsType type = copy.getBuffer().getType();
    bool isPrivate = alloc && loop.isDefinedOutsideOfLoop(buffer) &&
                     llvm::all_of(buffer.getUsers(), [&](Operation *user) {
                       return user->getParentOp() == loop.getOperation() &&
                              (user == op || isa<tile::LdsLoadOp>(user));
                     });
    if (!isPrivate || type.getStages() != 1) {
      return copy.emitOpError(
          "is fetched ahead, so it must fill a buffer of one "
          "stage that is allocated outside the loop, and "
          "that only loads of the loop's body read");
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(alloc);
    auto wide =
        tile::LdsType::get(b.getContext(), type.getShape(),
                           type.getElementType(), type.getLayout(), stages);
    Value staged =
        tile::AllocLdsOp::create(b, alloc.getLoc(), wide, IntegerAttr());
    buffers.emplace_back(buffer, staged);
  }
  return success();
}

/// Iterations beyond the last one compute with zeros. They change nothing when
/// all that a loop carries are sums of products of what it fetches.
LogicalResult Pipeline::checkNeutral() {
  std::function<bool(Value)> isFetched = [&](Value value) {
    while (auto convert = value.getDefiningOp<tile::ConvertLayoutOp>()) {
      value = convert.getSource();
    }
    if (auto dequantize = value.getDefiningOp<tile::DequantizeOp>()) {
      return isFetched(dequantize.getCodes()) &&
             isFetched(dequantize.getScales());
    }
    if (auto load = value.getDefiningOp<tile::LdsLoadOp>()) {
      return llvm::any_of(fetches, [&](Operation *op) {
        auto copy = dyn_cast<tile::CopyToLdsOp>(op);
        return copy && copy.getBuffer() == load.getBuffer();
      });
    }
    return llvm::is_contained(fetches, value.getDefiningOp());
  };
  for (auto [arg, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(),
                       loop.getBody()->getTerminator()->getOperands())) {
    Value sum = yielded;
    while (auto mma = sum.getDefiningOp<tile::MmaOp>()) {
      // Scales too: one of NaN makes NaN of zeros.
      bool neutral = llvm::all_of(mma->getOperands(), [&](Value operand) {
        return operand == mma.getAccumulator() || isFetched(operand);
      });
      if (!neutral) {
        break;
      }
      sum = mma.getAccumulator();
    }
    if (sum != arg) {
      return loop.emitOpError("has stages, so what it carries must be sums of "
                              "products of tiles that it fetches: iterations "
                              "beyond the end then add zeros");
    }
  }
  return success();
}

/// The counter `number` iterations after that of `first`.
Value Pipeline::iteration(Value first, int64_t number) {
  if (number == 0) {
    return first;
  }
  Value count = arith::ConstantIntOp::create(b, loc, number, 32);
  Value offset = b.createOrFold<arith::MulIOp>(loc, loop.getStep(), count);
  return b.createOrFold<arith::AddIOp>(loc, first, offset);
}

/// A view that has no bytes unless \p within holds.
Operation *Pipeline::cloneView(tile::ViewOp view, IRMapping &map,
                               Value within) {
  auto clone = cast<tile::ViewOp>(b.clone(*view, map));
  b.setInsertionPoint(clone);
  Value none = arith::ConstantIntOp::create(b, loc, 0, 32);
  clone.getBytesMutable().assign(
      b.createOrFold<arith::SelectOp>(loc, within, clone.getBytes(), none));
  b.setInsertionPointAfter(clone);
  return clone;
}

/// Lets what uses the loop's buffers use stage \p stage of them.
void Pipeline::mapBuffers(IRMapping &map, int64_t stage) {
  for (auto [buffer, staged] : buffers) {
    Value number = arith::ConstantIntOp::create(b, loc, stage, 32);
    map.map(buffer,
            tile::LdsStageOp::create(b, loc, staged, number).getResult());
  }
}

/// Fetches what the iteration with counter \p index needs, copies into stage
/// \p stage; zeros when there is no such iteration.
SmallVector<Value> Pipeline::fetch(Value index, int64_t stage) {
  IRMapping map;
  mapBuffers(map, stage);
  map.map(loop.getInductionVar(), index);
  Value within = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index,
                                       loop.getUpperBound());
  SmallVector<Value> fetched;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isFetch(&op)) {
      // The view may be one for all iterations.
      auto view = op.getOperand(0).getDefiningOp<tile::ViewOp>();
      if (loop.isDefinedOutsideOfLoop(view)) {
        map.map(view.getResult(), cloneView(view, map, within)->getResult(0));
      }
      fetched.push_back(b.clone(op, map)->getResult(0));
    } else if (addresses.contains(&op)) {
      if (auto view = dyn_cast<tile::ViewOp>(op)) {
        map.map(view.getResult(), cloneView(view, map, within)->getResult(0));
      } else {
        b.clone(op, map);
      }
    }
  }
  // Fetches stay where they are issued: LLVM would move them to their uses.
  tile::OrderFenceOp::create(b, loc);
  return fetched;
}

/// Makes sure that the copies among \p fetched have arrived, those of all
/// waves.
void Pipeline::await(ValueRange fetched) {
  SmallVector<Value> tokens = llvm::filter_to_vector(fetched, [](Value value) {
    return isa<tile::TokenType>(value.getType());
  });
  if (!tokens.empty()) {
    tile::WaitCopiesOp::create(b, loc, tokens);
    tile::BarrierOp::create(b, loc);
  }
}

/// What the iteration with counter \p index yields.
SmallVector<Value> Pipeline::compute(Value index, int64_t stage,
                                     ValueRange fetched, ValueRange carried) {
  IRMapping map;
  mapBuffers(map, stage);
  map.map(loop.getInductionVar(), index);
  map.map(loop.getRegionIterArgs(), carried);
  for (auto [op, value] : llvm::zip_equal(fetches, fetched)) {
    map.map(op->getResult(0), value);
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!isFetch(&op) && !isa<tile::WaitCopiesOp>(op)) {
      b.clone(op, map);
    }
  }
  return llvm::map_to_vector(
      loop.getBody()->getTerminator()->getOperands(),
      [&](Value yielded) { return map.lookupOrDefault(yielded); });
}

/// The number of iterations where it is known.
static std::optional<int64_t> iterationsOf(scf::ForOp loop) {
  auto first = getConstantIntValue(OpFoldResult(loop.getLowerBound()));
  auto end = getConstantIntValue(OpFoldResult(loop.getUpperBound()));
  auto step = getConstantIntValue(OpFoldResult(loop.getStep()));
  if (!first || !end || !step || *step <= 0) {
    return std::nullopt;
  }
  return *end <= *first ? 0 : llvm::divideCeil(*end - *first, *step);
}

/// All iterations of a loop that has no more than there are stages, without a
/// loop: LLVM would find that it runs once, and drop fetches that nothing uses.
void Pipeline::unroll(int64_t iterations) {
  unsigned count = fetches.size();
  SmallVector<Value> flying;
  SmallVector<Value> carried(loop.getInitArgs());
  for (int64_t stage = 0; stage < iterations; ++stage) {
    llvm::append_range(flying,
                       fetch(iteration(loop.getLowerBound(), stage), stage));
  }
  for (int64_t stage = 0; stage < iterations; ++stage) {
    auto fetched = ArrayRef(flying).slice(stage * count, count);
    await(fetched);
    carried = compute(iteration(loop.getLowerBound(), stage), stage, fetched,
                      carried);
  }
  loop.replaceAllUsesWith(carried);
}

LogicalResult Pipeline::run() {
  if (failed(collect())) {
    return failure();
  }
  std::optional<int64_t> iterations = iterationsOf(loop);
  if (iterations && *iterations <= stages) {
    unroll(*iterations);
  } else {
    pipeline();
  }
  loop.erase();
  for (auto [buffer, staged] : buffers) {
    buffer.getDefiningOp()->erase();
  }
  return success();
}

void Pipeline::pipeline() {
  unsigned count = fetches.size();
  SmallVector<Value> initial(loop.getInitArgs());
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    llvm::append_range(initial,
                       fetch(iteration(loop.getLowerBound(), stage), stage));
  }
  Value step = b.createOrFold<arith::MulIOp>(
      loc, loop.getStep(), arith::ConstantIntOp::create(b, loc, stages, 32));
  auto pipelined = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                      loop.getUpperBound(), step, initial);
  b.setInsertionPointToEnd(pipelined.getBody());
  unsigned sums = loop.getInitArgs().size();
  SmallVector<Value> carried(pipelined.getRegionIterArgs().take_front(sums));
  // In flight, oldest first.
  SmallVector<Value> flying(pipelined.getRegionIterArgs().drop_front(sums));
  for (int64_t stage = 0; stage < stages; ++stage) {
    Value counter = pipelined.getInductionVar();
    int64_t ahead = stage + stages - 1;
    await(ArrayRef(flying).take_front(count));
    llvm::append_range(flying,
                       fetch(iteration(counter, ahead), ahead % stages));
    carried = compute(iteration(counter, stage), stage,
                      ArrayRef(flying).take_front(count), carried);
    flying.erase(flying.begin(), flying.begin() + count);
  }
  llvm::append_range(carried, flying);
  scf::YieldOp::create(b, loc, carried);
  // What was fetched beyond the end must not arrive in LDS that others use.
  b.setInsertionPointAfter(pipelined);
  SmallVector<Value> late;
  for (Value value : pipelined.getResults().drop_front(sums)) {
    if (isa<tile::TokenType>(value.getType())) {
      late.push_back(value);
    }
  }
  if (!late.empty()) {
    tile::WaitCopiesOp::create(b, loc, late);
  }
  for (auto [old, result] :
       llvm::zip(loop.getResults(), pipelined.getResults())) {
    old.replaceAllUsesWith(result);
  }
}

namespace {
struct TilePipeline : tenon::impl::TilePipelineBase<TilePipeline> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(stagesName)) {
        loops.push_back(loop);
      }
    });
    for (scf::ForOp loop : loops) {
      auto stages = loop->getAttrOfType<IntegerAttr>(stagesName);
      if (!stages || stages.getInt() < 1 || stages.getInt() > 16) {
        loop.emitOpError("'") << stagesName << "' must be 1 to 16, found "
                              << loop->getAttr(stagesName);
        return signalPassFailure();
      }
      loop->removeAttr(stagesName);
      if (stages.getInt() > 1 &&
          failed(Pipeline(loop, stages.getInt()).run())) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
