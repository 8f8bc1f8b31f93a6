//===- KdaPrefillOperands.cpp - what prefill takes --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/KdaPrefill.h"

#include "TakeOperand.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace tenon::reference {

/// The values of a view of integers of one dimension.
static std::vector<int64_t> integers(const TensorView &view) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < view.shape[0]; ++i) {
    values.push_back(view.intAt(i));
  }
  return values;
}

llvm::Expected<KdaPrefill>
KdaPrefill::create(const KdaPrefillParams &params, const Operands &operands,
                   std::optional<int64_t> maxSeqLen) {
  KdaPrefill op;
  op.params = params;
  if (llvm::Error error = op.takeOperands(operands)) {
    return std::move(error);
  }
  op.boundaries = integers(op.cuSeqlens);
  op.slots = integers(op.slot);
  if (!op.row.shape.empty()) {
    op.rows = integers(op.row);
  }
  for (int64_t i = 0; i < op.sequences(); ++i) {
    op.initialSlots.push_back(op.initialSlot(i));
  }
  if (llvm::Error error = op.checkBoundaries(maxSeqLen)) {
    return std::move(error);
  }
  for (auto check : {&KdaPrefill::checkSlots, &KdaPrefill::checkRows,
                     &KdaPrefill::checkPlan}) {
    if (llvm::Error error = (op.*check)()) {
      return std::move(error);
    }
  }
  if (llvm::Error error = op.collectCheckpoints()) {
    return std::move(error);
  }
  op.cutPieces();
  return op;
}

