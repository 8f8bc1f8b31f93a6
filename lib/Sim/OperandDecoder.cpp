//===- OperandDecoder.cpp - operands from encoding bits ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandDecoder.h"

#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tenon::sim {

Encoding encodingOf(uint32_t word) {
  if (word >> 31 == 0) {
    switch (word >> 25) {
    case 0x3E:
      return Encoding::Vopc;
    case 0x3F:
      return Encoding::Vop1;
    default:
      return Encoding::Vop2;
    }
  }
  if (word >> 30 == 2) {
    switch (word >> 23) {
    case 0x17D:
      return Encoding::Sop1;
    case 0x17E:
      return Encoding::Sopc;
    case 0x17F:
      return Encoding::Sopp;
    default:
      return word >> 28 == 0xB ? Encoding::Sopk : Encoding::Sop2;
    }
  }
  switch (word >> 26) {
  case 0x30:
    return Encoding::Smem;
  case 0x34:
    return word >> 23 == 0x1A7 ? Encoding::Vop3p : Encoding::Vop3;
  case 0x36:
    return Encoding::Ds;
  case 0x37:
    return Encoding::Flat;
  case 0x38:
    return Encoding::Mubuf;
  default:
    return Encoding::Unknown;
  }
}

static uint32_t field(uint32_t word, unsigned low, unsigned bits) {
  return (word >> low) & ((1u << bits) - 1);
}

/// The nine floating-point inline constants (240 ... 248) in each format.
static uint64_t inlineFloat(unsigned code, ValueType type) {
  static constexpr uint64_t f64[] = {
      0x3FE0000000000000, 0xBFE0000000000000, 0x3FF0000000000000,
      0xBFF0000000000000, 0x4000000000000000, 0xC000000000000000,
      0x4010000000000000, 0xC010000000000000, 0x3FC45F306DC9C882};
  static constexpr uint32_t f32[] = {0x3F000000, 0xBF000000, 0x3F800000,
                                     0xBF800000, 0x40000000, 0xC0000000,
                                     0x40800000, 0xC0800000, 0x3E22F983};
  static constexpr uint16_t f16[] = {0x3800, 0xB800, 0x3C00, 0xBC00, 0x4000,
                                     0xC000, 0x4400, 0xC400, 0x3118};
  unsigned index = code - 240;
  switch (type) {
  case ValueType::F64:
  case ValueType::I64:
  case ValueType::Mask:
    return f64[index];
  case ValueType::F16:
  case ValueType::I16:
  case ValueType::PackedF16:
    return f16[index];
  case ValueType::Bf16:
    return f32[index] >> 16;
  default:
    return f32[index];
  }
}

namespace {

class OperandDecoder {
public:
  OperandDecoder(const OpcodeInfo &info, ArrayRef<uint32_t> words, Instr &instr,
                 Footprint &footprint)
      : info(info), words(words), instr(instr), footprint(footprint) {}

  void decode();

private:
  uint32_t word(unsigned i) const { return i < words.size() ? words[i] : 0; }

  Operand source(unsigned code, ValueType type);
  Operand vgpr(unsigned row, ValueType type);
  Operand sgpr(unsigned reg, ValueType type);
  void vectorDst(unsigned row);
  void scalarDst(unsigned reg);
  void maskDst(unsigned reg);
  void unsupported() { instr.exec = execUnimplemented; }

  void decodeVop12();
  void decodeDpp(uint32_t modifiers);
  void decodeSdwa(uint32_t modifiers);
  void finishVop12();
  void decodeVop3();
  void decodeVop3p();
  void decodeMfma();
  void decodeSop();
  void decodeSmem();
  void decodeDs();
  void decodeFlat();
  void decodeMubuf();
  void memoryData(unsigned vdst, unsigned data, unsigned data1, bool acc);

  const OpcodeInfo &info;
  ArrayRef<uint32_t> words;
  Instr &instr;
  Footprint &footprint;
};

} // namespace

