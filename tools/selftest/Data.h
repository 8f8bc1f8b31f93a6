//===- Data.h - operands of the self-test -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs come from a seed. Results are compared with those of another machine
// without shipping them: by a hash of all bytes, and by a sketch whose
// difference has the norm of the difference of the data (count sketch: every
// element is added, with a random sign, to one of some sums).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_SELFTEST_DATA_H
#define TENON_TOOLS_SELFTEST_DATA_H

#include "tenon-c/tenon.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::selftest {

/// Bits of an element.
unsigned elementBits(tenon_dtype dtype);

/// Fills \p bytes with values of a type: reals are uniform within half a unit
/// of zero, scales of blocks are 2^-3 to 2^3.
void fillRandom(tenon_dtype dtype, uint64_t seed, std::vector<uint8_t> &bytes);

/// Fills \p bytes with integers. Returns whether there are as many as elements.
bool fillIntegers(tenon_dtype dtype, const std::vector<int64_t> &values,
                  std::vector<uint8_t> &bytes);

struct Digest {
  std::string hash; ///< XXH3, 128 bits, hexadecimal
  uint64_t elements = 0;
  std::vector<double> sketch;
};

Digest digestOf(tenon_dtype dtype, const std::vector<uint8_t> &bytes);

/// The relative L2 error that the sketches show, within some 10 %; infinite
/// where an element is no number.
double relativeError(const Digest &found, const Digest &expected);

} // namespace tenon::selftest

#endif // TENON_TOOLS_SELFTEST_DATA_H