llvm::Error KdaPrefill::takeOperands(const Operands &operands) {
  const int64_t h = params.heads, d = params.headDim;
  constexpr ElementType f32 = ElementType::F32, bf16 = ElementType::BF16,
                        i32 = ElementType::I32;
  struct Requirement {
    llvm::StringRef name;
    llvm::SmallVector<ElementType, 2> types;
    llvm::SmallVector<int64_t, 4> shape;
    TensorView *view;
  };
  auto take = [&](llvm::ArrayRef<Requirement> requirements) -> llvm::Error {
    for (const Requirement &needed : requirements) {
      if (llvm::Error error = takeOperand(operands, needed.name, needed.types,
                                          needed.shape, *needed.view)) {
        return error;
      }
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = take({{"qkv", {bf16}, {anySize, 3 * h * d}, &qkv},
                                {"slot", {i32}, {anySize}, &slot}})) {
    return error;
  }
  const int64_t n = slot.shape[0], r = qkv.shape[0];
  auto convShape = [&] {
    return params.convLayout == ConvLayout::SD
               ? llvm::SmallVector<int64_t, 4>{anySize, anySize, 3 * h * d}
               : llvm::SmallVector<int64_t, 4>{anySize, 3 * h * d, anySize};
  };
  llvm::SmallVector<Requirement> requirements = {
      {"raw_g", {bf16}, {r, h * d}, &rawG},
      {"raw_beta", {bf16}, {r, h}, &rawBeta},
      {"conv_weight", {f32}, {3 * h * d, kdaWindowColumns + 1}, &convWeight},
      {"a_log", {f32}, {h}, &aLog},
      {"dt_bias", {f32}, {h * d}, &dtBias},
      {"state", {f32}, {anySize, h, d, d}, &state},
      {"conv_state", {bf16}, convShape(), &convState},
      {"cu_seqlens", {i32}, {n + 1}, &cuSeqlens}};
  if (params.outputNorm) {
    requirements.push_back({"out_gate", {bf16}, {r, h * d}, &outGate});
    requirements.push_back({"norm_weight", {f32, bf16}, {d}, &normWeight});
  }
  if (operands.count("initial_slot")) {
    requirements.push_back({"initial_slot", {i32}, {n}, &initial});
  }
  if (operands.count("has_initial_state")) {
    requirements.push_back(
        {"has_initial_state", {ElementType::I8}, {n}, &hasInitial});
  }
  if (operands.count("row")) {
    requirements.push_back({"row", {i32}, {anySize}, &row});
  }
  if (auto offsets = operands.find("checkpoint_offset");
      offsets != operands.end()) {
    llvm::SmallVector<int64_t, 4> shape = {n};
    if (offsets->second.shape.size() == 2) {
      shape.push_back(offsets->second.shape[1]);
    }
    requirements.push_back(
        {"checkpoint_offset", {i32}, shape, &checkpointOffset});
    requirements.push_back({"checkpoint_slot", {i32}, shape, &checkpointSlot});
    requirements.push_back(
        {"checkpoint_state", {f32}, {anySize, h, d, d}, &checkpointState});
    requirements.push_back(
        {"checkpoint_conv", {bf16}, convShape(), &checkpointConv});
  }
  if (llvm::Error error = take(requirements)) {
    return error;
  }
  tokens = row.shape.empty() ? r : row.shape[0];
  if (operands.count("plan")) {
    if (llvm::Error error =
            take({{"plan", {i32}, {kdaChunkCount(tokens, n), 4}, &plan}})) {
      return error;
    }
  }
  auto checkPools = [&](const TensorView &states, const TensorView &windows,
                        llvm::StringRef stateName,
                        llvm::StringRef convName) -> llvm::Error {
    if (windows.shape[0] != states.shape[0]) {
      return llvm::createStringError(
          "operand '" + convName + "': " + llvm::Twine(states.shape[0]) +
          " slots expected as in '" + stateName + "', " +
          llvm::Twine(windows.shape[0]) + " found");
    }
    if (convColumns(windows) < kdaWindowColumns) {
      return llvm::createStringError(
          "operand '" + convName + "': at least " +
          llvm::Twine(kdaWindowColumns) + " columns expected, " +
          llvm::Twine(convColumns(windows)) + " found");
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = checkPools(state, convState, "state", "conv_state")) {
    return error;
  }
  return checkpointOffset.shape.empty()
             ? llvm::Error::success()
             : checkPools(checkpointState, checkpointConv, "checkpoint_state",
                          "checkpoint_conv");
}

int64_t KdaPrefill::convColumns(const TensorView &pool) const {
  return pool.shape[params.convLayout == ConvLayout::SD ? 1 : 2];
}

std::optional<int64_t> KdaPrefill::initialSlot(int64_t sequence) const {
  if (isNull(sequence) ||
      (!hasInitial.shape.empty() && hasInitial.intAt(sequence) == 0)) {
    return std::nullopt;
  }
  if (initial.shape.empty()) {
    return slots[sequence];
  }
  int64_t from = initial.intAt(sequence);
  return params.isNull(from) ? std::nullopt : std::optional(from);
}

llvm::Error
KdaPrefill::checkBoundaries(std::optional<int64_t> maxSeqLen) const {
  if (llvm::Error error = reference::checkBoundaries(boundaries)) {
    return error;
  }
  if (boundaries.back() > tokens) {
    return llvm::createStringError(
        "operand 'cu_seqlens': an end of at most T = " + llvm::Twine(tokens) +
        " expected, " + llvm::Twine(boundaries.back()) + " found");
  }
  for (int64_t i = 0; maxSeqLen && i < sequences(); ++i) {
    if (length(i) > *maxSeqLen) {
      return llvm::createStringError(
          "operand 'cu_seqlens': at most max_seq_len = " +
          llvm::Twine(*maxSeqLen) + " tokens expected, sequence " +
          llvm::Twine(i) + " has " + llvm::Twine(length(i)));
    }
  }
  return llvm::Error::success();
}

/// Fails unless \p value is below \p end; \p where is "slot[3]" of \p operand.
static llvm::Error checkBelow(int64_t value, int64_t end, llvm::StringRef size,
                              llvm::StringRef operand,
                              const llvm::Twine &where) {
  if (value >= 0 && value < end) {
    return llvm::Error::success();
  }
  return llvm::createStringError(
      "operand '" + operand + "': " + where + ": less than " + size + " = " +
      llvm::Twine(end) + " expected, " + llvm::Twine(value) + " found");
}

llvm::Error KdaPrefill::checkSlots() const {
  llvm::DenseMap<int64_t, int64_t> sequenceOfSlot;
  for (int64_t i = 0; i < sequences(); ++i) {
    if (isNull(i)) {
      continue;
    }
    if (llvm::Error error = checkBelow(slots[i], state.shape[0], "S", "slot",
                                       "slot[" + llvm::Twine(i) + "]")) {
      return error;
    }
    auto [entry, inserted] = sequenceOfSlot.try_emplace(slots[i], i);
    if (!inserted) {
      return llvm::createStringError(
          "operand 'slot': distinct slots expected, sequences " +
          llvm::Twine(entry->second) + " and " + llvm::Twine(i) +
          " both have " + llvm::Twine(slots[i]));
    }
  }
  for (int64_t i = 0; i < sequences(); ++i) {
    if (!initialSlots[i]) {
      continue;
    }
    std::string where = ("initial_slot[" + llvm::Twine(i) + "]").str();
    if (llvm::Error error = checkBelow(*initialSlots[i], state.shape[0], "S",
                                       "initial_slot", where)) {
      return error;
    }
    auto writer = sequenceOfSlot.find(*initialSlots[i]);
    if (writer != sequenceOfSlot.end() && writer->second != i) {
      return llvm::createStringError("operand 'initial_slot': " + where + ": " +
                                     llvm::Twine(*initialSlots[i]) +
                                     " found, which sequence " +
                                     llvm::Twine(writer->second) + " writes");
    }
  }
  return llvm::Error::success();
}

llvm::Error KdaPrefill::checkRows() const {
  if (row.shape.empty()) {
    return llvm::Error::success();
  }
  llvm::DenseMap<int64_t, int64_t> tokenOfRow;
  for (int64_t t = 0; t < boundaries.back(); ++t) {
    if (llvm::Error error = checkBelow(rows[t], qkv.shape[0], "R", "row",
                                       "row[" + llvm::Twine(t) + "]")) {
      return error;
    }
    auto [entry, inserted] = tokenOfRow.try_emplace(rows[t], t);
    if (!inserted) {
      return llvm::createStringError(
          "operand 'row': distinct rows expected, tokens " +
          llvm::Twine(entry->second) + " and " + llvm::Twine(t) +
          " both have " + llvm::Twine(rows[t]));
    }
  }
  return llvm::Error::success();
}

llvm::Error KdaPrefill::checkPlan() const {
  if (plan.shape.empty()) {
    return llvm::Error::success();
  }
  auto expected = kdaPlan(boundaries, plan.shape[0]);
  if (!expected) {
    return expected.takeError();
  }
  for (int64_t chunk = 0; chunk < plan.shape[0]; ++chunk) {
    for (int64_t column = 0; column < 4; ++column) {
      int64_t found = plan.intAt({chunk, column});
      int64_t wanted = (*expected)[chunk][column];
      if (found != wanted) {
        return llvm::createStringError(
            "operand 'plan': plan[" + llvm::Twine(chunk) + ", " +
            llvm::Twine(column) + "]: " + llvm::Twine(wanted) +
            " expected for these cu_seqlens, " + llvm::Twine(found) + " found");
      }
    }
  }
  return llvm::Error::success();
}

llvm::Error KdaPrefill::collectCheckpoints() {
  checkpoints.resize(sequences());
  if (checkpointOffset.shape.empty()) {
    return llvm::Error::success();
  }
  bool several = checkpointOffset.shape.size() == 2;
  llvm::DenseMap<int64_t, int64_t> sequenceOfSlot;
  for (int64_t i = 0; i < sequences(); ++i) {
    for (int64_t m = 0; m < (several ? checkpointOffset.shape[1] : 1); ++m) {
      llvm::SmallVector<int64_t, 2> index = {i};
      if (several) {
        index.push_back(m);
      }
      int64_t offset = checkpointOffset.intAt(index);
      int64_t to = checkpointSlot.intAt(index);
      if (isNull(i) || to < 0 || offset <= 0 || offset % kdaChunkTokens != 0 ||
          offset > length(i)) {
        continue;
      }
      if (llvm::Error error =
              checkBelow(to, checkpointState.shape[0], "P", "checkpoint_slot",
                         "a slot of sequence " + llvm::Twine(i))) {
        return error;
      }
      auto [entry, inserted] = sequenceOfSlot.try_emplace(to, i);
      if (!inserted) {
        return llvm::createStringError(
            "operand 'checkpoint_slot': distinct slots expected, " +
            llvm::Twine(to) + " is written for sequences " +
            llvm::Twine(entry->second) + " and " + llvm::Twine(i));
      }
      checkpoints[i].push_back({offset, to});
    }
    llvm::stable_sort(checkpoints[i],
                      [](const Checkpoint &left, const Checkpoint &right) {
                        return left.offset < right.offset;
                      });
  }
  return llvm::Error::success();
}

} // namespace tenon::reference