Operand OperandDecoder::vgpr(unsigned row, ValueType type) {
  footprint.addRows(row, registersOf(type));
  return {OperandKind::Vgpr, 0, uint16_t(row), 0};
}

/// Pairs begin at even registers, larger groups at multiples of four.
static unsigned aligned(unsigned reg, ValueType type) {
  unsigned count = registersOf(type);
  return count >= 4 ? reg & ~3u : (count == 2 ? reg & ~1u : reg);
}

Operand OperandDecoder::sgpr(unsigned reg, ValueType type) {
  reg = aligned(reg, type);
  footprint.addScalars(reg, registersOf(type));
  return {OperandKind::Sgpr, 0, uint16_t(reg), 0};
}

/// A source by its 9-bit code.
Operand OperandDecoder::source(unsigned code, ValueType type) {
  auto constant = [](uint64_t value) {
    return Operand{OperandKind::Constant, 0, 0, value};
  };
  if (code >= 256) {
    unsigned file = info.flags & opAgprSrc ? rowAgpr : 0;
    return vgpr(code - 256 + file, type);
  }
  if (code == sgprNull) {
    return constant(0);
  }
  if (code < sgprCount) {
    return sgpr(code, type);
  }
  if (code <= 192) {
    return constant(code - 128);
  }
  if (code <= 208) {
    return constant(uint64_t(-int64_t(code - 192)));
  }
  if (code >= 240 && code <= 248) {
    return constant(inlineFloat(code, type));
  }
  switch (code) {
  // The apertures of flat addresses: limits are inclusive, in the low half of
  // a 64-bit read of the hardware register they are zero.
  case 235:
    return constant(uint64_t(0x10000) << 32);
  case 236:
    return constant((uint64_t(0x10000) << 32) | 0xFFFFFFFF);
  case 237:
    return constant(uint64_t(0x20000) << 32);
  case 238:
    return constant((uint64_t(0x20000) << 32) | 0xFFFFFFFF);
  case 251:
    return {OperandKind::Vccz, 0, 0, 0};
  case 252:
    return {OperandKind::Execz, 0, 0, 0};
  case 253:
    return {OperandKind::Scc, 0, 0, 0};
  case 255:
    return constant(type == ValueType::F64 ? uint64_t(word(1)) << 32 : word(1));
  default:
    unsupported();
    return {};
  }
}

void OperandDecoder::vectorDst(unsigned row) {
  row += info.flags & opAgprDst ? rowAgpr : 0;
  instr.dst = row;
  footprint.addRows(row, registersOf(info.dst));
}

void OperandDecoder::scalarDst(unsigned reg) {
  if (reg == sgprNull && info.dst != ValueType::None) {
    return unsupported();
  }
  instr.dst = aligned(reg, info.dst);
  footprint.addScalars(instr.dst, registersOf(info.dst));
}

/// Scalar destination of a vector instruction: a lane mask, or one register
/// when the operation says so (v_readlane).
void OperandDecoder::maskDst(unsigned reg) {
  ValueType type = info.flags & opScalarDst ? info.dst : ValueType::Mask;
  if (reg == sgprNull || reg >= sgprCount) { // constants are no destination
    return unsupported();
  }
  instr.sdst = aligned(reg, type);
  footprint.addScalars(instr.sdst, registersOf(type));
}

/// What VOP1, VOP2 and VOPC have in common, also under DPP and SDWA.
void OperandDecoder::finishVop12() {
  uint32_t first = word(0);
  unsigned vdst = field(first, 17, 8);
  if (instr.encoding == Encoding::Vopc) {
    if (instr.exec != execSdwa) {
      maskDst(sgprVcc);
    }
  } else if (info.flags & opScalarDst) {
    maskDst(vdst);
  } else {
    vectorDst(vdst);
  }
  if (info.flags & opCarryOut) {
    maskDst(sgprVcc);
  }
  if (info.flags & opCarryIn) {
    instr.src[2] = sgpr(sgprVcc, ValueType::Mask);
  }
  if (info.flags & opAccumulates) {
    instr.src[2] = vgpr(vdst, info.dst);
  }
}

