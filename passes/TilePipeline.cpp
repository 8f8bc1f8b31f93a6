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
// Where n is known, what S leaves of it is computed behind the loop instead of
// on zeros.
//
// In the unrolled body every stage is a constant: what is fetched into
// registers comes back to the head of the loop in the registers in which it
// left. Where copies into LDS are among the fetches, computing begins with
// waiting for those of its iteration and a barrier: then they have all arrived,
// and the stage that the next fetch overwrites has been read by all waves.
//
// A loop of many products that fetches by copies alone is not unrolled: the
// number of the stage goes around at run time, and no iteration is beyond the
// end. So is one in which copies have stages of their own.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TILEPIPELINE
#include "passes/Passes.h.inc"
} // namespace tenon

static constexpr llvm::StringLiteral stagesName = "tile.stages";
static constexpr int64_t mostStages = 16;

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
  LogicalResult checkStages();
  Value iteration(Value first, int64_t number);
  /// A stage of a buffer: a number that is known, or `shift` stages behind one
  /// that is not, the first following the last.
  struct Stage {
    int64_t shift = 0;
    Value number;
  };
  /// The stage of a buffer that has so many.
  using StageOf = llvm::function_ref<Stage(int64_t)>;
  void mapBuffers(IRMapping &map, StageOf stageOf);
  SmallVector<Value> fetch(Value index, StageOf stageOf,
                           ArrayRef<Operation *> wanted);
  Operation *cloneView(tile::ViewOp view, IRMapping &map, Value within);
  void unroll(int64_t iterations);
  void pipeline();
  void rotate();
  void await(ValueRange fetched);
  void awaitLate(ValueRange results);
  SmallVector<Value> compute(Value index, StageOf stageOf, ValueRange fetched,
                             ValueRange carried);
  /// The iterations that \p fetch has in flight or in use at a time.
  int64_t stagesOf(Operation *fetch) const;
  bool copiesAlone() const {
    return llvm::all_of(fetches, llvm::IsaPred<tile::CopyToLdsOp>);
  }
  bool rotates();

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
    auto copy = dyn_cast<tile::CopyToLdsOp>(op);
    if (copy && copy.getRows() && !copy.hasRowNumbers()) {
      return copy.emitOpError("cannot be fetched ahead of its iteration: it "
                              "reads its rows from LDS");
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
  return failure(failed(checkStages()) || failed(widenBuffers()));
}

int64_t Pipeline::stagesOf(Operation *fetch) const {
  auto own = fetch->getAttrOfType<IntegerAttr>(stagesName);
  return own ? own.getInt() : stages;
}

/// Whether the stages go around at run time instead of unrolling: what that
/// takes of each iteration is little beside a large one, and iterations beyond
/// the end of an unrolled loop are work for nothing.
bool Pipeline::rotates() {
  if (!copiesAlone()) {
    return false;
  }
  auto kernel = loop->getParentOfType<tile::KernelOp>();
  // That schedule is one of loops with one step (see tile-schedule).
  auto strategy = kernel->getAttrOfType<StringAttr>("tile.schedule");
  if (strategy && strategy == "ping-pong") {
    return true;
  }
  constexpr double manyInstructions = 16.0;
  double instructions = 0;
  for (auto mma : loop.getBody()->getOps<tile::MmaOp>()) {
    if (std::optional<ArrayRef<int64_t>> instruction = mma.getInstruction()) {
      auto sums = cast<RankedTensorType>(mma.getType());
      int64_t waves = kernel.getWaves();
      instructions +=
          static_cast<double>(sums.getNumElements()) * mma.getDepth() /
          ((*instruction)[0] * (*instruction)[0] * (*instruction)[1] * waves);
    }
  }
  return instructions >= manyInstructions ||
         llvm::any_of(fetches, [&](Operation *fetch) {
           return stagesOf(fetch) != stages;
         });
}

