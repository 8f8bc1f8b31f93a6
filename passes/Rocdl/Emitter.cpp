//===- Emitter.cpp - kernel and scalars -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Rocdl/Emitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

static constexpr unsigned globalSpace = 1;
static constexpr unsigned ldsSpace = 3;

Value Emitter::i32(int64_t value) {
  return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                  b.getI32IntegerAttr(value));
}

Value Emitter::addI32(Value a, Value c) {
  if (!a || !c) {
    return a ? a : c;
  }
  return LLVM::AddOp::create(b, loc, a, c);
}

Value Emitter::intrinsic(StringRef name, Type type, ValueRange args) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name),
                                       args)
      .getResult(0);
}

FailureOr<layout::Layout> Emitter::layoutOf(Value value) {
  // A kernel is one block and takes no tiles: every tile has an operation.
  Operation *op = value.getDefiningOp();
  tile::LayoutAttr layout = tile::getLayout(value.getType());
  if (!layout) {
    op->emitOpError(
        "has a tile without a layout: run tile-assign-layouts first");
    return failure();
  }
  if (layout.getLayout().numWaves() != kernel.getWaves()) {
    op->emitOpError("has a tile laid out over ")
        << layout.getLayout().numWaves() << " waves, the kernel has "
        << kernel.getWaves();
    return failure();
  }
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  Type held = registerType(element);
  bool known = isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(held) ||
               (held.isSignlessInteger() &&
                llvm::is_contained({1u, 8u, 16u, 32u, 64u},
                                   held.getIntOrFloatBitWidth()));
  if (!known) {
    op->emitOpError("has a tile of ")
        << element << ", which is not lowered yet";
    return failure();
  }
  return layout.getLayout();
}

Type Emitter::registerType(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8
             ? b.getI8Type()
             : element;
}

void Emitter::createFunction() {
  b.setInsertionPoint(kernel);
  MLIRContext *context = kernel.getContext();
  if (int64_t bytes = kernel.getLdsBytes().value_or(0)) {
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
    lds = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/false,
                                 LLVM::Linkage::Internal,
                                 (kernel.getName() + "_lds").str(), Attribute(),
                                 /*alignment=*/16, ldsSpace);
  }
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes()) {
    types.push_back(isa<tile::PtrType>(type)
                        ? LLVM::LLVMPointerType::get(context, globalSpace)
                        : type);
  }
  std::string name = kernel.getName().str();
  // The function takes the kernel's name; the kernel goes away with the pass.
  kernel.setName((name + "_tile"));
  function = LLVM::LLVMFuncOp::create(
      b, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
  int32_t threads = kernel.getWaves() * 64;
  std::string size = std::to_string(threads);
  function->setAttr("rocdl.kernel", b.getUnitAttr());
  function->setAttr("rocdl.flat_work_group_size",
                    b.getStringAttr(size + "," + size));
  function->setAttr("rocdl.reqd_work_group_size",
                    b.getDenseI32ArrayAttr({threads, 1, 1}));
  if (auto waves = kernel.getWavesPerSimd()) {
    function->setAttr("rocdl.waves_per_eu", b.getI32IntegerAttr(*waves));
  }
  // Accumulators stay in the architectural registers unless the kernel wants
  // others: the backend's own choice moves them back and forth in loops.
  std::string agprs = std::to_string(kernel.getAgprs().value_or(0));
  SmallVector<Attribute> passthrough = {
      b.getStrArrayAttr({"amdgpu-agpr-alloc", agprs}),
      b.getStrArrayAttr({"uniform-work-group-size", "true"})};
  if (auto scheduler = kernel.getScheduler()) {
    passthrough.push_back(
        b.getStrArrayAttr({"amdgpu-sched-strategy", *scheduler}));
  }
  function.setPassthroughAttr(b.getArrayAttr(passthrough));
  Block *entry = function.addEntryBlock(b);
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    scalars.map(kernel.getBody().getArgument(index), entry->getArgument(index));
    // No `noalias`, although operands do not overlap: it would let LLVM move
    // accesses across the statement of an order fence.
    if (auto argName =
            kernel.getArgAttrOfType<StringAttr>(index, "tile.name")) {
      function.setArgAttr(index, "tile.name", argName);
    }
    // They arrive in registers, as many as there is room for, and need no load
    // before the first address is known.
    if (index < kernel.getPreload().value_or(0) &&
        target.facts().kernargPreloadSgprs != 0) {
      function.setArgAttr(index, LLVM::LLVMDialect::getInRegAttrName(),
                          b.getUnitAttr());
    }
  }
  b.setInsertionPointToStart(entry);
  Value id = ROCDL::ThreadIdXOp::create(b, loc, b.getI32Type());
  thread = id;
  Value six = i32(6);
  wave = ROCDL::ReadfirstlaneOp::create(b, loc, b.getI32Type(),
                                        LLVM::LShrOp::create(b, loc, id, six));
}