void OperandDecoder::decodeVop12() {
  uint32_t first = word(0);
  unsigned src0 = field(first, 0, 9);
  if (src0 == 250) {
    return decodeDpp(word(1));
  }
  if (src0 == 249) {
    return decodeSdwa(word(1));
  }
  if (info.src[0] != ValueType::None) {
    instr.src[0] = source(src0, info.src[0]);
  }
  if (instr.encoding != Encoding::Vop1) {
    Operand second = vgpr(field(first, 9, 8), info.src[1]);
    if (info.flags & (opLiteralMid | opLiteralEnd)) {
      Operand literal = {OperandKind::Constant, 0, 0, word(1)};
      instr.src[1] = (info.flags & opLiteralMid) ? literal : second;
      instr.src[2] = (info.flags & opLiteralMid) ? second : literal;
    } else {
      instr.src[1] = second;
    }
  }
  finishVop12();
}

void OperandDecoder::decodeDpp(uint32_t modifiers) {
  instr.inner = instr.exec;
  instr.exec = execDpp;
  instr.modifiers = modifiers;
  if (info.src[0] != ValueType::None) {
    instr.src[0] = vgpr(field(modifiers, 0, 8), info.src[0]);
    instr.src[0].mods = field(modifiers, 20, 2);
    instr.dwords = registersOf(info.src[0]);
  }
  if (instr.encoding == Encoding::Vop2) {
    instr.src[1] = vgpr(field(word(0), 9, 8), info.src[1]);
    instr.src[1].mods = field(modifiers, 22, 2);
  }
  finishVop12();
}

void OperandDecoder::decodeSdwa(uint32_t modifiers) {
  instr.inner = instr.exec;
  instr.exec = execSdwa;
  instr.modifiers = modifiers;
  auto sdwaSource = [&](unsigned reg, bool scalar, ValueType type) {
    return scalar ? source(reg, type) : vgpr(reg, type);
  };
  if (info.src[0] != ValueType::None) {
    instr.src[0] = sdwaSource(field(modifiers, 0, 8), field(modifiers, 23, 1),
                              info.src[0]);
    instr.src[0].mods = field(modifiers, 20, 2);
  }
  if (instr.encoding != Encoding::Vop1) {
    instr.src[1] =
        sdwaSource(field(word(0), 9, 8), field(modifiers, 31, 1), info.src[1]);
    instr.src[1].mods = field(modifiers, 28, 2);
  }
  if (instr.encoding == Encoding::Vopc) {
    maskDst(field(modifiers, 15, 1) ? field(modifiers, 8, 7) : sgprVcc);
  } else {
    instr.dwords = registersOf(info.dst);
    instr.clamp = field(modifiers, 13, 1);
    instr.omod = field(modifiers, 14, 2);
  }
  finishVop12();
}

void OperandDecoder::decodeVop3() {
  uint32_t first = word(0), second = word(1);
  static constexpr unsigned at[3] = {0, 9, 18};
  bool carryOut = info.flags & opCarryOut;
  unsigned abs = carryOut ? 0 : field(first, 8, 3);
  unsigned neg = field(second, 29, 3);
  // The third one may be the destination or a mask.
  unsigned count = info.flags & (opAccumulates | opCarryIn) ? 2 : 3;
  for (unsigned i = 0; i < count; ++i) {
    if (info.src[i] != ValueType::None) {
      instr.src[i] = source(field(second, at[i], 9), info.src[i]);
      instr.src[i].mods =
          ((neg >> i) & 1 ? modNeg : 0) | ((abs >> i) & 1 ? modAbs : 0);
    }
  }
  unsigned vdst = field(first, 0, 8);
  if (info.flags & opScalarDst) {
    maskDst(vdst);
  } else {
    vectorDst(vdst);
  }
  if (carryOut) {
    maskDst(field(first, 8, 7));
  } else {
    instr.opSel = field(first, 11, 4);
  }
  if (info.flags & opCarryIn) {
    instr.src[2] = source(field(second, 18, 9), ValueType::Mask);
  }
  if (info.flags & opAccumulates) {
    instr.src[2] = vgpr(vdst, info.dst);
  }
  // Some operations keep immediates in these fields; modifiers to the others.
  instr.imm = abs | (neg << 3);
  instr.clamp = field(first, 15, 1);
  instr.omod = field(second, 27, 2);
}

