//===- KdaPrefillHarness.cpp - running tenon.kda_prefill --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KdaPrefillHarness.h"
#include "KdaParams.h"
#include "KdaPlanHarness.h"
#include "PlanRows.h"

#include "tenon/Reference/KdaDecode.h"
#include "tenon/Reference/KdaPrefill.h"
#include "tenon/Run/Run.h"

using namespace tenon;
using namespace tenon::run;
using reference::Distribution;
using reference::KdaPrefill;
using reference::KdaPrefillParams;
using reference::Region;

namespace {
/// What generated data are like.
enum class Data { Model, Weak, Correlated };

/// The reference; a piece is one of its pieces.
class PrefillExpectation : public Expectation {
public:
  PrefillExpectation(KdaPrefill reference, bool roundsOut)
      : reference(std::move(reference)), roundsOut(roundsOut) {}

  uint64_t pieces() const override { return reference.pieces(); }

  void piece(uint64_t index,
             llvm::function_ref<void(Region &&)> emit) const override {
    reference.emitPiece(index, [&](Region &&region) {
      if (roundsOut && region.operand == "out") {
        region.roundedTo = reference::ElementType::BF16;
      }
      emit(std::move(region));
    });
  }

  void skip(uint64_t index,
            llvm::function_ref<void(Region &&)> emit) const override {
    reference.skipPiece(index, emit);
  }

  uint64_t workUnits() const override {
    uint64_t chunks = 0;
    for (int64_t i = 0; i < reference.sequences(); ++i) {
      if (!reference.isNull(i)) {
        chunks += (reference.length(i) + reference::kdaChunkTokens - 1) /
                  reference::kdaChunkTokens;
      }
    }
    return chunks * reference.heads();
  }

private:
  KdaPrefill reference;
  /// Whether out is held to more than its own rounding.
  bool roundsOut;
};

class KdaPrefillHarness : public Harness {
public:
  explicit KdaPrefillHarness(spec::KdaPrefillOp op)
      : params{kdaParams(op)},
        isExact(op.getProducts() == spec::Products::FP32),
        isHalf(op.getProducts() == spec::Products::F16),
        hasInitialSlot(static_cast<bool>(op.getInitialSlot())),
        hasRows(static_cast<bool>(op.getRow())),
        hasCheckpoints(static_cast<bool>(op.getCheckpointOffset())) {
    params.fp32Conv = op.getFp32Conv();
    if (hasCheckpoints) {
      severalCheckpoints =
          llvm::cast<mlir::MemRefType>(op.getCheckpointOffset().getType())
              .getRank() == 2;
    }
  }

  std::vector<std::string> dataKinds() const override {
    return {"weak", "correlated"};
  }
  void chooseData(llvm::StringRef kind) override {
    data = kind == "weak" ? Data::Weak : Data::Correlated;
  }
  llvm::Error expandLists(Lists &lists, Dims &dims) const override {
    return expandLengths(lists, dims);
  }
  llvm::Error completeDims(Dims &dims) const override;
  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef operand, const Views &integers,
                   const Dims &dims, uint64_t seed) const override;
  Distribution distribution(llvm::StringRef operand) const override;
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef operand, const Views &integers,
           const Dims &dims) const override;
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &dims) const override;
  double tolerance(llvm::StringRef operand) const override;
  uint64_t floorPerUnit() const override {
    // Matrix instructions of 16 x 16 x 32 of a chunk and head: ten blocks each
    // of k k^T and q k^T, the inverse times two operands of 64 x 128, the three
    // products with the state, and q k^T times the new values.
    return 2 * 10 * 4 + 2 * 6 * 8 + 3 * 4 * 8 * 4 + 6 * 8;
  }
  std::string unitName() const override { return "(chunk, head)"; }

private:
  int64_t firstSlot() const { return params.isNull(0) ? 1 : 0; }
  bool startsFromPool(const Views &integers, int64_t sequence) const;

  KdaPrefillParams params;
  bool isExact;
  bool isHalf; ///< products of f16 operands
  bool hasInitialSlot;
  bool hasRows;
  bool hasCheckpoints;
  bool severalCheckpoints = false;
  Data data = Data::Model;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