Value Emitter::threadId() { return thread; }
Value Emitter::waveId() { return wave; }

LogicalResult Emitter::emitScalar(Operation *op) {
  for (Value operand : op->getOperands()) {
    if (!scalars.contains(operand)) {
      return op->emitOpError("cannot be lowered: expected uniform scalars");
    }
  }
  auto select = dyn_cast<arith::SelectOp>(op);
  if (select && isa<tile::PtrType>(select.getType())) {
    scalars.map(select.getResult(),
                LLVM::SelectOp::create(b, loc,
                                       scalars.lookup(select.getCondition()),
                                       scalars.lookup(select.getTrueValue()),
                                       scalars.lookup(select.getFalseValue()))
                    .getResult());
    return success();
  }
  b.clone(*op, scalars);
  return success();
}

LogicalResult Emitter::emitOp(Operation *op) {
  loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tile::WorkgroupIdOp>([&](auto id) -> LogicalResult {
        Type type = b.getI32Type();
        Value value;
        switch (id.getDim()) {
        case 0:
          value = ROCDL::BlockIdXOp::create(b, loc, type);
          break;
        case 1:
          value = ROCDL::BlockIdYOp::create(b, loc, type);
          break;
        default:
          value = ROCDL::BlockIdZOp::create(b, loc, type);
        }
        scalars.map(id.getResult(), value);
        return success();
      })
      .Case<tile::AdvanceOp>([&](auto advance) -> LogicalResult {
        Value pointer = scalars.lookup(advance.getPointer());
        Value bytes = scalars.lookup(advance.getBytes());
        scalars.map(advance.getResult(),
                    LLVM::GEPOp::create(b, loc, pointer.getType(),
                                        b.getI8Type(), pointer,
                                        ArrayRef<LLVM::GEPArg>{bytes})
                        .getResult());
        return success();
      })
      .Case<tile::ViewOp>([&](auto view) { return emitView(view); })
      .Case<tile::LoadScalarOp>([&](auto load) { return emitLoadScalar(load); })
      .Case<tile::LoadOp>([&](auto load) { return emitLoad(load); })
      .Case<tile::StoreOp>([&](auto store) { return emitStore(store); })
      .Case<tile::MmaOp>([&](auto mma) { return emitMma(mma); })
      .Case<tile::DequantizeOp>(
          [&](auto dequantize) { return emitDequantize(dequantize); })
      .Case<tile::QuantizeOp>(
          [&](auto quantize) { return emitQuantize(quantize); })
      .Case<scf::ForOp>([&](auto loop) { return emitFor(loop); })
      .Case<scf::IfOp>([&](auto branch) { return emitIf(branch); })
      // Their ends are written by emitFor and emitIf.
      .Case<scf::YieldOp>([](auto) { return success(); })
      .Case<tile::SplatOp>([&](auto splatOp) -> LogicalResult {
        auto layout = layoutOf(splatOp.getResult());
        if (failed(layout)) {
          return failure();
        }
        tiles[splatOp.getResult()] =
            splat(scalars.lookup(splatOp.getScalar()), layout->numRegisters());
        return success();
      })
      .Case<tile::BroadcastOp>([&](auto cast) { return emitBroadcast(cast); })
      .Case<tile::SplitOp>([&](auto split) {
        // The same registers.
        Parts held = parts(split.getSource());
        tiles[split.getResult()] = std::move(held);
        return success();
      })
      .Case<tile::ExtractOp>([&](auto extract) { return emitExtract(extract); })
      .Case<tile::StackOp>([&](auto stack) { return emitStack(stack); })
      .Case<tile::UniformOp>([&](auto uniform) {
        Value held = element(parts(uniform.getSource()), 0);
        auto cast = [&](Type type, Value value) {
          return b.createOrFold<LLVM::BitcastOp>(loc, type, value);
        };
        Value bits = cast(b.getI32Type(), held);
        bits = ROCDL::ReadfirstlaneOp::create(b, loc, b.getI32Type(), bits);
        Value scalar = cast(uniform.getType(), bits);
        scalars.map(uniform.getResult(), scalar);
        return success();
      })
      .Case<tile::IotaOp>([&](auto iota) { return emitIota(iota); })
      .Case<tile::TransposeOp>(
          [&](auto transpose) { return emitTranspose(transpose); })
      .Case<tile::ConvertLayoutOp>([&](auto cast) { return emitConvert(cast); })
      .Case<tile::ReduceOp>([&](auto reduce) {
        return emitReduction(reduce, reduce.getSource(), Value(),
                             reduce.getKind(), reduce.getReducedDims());
      })
      .Case<tile::DotOp>([&](auto dot) {
        return emitReduction(dot, dot.getLhs(), dot.getRhs(),
                             tile::ReduceKind::Add, dot.getReducedDims());
      })
      .Case<tile::AllocLdsOp>([](auto) { return success(); })
      .Case<tile::LdsStageOp, tile::LdsPartOp>([](auto) { return success(); })
      .Case<tile::CopyToLdsOp>([&](auto copy) { return emitCopy(copy); })
      .Case<tile::WaitCopiesOp>([&](auto wait) {
        emitWait(wait);
        return success();
      })
      .Case<tile::LdsStoreOp>([&](auto store) { return emitLdsStore(store); })
      .Case<tile::LdsLoadOp>([&](auto load) { return emitLdsLoad(load); })
      .Case<tile::BarrierOp>([&](auto barrier) {
        emitBarrier(barrier.getWaves());
        return success();
      })
      .Case<tile::WavePriorityOp>([&](auto priority) {
        flushGuarded();
        ROCDL::SetPrioOp::create(b, loc,
                                 static_cast<uint16_t>(priority.getLevel()));
        return success();
      })
      .Case<tile::ArriveOp>([&](auto arrive) { return emitArrive(arrive); })
      .Case<tile::ScanOp>([&](auto scan) { return emitScan(scan); })
      .Case<tile::TopKOp>([&](auto top) { return emitTopK(top); })
      .Case<tile::OrderFenceOp>([&](auto) {
        emitOrderFence();
        return success();
      })
      .Case<tile::ReturnOp>([&](auto) {
        flushGuarded();
        LLVM::ReturnOp::create(b, loc, ValueRange());
        return success();
      })
      .Default([&](Operation *other) -> LogicalResult {
        bool makesTile = other->getNumResults() == 1 &&
                         isa<RankedTensorType>(other->getResult(0).getType());
        if (auto constant = dyn_cast<arith::ConstantOp>(other)) {
          return makesTile ? emitConstant(constant) : emitScalar(other);
        }
        if (makesTile && other->hasTrait<OpTrait::Elementwise>()) {
          return emitElementwise(other);
        }
        bool scalar = !makesTile &&
                      isa_and_nonnull<arith::ArithDialect>(other->getDialect());
        return scalar
                   ? emitScalar(other)
                   : other->emitOpError("cannot be lowered to per-lane code");
      });
}

