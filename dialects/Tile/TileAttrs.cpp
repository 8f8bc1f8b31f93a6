//===- TileAttrs.cpp - attributes of the tile dialect -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::tile;

#include "dialects/Tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tile/TileAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

static ParseResult parseInts(AsmParser &parser, SmallVectorImpl<int64_t> &out) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(out.emplace_back());
  });
}

static ParseResult parseBases(AsmParser &parser, StringRef keyword,
                              SmallVectorImpl<layout::Basis> &out) {
  if (parser.parseComma() || parser.parseKeyword(keyword) ||
      parser.parseEqual()) {
    return failure();
  }
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseInts(parser, out.emplace_back());
  });
}

/// `register 3 * 1 along 0`: three registers, one element apart along dim 0.
static ParseResult parseOuterMode(AsmParser &parser, layout::OuterMode &mode) {
  StringRef input;
  SMLoc loc = parser.getCurrentLocation();
  int64_t dim = 0;
  if (parser.parseKeyword(&input) || parser.parseInteger(mode.extent) ||
      parser.parseStar() || parser.parseInteger(mode.stride) ||
      parser.parseKeyword("along") || parser.parseInteger(dim)) {
    return failure();
  }
  if (input != "register" && input != "wave") {
    return parser.emitError(loc, "expected 'register' or 'wave', found '")
           << input << "'";
  }
  mode.input =
      input == "register" ? layout::HwDim::Register : layout::HwDim::Wave;
  mode.dim = static_cast<unsigned>(dim);
  return success();
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape;
  SmallVector<layout::Basis> registers;
  SmallVector<layout::Basis> lanes;
  SmallVector<layout::Basis> waves;
  SmallVector<layout::OuterMode> modes;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseInts(parser, shape) ||
      parseBases(parser, "register", registers) ||
      parseBases(parser, "lane", lanes) || parseBases(parser, "wave", waves)) {
    return {};
  }
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("outer") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parseOuterMode(parser, modes.emplace_back());
        })) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  auto layout = layout::Layout::create(shape, registers, lanes, waves, modes);
  if (!layout) {
    parser.emitError(loc) << llvm::toString(layout.takeError());
    return {};
  }
  return LayoutAttr::get(parser.getContext(), std::move(*layout));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  const layout::Layout &layout = getLayout();
  auto printInts = [&](ArrayRef<int64_t> values) {
    printer << "[";
    llvm::interleaveComma(values, printer);
    printer << "]";
  };
  printer << "<";
  printInts(layout.shape());
  for (auto dim :
       {layout::HwDim::Register, layout::HwDim::Lane, layout::HwDim::Wave}) {
    printer << ", " << layout::stringifyHwDim(dim) << " = [";
    llvm::interleaveComma(
        layout.bases(dim), printer,
        [&](const layout::Basis &basis) { printInts(basis); });
    printer << "]";
  }
  if (!layout.outerModes().empty()) {
    printer << ", outer = [";
    llvm::interleaveComma(
        layout.outerModes(), printer, [&](const layout::OuterMode &mode) {
          printer << layout::stringifyHwDim(mode.input) << " " << mode.extent
                  << " * " << mode.stride << " along " << mode.dim;
        });
    printer << "]";
  }
  printer << ">";
}

/// The most elements that the registers of one lane can hold: 512 of 4 bytes,
/// at 4 bits each.
static constexpr int64_t maxElementsPerLane = 4096;

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (getLayout().shape() == shape) {
    if (!fitsRegisters()) {
      return emitError() << "the layout puts more than " << maxElementsPerLane
                         << " elements in one lane";
    }
    return success();
  }
  InFlightDiagnostic diag = emitError();
  diag << "the layout is of a tile [";
  llvm::interleaveComma(getLayout().shape(), diag);
  diag << "], the tensor is [";
  llvm::interleaveComma(shape, diag);
  return diag << "]";
}