void OperandDecoder::decodeVop3p() {
  uint32_t first = word(0), second = word(1);
  static constexpr unsigned at[3] = {0, 9, 18};
  for (unsigned i = 0; i < 3; ++i) {
    if (info.src[i] != ValueType::None) {
      instr.src[i] = source(field(second, at[i], 9), info.src[i]);
      instr.src[i].mods = field(second, 29 + i, 1) ? modNeg : 0;
    }
  }
  vectorDst(field(first, 0, 8));
  instr.opSel = field(first, 11, 3);
  instr.opSelHi = field(second, 27, 2) | (field(first, 14, 1) << 2);
  instr.negHi = field(first, 8, 3);
  instr.clamp = field(first, 15, 1);
}

void OperandDecoder::decodeMfma() {
  // Scaled forms are two instructions in one: the scales come first.
  unsigned start = 0;
  if (words.size() == 4) {
    uint32_t selects = word(0), scales = word(1);
    instr.scale[0] = source(field(scales, 0, 9), ValueType::I32);
    instr.scale[1] = source(field(scales, 9, 9), ValueType::I32);
    unsigned lowBits = field(selects, 11, 2), highBits = field(scales, 27, 2);
    instr.opSel = (lowBits & 1) | (highBits & 1) << 1 | (lowBits & 2) << 1 |
                  (highBits & 2) << 2;
    instr.negHi = field(scales, 29, 3);
    instr.opSelHi = field(selects, 8, 3); // absolute values
    start = 2;
  }
  uint32_t first = word(start), second = word(start + 1);
  unsigned acc = field(second, 27, 2);
  bool accCd = field(first, 15, 1);
  auto matrixSource = [&](unsigned code, ValueType type, bool inAgpr) {
    return code >= 256 ? vgpr(code - 256 + (inAgpr ? rowAgpr : 0), type)
                       : source(code, type);
  };
  // The formats decide how many registers an operand takes.
  ValueType types[2] = {info.src[0], info.src[1]};
  if (info.flags & opSmallFormats) {
    static constexpr ValueType byFormat[8] = {
        ValueType::B256, ValueType::B256, ValueType::B192, ValueType::B192,
        ValueType::B128, ValueType::B256, ValueType::B256, ValueType::B256};
    types[0] = byFormat[field(first, 8, 3)];
    types[1] = byFormat[field(second, 29, 3)];
  }
  instr.src[0] = matrixSource(field(second, 0, 9), types[0], acc & 1);
  if (info.src[1] != ValueType::None) {
    instr.src[1] = matrixSource(field(second, 9, 9), types[1], acc & 2);
  }
  if (info.src[2] != ValueType::None) {
    instr.src[2] = matrixSource(field(second, 18, 9), info.src[2],
                                accCd && !(info.flags & opSparse));
  }
  vectorDst(field(first, 0, 8) + (accCd ? rowAgpr : 0));
  instr.cbsz = field(first, 8, 3);
  instr.abid = field(first, 11, 4);
  instr.blgp = field(second, 29, 3);
}