LogicalResult Emitter::emit() {
  if (failed(kernel.requireStructured())) {
    return failure();
  }
  createFunction();
  findCopies();
  planSinking();
  if (failed(emitBlock(kernel.getBody().front()))) {
    return failure();
  }
  return countWaits();
}

LogicalResult Emitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    auto sink = sunk.find(&op);
    if (sink != sunk.end()) {
      waiting.emplace_back(sink->second,
                           [this, &op] { guardFailed |= failed(emitOp(&op)); });
      continue;
    }
    if (failed(emitOp(&op)) || guardFailed) {
      return failure();
    }
  }
  return success();
}

// A loop whose iterations compute anew what lanes need behind a loop in them:
// LLVM would take it out of the outer loop, and keep it in registers throughout
// the inner one.
static constexpr llvm::StringLiteral recomputeName = "tile.recompute";

/// A loop is a block that tests, the body, and what follows. Carried tiles are
/// block arguments, one per vector.
LogicalResult Emitter::emitFor(scf::ForOp loop) {
  flushGuarded();
  SmallVector<Value> initial{scalars.lookup(loop.getLowerBound())};
  SmallVector<unsigned> widths;
  auto isToken = [](Value value) {
    return isa<tile::TokenType>(value.getType());
  };
  for (auto [init, arg] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (isToken(init)) {
      widths.push_back(0);
      continue;
    }
    if (!isa<RankedTensorType>(init.getType())) {
      widths.push_back(0);
      initial.push_back(scalars.lookup(init));
      continue;
    }
    auto layout = layoutOf(init);
    if (failed(layout)) {
      return failure();
    }
    widths.push_back(keptWidth(arg, layout->numRegisters()));
    if (joinedLate.contains(init) && isForProducts(arg)) {
      widths.back() = parts(init).width;
    }
    llvm::append_range(initial, repack(parts(init), widths.back()).values);
  }
  Value end = scalars.lookup(loop.getUpperBound());
  if (hasCopies() && !getConstantIntValue(OpFoldResult(loop.getUpperBound()))) {
    // Waits count every fetch. LLVM would drop those for iterations that it
    // finds out never to come.
    end = opaque(end, "s");
  }
  Value step = scalars.lookup(loop.getStep());

  Block *before = b.getInsertionBlock();
  Block *after = before->splitBlock(b.getInsertionPoint());
  Block *test = b.createBlock(after);
  Block *body = b.createBlock(after);
  for (Value value : initial) {
    test->addArgument(value.getType(), loc);
  }
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, initial, test);
  b.setInsertionPointToEnd(test);
  Value counter = test->getArgument(0);
  Value more =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, counter, end);
  LLVM::CondBrOp::create(b, loc, more, body, after);

  // Inside the loop and after it, carried values are the arguments.
  scalars.map(loop.getInductionVar(), counter);
  unsigned next = 1;
  for (auto [arg, result, width] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults(), widths)) {
    if (isToken(arg)) {
      continue;
    }
    if (width == 0) {
      scalars.map(arg, test->getArgument(next));
      scalars.map(result, test->getArgument(next++));
      continue;
    }
    Parts carried;
    carried.width = width;
    int64_t registers =
        tile::getLayout(arg.getType()).getLayout().numRegisters();
    for (int64_t part = 0; part < registers / width; ++part) {
      carried.values.push_back(test->getArgument(next++));
    }
    tiles[arg] = carried;
    tiles[result] = std::move(carried);
  }
  b.setInsertionPointToEnd(body);
  Value outerThread = thread;
  loops.push_back({before, test, body, {}});
  if (failed(emitBlock(*loop.getBody()))) {
    return failure();
  }
  OpenLoop written = loops.pop_back_val();
  thread = outerThread;
  loc = loop.getLoc();
  flushGuarded();
  SmallVector<Value> again{LLVM::AddOp::create(b, loc, counter, step)};
  for (auto [value, width] : llvm::zip_equal(
           loop.getBody()->getTerminator()->getOperands(), widths)) {
    if (isToken(value)) {
      continue;
    }
    if (width == 0) {
      again.push_back(scalars.lookup(value));
    } else {
      llvm::append_range(again, repack(parts(value), width).values);
    }
  }
  for (auto [offset, value] : written.carried) {
    again.push_back(value);
  }
  auto back = LLVM::BrOp::create(b, loc, again, test);
  // Loops are unrolled by the passes before. LLVM's own unrolling would drop
  // fetches that only the last iterations do not need.
  auto unroll = LLVM::LoopUnrollAttr::get(
      b.getContext(), /*disable=*/b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  back.setLoopAnnotationAttr(
      LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, unroll, {}, {},
                                    {}, {}, {}, {}, {}, {}, {}, {}, {}));
  b.setInsertionPointToStart(after);
  if (loop->getParentOp()->hasAttr(recomputeName)) {
    // With side effects, so that it stays here.
    thread = LLVM::InlineAsmOp::create(
                 b, loc, thread.getType(), thread, /*asm_string=*/"",
                 /*constraints=*/"=v,0", /*has_side_effects=*/true,
                 /*is_align_stack=*/false, LLVM::TailCallKind::None,
                 LLVM::AsmDialectAttr(), ArrayAttr())
                 .getResult(0);
  }
  return success();
}