LogicalResult Pipeline::checkStages() {
  for (Operation *fetch : fetches) {
    Attribute own = fetch->getAttr(stagesName);
    if (!own) {
      continue;
    }
    auto number = dyn_cast<IntegerAttr>(own);
    if (!number || number.getInt() < 2 || number.getInt() > mostStages) {
      return fetch->emitOpError("'") << stagesName << "' must be 2 to "
                                     << mostStages << ", found " << own;
    }
    if (!copiesAlone()) {
      return fetch->emitOpError(
          "has stages of its own, in a loop that fetches into registers too");
    }
  }
  return rotates() ? success() : checkNeutral();
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
    auto wide = tile::LdsType::get(b.getContext(), type.getShape(),
                                   type.getElementType(), type.getLayout(),
                                   stagesOf(op));
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
    while (isa_and_nonnull<tile::ConvertLayoutOp, tile::TransposeOp>(
        value.getDefiningOp())) {
      value = value.getDefiningOp()->getOperand(0);
    }
    // What makes zeros of zeros.
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<tile::DequantizeOp, arith::TruncFOp, arith::ExtFOp,
                        arith::AddFOp, arith::SubFOp, arith::MulFOp>(op)) {
      return llvm::all_of(op->getOperands(), isFetched);
    }
    if (auto load = value.getDefiningOp<tile::LdsLoadOp>()) {
      // Filled by copies, or on the way to another layout.
      return llvm::all_of(load.getBuffer().getUsers(), [&](Operation *user) {
        if (auto store = dyn_cast<tile::LdsStoreOp>(user)) {
          return isFetched(store.getValue());
        }
        return isa<tile::LdsLoadOp>(user) || llvm::is_contained(fetches, user);
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

/// Lets what uses the loop's buffers use a stage of them.
void Pipeline::mapBuffers(IRMapping &map, StageOf stageOf) {
  for (auto [buffer, staged] : buffers) {
    int64_t count = cast<tile::LdsType>(staged.getType()).getStages();
    Stage stage = stageOf(count);
    int64_t shift = stage.shift % count;
    if (!stage.number) {
      stage.number = arith::ConstantIntOp::create(b, loc, shift, 32);
      shift = 0;
    }
    map.map(buffer,
            tile::LdsStageOp::create(b, loc, staged, stage.number, shift)
                .getResult());
  }
}

/// Fetches of \p wanted what the iteration with counter \p index needs, zeros
/// when there is no such iteration.
SmallVector<Value> Pipeline::fetch(Value index, StageOf stageOf,
                                   ArrayRef<Operation *> wanted) {
  IRMapping map;
  mapBuffers(map, stageOf);
  map.map(loop.getInductionVar(), index);
  Value within = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index,
                                       loop.getUpperBound());
  SmallVector<Value> fetched;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isFetch(&op)) {
      if (!llvm::is_contained(wanted, &op)) {
        continue;
      }
      // The view may be one for all iterations.
      auto view = op.getOperand(0).getDefiningOp<tile::ViewOp>();
      if (loop.isDefinedOutsideOfLoop(view)) {
        map.map(view.getResult(), cloneView(view, map, within)->getResult(0));
      }
      Operation *clone = b.clone(op, map);
      clone->removeAttr(stagesName);
      fetched.push_back(clone->getResult(0));
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
SmallVector<Value> Pipeline::compute(Value index, StageOf stageOf,
                                     ValueRange fetched, ValueRange carried) {
  IRMapping map;
  mapBuffers(map, stageOf);
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
                       fetch(
                           iteration(loop.getLowerBound(), stage),
                           [&](int64_t) { return Stage{stage, {}}; }, fetches));
  }
  for (int64_t stage = 0; stage < iterations; ++stage) {
    auto fetched = ArrayRef(flying).slice(stage * count, count);
    await(fetched);
    carried = compute(
        iteration(loop.getLowerBound(), stage),
        [&](int64_t) { return Stage{stage, {}}; }, fetched, carried);
  }
  loop.replaceAllUsesWith(carried);
}

LogicalResult Pipeline::run() {
  if (failed(collect())) {
    return failure();
  }
  std::optional<int64_t> iterations = iterationsOf(loop);
  int64_t fewest = stages;
  for (Operation *op : fetches) {
    fewest = std::min(fewest, stagesOf(op));
  }
  if (iterations && *iterations <= fewest) {
    unroll(*iterations);
  } else if (rotates()) {
    rotate();
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
                       fetch(
                           iteration(loop.getLowerBound(), stage),
                           [&](int64_t) { return Stage{stage, {}}; }, fetches));
  }
  Value step = b.createOrFold<arith::MulIOp>(
      loc, loop.getStep(), arith::ConstantIntOp::create(b, loc, stages, 32));
  int64_t iterations = iterationsOf(loop).value_or(0);
  // A loop that runs once would be none to LLVM, which drops fetches that
  // nothing uses.
  int64_t rest = iterations < 2 * stages ? 0 : iterations % stages;
  Value end = rest == 0 ? loop.getUpperBound()
                        : iteration(loop.getLowerBound(), iterations - rest);
  auto pipelined =
      scf::ForOp::create(b, loc, loop.getLowerBound(), end, step, initial);
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
                       fetch(
                           iteration(counter, ahead),
                           [&](int64_t) { return Stage{ahead, {}}; }, fetches));
    carried = compute(
        iteration(counter, stage), [&](int64_t) { return Stage{stage, {}}; },
        ArrayRef(flying).take_front(count), carried);
    flying.erase(flying.begin(), flying.begin() + count);
  }
  llvm::append_range(carried, flying);
  scf::YieldOp::create(b, loc, carried);
  b.setInsertionPointAfter(pipelined);
  carried.assign(pipelined.getResults().begin(),
                 pipelined.getResults().begin() + sums);
  flying.assign(pipelined.getResults().begin() + sums,
                pipelined.getResults().end());
  for (int64_t stage = 0; stage < rest; ++stage) {
    auto fetched = ArrayRef(flying).take_front(count);
    await(fetched);
    carried = compute(
        iteration(end, stage), [&](int64_t) { return Stage{stage, {}}; },
        fetched, carried);
    flying.erase(flying.begin(), flying.begin() + count);
  }
  awaitLate(flying);
  loop.replaceAllUsesWith(carried);
}