void OperandDecoder::decodeSop() {
  uint32_t first = word(0);
  auto operand = [&](unsigned low, ValueType type) {
    return type == ValueType::None ? Operand{}
                                   : source(field(first, low, 8), type);
  };
  instr.imm = SignExtend32<16>(field(first, 0, 16));
  switch (instr.encoding) {
  case Encoding::Sop1:
    instr.src[0] = operand(0, info.src[0]);
    scalarDst(field(first, 16, 7));
    break;
  case Encoding::Sop2:
    instr.src[0] = operand(0, info.src[0]);
    instr.src[1] = operand(8, info.src[1]);
    scalarDst(field(first, 16, 7));
    break;
  case Encoding::Sopc:
    instr.src[0] = operand(0, info.src[0]);
    instr.src[1] = operand(8, info.src[1]);
    break;
  case Encoding::Sopk:
    scalarDst(field(first, 16, 7));
    footprint.addScalars(instr.dst, registersOf(info.src[0]));
    instr.imm1 = word(1);
    break;
  default:
    break;
  }
  if (info.flags & opBranch) {
    // Bytes from this instruction; Program::finish makes it a record index.
    instr.target = instr.address + 4 + uint32_t(instr.imm) * 4;
  }
}

void OperandDecoder::decodeSmem() {
  uint32_t first = word(0), second = word(1);
  instr.sbase = aligned(field(first, 0, 6) * 2, info.src[0]);
  // The base of a plain load is an address, of a buffer load a resource.
  footprint.addScalars(instr.sbase, registersOf(info.src[0]));
  unsigned sdata = field(first, 6, 7);
  if (info.flags & opStores) {
    instr.data = aligned(sdata, info.src[1]);
    instr.dwords = registersOf(info.src[1]);
    footprint.addScalars(instr.data, instr.dwords);
    instr.returns = (info.flags & opAtomic) && field(first, 16, 1);
  } else {
    scalarDst(sdata);
    instr.dwords = registersOf(info.dst);
  }
  if (info.src[0] == ValueType::None) {
    return; // s_memtime, cache control
  }
  instr.cachePolicy = field(first, 16, 1);
  bool immediate = field(first, 17, 1), registerOffset = field(first, 14, 1);
  if (immediate) {
    instr.imm = SignExtend32<21>(field(second, 0, 21));
  }
  if (registerOffset || !immediate) {
    unsigned reg = registerOffset ? field(second, 25, 7) : field(second, 0, 7);
    instr.src[0] = source(reg, ValueType::I32);
    instr.saddrUsed = true;
  }
}

/// Data registers of a memory instruction.
void OperandDecoder::memoryData(unsigned vdst, unsigned data, unsigned data1,
                                bool acc) {
  unsigned offset = acc ? rowAgpr : 0;
  if (info.src[0] != ValueType::None) {
    instr.data = data + offset;
    footprint.addRows(instr.data, registersOf(info.src[0]));
  }
  if (info.src[1] != ValueType::None) {
    instr.data1 = data1 + offset;
    footprint.addRows(instr.data1, registersOf(info.src[1]));
  }
  if (info.dst != ValueType::None) {
    instr.dst = vdst + offset;
    instr.dwords = registersOf(info.dst);
  } else {
    instr.dwords = registersOf(info.src[0]);
  }
}

void OperandDecoder::decodeDs() {
  uint32_t first = word(0), second = word(1);
  if (info.flags & opTwoAddress) {
    instr.imm = field(first, 0, 8) * info.param;
    instr.imm1 = field(first, 8, 8) * info.param;
  } else {
    instr.imm = field(first, 0, 16);
  }
  if (!(info.flags & opNoAddress)) {
    instr.addr = field(second, 0, 8);
    footprint.addRows(instr.addr, 1);
  }
  memoryData(field(second, 24, 8), field(second, 8, 8), field(second, 16, 8),
             field(first, 25, 1));
  // LDS results follow one another, but the compiler always waits here.
  footprint.addRows(instr.dst, registersOf(info.dst));
}

