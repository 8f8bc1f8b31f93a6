//===- Generate.cpp - Reproducible test data --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/Generate.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace tenon::reference {

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// The increment of SplitMix64: 2^64 divided by the golden ratio, made odd.
static constexpr uint64_t goldenGamma = 0x9e3779b97f4a7c15;

uint64_t randomBits(uint64_t key, uint64_t index) {
  uint64_t z = key + (index + 1) * goldenGamma;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t randomKey(uint64_t seed, llvm::StringRef operand) {
  return randomBits(seed, llvm::xxh3_64bits(operand));
}

/// A number strictly between 0 and 1 from the upper 52 bits of \p bits; with 53
/// the largest would round to 1.
static double unitInterval(uint64_t bits) {
  return (double(bits >> 12) + 0.5) * 0x1p-52;
}

/// The normal deviate below which a standard normal variable lies with
/// probability \p p, 0 < p < 1: algorithm AS 241, PPND7 (Wichura 1988), seven
/// digits.
static double inverseNormal(double p) {
  double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q *
           (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r +
            3.3871327179) /
           (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
  }
  double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double magnitude;
  if (r <= 5) {
    r -= 1.6;
    magnitude = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r +
                 1.4234372777) /
                ((0.12021132975 * r + 0.73700164250) * r + 1);
  } else {
    r -= 5;
    magnitude = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r +
                 6.6579051150) /
                ((0.012258202635 * r + 0.24197894225) * r + 1);
  }
  return q < 0 ? -magnitude : magnitude;
}

/// Quantiles of the standard normal distribution, between which deviates are
/// interpolated linearly; the outermost intervals are computed.
static constexpr unsigned quantileIntervals = 1024;

static std::array<double, quantileIntervals + 1> makeQuantiles() {
  std::array<double, quantileIntervals + 1> quantiles = {};
  for (unsigned i = 1; i < quantileIntervals; ++i) {
    quantiles[i] = inverseNormal(double(i) / quantileIntervals);
  }
  return quantiles;
}

/// A normal deviate for \p unit, a number strictly between 0 and 1.
static double normalDeviate(double unit) {
  static const std::array<double, quantileIntervals + 1> quantiles =
      makeQuantiles();
  double position = unit * quantileIntervals;
  auto interval = unsigned(position);
  if (interval == 0 || interval == quantileIntervals - 1) {
    return inverseNormal(unit);
  }
  double low = quantiles[interval], high = quantiles[interval + 1];
  return low + (position - interval) * (high - low);
}

