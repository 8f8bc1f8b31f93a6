//===- MoeExpertsHarness.cpp - running tenon.moe_experts --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MoeExpertsHarness.h"
#include "GemmHarness.h"
#include "ReorderedSource.h"

#include "tenon/Reference/MoeExperts.h"
#include "tenon/Run/Run.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>

#include <limits>

using namespace tenon;
using namespace tenon::run;
using reference::Distribution;
using reference::ElementType;
using reference::IndexRange;
using reference::MoeExperts;
using reference::MoeExpertsParams;
using reference::TensorView;

namespace {
/// What generated data are like.
enum class Data {
  Model,      ///< K different experts per token
  OneExpert,  ///< all routes go to one
  FewExperts, ///< to 16 of them
  Holes,      ///< many ids stand for no route
  EmptyRank,  ///< all do
  Small,      ///< values of x of the order of 1e-6
  Wide,       ///< most of them, among some of the order of 1
};

constexpr std::pair<llvm::StringLiteral, Data> dataNames[] = {
    {"one_expert", Data::OneExpert}, {"few_experts", Data::FewExperts},
    {"holes", Data::Holes},          {"empty_rank", Data::EmptyRank},
    {"small", Data::Small},          {"wide", Data::Wide}};

/// The reference, a piece being some tokens: they share the work of decoding
/// the experts. Of many tokens a check looks at samples, and they are single.
class MoeExpertsExpectation : public Expectation {
public:
  MoeExpertsExpectation(MoeExperts reference, uint64_t matrixInstructions)
      : reference(std::move(reference)), matrixInstructions(matrixInstructions),
        tokensPerPiece(this->reference.tokens() > manyTokens ? 1 : 32) {}

  uint64_t pieces() const override {
    return llvm::divideCeil(reference.tokens(), tokensPerPiece);
  }
  void
  piece(uint64_t index,
        llvm::function_ref<void(reference::Region &&)> emit) const override {
    reference.emitTokens(tokensOf(index), emit);
  }
  void
  skip(uint64_t index,
       llvm::function_ref<void(reference::Region &&)> emit) const override {
    reference.skipTokens(tokensOf(index), emit);
  }
  uint64_t workUnits() const override { return matrixInstructions; }
  std::vector<std::string> remarks() const override {
    IndexRange some{0, std::min<int64_t>(reference.tokens(), 8)};
    return {
        fmt::format("without rounding the results of {} tokens would differ "
                    "by {:.3e} (relative L2)",
                    some.size(), reference.quantisationError(some))};
  }

private:
  static constexpr int64_t manyTokens = 2048;

  IndexRange tokensOf(uint64_t index) const {
    int64_t begin = int64_t(index) * tokensPerPiece;
    return {begin, std::min(begin + tokensPerPiece, reference.tokens())};
  }

  MoeExperts reference;
  uint64_t matrixInstructions;
  int64_t tokensPerPiece;
};

class MoeExpertsHarness : public Harness {
public:
  explicit MoeExpertsHarness(spec::MoeExpertsOp op);

  std::vector<std::string> dataKinds() const override {
    std::vector<std::string> kinds;
    for (const auto &[name, kind] : dataNames) {
      kinds.push_back(name.str());
    }
    return kinds;
  }
  void chooseData(llvm::StringRef kind) override {
    for (const auto &[name, value] : dataNames) {
      data = name == kind ? value : data;
    }
  }

  llvm::Error completeDims(Dims &dims) const override {
    if (!dims.count("T")) {
      return llvm::make_error<InputError>(
          "the number of tokens is not given: --dim T=...");
    }
    return llvm::Error::success();
  }
  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef operand, const Views &integers,
                   const Dims &dims, uint64_t seed) const override;
  Distribution distribution(llvm::StringRef operand) const override;
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef operand, const Views &integers,
           const Dims &dims) const override;
  llvm::Expected<std::optional<Reordered>>
  reordered(llvm::StringRef operand, const TensorView &view) const override;
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &dims) const override;
  void noteSchedule(llvm::StringRef schedule) override {
    isAtomic = schedule.contains("sum = \"atomic\"");
  }
  /// Sums in FP32 of bf16 rows of routes, which may be rounded or not; or sums
  /// that are rounded to bf16 at every route.
  double tolerance(llvm::StringRef) const override {
    return isAtomic ? 8e-3 : params.routes == ElementType::BF16 ? 3e-3 : 2e-3;
  }
  uint64_t floorPerUnit() const override { return 1; }
  std::string unitName() const override { return "16 x 16 MFMA"; }

