//===- ExecCompare.cpp - vector compares ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FloatMath.h"
#include "Lanes.h"

#include <string>

namespace tenon::sim {

/// Compares all lanes; lanes that are off give 0. The v_cmpx forms write EXEC
/// as well.
template <typename T, typename U, auto predicate, bool writesExec>
static void execCompare(Wave &wave, const Instr &instr) {
  Row temp[2][2], result;
  Source a = fetch<T>(wave, instr, 0, temp[0]);
  Source b = fetch<U>(wave, instr, 1, temp[1]);
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    result.lane[i] =
        predicate(laneValue<T>(a, i), laneValue<U>(b, i)) ? ~0u : 0;
  }
  uint64_t mask = maskOf(result) & wave.exec();
  wave.setPair(instr.sdst, mask);
  if constexpr (writesExec) {
    wave.setPair(sgprExec, mask);
  }
}

/// v_cmp_class: bit k of the mask asks for the k-th kind of number.
template <typename T> static bool isOfClass(T value, uint32_t classes) {
  unsigned kind;
  bool negative = std::signbit(float(value));
  if constexpr (sizeof(T) == 8) {
    negative = std::signbit(value);
  }
  if (value != value) {
    uint64_t bits, quietBit;
    if constexpr (sizeof(T) == 8) {
      bits = std::bit_cast<uint64_t>(value);
      quietBit = uint64_t(1) << 51;
    } else if constexpr (sizeof(T) == 4) {
      bits = std::bit_cast<uint32_t>(value);
      quietBit = 1 << 22;
    } else {
      bits = std::bit_cast<uint16_t>(value);
      quietBit = 1 << 9;
    }
    return classes & (bits & quietBit ? 2 : 1);
  }
  constexpr T smallestNormal =
      sizeof(T) == 8 ? T(0x1p-1022)
                     : (sizeof(T) == 4 ? T(0x1p-126) : T(0x1p-14));
  T magnitude = negative ? -value : value;
  if (magnitude == 0) {
    kind = 0;
  } else if (magnitude - magnitude != 0) {
    kind = 3;
  } else {
    kind = magnitude < smallestNormal ? 1 : 2;
  }
  // Negative: infinity 2, normal 3, denormal 4, zero 5; positive: mirrored.
  unsigned bit = negative ? 5 - kind : 6 + kind;
  return (classes >> bit) & 1;
}

namespace {

/// The entries of one operand type, v_cmp and v_cmpx alike.
template <typename T> class CompareTable {
public:
  CompareTable(OpcodeTable &table, const char *type)
      : table(table), type(type) {}

  template <auto predicate, typename U = T> void add(const char *operation) {
    addOne<predicate, U, false>("v_cmp_", operation);
    addOne<predicate, U, true>("v_cmpx_", operation);
  }

  void addOrdered() {
    add<[](T a, T b) { return a < b; }>("lt");
    add<[](T a, T b) { return a == b; }>("eq");
    add<[](T a, T b) { return a <= b; }>("le");
    add<[](T a, T b) { return a > b; }>("gt");
    add<[](T a, T b) { return a >= b; }>("ge");
    add<[](T, T) { return false; }>("f");
  }

  void addInteger() {
    addOrdered();
    add<[](T a, T b) { return a != b; }>("ne");
    add<[](T, T) { return true; }>("t");
  }

  void addFloat() {
    addOrdered();
    add<[](T a, T b) { return a < b || a > b; }>("lg");
    add<[](T a, T b) { return a == a && b == b; }>("o");
    add<[](T a, T b) { return a != a || b != b; }>("u");
    add<[](T a, T b) { return !(a >= b); }>("nge");
    add<[](T a, T b) { return !(a < b || a > b); }>("nlg");
    add<[](T a, T b) { return !(a > b); }>("ngt");
    add<[](T a, T b) { return !(a <= b); }>("nle");
    add<[](T a, T b) { return !(a == b); }>("neq");
    add<[](T a, T b) { return !(a < b); }>("nlt");
    add<[](T, T) { return true; }>("tru");
  }

private:
  template <auto predicate, typename U, bool writesExec>
  void addOne(const char *prefix, const char *operation) {
    table.add(std::string(prefix) + operation + "_" + type,
              {"",
               execCompare<T, U, predicate, writesExec>,
               ValueType::Mask,
               {valueTypeOf<T>(), valueTypeOf<U>(), ValueType::None},
               opScalarDst});
  }

  OpcodeTable &table;
  const char *type;
};

} // namespace

static OpcodeTable buildCompareTable() {
  OpcodeTable table;
  CompareTable<float> f32(table, "f32");
  f32.addFloat();
  f32.add<[](float a, uint32_t b) { return isOfClass(a, b); }, uint32_t>(
      "class");
  CompareTable<double> f64(table, "f64");
  f64.addFloat();
  f64.add<[](double a, uint32_t b) { return isOfClass(a, b); }, uint32_t>(
      "class");
  CompareTable<Half> f16(table, "f16");
  f16.addFloat();
  f16.add<[](Half a, uint32_t b) { return isOfClass(a, b); }, uint32_t>(
      "class");
  CompareTable<uint16_t>(table, "u16").addInteger();
  CompareTable<int16_t>(table, "i16").addInteger();
  CompareTable<uint32_t>(table, "u32").addInteger();
  CompareTable<int32_t>(table, "i32").addInteger();
  CompareTable<uint64_t>(table, "u64").addInteger();
  CompareTable<int64_t>(table, "i64").addInteger();
  return table;
}

llvm::ArrayRef<OpcodeInfo> vectorCompareTable() {
  static const OpcodeTable table = buildCompareTable();
  return table.all();
}

} // namespace tenon::sim
