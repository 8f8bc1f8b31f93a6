//===- MlaDecode.cpp - Semantics of tenon.mla_decode ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MlaDecode.h"
#include "tenon/Reference/MlaMerge.h"

#include "TakeOperand.h"

#include <cmath>
#include <limits>

namespace tenon::reference {

static constexpr double log2e = 1.4426950408889634;

/// Keys that are decoded at a time.
static constexpr int64_t keysAtOnce = 256;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

llvm::Expected<MlaDecode> MlaDecode::create(const MlaDecodeParams &params,
                                            const Operands &operands) {
  MlaDecode op;
  op.params = params;
  llvm::Error failure = llvm::Error::success();
  auto take = [&](llvm::StringRef name, llvm::ArrayRef<ElementType> types,
                  llvm::ArrayRef<int64_t> shape, TensorView &view) {
    if (!failure) {
      failure = takeOperand(operands, name, types, shape, view);
    }
  };
  auto takeIfThere = [&](llvm::StringRef name, ElementType type,
                         llvm::ArrayRef<int64_t> shape, TensorView &view) {
    if (operands.contains(name)) {
      take(name, type, shape, view);
    }
  };
  constexpr ElementType f32 = ElementType::F32, bf16 = ElementType::BF16,
                        fp8 = ElementType::FP8E4M3, i32 = ElementType::I32;
  take("seq_len", i32, {anySize}, op.seqLen);
  take("kv", {bf16, fp8}, {anySize, anySize, mlaKeyColumns}, op.kv);
  if (failure) {
    return std::move(failure);
  }
  int64_t requests = op.seqLen.shape[0];
  take("block_table", i32, {requests, anySize}, op.blockTable);
  llvm::SmallVector<int64_t, 4> shape = {requests, anySize, params.heads};
  if (params.isPacked) {
    take("qo_indptr", i32, {requests + 1}, op.qoIndptr);
    shape.erase(shape.begin());
  }
  auto withColumns = [&](int64_t columns) {
    llvm::SmallVector<int64_t, 4> whole = shape;
    whole.push_back(columns);
    return whole;
  };
  int64_t queryColumns =
      operands.contains("q_rope") ? mlaValueColumns : mlaKeyColumns;
  take("q", {bf16, fp8}, withColumns(queryColumns), op.q);
  if (failure) {
    return std::move(failure);
  }
  shape[shape.size() - 2] = op.q.shape[shape.size() - 2];
  takeIfThere("q_rope", op.q.type, withColumns(mlaKeyColumns - mlaValueColumns),
              op.qRope);
  takeIfThere("q_scale", f32, {1}, op.qScale);
  takeIfThere("kv_scale", f32, {1}, op.kvScale);
  take("out", {bf16, f32}, withColumns(mlaValueColumns), op.out);
  takeIfThere("lse", f32, shape, op.lse);
  if (!failure) {
    failure = op.checkRequests();
  }
  if (failure) {
    return std::move(failure);
  }
  return op;
}

llvm::Error MlaDecode::checkRequests() const {
  int64_t page = kv.shape[1], blocks = blockTable.shape[1];
  for (int64_t request = 0; request < requests(); ++request) {
    int64_t count = queries(request);
    if (count < 0 || count > params.maxQueries) {
      return llvm::createStringError(
          "request " + llvm::Twine(request) + ": 0 to " +
          llvm::Twine(params.maxQueries) + " query tokens expected, " +
          llvm::Twine(count) + " found");
    }
    if (params.isPacked && qoIndptr.intAt(request) + count > q.shape[0]) {
      return llvm::createStringError(
          "operand 'qo_indptr': at most " + llvm::Twine(q.shape[0]) +
          " tokens expected, " + llvm::Twine(qoIndptr.intAt(request) + count) +
          " found");
    }
    int64_t needed = keys(request);
    if (needed > blocks * page) {
      return llvm::createStringError(
          "request " + llvm::Twine(request) + ": at most " +
          llvm::Twine(blocks * page) + " keys expected in " +
          llvm::Twine(blocks) + " pages of " + llvm::Twine(page) + ", " +
          llvm::Twine(needed) + " found");
    }
    for (int64_t key = 0; key < needed; key += page) {
      int64_t found = blockTable.intAt({request, key / page});
      if (found < 0 || found >= kv.shape[0]) {
        return llvm::createStringError(
            "operand 'block_table': a page from 0 to " +
            llvm::Twine(kv.shape[0] - 1) + " expected for key " +
            llvm::Twine(key) + " of request " + llvm::Twine(request) + ", " +
            llvm::Twine(found) + " found");
      }
    }
  }
  return llvm::Error::success();
}

int64_t MlaDecode::queries(int64_t request) const {
  return params.isPacked ? qoIndptr.intAt(request + 1) - qoIndptr.intAt(request)
                         : q.shape[1];
}

int64_t MlaDecode::keys(int64_t request) const {
  // The last query sees what any of them sees.
  return queries(request) == 0 ? 0 : keys(request, queries(request) - 1);
}

int64_t MlaDecode::keys(int64_t request, int64_t query) const {
  int64_t length = seqLen.intAt(request);
  if (length <= 0) {
    return 0;
  }
  if (params.causal) {
    length += query + 1 - queries(request);
  }
  // Positions ascend with the keys of a rank.
  return params.parallel.localLength(length);
}

std::pair<int64_t, int64_t> MlaDecode::place(int64_t request,
                                             int64_t key) const {
  int64_t page = kv.shape[1];
  return {blockTable.intAt({request, key / page}), key % page};
}

llvm::SmallVector<int64_t, 4> MlaDecode::place(int64_t request, int64_t row,
                                               bool hasColumns) const {
  int64_t token = row / params.heads;
  llvm::SmallVector<int64_t, 4> index;
  if (params.isPacked) {
    index = {qoIndptr.intAt(request) + token};
  } else {
    index = {request, token};
  }
  index.push_back(row % params.heads);
  if (hasColumns) {
    index.push_back(0);
  }
  return index;
}

std::vector<double> MlaDecode::query(int64_t request, int64_t row) const {
  llvm::SmallVector<int64_t, 4> at = place(request, row, /*hasColumns=*/true);
  auto read = [&](const TensorView &view) {
    llvm::SmallVector<int64_t, 4> extents(at.size(), 1);
    extents.back() = view.shape.back();
    return view.block(at, extents);
  };
  std::vector<double> values = read(q);
  if (!qRope.shape.empty()) {
    std::vector<double> last = read(qRope);
    values.insert(values.end(), last.begin(), last.end());
  }
  // To base 2, and with the scales that keys are read without.
  double factor = params.scale * log2e;
  factor *= qScale.shape.empty() ? 1.0 : qScale.at({0});
  factor *= kvScale.shape.empty() ? 1.0 : kvScale.at({0});
  for (double &value : values) {
    value *= factor;
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Calls \p visit with the number and the codes' values of each key of a
/// request before \p end, in order.
template <typename Visit>
static void visitKeys(const MlaDecode &op, const TensorView &kv,
                      int64_t request, int64_t end, int64_t columns,
                      Visit visit) {
  int64_t page = kv.shape[1];
  for (int64_t first = 0; first < end;) {
    auto [at, row] = op.place(request, first);
    int64_t count = std::min({page - row, end - first, keysAtOnce});
    std::vector<double> values = kv.block({at, row, 0}, {1, count, columns});
    for (int64_t key = 0; key < count; ++key) {
      visit(first + key, values.data() + key * columns);
    }
    first += count;
  }
}

void MlaDecode::divide(llvm::ArrayRef<std::array<int32_t, 4>> slots) {
  slotBegins.assign(requests(), {});
  for (auto [request, begin, end, count] : slots) {
    if (request >= 0 && request < requests()) {
      slotBegins[request].insert(begin);
    }
  }
}

/// A weight as the kernel rounds it. Rescaling is by powers of two, so that it
/// matters to weights below the normal FP8 numbers alone, those below 2^-14,
/// against which maximum \p met they were rounded before \p greatest was found.
/// Of hundreds of thousands of keys such weights are a good part of the sum.
static double roundedWeight(double score, double met, double greatest) {
  constexpr ElementType fp8 = ElementType::FP8E4M3;
  uint64_t code = encode(fp8, std::exp2(score - met) * 256);
  return decode(fp8, code) / 256 * std::exp2(met - greatest);
}

std::vector<AttendedRow> MlaDecode::attend(int64_t request,
                                           llvm::ArrayRef<int64_t> rows) const {
  size_t count = rows.size();
  std::vector<std::vector<double>> queryRows;
  std::vector<int64_t> seen;
  int64_t end = 0;
  for (int64_t row : rows) {
    queryRows.push_back(query(request, row));
    seen.push_back(keys(request, row / params.heads));
    end = std::max(end, seen.back());
  }
  // Scores to base 2.
  std::vector<std::vector<double>> scores(count);
  visitKeys(*this, kv, request, end, mlaKeyColumns,
            [&](int64_t key, const double *values) {
              for (size_t i = 0; i < count; ++i) {
                if (key >= seen[i]) {
                  continue;
                }
                double sum = 0;
                for (int64_t c = 0; c < mlaKeyColumns; ++c) {
                  sum += queryRows[i][c] * values[c];
                }
                scores[i].push_back(sum);
              }
            });
  std::vector<AttendedRow> result(count);
  std::vector<double> greatest, sums(count, 0.0);
  for (size_t i = 0; i < count; ++i) {
    double most = -std::numeric_limits<double>::infinity();
    for (double score : scores[i]) {
      most = std::max(most, score);
    }
    // Rounded up: rescaling is by powers of two then.
    greatest.push_back(std::ceil(most));
    result[i].values.assign(mlaValueColumns, 0.0);
    if (params.roundsToFp8) {
      result[i].rounded.assign(mlaValueColumns, 0.0);
    }
  }
  // The greatest score that the slot of a key has met by then, rounded up.
  std::vector<double> met(count);
  auto meet = [&](int64_t key, size_t i) {
    if (key % mlaPlanKeys != 0) {
      return;
    }
    if (key == 0 ||
        (!slotBegins.empty() && slotBegins[request].contains(key))) {
      met[i] = -std::numeric_limits<double>::infinity();
    }
    int64_t blockEnd = std::min(key + mlaPlanKeys, seen[i]);
    for (int64_t other = key; other < blockEnd; ++other) {
      met[i] = std::max(met[i], std::ceil(scores[i][other]));
    }
  };
  auto add = [](std::vector<double> &into, double weight, const double *from) {
    for (int64_t c = 0; c < mlaValueColumns; ++c) {
      into[c] += weight * from[c];
    }
  };
  visitKeys(*this, kv, request, end, mlaKeyColumns,
            [&](int64_t key, const double *values) {
              for (size_t i = 0; i < count; ++i) {
                if (key >= seen[i]) {
                  continue;
                }
                double weight = std::exp2(scores[i][key] - greatest[i]);
                sums[i] += weight;
                add(result[i].values, weight, values);
                if (params.roundsToFp8) {
                  meet(key, i);
                  add(result[i].rounded,
                      roundedWeight(scores[i][key], met[i], greatest[i]),
                      values);
                }
              }
            });
  double valueScale = kvScale.shape.empty() ? 1.0 : kvScale.at({0});
  for (size_t i = 0; i < count; ++i) {
    AttendedRow &row = result[i];
    if (seen[i] == 0) {
      row.lse = -std::numeric_limits<double>::infinity();
      continue;
    }
    row.lse = (greatest[i] + std::log2(sums[i])) / log2e;
    for (std::vector<double> *values : {&row.values, &row.rounded}) {
      for (double &value : *values) {
        value *= valueScale / sums[i];
      }
    }
  }
  return result;
}

double MlaDecode::valueMagnitude(int64_t request) const {
  int64_t count = keys(request);
  double sum = 0;
  visitKeys(*this, kv, request, count, mlaKeyColumns,
            [&](int64_t, const double *values) {
              for (int64_t c = 0; c < mlaValueColumns; ++c) {
                sum += values[c] * values[c];
              }
            });
  double valueScale = kvScale.shape.empty() ? 1.0 : kvScale.at({0});
  return count == 0
             ? 0.0
             : valueScale * std::sqrt(sum / (double(count) * mlaValueColumns));
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

void MlaDecode::emitRows(int64_t request, llvm::ArrayRef<int64_t> rows,
                         bool skip,
                         llvm::function_ref<void(Region &&)> emit) const {
  std::vector<AttendedRow> attended;
  double magnitude = 0;
  if (!skip) {
    attended = attend(request, rows);
    if (!params.roundsToFp8) {
      magnitude = valueMagnitude(request);
    }
  }
  for (auto [i, row] : llvm::enumerate(rows)) {
    Region region;
    region.operand = "out";
    region.offset = place(request, row, /*hasColumns=*/true);
    region.extents.assign(region.offset.size(), 1);
    region.extents.back() = mlaValueColumns;
    region.group = "request " + std::to_string(request) + " query " +
                   std::to_string(row / params.heads) + " head " +
                   std::to_string(row % params.heads);
    std::string group = region.group;
    auto emitLse = [&](Region &&logs) {
      if (!lse.shape.empty()) {
        emit(std::move(logs));
      }
    };
    llvm::SmallVector<int64_t, 4> lseAt =
        place(request, row, /*hasColumns=*/false);
    if (skip) {
      region.skipped = true;
      emit(std::move(region));
      Region logs;
      logs.operand = "lse";
      logs.offset = lseAt;
      logs.extents.assign(lseAt.size(), 1);
      logs.skipped = true;
      emitLse(std::move(logs));
      continue;
    }
    AttendedRow &found = attended[i];
    emitLse(lseRegion("lse", lseAt, found.lse, group));
    if (std::isinf(found.lse)) {
      // Zeros, which are matched exactly.
      region.expected = std::move(found.values);
      emit(std::move(region));
      continue;
    }
    if (!params.roundsToFp8) {
      region.measure = Measure::Element;
      // Weights that are rounded to bf16 leave errors that the values'
      // magnitude measures, and out is rounded itself.
      region.absoluteBound = 8e-3 * magnitude;
      region.relativeBound = 2.01 / 128;
      region.expected = std::move(found.values);
      emit(std::move(region));
      continue;
    }
    region.measure = Measure::Whole;
    Region exact = region;
    exact.against = exactAttention;
    region.expected = std::move(found.rounded);
    exact.expected = std::move(found.values);
    emit(std::move(region));
    emit(std::move(exact));
  }
}

Distribution mlaDecodeDistribution(llvm::StringRef operand, ElementType type) {
  // FP8 codes of about 16, whose least normal value is 2^-6; the scales make
  // values of about 1 of them.
  if (operand.ends_with("_scale")) {
    return Distribution::uniform(0.05, 0.08);
  }
  return Distribution::normal(0, type == ElementType::FP8E4M3 ? 16 : 1);
}

} // namespace tenon::reference
