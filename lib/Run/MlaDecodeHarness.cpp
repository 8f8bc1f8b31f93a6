//===- MlaDecodeHarness.cpp - running tenon.mla_decode ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MlaDecodeHarness.h"
#include "KdaPlanHarness.h"
#include "PlanRows.h"

#include "tenon/Reference/MlaDecode.h"
#include "tenon/Run/Run.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace tenon;
using namespace tenon::run;
using reference::Distribution;
using reference::ElementType;
using reference::MlaDecode;
using reference::MlaDecodeParams;
using reference::Region;

/// Above as many pairs of a row and a key, only some rows are compared.
static constexpr int64_t mostRowKeys = 1'000'000;
static constexpr int64_t sampledRows = 16;
/// Slots that are worked on at a time, in plans that are generated.
static constexpr int64_t workgroups = 256;

namespace {
/// What generated data are like.
enum class Data { Model, Sharp, Flat, Outliers };

/// The reference; a piece is up to 16 rows of a request.
class MlaExpectation : public Expectation {
public:
  explicit MlaExpectation(MlaDecode reference);

  uint64_t pieces() const override { return blocks.size(); }
  void piece(uint64_t index,
             llvm::function_ref<void(Region &&)> emit) const override {
    const Block &block = blocks[index];
    emitRows(block, block.compared, /*skips=*/false, emit);
    emitRows(block, block.others, /*skips=*/true, emit);
  }
  void skip(uint64_t index,
            llvm::function_ref<void(Region &&)> emit) const override {
    const Block &block = blocks[index];
    emitRows(block, block.compared, /*skips=*/true, emit);
    emitRows(block, block.others, /*skips=*/true, emit);
  }
  uint64_t workUnits() const override { return rowKeys; }

private:
  struct Block {
    int64_t request;
    std::vector<int64_t> compared, others;
  };

  void emitRows(const Block &block, llvm::ArrayRef<int64_t> rows, bool skips,
                llvm::function_ref<void(Region &&)> emit) const {
    if (!rows.empty()) {
      reference.emitRows(block.request, rows, skips, emit);
    }
  }
  llvm::DenseSet<std::pair<int64_t, int64_t>> sample() const;

  MlaDecode reference;
  uint64_t rowKeys = 0;
  std::vector<Block> blocks;
};

class MlaDecodeHarness : public Harness {
public:
  explicit MlaDecodeHarness(spec::MlaDecodeOp op)
      : params{op.getHeads(),
               int64_t(op.getMaxQueries()),
               op.isPacked(),
               op.getCausal(),
               op.getScale().convertToDouble(),
               op.hasFp8Probabilities(),
               {int64_t(op.getCpSize()), int64_t(op.getCpInterleave())}},
        hasFp8Queries(op.hasFp8Queries()), hasFp8Cache(op.hasFp8Cache()),
        roundsOut(llvm::cast<mlir::MemRefType>(op.getOut().getType())
                      .getElementType()
                      .isBF16()),
        planParams{op.getRows(), workgroups} {}

  std::vector<std::string> dataKinds() const override {
    return {"sharp", "flat", "outliers"};
  }
  void chooseData(llvm::StringRef kind) override {
    data = kind == "sharp"  ? Data::Sharp
           : kind == "flat" ? Data::Flat
                            : Data::Outliers;
  }
  llvm::Error expandLists(Lists &lists, Dims &dims) const override;
  llvm::Error completeDims(Dims &dims) const override;
  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef operand, const Views &integers,
                   const Dims &dims, uint64_t seed) const override;
  bool isGeneratedLast(llvm::StringRef operand) const override {
    return operand == "block_table" || operand == "plan";
  }
  Distribution distribution(llvm::StringRef operand) const override;
  unsigned rowDims(llvm::StringRef operand) const override {
    return operand == "kv" ? 2 : 1;
  }
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef operand, const Views &integers,
           const Dims &dims) const override;
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &dims) const override;
  double tolerance(llvm::StringRef operand) const override;
  void noteSchedule(llvm::StringRef schedule) override {
    schedule.split("rows = ").second.consumeInteger(10, rowsPerWorkgroup);
  }
  /// Of a row and a key: a multiply-add of 1088 columns, of which a matrix
  /// instruction of 16 x 16 x 32 does 8192.
  uint64_t floorPerUnit() const override { return 1; }
  std::string unitName() const override { return "(row, key)"; }