private:
  std::vector<int32_t> generateIds(int64_t tokens, uint64_t seed) const;
  std::vector<int32_t> generateMap(uint64_t seed) const;

  MoeExpertsParams params;
  Data data = Data::Model;
  int64_t experts, chosen, width, expertWidth, idLimit, routePitch;
  bool hasMap, isAtomic = false;
  spec::WeightOrder w13Order, w2Order;
};
} // namespace

static ElementType elementType(spec::Format format) {
  switch (format) {
  case spec::Format::F32:
    return ElementType::F32;
  case spec::Format::BF16:
    return ElementType::BF16;
  case spec::Format::FP8:
    return ElementType::FP8E4M3;
  case spec::Format::FP4:
    return ElementType::FP4E2M1;
  }
  llvm_unreachable("covered switch");
}

static reference::ScaleMode scaleMode(spec::ScaleMode mode) {
  switch (mode) {
  case spec::ScaleMode::Up:
    return reference::ScaleMode::Up;
  case spec::ScaleMode::Floor:
    return reference::ScaleMode::Floor;
  case spec::ScaleMode::Even:
    return reference::ScaleMode::Even;
  }
  llvm_unreachable("covered switch");
}

MoeExpertsHarness::MoeExpertsHarness(spec::MoeExpertsOp op)
    : experts(op.getExperts()), chosen(op.getExpertsPerToken()),
      width(op.getWidth()), expertWidth(op.getExpertWidth()),
      idLimit(op.getIdLimit()), routePitch(op.getRoutePitch()),
      hasMap(static_cast<bool>(op.getExpertMap())), w13Order(op.getW13Order()),
      w2Order(op.getW2Order()) {
  params.isSitu = op.getActivation() == spec::Activation::SiTU;
  if (params.isSitu) {
    params.beta = op.getBeta()->convertToDouble();
    params.linearBeta = op.getLinearBeta()->convertToDouble();
  }
  params.input = elementType(op.getInput());
  params.intermediate = elementType(op.getIntermediate());
  params.routes = elementType(op.getRoutes());
  params.scaleMode = scaleMode(op.getScaleMode());
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Ids of \p tokens tokens: different ones for the routes of a token as far as
/// there are any.
std::vector<int32_t> MoeExpertsHarness::generateIds(int64_t tokens,
                                                    uint64_t seed) const {
  uint64_t key = reference::randomKey(seed, "ids");
  std::vector<int32_t> pool;
  int64_t poolSize = data == Data::OneExpert    ? 1
                     : data == Data::FewExperts ? std::min<int64_t>(16, idLimit)
                                                : idLimit;
  pool = llvm::cantFail(
      reference::generateDistinct(key, uint64_t(poolSize), 0, idLimit));
  std::vector<int32_t> ids;
  for (int64_t token = 0; token < tokens; ++token) {
    uint64_t ofToken = reference::randomBits(key, uint64_t(token));
    int64_t distinct = std::min(chosen, poolSize);
    std::vector<int32_t> places = llvm::cantFail(
        reference::generateDistinct(ofToken, uint64_t(distinct), 0, poolSize));
    for (int64_t place = 0; place < chosen; ++place) {
      int32_t id = pool[places[place % distinct]];
      uint64_t bits = reference::randomBits(ofToken ^ 1, uint64_t(place));
      bool isHole = data == Data::EmptyRank ||
                    (data == Data::Holes && (token % 4 == 1 || bits % 2 == 0));
      if (isHole && !(data == Data::EmptyRank && hasMap)) {
        // All that is no index.
        const int32_t none[] = {-1, int32_t(idLimit),
                                std::numeric_limits<int32_t>::max(),
                                std::numeric_limits<int32_t>::min()};
        id = none[bits / 2 % 4];
      }
      ids.push_back(id);
    }
  }
  return ids;
}

/// As many elements as can name the experts of this rank, in random places;
/// where there are more places, some experts have a second one.
std::vector<int32_t> MoeExpertsHarness::generateMap(uint64_t seed) const {
  std::vector<int32_t> map(idLimit, -1);
  if (data == Data::EmptyRank) {
    return map;
  }
  uint64_t key = reference::randomKey(seed, "expert_map");
  int64_t used = std::min(idLimit, experts + experts / 8);
  std::vector<int32_t> places = llvm::cantFail(
      reference::generateDistinct(key, uint64_t(used), 0, idLimit));
  for (auto [index, place] : llvm::enumerate(places)) {
    map[place] = int32_t(int64_t(index) % experts);
  }
  return map;
}

llvm::Expected<std::optional<std::vector<int32_t>>>
MoeExpertsHarness::generateIntegers(llvm::StringRef operand, const Views &,
                                    const Dims &dims, uint64_t seed) const {
  int64_t tokens = dims.at("T");
  if (operand == "ids") {
    return std::optional(generateIds(tokens, seed));
  }
  if (operand == "expert_map") {
    return std::optional(generateMap(seed));
  }
  if (operand == "num_tokens") {
    return std::optional(std::vector<int32_t>{int32_t(tokens - tokens / 3)});
  }
  // Rows of routes that are not written show NaN.
  return std::optional(std::vector<int32_t>(tokens * chosen * routePitch, -1));
}

Distribution MoeExpertsHarness::distribution(llvm::StringRef operand) const {
  if (operand == "x") {
    Distribution normal = Distribution::normal(
        0, data == Data::Small || data == Data::Wide ? 1e-6 : 1);
    if (data == Data::Wide) {
      normal.tailProbability = 0.02;
      normal.tailDeviation = 1;
    }
    return normal;
  }
  if (operand == "weights") {
    return Distribution::uniform(0.01, 2.0 / double(chosen));
  }
  bool isScale = operand.ends_with("_scale");
  return reference::gemmDistribution(isScale ? "weight_scale" : "weights",
                                     ElementType::BF16, ElementType::FP4E2M1);
}

std::optional<llvm::DenseSet<uint64_t>>
MoeExpertsHarness::liveRows(llvm::StringRef operand, const Views &integers,
                            const Dims &dims) const {
  auto viewOf = [&](llvm::StringRef name) -> const TensorView * {
    auto found = integers.find(name);
    return found == integers.end() ? nullptr : &found->second;
  };
  const TensorView *ids = viewOf("ids"), *map = viewOf("expert_map");
  int64_t tokens = dims.at("T");
  if (const TensorView *counter = viewOf("num_tokens")) {
    tokens = std::min(tokens, counter->intAt({0}));
  }
  llvm::DenseSet<uint64_t> liveTokens, liveExperts;
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t place = 0; place < chosen; ++place) {
      int64_t expert =
          MoeExperts::expertOf(ids->intAt({token, place}), map, experts);
      if (expert >= 0) {
        liveTokens.insert(token);
        liveExperts.insert(expert);
      }
    }
  }
  bool isToken = operand == "x" || operand == "weights";
  return isToken ? liveTokens : liveExperts;
}

