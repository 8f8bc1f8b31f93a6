//===- MoeExperts.cpp - Semantics of tenon.moe_experts ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MoeExperts.h"

#include "Activation.h"
#include "Products.h"
#include "TakeOperand.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <map>

using namespace tenon;
using namespace tenon::reference;

/// Values along a sum that share a scale.
static constexpr int64_t blockSize = 32;

//===----------------------------------------------------------------------===//
// Preconditions
//===----------------------------------------------------------------------===//

/// P: codes and their scales in whole lines of 64 bytes.
static int64_t routePitch(int64_t width) {
  return llvm::alignTo(width + width / blockSize, 64);
}

llvm::Expected<MoeExperts> MoeExperts::create(const MoeExpertsParams &params,
                                              const Operands &operands) {
  MoeExperts op;
  op.params = params;
  llvm::Error error = llvm::Error::success();
  auto take = [&](llvm::StringRef name, ElementType type,
                  llvm::ArrayRef<int64_t> shape, TensorView &view) {
    if (!error) {
      error = takeOperand(operands, name, type, shape, view);
    }
    return !error;
  };
  if (!take("x", ElementType::BF16, {anySize, anySize}, op.x)) {
    return std::move(error);
  }
  int64_t tokens = op.x.shape[0], d = op.x.shape[1];
  if (!take("ids", ElementType::I32, {tokens, anySize}, op.ids) ||
      !take("w2", ElementType::FP4E2M1, {anySize, d, anySize}, op.w2)) {
    return std::move(error);
  }
  int64_t k = op.ids.shape[1], e = op.w2.shape[0], i = op.w2.shape[2];
  if (d % blockSize != 0 || i % blockSize != 0) {
    return llvm::createStringError("D and I must be multiples of 32, found " +
                                   llvm::Twine(d) + " and " + llvm::Twine(i));
  }
  take("w13", ElementType::FP4E2M1, {e, 2 * i, d}, op.w13);
  take("w13_scale", ElementType::E8M0, {e, 2 * i, d / blockSize}, op.w13Scale);
  take("w2_scale", ElementType::E8M0, {e, d, i / blockSize}, op.w2Scale);
  if (params.hasRouteRows()) {
    take("out", ElementType::I8, {tokens, k, routePitch(d)}, op.out);
  } else {
    take("weights", ElementType::F32, {tokens, k}, op.weights);
    take("out", ElementType::BF16, {tokens, d}, op.out);
  }
  if (operands.count("expert_map")) {
    take("expert_map", ElementType::I32, {anySize}, op.expertMap);
  }
  TensorView counter;
  if (operands.count("num_tokens")) {
    take("num_tokens", ElementType::I32, {1}, counter);
  }
  if (error) {
    return std::move(error);
  }
  op.tokenCount = tokens;
  if (!counter.shape.empty()) {
    int64_t given = counter.intAt({0});
    if (given < 0) {
      return llvm::createStringError("num_tokens must not be negative, found " +
                                     llvm::Twine(given));
    }
    op.tokenCount = std::min(tokens, given);
  }
  return op;
}

int64_t MoeExperts::expertOf(int64_t id, const TensorView *map,
                             int64_t experts) {
  if (map) {
    if (id < 0 || id >= map->shape[0]) {
      return -1;
    }
    id = map->intAt({id});
  }
  return id < 0 || id >= experts ? -1 : id;
}

int64_t MoeExperts::expertOf(int64_t token, int64_t place) const {
  return expertOf(ids.intAt({token, place}),
                  expertMap.shape.empty() ? nullptr : &expertMap, experts());
}

//===----------------------------------------------------------------------===//
// Mathematics
//===----------------------------------------------------------------------===//

std::vector<double> MoeExperts::round(llvm::ArrayRef<double> values,
                                      ElementType type) const {
  std::vector<double> result(values.begin(), values.end());
  if (type == ElementType::F32) {
    return result;
  }
  if (type == ElementType::BF16) {
    llvm::for_each(result, [&](double &value) {
      value = decode(type, encode(type, value));
    });
    return result;
  }
  for (size_t first = 0; first < values.size(); first += blockSize) {
    ScaledBlock block =
        scaleBlock(values.slice(first, blockSize), type, params.scaleMode);
    llvm::copy(block.values(type), result.begin() + first);
  }
  return result;
}