llvm::Error KdaPrefillHarness::completeDims(Dims &dims) const {
  if (dims.count("N+1")) {
    dims.try_emplace("N", dims["N+1"] - 1);
  }
  if (!dims.count("T")) {
    // Rows that are not gathered are tokens.
    return llvm::make_error<InputError>(
        "the number of tokens is not given: --list lengths=... or --dim T=...");
  }
  dims.try_emplace("N", 1);
  dims.try_emplace("N+1", dims["N"] + 1);
  if (dims["N+1"] != dims["N"] + 1) {
    return llvm::make_error<InputError>(
        "N: " + std::to_string(dims["N+1"] - 1) +
        " sequences are given by their lengths, found " +
        std::to_string(dims["N"]));
  }
  dims.try_emplace("L", 3);
  if (dims["L"] < 3) {
    return llvm::make_error<InputError>(
        "conv_state: L must be at least 3, found " + std::to_string(dims["L"]));
  }
  int64_t used = (hasInitialSlot ? 2 : 1) * dims["N"];
  dims.try_emplace("S", used + 1);
  if (hasRows) {
    dims.try_emplace("R", dims["T"] + 8);
  }
  if (hasCheckpoints) {
    int64_t perSequence =
        severalCheckpoints ? dims.try_emplace("M", 2).first->second : 1;
    dims.try_emplace("P", perSequence * dims["N"] + 1);
  }
  dims.try_emplace("C", reference::kdaChunkCount(dims["T"], dims["N"]));
  dims.try_emplace("max_seq_len", dims["T"]);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// \p total tokens in \p sequences sequences of about equal length.
static std::vector<int32_t> evenBoundaries(int64_t total, int64_t sequences) {
  std::vector<int32_t> boundaries = {0};
  for (int64_t i = 1; i <= sequences; ++i) {
    boundaries.push_back(int32_t(total * i / sequences));
  }
  return boundaries;
}

/// The offsets of \p count checkpoints of a sequence of \p length tokens:
/// spread over its whole chunks, 0 for those that find no place.
static void addOffsets(int64_t length, int64_t count,
                       std::vector<int32_t> &offsets) {
  int64_t chunks = length / reference::kdaChunkTokens;
  for (int64_t m = 0; m < count; ++m) {
    int64_t chunk = chunks >= count ? (m + 1) * chunks / count
                    : m < chunks    ? m + 1
                                    : 0;
    offsets.push_back(int32_t(chunk * reference::kdaChunkTokens));
  }
}

/// \p count distinct values of \p operand from \p first to \p end - 1, none of
/// them in \p taken.
static llvm::Expected<std::optional<std::vector<int32_t>>>
distinct(llvm::StringRef operand, uint64_t key, int64_t count, int64_t first,
         int64_t end, const llvm::DenseSet<int64_t> &taken,
         llvm::StringRef size) {
  int64_t wanted = count + int64_t(taken.size());
  auto values = reference::generateDistinct(key, wanted, first, end);
  if (!values) {
    llvm::consumeError(values.takeError());
    return llvm::make_error<InputError>(
        (operand + ": " + llvm::Twine(count) + " values besides " +
         llvm::Twine(taken.size()) + " in use need " + size + " of at least " +
         llvm::Twine(wanted + first) + ", found " + llvm::Twine(end))
            .str());
  }
  llvm::erase_if(*values, [&](int32_t value) { return taken.contains(value); });
  values->resize(count);
  return std::optional(std::move(*values));
}

llvm::Expected<std::optional<std::vector<int32_t>>>
KdaPrefillHarness::generateIntegers(llvm::StringRef operand,
                                    const Views &integers, const Dims &dims,
                                    uint64_t seed) const {
  uint64_t key = reference::randomKey(seed, operand);
  int64_t sequences = dims.at("N"), tokens = dims.at("T");
  if (operand == "cu_seqlens") {
    return std::optional(evenBoundaries(tokens, sequences));
  }
  if (operand == "slot") {
    return distinct(operand, key, sequences, firstSlot(), dims.at("S"), {},
                    "S");
  }
  if (operand == "initial_slot") {
    llvm::DenseSet<int64_t> taken;
    for (int64_t slot : integerValues(integers.find("slot")->second)) {
      if (slot >= firstSlot()) {
        taken.insert(slot);
      }
    }
    return distinct(operand, key, sequences, firstSlot(), dims.at("S"), taken,
                    "S");
  }
  if (operand == "has_initial_state") {
    return std::optional(reference::generateIntegers(key, sequences, 0, 2));
  }
  if (operand == "row") {
    return distinct(operand, key, tokens, 0, dims.at("R"), {}, "R");
  }
  int64_t perSequence = severalCheckpoints ? dims.at("M") : 1;
  if (operand == "checkpoint_slot") {
    return distinct(operand, key, perSequence * sequences, 0, dims.at("P"), {},
                    "P");
  }
  std::vector<int64_t> boundaries =
      integerValues(integers.find("cu_seqlens")->second);
  if (operand == "checkpoint_offset") {
    std::vector<int32_t> offsets;
    for (int64_t i = 0; i < sequences; ++i) {
      addOffsets(boundaries[i + 1] - boundaries[i], perSequence, offsets);
    }
    return std::optional(std::move(offsets));
  }
  if (operand == "plan") {
    return planIntegers(reference::kdaPlan(boundaries, dims.at("C")));
  }
  return std::optional<std::vector<int32_t>>();
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

Distribution KdaPrefillHarness::distribution(llvm::StringRef operand) const {
  if (data == Data::Weak) {
    // States that matter to the end, and are large beside what is added.
    if (operand == "dt_bias") {
      return Distribution::normal(-7, 0.1);
    }
    if (operand == "state") {
      return Distribution::normal(0, 8);
    }
  }
  if (data == Data::Correlated) {
    // As the text of repeated words: keys and queries of all tokens are nearly
    // alike, and every key is written with beta near 0.95.
    if (operand == "qkv") {
      Distribution alike = Distribution::normal(0, 0.5);
      alike.columns = 3 * params.heads * params.headDim;
      alike.alikeColumns = 2 * params.heads * params.headDim;
      alike.variation = 0.02;
      return alike;
    }
    if (operand == "raw_beta") {
      return Distribution::uniform(3, 3);
    }
    if (operand == "state") {
      return Distribution::uniform(0, 0);
    }
  }
  return reference::kdaDecodeDistribution(operand).value_or(Distribution());
}

/// Whether \p sequence reads a state and a history.
bool KdaPrefillHarness::startsFromPool(const Views &integers,
                                       int64_t sequence) const {
  auto valueOf = [&](llvm::StringRef operand, int64_t absent) {
    auto found = integers.find(operand);
    return found == integers.end() ? absent : found->second.intAt(sequence);
  };
  int64_t slot = valueOf("slot", 0);
  return !params.isNull(slot) && valueOf("has_initial_state", 1) != 0 &&
         !params.isNull(valueOf("initial_slot", slot));
}

std::optional<llvm::DenseSet<uint64_t>>
KdaPrefillHarness::liveRows(llvm::StringRef operand, const Views &integers,
                            const Dims &dims) const {
  llvm::DenseSet<uint64_t> live;
  if (operand == "state" || operand == "conv_state") {
    const auto &from =
        integers.find(hasInitialSlot ? "initial_slot" : "slot")->second;
    for (int64_t i = 0; i < dims.at("N"); ++i) {
      if (startsFromPool(integers, i)) {
        live.insert(from.intAt(i));
      }
    }
    return live;
  }
  if (operand != "qkv" && operand != "raw_g" && operand != "raw_beta" &&
      operand != "out_gate") {
    return std::nullopt;
  }
  std::vector<int64_t> boundaries =
      integerValues(integers.find("cu_seqlens")->second);
  const auto &slots = integers.find("slot")->second;
  int64_t tokens = dims.at("T");
  for (int64_t i = 0; i < dims.at("N"); ++i) {
    if (params.isNull(slots.intAt(i))) {
      continue;
    }
    // What lies outside of T is an error that the reference names.
    for (int64_t t = std::max<int64_t>(boundaries[i], 0);
         t < std::min(boundaries[i + 1], tokens); ++t) {
      live.insert(hasRows ? integers.find("row")->second.intAt(t) : t);
    }
  }
  return live;
}

llvm::Expected<std::unique_ptr<Expectation>>
KdaPrefillHarness::expect(const Views &operands, const Dims &dims) const {
  auto reference = KdaPrefill::create(params, operands, dims.at("max_seq_len"));
  if (!reference) {
    return llvm::make_error<InputError>(llvm::toString(reference.takeError()));
  }
  return std::make_unique<PrefillExpectation>(std::move(*reference), isExact);
}

double KdaPrefillHarness::tolerance(llvm::StringRef operand) const {
  if (operand == "conv_state" || operand == "checkpoint_conv") {
    return 0; // moved, not computed
  }
  if (isExact) {
    // A convolution that ends between two bf16 may be rounded to either.
    return params.fp32Conv ? 1e-4 : 1e-3;
  }
  // Keys that are alike cancel each other.
  if (isHalf) {
    double state = data == Data::Correlated ? 1e-2 : 1e-3;
    // Half a unit of bf16 each for the gate and out itself: 3e-3 at most.
    return operand == "out" ? std::max(4e-3, state) : state;
  }
  // Operands of products are bf16.
  if (data == Data::Correlated) {
    return operand == "out" ? 2e-2 : 4e-2;
  }
  if (operand == "out") {
    return 1e-2;
  }
  return data == Data::Weak ? 8e-3 : 6e-3;
}

std::unique_ptr<Harness> run::createKdaPrefillHarness(spec::KdaPrefillOp op) {
  return std::make_unique<KdaPrefillHarness>(op);
}