/// What was fetched beyond the end must not arrive in LDS that others use.
void Pipeline::awaitLate(ValueRange results) {
  SmallVector<Value> late = llvm::filter_to_vector(results, [](Value value) {
    return isa<tile::TokenType>(value.getType());
  });
  if (!late.empty()) {
    tile::WaitCopiesOp::create(b, loc, late);
  }
}

/// The loop with stages that go around at run time. It carries the sums, for
/// each number of stages the one of the iteration, and what is in flight: the
/// fetches of an iteration those that were issued last, later iterations behind
/// earlier ones.
void Pipeline::rotate() {
  // A fetch that has more stages is issued longer ahead, so behind those that
  // the next wait is for.
  SmallVector<int64_t> counts;
  for (Operation *op : fetches) {
    counts.push_back(stagesOf(op));
  }
  llvm::sort(counts);
  counts.erase(llvm::unique(counts), counts.end());
  auto fetchesWith = [&](int64_t count) {
    return llvm::filter_to_vector(
        fetches, [&](Operation *op) { return stagesOf(op) == count; });
  };
  // In flight, by fetch and iteration, oldest first.
  llvm::MapVector<Operation *, SmallVector<Value>> flying;
  auto issue = [&](int64_t count, Value index, StageOf stageOf) {
    SmallVector<Operation *> wanted = fetchesWith(count);
    for (auto [op, token] :
         llvm::zip_equal(wanted, fetch(index, stageOf, wanted))) {
      flying[op].push_back(token);
    }
  };
  for (Operation *op : fetches) {
    flying[op];
  }
  for (int64_t ahead = 0; ahead + 1 < counts.back(); ++ahead) {
    for (int64_t count : counts) {
      if (ahead + 1 < count) {
        issue(count, iteration(loop.getLowerBound(), ahead),
              [&](int64_t) { return Stage{ahead, {}}; });
      }
    }
  }
  SmallVector<Value> initial(loop.getInitArgs());
  unsigned sums = initial.size();
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
  initial.append(counts.size(), zero);
  for (auto &[op, tokens] : flying) {
    llvm::append_range(initial, tokens);
  }
  auto rotated =
      scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(),
                         loop.getStep(), initial);
  b.setInsertionPointToEnd(rotated.getBody());
  ArrayRef<BlockArgument> args = rotated.getRegionIterArgs();
  SmallVector<Value> numbers(args.slice(sums, counts.size()));
  args = args.drop_front(sums + counts.size());
  SmallVector<Value> fetched;
  for (auto &[op, tokens] : flying) {
    llvm::copy(args.take_front(tokens.size()), tokens.begin());
    args = args.drop_front(tokens.size());
    fetched.push_back(tokens.front());
    tokens.erase(tokens.begin());
  }
  auto numberOf = [&](int64_t count) {
    return numbers[llvm::find(counts, count) - counts.begin()];
  };
  await(fetched);
  Value counter = rotated.getInductionVar();
  for (int64_t count : counts) {
    issue(count, iteration(counter, count - 1),
          [&](int64_t other) { return Stage{other - 1, numberOf(other)}; });
  }
  SmallVector<Value> carried = compute(
      counter, [&](int64_t count) { return Stage{0, numberOf(count)}; },
      fetched, rotated.getRegionIterArgs().take_front(sums));
  Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
  for (auto [count, number] : llvm::zip_equal(counts, numbers)) {
    Value next = arith::AddIOp::create(b, loc, number, one);
    Value last =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                              arith::ConstantIntOp::create(b, loc, count, 32));
    carried.push_back(arith::SelectOp::create(b, loc, last, zero, next));
  }
  for (auto &[op, tokens] : flying) {
    llvm::append_range(carried, tokens);
  }
  scf::YieldOp::create(b, loc, carried);
  b.setInsertionPointAfter(rotated);
  awaitLate(rotated.getResults().drop_front(sums));
  for (auto [old, result] :
       llvm::zip(loop.getResults(), rotated.getResults())) {
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
      if (!stages || stages.getInt() < 1 || stages.getInt() > mostStages) {
        loop.emitOpError("'") << stagesName << "' must be 1 to " << mostStages
                              << ", found " << loop->getAttr(stagesName);
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