void OperandDecoder::decodeFlat() {
  uint32_t first = word(0), second = word(1);
  unsigned segment = field(first, 14, 2);
  unsigned saddr = field(second, 16, 7);
  // FLAT itself has an unsigned offset of twelve bits.
  instr.imm = segment == 0 ? int32_t(field(first, 0, 12))
                           : SignExtend32<13>(field(first, 0, 13));
  instr.saddrUsed = segment != 0 && saddr != 0x7F;
  if (segment != 1) { // a pair but for scratch
    saddr = aligned(saddr, ValueType::I64);
  }
  instr.sbase = saddr;
  instr.addr = field(second, 0, 8);
  instr.cachePolicy = field(first, 16, 1) | (field(first, 17, 1) << 1) |
                      (field(first, 25, 1) << 2);
  bool isScratch = segment == 1;
  instr.addrUsed = !isScratch || field(first, 13, 1);
  if (instr.saddrUsed) {
    footprint.addScalars(saddr, isScratch ? 1 : 2);
  }
  if (instr.addrUsed) {
    footprint.addRows(instr.addr, isScratch || instr.saddrUsed ? 1 : 2);
  }
  memoryData(field(second, 24, 8), field(second, 8, 8), 0,
             field(second, 23, 1));
  if (info.flags & opAtomic) {
    instr.returns = instr.cachePolicy & 1;
  }
}

void OperandDecoder::decodeMubuf() {
  uint32_t first = word(0), second = word(1);
  instr.imm = field(first, 0, 12);
  instr.addrUsed = field(first, 12, 1);
  instr.indexUsed = field(first, 13, 1);
  instr.cachePolicy = field(first, 14, 1) | (field(first, 17, 1) << 1) |
                      (field(first, 15, 1) << 2);
  instr.addr = field(second, 0, 8);
  footprint.addRows(instr.addr, instr.addrUsed + instr.indexUsed);
  instr.sbase = field(second, 16, 5) * 4;
  if (!info.flags) {
    return; // cache control
  }
  footprint.addScalars(instr.sbase, 4);
  instr.src[0] = source(field(second, 24, 8), ValueType::I32);
  unsigned data = field(second, 8, 8);
  memoryData(data, data, 0, field(second, 23, 1));
  if (info.flags & opAtomic) {
    instr.returns = instr.cachePolicy & 1;
  }
}

void OperandDecoder::decode() {
  switch (instr.encoding) {
  case Encoding::Vop1:
  case Encoding::Vop2:
  case Encoding::Vopc:
    return decodeVop12();
  case Encoding::Vop3:
    return decodeVop3();
  case Encoding::Vop3p:
    return decodeVop3p();
  case Encoding::Mfma:
    return decodeMfma();
  case Encoding::Sop1:
  case Encoding::Sop2:
  case Encoding::Sopk:
  case Encoding::Sopc:
  case Encoding::Sopp:
    return decodeSop();
  case Encoding::Smem:
    return decodeSmem();
  case Encoding::Ds:
    return decodeDs();
  case Encoding::Flat:
    return decodeFlat();
  case Encoding::Mubuf:
    return decodeMubuf();
  case Encoding::Unknown:
    return unsupported();
  }
}

/// The table entry of an instruction. Buffer loads into LDS share the mnemonic
/// of the plain ones, so they are entered under a name of their own.
static const OpcodeInfo *entryOf(StringRef mnemonic, Encoding encoding,
                                 uint32_t word) {
  if (encoding == Encoding::Mubuf && (word >> 16) & 1 &&
      mnemonic.starts_with("buffer_load")) {
    return findOpcode((mnemonic + "_lds").str());
  }
  return findOpcode(mnemonic);
}

void decodeInstruction(StringRef mnemonic, ArrayRef<uint32_t> words,
                       Instr &instr, Footprint &footprint) {
  instr.exec = execUnimplemented;
  instr.encoding = encodingOf(words[0]);
  if (instr.encoding == Encoding::Vop3p &&
      (mnemonic.starts_with("v_mfma") || mnemonic.starts_with("v_smfmac"))) {
    instr.encoding = Encoding::Mfma;
  }
  instr.instructionClass = classify(mnemonic);
  if (const OpcodeInfo *info = entryOf(mnemonic, instr.encoding, words[0])) {
    instr.exec = info->handler;
    OperandDecoder(*info, words, instr, footprint).decode();
  }
}

} // namespace tenon::sim