bool LayoutAttr::fitsRegisters() const {
  // One factor at a time: the product need not fit 64 bits.
  int64_t elements = 1;
  for (size_t bit = 0; bit < getLayout().bases(layout::HwDim::Register).size();
       ++bit) {
    elements = std::min(2 * elements, 2 * maxElementsPerLane);
  }
  for (const layout::OuterMode &mode : getLayout().outerModes()) {
    if (mode.input == layout::HwDim::Register) {
      elements *= std::min(mode.extent, 2 * maxElementsPerLane);
      elements = std::min(elements, 2 * maxElementsPerLane);
    }
  }
  return elements <= maxElementsPerLane;
}

//===----------------------------------------------------------------------===//
// LdsLayoutAttr
//===----------------------------------------------------------------------===//

/// `bit 1 of 0 flips 16`: bit 1 of the coordinate along dim 0.
static ParseResult parseSwizzleTerm(AsmParser &parser,
                                    layout::SwizzleTerm &term) {
  return failure(parser.parseKeyword("bit") || parser.parseInteger(term.bit) ||
                 parser.parseKeyword("of") || parser.parseInteger(term.dim) ||
                 parser.parseKeyword("flips") ||
                 parser.parseInteger(term.mask));
}

// Products of two such numbers and an element size fit 64 bits.
static constexpr int64_t maxLdsFigure = int64_t(1) << 24;

Attribute LdsLayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape;
  SmallVector<int64_t> strides;
  SmallVector<layout::SwizzleTerm> swizzle;
  layout::LdsPadding padding;
  unsigned bits = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseInts(parser, shape) ||
      parser.parseKeyword("of") || parser.parseInteger(bits) ||
      parser.parseKeyword("bits") || parser.parseComma() ||
      parser.parseKeyword("strides") || parser.parseEqual() ||
      parseInts(parser, strides)) {
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    StringRef part;
    SMLoc partLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&part) || parser.parseEqual()) {
      return {};
    }
    if (part == "swizzle" && swizzle.empty()) {
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
            return parseSwizzleTerm(parser, swizzle.emplace_back());
          })) {
        return {};
      }
    } else if (part == "padding" && padding.interval == 0) {
      if (parser.parseInteger(padding.bytes) || parser.parseKeyword("after") ||
          parser.parseInteger(padding.interval)) {
        return {};
      }
    } else {
      parser.emitError(partLoc)
          << "expected 'swizzle' or 'padding', each once, found '" << part
          << "'";
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  SmallVector<int64_t> figures = {bits, padding.interval, padding.bytes};
  figures.append(shape);
  figures.append(strides);
  for (const layout::SwizzleTerm &term : swizzle) {
    figures.push_back(term.mask);
  }
  if (llvm::any_of(figures,
                   [](int64_t figure) { return figure > maxLdsFigure; })) {
    parser.emitError(loc) << "expected numbers of at most " << maxLdsFigure;
    return {};
  }
  auto layout =
      layout::LdsLayout::create(shape, strides, bits, swizzle, padding);
  if (!layout) {
    parser.emitError(loc) << llvm::toString(layout.takeError());
    return {};
  }
  return LdsLayoutAttr::get(parser.getContext(), std::move(*layout));
}

void LdsLayoutAttr::print(AsmPrinter &printer) const {
  const layout::LdsLayout &layout = getLayout();
  printer << "<[";
  llvm::interleaveComma(layout.shape(), printer);
  printer << "] of " << layout.elementBits() << " bits, strides = [";
  llvm::interleaveComma(layout.strides(), printer);
  printer << "]";
  if (!layout.swizzle().empty()) {
    printer << ", swizzle = [";
    llvm::interleaveComma(layout.swizzle(), printer,
                          [&](const layout::SwizzleTerm &term) {
                            printer << "bit " << term.bit << " of " << term.dim
                                    << " flips " << term.mask;
                          });
    printer << "]";
  }
  if (layout.padding().interval != 0) {
    printer << ", padding = " << layout.padding().bytes << " after "
            << layout.padding().interval;
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef chip) {
  auto info = target::TargetInfo::get(chip);
  if (!info) {
    return emitError() << llvm::toString(info.takeError());
  }
  return success();
}

target::TargetInfo TargetAttr::getInfo() const {
  return llvm::cantFail(target::TargetInfo::get(getChip()));
}