llvm::Expected<std::optional<Reordered>>
MoeExpertsHarness::reordered(llvm::StringRef operand,
                             const TensorView &view) const {
  bool isW13 = operand.starts_with("w13");
  if (!isW13 && !operand.starts_with("w2")) {
    return std::nullopt;
  }
  auto source = reorderExperts(view, hostOrder(isW13 ? w13Order : w2Order));
  if (!source) {
    return llvm::make_error<InputError>(
        (operand + ": " + llvm::toString(source.takeError())).str());
  }
  return std::optional(std::move(*source));
}

llvm::Expected<std::unique_ptr<Expectation>>
MoeExpertsHarness::expect(const Views &operands, const Dims &) const {
  auto reference = MoeExperts::create(params, operands);
  if (!reference) {
    return llvm::make_error<InputError>(llvm::toString(reference.takeError()));
  }
  std::map<int64_t, uint64_t> routes;
  for (int64_t token = 0; token < reference->tokens(); ++token) {
    for (int64_t place = 0; place < chosen; ++place) {
      ++routes[reference->expertOf(token, place)];
    }
  }
  routes.erase(-1);
  // Elements along a sum of the widest MFMA: 32 of bf16, 128 of smaller types.
  auto instructions = [](uint64_t columns, int64_t depth, ElementType type) {
    return llvm::divideCeil(columns, 16) *
           llvm::divideCeil(depth, type == ElementType::BF16 ? 32 : 128);
  };
  uint64_t perTile = instructions(2 * expertWidth, width, params.input) +
                     instructions(width, expertWidth, params.intermediate);
  uint64_t tiles = 0;
  for (const auto &[expert, count] : routes) {
    tiles += llvm::divideCeil(count, 16);
  }
  return std::make_unique<MoeExpertsExpectation>(std::move(*reference),
                                                 tiles * perTile);
}

std::unique_ptr<Harness> run::createMoeExpertsHarness(spec::MoeExpertsOp op) {
  return std::make_unique<MoeExpertsHarness>(op);
}