/// Row \p row of the weights of \p expert times its scales. Exact: values have
/// two significant bits, scales one.
static std::vector<double> weightRow(const TensorView &weights,
                                     const TensorView &scales, int64_t expert,
                                     int64_t row) {
  static const std::array<double, 16> valueOf = [] {
    std::array<double, 16> values;
    for (uint64_t code = 0; code < values.size(); ++code) {
      values[code] = decode(ElementType::FP4E2M1, code);
    }
    return values;
  }();
  int64_t k = weights.shape[2];
  // Two values share a byte.
  std::vector<uint8_t> bytes(k / 2);
  weights.source->read(
      (expert * weights.strides[0] + row * weights.strides[1]) / 2, bytes);
  std::vector<double> factors =
      scales.block({expert, row, 0}, {1, 1, k / blockSize});
  std::vector<double> values(k);
  for (int64_t index = 0; index < k; ++index) {
    uint8_t code = (bytes[index / 2] >> (4 * (index % 2))) & 15;
    values[index] = valueOf[code] * factors[index / blockSize];
  }
  return values;
}

/// The rows of routes of \p expert whose tokens have the rounded rows
/// \p inputs.
std::vector<std::vector<double>>
MoeExperts::expertRows(int64_t expert,
                       llvm::ArrayRef<std::vector<double>> inputs) const {
  int64_t d = x.shape[1], i = w2.shape[2];
  std::vector<double> sums = products(inputs, 2 * i, [&](int64_t row) {
    return weightRow(w13, w13Scale, expert, row);
  });
  std::vector<std::vector<double>> activated;
  for (size_t index = 0; index < inputs.size(); ++index) {
    const double *gate = &sums[index * 2 * i], *up = gate + i;
    std::vector<double> values(i);
    for (int64_t column = 0; column < i; ++column) {
      double g = gate[column], u = up[column];
      values[column] = params.isSitu
                           ? params.beta * std::tanh(g / params.beta) *
                                 sigmoid(g) * params.linearBeta *
                                 std::tanh(u / params.linearBeta)
                           : silu(g) * u;
    }
    activated.push_back(round(values, params.intermediate));
  }
  std::vector<double> results = products(activated, d, [&](int64_t row) {
    return weightRow(w2, w2Scale, expert, row);
  });
  std::vector<std::vector<double>> rows;
  for (size_t index = 0; index < inputs.size(); ++index) {
    rows.push_back(round(llvm::ArrayRef<double>(results).slice(index * d, d),
                         params.routes));
  }
  return rows;
}

std::vector<double> MoeExperts::routeRows(IndexRange block) const {
  int64_t d = x.shape[1], k = expertsPerToken();
  // Expert by expert: decoding the weights takes longest.
  std::map<int64_t, std::vector<int64_t>> routesOf;
  for (int64_t token = block.begin; token < block.end; ++token) {
    for (int64_t place = 0; place < k; ++place) {
      int64_t expert = expertOf(token, place);
      if (expert >= 0) {
        routesOf[expert].push_back((token - block.begin) * k + place);
      }
    }
  }
  std::map<int64_t, std::vector<double>> inputOf;
  std::vector<double> rows(block.size() * k * d);
  for (const auto &[expert, routes] : routesOf) {
    std::vector<std::vector<double>> inputs;
    for (int64_t route : routes) {
      auto [entry, isNew] = inputOf.try_emplace(route / k);
      if (isNew) {
        entry->second =
            round(x.block({block.begin + route / k, 0}, {1, d}), params.input);
      }
      inputs.push_back(entry->second);
    }
    for (auto [route, row] :
         llvm::zip_equal(routes, expertRows(expert, inputs))) {
      llvm::copy(row, rows.begin() + route * d);
    }
  }
  return rows;
}

/// The weighted sums of the rows of routes, [tokens, D].
std::vector<double> MoeExperts::sums(IndexRange block) const {
  int64_t d = x.shape[1], k = expertsPerToken();
  std::vector<double> rows = routeRows(block);
  std::vector<double> sums(block.size() * d);
  for (int64_t token = block.begin; token < block.end; ++token) {
    double *sum = &sums[(token - block.begin) * d];
    for (int64_t place = 0; place < k; ++place) {
      if (expertOf(token, place) < 0) {
        continue;
      }
      double weight = weights.at({token, place});
      const double *row = &rows[((token - block.begin) * k + place) * d];
      for (int64_t column = 0; column < d; ++column) {
        sum[column] += weight * row[column];
      }
    }
  }
  return sums;
}

