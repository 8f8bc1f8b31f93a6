//===- Generate.h - Reproducible test data ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data as a function of (seed, operand name, element index), so that pages of
// an operand can be made in any order, by any thread, whenever they are
// touched.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_REFERENCE_GENERATE_H
#define TENON_REFERENCE_GENERATE_H

#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>

namespace tenon::reference {

/// Independent random bits for the element \p index of the sequence \p key.
/// (The output function of SplitMix64, Steele et al. 2014.)
uint64_t randomBits(uint64_t key, uint64_t index);

/// The key of the data of \p operand under \p seed.
uint64_t randomKey(uint64_t seed, llvm::StringRef operand);

/// How generated values of an operand are distributed.
struct Distribution {
  enum class Kind {
    Normal,  ///< mean a, standard deviation b
    Uniform, ///< from a to b
    /// 2^(a + i) with i from 0 to 5; consecutive elements differ.
    PowersOfTwo,
  };
  Kind kind = Kind::Normal;
  double a = 0, b = 1;
  /// With this probability the value is instead normal with mean tailMean and
  /// standard deviation tailDeviation.
  double tailProbability = 0;
  double tailMean = 0, tailDeviation = 0;
  /// Where it is not 0: the elements are rows of `columns`, of which the first
  /// `alikeColumns` hold one value in all rows, but for a normal part of
  /// standard deviation `variation`.
  uint64_t columns = 0, alikeColumns = 0;
  double variation = 0;

  static Distribution normal(double mean, double deviation) {
    return {Kind::Normal, mean, deviation};
  }
  static Distribution uniform(double low, double high) {
    return {Kind::Uniform, low, high};
  }
  static Distribution powersOfTwo(int lowest) {
    return {Kind::PowersOfTwo, double(lowest)};
  }

  /// The value that belongs to the element \p index of the sequence \p key.
  double sample(uint64_t key, uint64_t index) const;
};

/// What an operand is filled with.
enum class Fill { Random, Zero, NaN };

/// Memory of an operand with generated contents: rows of rowElements elements,
/// rowStride elements apart. The value of an element depends on its row and
/// column only, not on the stride. Gaps between rows, and whole rows that are
/// not live, hold NaN (zero in types without NaN), so that a kernel that reads
/// them shows it.
class GeneratedSource : public ByteSource {
public:
  struct Options {
    uint64_t seed = 0;
    ElementType type = ElementType::F32;
    Fill fill = Fill::Random;
    Distribution distribution = {};
    uint64_t rowElements = 1; ///< at least 1
    uint64_t rowStride = 1;   ///< at least rowElements
    /// The rows that hold data; all when absent.
    std::optional<llvm::DenseSet<uint64_t>> liveRows = std::nullopt;
  };

  /// Errors: a NaN fill of a type without NaN, a random fill of integers, a
  /// row stride smaller than the row. \p operand is the name, for the
  /// sequence of random numbers and for messages.
  static llvm::Expected<std::unique_ptr<GeneratedSource>>
  create(llvm::StringRef operand, Options options);

  /// \p offset and the size need not be multiples of the element.
  void read(uint64_t offset,
            llvm::MutableArrayRef<uint8_t> bytes) const override;

private:
  GeneratedSource(uint64_t key, Options options)
      : key(key), options(std::move(options)) {}

  uint64_t gapCode() const;
  /// The codes of the elements from \p first on.
  void codes(uint64_t first, llvm::MutableArrayRef<uint64_t> codes) const;

  uint64_t key;
  Options options;
};

/// \p count distinct integers from \p first to \p end - 1 in random order.
/// Error: there are fewer.
llvm::Expected<std::vector<int32_t>>
generateDistinct(uint64_t key, uint64_t count, int64_t first, int64_t end);

/// \p count integers from \p first to \p end - 1. first < end.
std::vector<int32_t> generateIntegers(uint64_t key, uint64_t count,
                                      int64_t first, int64_t end);

} // namespace tenon::reference

#endif // TENON_REFERENCE_GENERATE_H