private:
  reference::ContextParallel parallelOf(const Dims &dims) const {
    reference::ContextParallel parallel = params.parallel;
    parallel.rank = dims.at("cp_rank");
    return parallel;
  }
  std::vector<int64_t> localKeys(const Views &integers, const Dims &dims) const;
  llvm::Expected<std::vector<std::array<int32_t, 4>>>
  slots(const Views &operands, const Dims &dims) const;

  MlaDecodeParams params;
  bool hasFp8Queries, hasFp8Cache, roundsOut;
  reference::MlaPlanParams planParams;
  Data data = Data::Model;
  /// Rows of a workgroup, by which a kernel that makes the plan splits.
  int64_t rowsPerWorkgroup = 48;
};
} // namespace

//===----------------------------------------------------------------------===//
// Expectation
//===----------------------------------------------------------------------===//

MlaExpectation::MlaExpectation(MlaDecode taken) : reference(std::move(taken)) {
  for (int64_t request = 0; request < reference.requests(); ++request) {
    for (int64_t query = 0; query < reference.queries(request); ++query) {
      rowKeys += reference.rows(request) / reference.queries(request) *
                 reference.keys(request, query);
    }
  }
  std::optional<llvm::DenseSet<std::pair<int64_t, int64_t>>> chosen;
  if (rowKeys > mostRowKeys) {
    chosen = sample();
  }
  constexpr int64_t together = 16;
  for (int64_t request = 0; request < reference.requests(); ++request) {
    int64_t rows = reference.rows(request);
    for (int64_t first = 0; first < rows; first += together) {
      Block block{request, {}, {}};
      for (int64_t row = first; row < std::min(first + together, rows); ++row) {
        bool compares = !chosen || chosen->contains({request, row});
        (compares ? block.compared : block.others).push_back(row);
      }
      blocks.push_back(std::move(block));
    }
  }
}