double Distribution::sample(uint64_t key, uint64_t index) const {
  if (columns != 0 && index % columns < alikeColumns) {
    Distribution ofColumn = *this;
    ofColumn.columns = 0;
    double unit = unitInterval(randomBits(randomBits(key, 0), index));
    return ofColumn.sample(key, index % columns) +
           variation * normalDeviate(unit);
  }
  uint64_t bits = randomBits(key, index);
  if (kind == Kind::PowersOfTwo) {
    // Neighbours have other remainders; a random bit keeps rows of 3 i elements
    // from being alike.
    return std::ldexp(1.0, int(a) + 2 * int(index % 3) + int(bits >> 63));
  }
  double unit = unitInterval(bits);
  if (tailProbability > 0 &&
      unitInterval(randomBits(~key, index)) < tailProbability) {
    return tailMean + tailDeviation * normalDeviate(unit);
  }
  return kind == Kind::Normal ? a + b * normalDeviate(unit)
                              : a + (b - a) * unit;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<GeneratedSource>>
GeneratedSource::create(llvm::StringRef operand, Options options) {
  if (options.fill == Fill::NaN && !hasNaN(options.type)) {
    return llvm::createStringError("operand '" + operand +
                                   "': cannot be filled with NaN, " +
                                   name(options.type) + " has none");
  }
  if (options.fill == Fill::Random && isInteger(options.type)) {
    return llvm::createStringError("operand '" + operand +
                                   "': integers have no general random fill");
  }
  if (options.rowElements == 0 || options.rowStride < options.rowElements) {
    return llvm::createStringError("operand '" + operand + "': a row of " +
                                   llvm::Twine(options.rowElements) +
                                   " elements does not fit a stride of " +
                                   llvm::Twine(options.rowStride));
  }
  uint64_t key = randomKey(options.seed, operand);
  return std::unique_ptr<GeneratedSource>(
      new GeneratedSource(key, std::move(options)));
}

/// Writes \p codes as elements of \p bits each to \p packed.
static void pack(unsigned bits, llvm::ArrayRef<uint64_t> codes,
                 llvm::MutableArrayRef<uint8_t> packed) {
  using namespace llvm::support::endian;
  for (auto [i, code] : llvm::enumerate(codes)) {
    switch (bits) {
    case 4:
      packed[i / 2] = i % 2 == 0 ? code : packed[i / 2] | code << 4;
      break;
    case 8:
      packed[i] = code;
      break;
    case 16:
      write16le(&packed[i * 2], code);
      break;
    case 32:
      write32le(&packed[i * 4], code);
      break;
    default:
      write64le(&packed[i * 8], code);
      break;
    }
  }
}

uint64_t GeneratedSource::gapCode() const {
  return hasNaN(options.type)
             ? encode(options.type, std::numeric_limits<double>::quiet_NaN())
             : 0;
}

void GeneratedSource::codes(uint64_t first,
                            llvm::MutableArrayRef<uint64_t> codes) const {
  uint64_t row = first / options.rowStride;
  uint64_t column = first % options.rowStride;
  while (!codes.empty()) {
    // The rest of the row, or of the gap behind it.
    bool inRow = column < options.rowElements;
    uint64_t end = inRow ? options.rowElements : options.rowStride;
    uint64_t count = std::min<uint64_t>(end - column, codes.size());
    llvm::MutableArrayRef<uint64_t> run = codes.take_front(count);
    bool isLive =
        inRow && (!options.liveRows || options.liveRows->contains(row));
    if (!isLive || options.fill == Fill::NaN) {
      llvm::fill(run, gapCode());
    } else if (options.fill == Fill::Zero) {
      llvm::fill(run, 0);
    } else {
      uint64_t index = row * options.rowElements + column;
      for (uint64_t &code : run) {
        code = encode(options.type, options.distribution.sample(key, index++));
      }
    }
    codes = codes.drop_front(count);
    column += count;
    if (column == options.rowStride) {
      column = 0;
      ++row;
    }
  }
}

void GeneratedSource::read(uint64_t offset,
                           llvm::MutableArrayRef<uint8_t> bytes) const {
  // Through buffers of whole elements: the first and the last byte that are
  // asked for may be in the middle of one.
  constexpr unsigned bufferElements = 256;
  unsigned bits = bitWidth(options.type);
  std::array<uint64_t, bufferElements> buffer;
  std::array<uint8_t, 8 * bufferElements> packed;
  uint64_t element = offset * 8 / bits;
  uint64_t skipped = offset - element * bits / 8;
  while (!bytes.empty()) {
    uint64_t wanted = ((skipped + bytes.size()) * 8 + bits - 1) / bits;
    auto count = unsigned(std::min<uint64_t>(wanted, bufferElements));
    codes(element, llvm::MutableArrayRef<uint64_t>(buffer).take_front(count));
    pack(bits, llvm::ArrayRef<uint64_t>(buffer).take_front(count), packed);
    uint64_t size =
        std::min<uint64_t>(uint64_t(count) * bits / 8 - skipped, bytes.size());
    std::copy_n(packed.begin() + skipped, size, bytes.begin());
    bytes = bytes.drop_front(size);
    element += count;
    skipped = 0;
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// A number below \p bound from \p bits, by the upper half of the product; the
/// bias of about bound / 2^64 does not matter to test data.
static uint64_t below(uint64_t bits, uint64_t bound) {
  return uint64_t((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

llvm::Expected<std::vector<int32_t>>
generateDistinct(uint64_t key, uint64_t count, int64_t first, int64_t end) {
  uint64_t available = end > first ? uint64_t(end - first) : 0;
  if (count > available) {
    return llvm::createStringError(
        llvm::Twine(count) + " distinct values wanted, " +
        llvm::Twine(available) + " available from " + llvm::Twine(first) +
        " to below " + llvm::Twine(end));
  }
  // Floyd's sampling without replacement: each step adds one new value, and
  // needs memory for the sample only.
  std::vector<int32_t> values;
  llvm::DenseSet<uint64_t> taken;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t last = available - count + i;
    uint64_t candidate = below(randomBits(key, 2 * i), last + 1);
    if (!taken.insert(candidate).second) {
      candidate = last;
      taken.insert(candidate);
    }
    values.push_back(int32_t(first + int64_t(candidate)));
  }
  // The sample comes out nearly sorted when it is nearly everything.
  for (uint64_t i = count; i > 1; --i) {
    std::swap(values[i - 1], values[below(randomBits(key, 2 * i + 1), i)]);
  }
  return values;
}

std::vector<int32_t> generateIntegers(uint64_t key, uint64_t count,
                                      int64_t first, int64_t end) {
  assert(first < end && "empty range");
  std::vector<int32_t> values;
  for (uint64_t i = 0; i < count; ++i) {
    values.push_back(int32_t(
        first + int64_t(below(randomBits(key, i), uint64_t(end - first)))));
  }
  return values;
}

} // namespace tenon::reference