/// Whether \p block is the test or in the body, as far as that is written.
bool Emitter::OpenLoop::contains(Block *block) const {
  Block *after = cast<LLVM::CondBrOp>(test->getTerminator()).getFalseDest();
  for (Block *inside = test; inside != after; inside = inside->getNextNode()) {
    if (inside == block) {
      return true;
    }
  }
  return false;
}

/// Moves what \p value is computed by in front of the loop; false where it is
/// not the same in all iterations.
bool Emitter::OpenLoop::hoist(Value value) const {
  if (!contains(value.getParentBlock())) {
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !isPure(op) || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperands(),
                    [&](Value operand) { return hoist(operand); })) {
    return false;
  }
  op->moveBefore(before->getTerminator());
  return true;
}

/// Hides from LLVM how \p offset was computed where it is the same in all
/// iterations of the loop that is being written: each hands it to the next in
/// the register in which it is used. Null where that cannot be.
Value Emitter::carryOffset(Value offset) {
  if (loops.empty() || b.getInsertionBlock() != loops.back().body) {
    return {};
  }
  OpenLoop &loop = loops.back();
  if (!loop.hoist(offset)) {
    return {};
  }
  Value &carried = loop.carried[offset];
  if (!carried) {
    Value argument = loop.test->addArgument(offset.getType(), loc);
    auto enter = cast<LLVM::BrOp>(loop.before->getTerminator());
    enter.getDestOperandsMutable().append(offset);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.body);
    carried = opaque(argument, "v");
  }
  return carried;
}

LogicalResult Emitter::emitIf(scf::IfOp branch) {
  flushGuarded();
  Value condition = scalars.lookup(branch.getCondition());
  Block *before = b.getInsertionBlock();
  Block *after = before->splitBlock(b.getInsertionPoint());
  Block *then = b.createBlock(after);
  Block *otherwise = branch.elseBlock() ? b.createBlock(after) : after;
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, condition, then, otherwise);
  auto emitSide = [&](Block *to, Block *from) {
    b.setInsertionPointToEnd(to);
    if (failed(emitBlock(*from))) {
      return failure();
    }
    flushGuarded();
    LLVM::BrOp::create(b, loc, after);
    return success();
  };
  if (failed(emitSide(then, branch.thenBlock())) ||
      (branch.elseBlock() && failed(emitSide(otherwise, branch.elseBlock())))) {
    return failure();
  }
  b.setInsertionPointToStart(after);
  return success();
}