double MoeExperts::quantisationError(IndexRange block) const {
  MoeExperts exact = *this;
  exact.params.input = exact.params.intermediate = exact.params.routes =
      ElementType::F32;
  auto values = [&](const MoeExperts &op) {
    return params.hasRouteRows() ? op.routeRows(block) : op.sums(block);
  };
  double difference = 0, norm = 0;
  for (auto [rounded, whole] : llvm::zip_equal(values(*this), values(exact))) {
    difference += (rounded - whole) * (rounded - whole);
    norm += whole * whole;
  }
  return norm == 0 ? 0 : std::sqrt(difference / norm);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The values of rows of codes FP8E4M3, \p width of them, with scales behind.
static std::vector<double> valuesOfRows(llvm::ArrayRef<uint64_t> codes,
                                        int64_t width) {
  std::vector<double> values;
  size_t rowCodes = width + width / blockSize;
  for (size_t row = 0; row < codes.size(); row += rowCodes) {
    for (int64_t column = 0; column < width; ++column) {
      uint64_t scale = codes[row + width + column / blockSize];
      values.push_back(decode(ElementType::FP8E4M3, codes[row + column]) *
                       decode(ElementType::E8M0, scale));
    }
  }
  return values;
}

/// The rows of out of \p tokens, which are named one by one.
Region MoeExperts::regionOf(std::vector<int64_t> tokens) const {
  int64_t d = x.shape[1], count = int64_t(tokens.size());
  Region region;
  region.operand = "out";
  region.group = "rows from " + std::to_string(tokens.front());
  region.offset.assign(out.shape.size(), 0);
  if (params.hasRouteRows()) {
    region.extents = {count, expertsPerToken(), d + d / blockSize};
  } else {
    region.extents = {count, d};
    region.roundedTo = out.type;
  }
  region.rows = std::move(tokens);
  return region;
}

/// The regions of \p block without values: rows with routes, and what is 0.
std::vector<Region> MoeExperts::regions(IndexRange block) const {
  int64_t d = x.shape[1], k = expertsPerToken();
  std::vector<int64_t> live, empty;
  std::vector<Region> regions;
  for (int64_t token = block.begin; token < std::min(block.end, tokens());
       ++token) {
    bool isLive = false;
    for (int64_t place = 0; place < k; ++place) {
      isLive |= expertOf(token, place) >= 0;
    }
    (isLive ? live : empty).push_back(token);
  }
  if (!live.empty()) {
    regions.push_back(regionOf(live));
  }
  for (int64_t token : empty) {
    regions.push_back(regionOf({token}));
    regions.back().group = "row " + std::to_string(token) + " without routes";
    regions.back().exact = true;
  }
  for (int64_t token : live) {
    for (int64_t place = 0; params.hasRouteRows() && place < k; ++place) {
      if (expertOf(token, place) >= 0) {
        continue;
      }
      Region region;
      region.operand = "out";
      region.group = "row " + std::to_string(token) + ", place " +
                     std::to_string(place) + " without route";
      region.offset = {token, place, 0};
      region.extents = {1, 1, d + d / blockSize};
      region.exact = true;
      regions.push_back(std::move(region));
    }
  }
  return regions;
}

void MoeExperts::skipTokens(IndexRange block,
                            llvm::function_ref<void(Region &&)> emit) const {
  for (Region &region : regions(block)) {
    region.skipped = true;
    emit(std::move(region));
  }
}

void MoeExperts::emitTokens(IndexRange block,
                            llvm::function_ref<void(Region &&)> emit) const {
  int64_t d = x.shape[1], k = expertsPerToken();
  std::vector<double> rows;
  for (Region &region : regions(block)) {
    if (region.exact) {
      int64_t count = 1;
      for (int64_t extent : region.extents) {
        count *= extent;
      }
      region.expectedCodes.assign(count, 0);
      emit(std::move(region));
      continue;
    }
    if (rows.empty()) {
      IndexRange used{block.begin, std::min(block.end, tokens())};
      rows = params.hasRouteRows() ? routeRows(used) : sums(used);
    }
    int64_t rowSize = params.hasRouteRows() ? k * d : d;
    for (int64_t token : region.rows) {
      const double *row = &rows[(token - block.begin) * rowSize];
      region.expected.insert(region.expected.end(), row, row + rowSize);
    }
    if (params.hasRouteRows()) {
      region.valuesOf = [d](llvm::ArrayRef<uint64_t> codes) {
        return valuesOfRows(codes, d);
      };
      // A value between two codes may become either of them.
      region.measure = Measure::Whole;
    }
    emit(std::move(region));
  }
}