/// Rows spread over the requests, of each other ones; all where they are few.
llvm::DenseSet<std::pair<int64_t, int64_t>> MlaExpectation::sample() const {
  std::vector<int64_t> requests;
  int64_t rowCount = 0;
  for (int64_t request = 0; request < reference.requests(); ++request) {
    if (reference.rows(request) != 0) {
      requests.push_back(request);
      rowCount += reference.rows(request);
    }
  }
  llvm::DenseSet<std::pair<int64_t, int64_t>> rows;
  uint64_t key = reference::randomKey(rowKeys, "rows");
  int64_t wanted = std::min(sampledRows, rowCount), count = requests.size();
  for (int64_t i = 0; int64_t(rows.size()) < wanted; ++i) {
    // The first and the last request are among them.
    int64_t turn = i % sampledRows;
    int64_t request =
        requests[count <= sampledRows ? i % count
                                      : turn * (count - 1) / (sampledRows - 1)];
    int64_t row = reference::randomBits(key, i) % reference.rows(request);
    rows.insert({request, row});
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

llvm::Error MlaDecodeHarness::expandLists(Lists &lists, Dims &dims) const {
  completeRank(dims);
  auto queries = lists.find("q_len");
  if (queries != lists.end()) {
    if (!params.isPacked || lists.count("qo_indptr")) {
      return llvm::make_error<InputError>(
          "--list q_len: expected query tokens that are packed, and no list "
          "qo_indptr");
    }
    std::vector<int64_t> ends = {0};
    for (int64_t count : queries->second) {
      ends.push_back(ends.back() + count);
    }
    lists.erase(queries);
    dims.try_emplace("T", ends.back());
    lists["qo_indptr"] = std::move(ends);
  }
  auto ends = lists.find("qo_indptr");
  if (ends != lists.end() && !ends->second.empty()) {
    dims.try_emplace("B", int64_t(ends->second.size()) - 1);
    dims.try_emplace("T", ends->second.back());
  }
  dims.try_emplace("page", 64);
  auto lengths = lists.find("seq_len");
  if (lengths == lists.end() || dims["page"] < 1) {
    return llvm::Error::success();
  }
  int64_t most = 1, used = 0;
  reference::ContextParallel parallel = parallelOf(dims);
  for (int64_t length : lengths->second) {
    int64_t blocks =
        llvm::divideCeil(parallel.localLength(length), dims["page"]);
    most = std::max(most, blocks);
    used += blocks;
  }
  dims.try_emplace("M", most);
  // Two pages that no request has.
  dims.try_emplace("P", used + 2);
  return llvm::Error::success();
}

/// Query tokens of request \p request where nothing says them: some requests
/// have none, some the most.
static int64_t patternQueries(int64_t request, int64_t most) {
  return (most + 7 * request) % (most + 1);
}

llvm::Error MlaDecodeHarness::completeDims(Dims &dims) const {
  if (!dims.count("B")) {
    return llvm::make_error<InputError>(
        "the requests are not given: --list seq_len=... or --dim B=...");
  }
  if (!dims.count("M")) {
    return llvm::make_error<InputError>(
        "the lengths are not given: --list seq_len=..., or --dim M=... blocks "
        "of --dim page=... keys");
  }
  completeRank(dims);
  dims.try_emplace("page", 64);
  if (dims["page"] < 1) {
    return llvm::make_error<InputError>("page: expected at least 1, found " +
                                        std::to_string(dims["page"]));
  }
  int64_t requests = dims["B"];
  dims.try_emplace("P", requests * dims["M"] + 2);
  dims.try_emplace("N", mlaPlanRows(requests, workgroups));
  if (!params.isPacked) {
    dims.try_emplace("Q", params.maxQueries);
    return llvm::Error::success();
  }
  if (!dims.count("T")) {
    // Two tokens behind the last that no request has.
    int64_t tokens = 2;
    for (int64_t request = 0; request < requests; ++request) {
      tokens += patternQueries(request, params.maxQueries);
    }
    dims["T"] = tokens;
  }
  dims.try_emplace("B+1", requests + 1);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Keys of this rank that requests have.
std::vector<int64_t> MlaDecodeHarness::localKeys(const Views &integers,
                                                 const Dims &dims) const {
  std::vector<int64_t> keys = integerValues(integers.find("seq_len")->second);
  auto ends = integers.find("qo_indptr");
  reference::ContextParallel parallel = parallelOf(dims);
  for (size_t request = 0; request < keys.size(); ++request) {
    bool isIdle = ends != integers.end() && ends->second.intAt(request) ==
                                                ends->second.intAt(request + 1);
    keys[request] = isIdle ? 0 : parallel.localLength(keys[request]);
  }
  return keys;
}

/// The table: other pages for all blocks that hold keys, in random order, and
/// numbers of no pages elsewhere.
static llvm::Expected<std::optional<std::vector<int32_t>>>
pages(llvm::ArrayRef<int64_t> keys, const Dims &dims, uint64_t key) {
  constexpr int32_t most = std::numeric_limits<int32_t>::max();
  int64_t blocks = dims.at("M"), page = dims.at("page"), pool = dims.at("P");
  const int32_t garbage[] = {most - 3647, -1, most, -most - 1,
                             int32_t(std::min<int64_t>(pool, most))};
  std::vector<int32_t> table;
  for (size_t i = 0; i < keys.size() * blocks; ++i) {
    table.push_back(garbage[i % std::size(garbage)]);
  }
  auto blocksOf = [&](int64_t count) {
    return std::min<int64_t>(llvm::divideCeil(count, page), blocks);
  };
  int64_t used = 0;
  for (int64_t count : keys) {
    used += blocksOf(count);
  }
  auto chosen = reference::generateDistinct(key, used, 0, pool);
  if (!chosen) {
    llvm::consumeError(chosen.takeError());
    return llvm::make_error<InputError>(
        "block_table: " + std::to_string(used) +
        " pages of their own need P of at least " + std::to_string(used) +
        ", found " + std::to_string(pool));
  }
  auto next = chosen->begin();
  for (auto [request, count] : llvm::enumerate(keys)) {
    for (int64_t block = 0; block < blocksOf(count); ++block) {
      table[request * blocks + block] = *next++;
    }
  }
  return std::optional(std::move(table));
}

llvm::Expected<std::optional<std::vector<int32_t>>>
MlaDecodeHarness::generateIntegers(llvm::StringRef operand,
                                   const Views &integers, const Dims &dims,
                                   uint64_t seed) const {
  int64_t requests = dims.at("B");
  uint64_t key = reference::randomKey(seed, operand);
  if (operand == "qo_indptr") {
    std::vector<int32_t> ends = {0};
    for (int64_t request = 0; request < requests; ++request) {
      ends.push_back(ends.back() +
                     int32_t(patternQueries(request, params.maxQueries)));
    }
    return std::optional(std::move(ends));
  }
  if (operand == "seq_len") {
    int64_t room = dims.at("M") * dims.at("page") * params.parallel.size;
    room = std::min<int64_t>(room, std::numeric_limits<int32_t>::max());
    std::vector<int32_t> lengths =
        reference::generateIntegers(key, requests, 1, room + 1);
    // The first is as long as may be, and some are padding.
    for (int64_t request = 0; request < requests; ++request) {
      lengths[request] = request == 0       ? int32_t(room)
                         : request % 5 == 3 ? 0
                                            : lengths[request];
    }
    return std::optional(std::move(lengths));
  }
  std::vector<int64_t> keys = localKeys(integers, dims);
  if (operand == "block_table") {
    return pages(keys, dims, key);
  }
  if (operand == "plan") {
    return planIntegers(reference::mlaPlan(planParams, keys, dims.at("N")));
  }
  return std::optional<std::vector<int32_t>>();
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

Distribution MlaDecodeHarness::distribution(llvm::StringRef operand) const {
  bool isQuery = operand.starts_with("q");
  bool isFp8 = isQuery ? hasFp8Queries : hasFp8Cache;
  Distribution values = reference::mlaDecodeDistribution(
      operand, isFp8 ? ElementType::FP8E4M3 : ElementType::BF16);
  if (operand.ends_with("_scale")) {
    return values;
  }
  if (isQuery && data == Data::Sharp) {
    values.b *= 6; // one key has nearly all the weight
  }
  if (isQuery && data == Data::Flat) {
    values.b /= 16; // all keys have about the same
  }
  if (operand == "kv" && data == Data::Outliers) {
    // Maxima grow late, and values are large where keys are.
    values.tailProbability = 1e-3;
    values.tailDeviation = 12 * values.b;
  }
  return values;
}

std::optional<llvm::DenseSet<uint64_t>>
MlaDecodeHarness::liveRows(llvm::StringRef operand, const Views &integers,
                           const Dims &dims) const {
  llvm::DenseSet<uint64_t> live;
  if (operand == "kv") {
    std::vector<int64_t> keys = localKeys(integers, dims);
    const reference::TensorView &table = integers.find("block_table")->second;
    int64_t page = dims.at("page"), blocks = dims.at("M");
    for (int64_t request = 0; request < dims.at("B"); ++request) {
      int64_t count = std::min(keys[request], blocks * page);
      for (int64_t first = 0; first < count; first += page) {
        int64_t at = table.intAt({request, first / page});
        for (int64_t row = 0; row < std::min(page, count - first); ++row) {
          live.insert(at * page + row);
        }
      }
    }
    return live;
  }
  auto ends = integers.find("qo_indptr");
  if (!operand.starts_with("q") || operand.ends_with("scale") ||
      ends == integers.end()) {
    return std::nullopt;
  }
  for (int64_t token = ends->second.intAt(0);
       token < ends->second.intAt(dims.at("B")); ++token) {
    live.insert(token);
  }
  return live;
}

/// The slots of the plan that is given, or of the one that the kernel makes.
llvm::Expected<std::vector<std::array<int32_t, 4>>>
MlaDecodeHarness::slots(const Views &operands, const Dims &dims) const {
  int64_t requests = dims.at("B");
  std::vector<std::array<int32_t, 4>> rows;
  auto given = operands.find("plan");
  if (given != operands.end()) {
    const reference::TensorView &plan = given->second;
    for (int64_t row = 0; row + requests < plan.shape[0]; ++row) {
      rows.emplace_back();
      for (int64_t column = 0; column < 4; ++column) {
        rows.back()[column] = int32_t(plan.intAt({row, column}));
      }
    }
    return rows;
  }
  reference::MlaPlanParams own = planParams;
  int64_t queries =
      params.isPacked
          ? std::min<int64_t>(
                params.maxQueries,
                llvm::divideCeil(dims.at("T"), std::max<int64_t>(requests, 1)))
          : dims.at("Q");
  own.rows = std::max<int64_t>(1, queries * params.heads);
  own.workgroups = std::max<int64_t>(
      1, workgroups / llvm::divideCeil(own.rows, rowsPerWorkgroup));
  auto plan = mlaPlan(own, localKeys(operands, dims),
                      mlaPlanRows(requests, own.workgroups));
  if (plan) {
    plan->resize(plan->size() - requests);
  }
  return plan;
}

llvm::Expected<std::unique_ptr<Expectation>>
MlaDecodeHarness::expect(const Views &operands, const Dims &dims) const {
  MlaDecodeParams own = params;
  own.parallel = parallelOf(dims);
  auto reference = MlaDecode::create(own, operands);
  if (!reference) {
    return llvm::make_error<InputError>(llvm::toString(reference.takeError()));
  }
  if (params.roundsToFp8) {
    auto rows = slots(operands, dims);
    if (!rows) {
      return llvm::make_error<InputError>(llvm::toString(rows.takeError()));
    }
    reference->divide(*rows);
  }
  return std::make_unique<MlaExpectation>(std::move(*reference));
}

double MlaDecodeHarness::tolerance(llvm::StringRef operand) const {
  if (operand == "lse") {
    return 1e-5;
  }
  if (operand == "out") {
    // With weights in bf16 elements have bounds of their own.
    return !params.roundsToFp8 ? 0.0 : roundsOut ? 2.5e-3 : 3e-4;
  }
  return 4e-2; // of weights in FP8, against those that are not rounded
}

std::unique_ptr<Harness> run::createMlaDecodeHarness(spec::MlaDecodeOp op) {
  return std::make_unique<MlaDecodeHarness>(op);
}
