//===- Operands.cpp - the data of a run -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "RowsSource.h"
#include "StridedSource.h"

#include "tenon/Run/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <memory>
#include <unistd.h>

using namespace tenon;
using namespace tenon::run;
using llvm::StringRef;
using reference::ElementType;

char InputError::ID = 0;

static llvm::Error inputError(const llvm::Twine &message) {
  return llvm::make_error<InputError>(message.str());
}

//===----------------------------------------------------------------------===//
// Contents from lists and files
//===----------------------------------------------------------------------===//

/// The codes of an array in the element type of an operand.
static llvm::Expected<std::vector<uint8_t>>
convertCodes(StringRef operand, ElementType type, const NpyArray &array) {
  auto mismatch = [&](StringRef expected) {
    return inputError(operand + ": expected " + expected + " for a " +
                      reference::name(type) + " operand, found " +
                      name(array.type()));
  };
  llvm::ArrayRef<uint8_t> data = array.data();
  std::vector<uint8_t> same(data.begin(), data.end());
  switch (type) {
  case ElementType::F32:
    if (array.type() != NpyType::Float32) {
      return mismatch("float32");
    }
    return same;
  case ElementType::I32:
    if (array.type() != NpyType::Int32) {
      return mismatch("int32");
    }
    return same;
  case ElementType::I64:
    if (array.type() != NpyType::Int64) {
      return mismatch("int64");
    }
    return same;
  case ElementType::BF16:
  case ElementType::F16: {
    if (array.type() == NpyType::Int16 || array.type() == NpyType::UInt16) {
      return same;
    }
    if (array.type() != NpyType::Float32) {
      return mismatch("float32, or int16 or uint16 (raw bits)");
    }
    std::vector<uint8_t> codes(data.size() / 2);
    for (size_t index = 0; index < data.size() / 4; ++index) {
      float value = 0.0F;
      std::memcpy(&value, data.data() + 4 * index, 4);
      auto code = static_cast<uint16_t>(reference::encode(type, value));
      std::memcpy(codes.data() + 2 * index, &code, 2);
    }
    return codes;
  }
  default:
    if (array.type() != NpyType::UInt8) {
      return mismatch("uint8 (raw codes)");
    }
    return same;
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Checks that every name of \p table is an operand; \p what says where it came
/// from.
template <typename Table>
static llvm::Error checkNames(const Table &table, StringRef what,
                              const runtime::Plan &plan) {
  for (const auto &[key, value] : table) {
    bool known =
        llvm::any_of(plan.operands, [&, &name = key](const auto &operand) {
          return operand.name == name;
        });
    if (!known) {
      std::string names = llvm::join(
          llvm::map_range(plan.operands,
                          [](const auto &operand) { return operand.name; }),
          ", ");
      return inputError(what + " " + key + ": the op has no operand '" + key +
                        "'; there are: " + names);
    }
  }
  return llvm::Error::success();
}

static llvm::Error checkDims(const RunOptions &options,
                             const runtime::Plan &plan) {
  for (const auto &[symbol, size] : options.dims) {
    std::vector<std::string> known;
    for (const runtime::PlanOperand &operand : plan.operands) {
      for (const runtime::OperandDim &dim : operand.dims) {
        if (!dim.symbol.empty() && !llvm::is_contained(known, dim.symbol)) {
          known.push_back(dim.symbol);
        }
      }
    }
    if (!llvm::is_contained(known, symbol)) {
      return inputError("--dim " + symbol +
                        ": the op has no such size; there "
                        "are: " +
                        llvm::join(known, ", "));
    }
    if (size < 0) {
      return inputError("--dim " + symbol + ": expected 0 or more, found " +
                        llvm::Twine(size));
    }
  }
  return llvm::Error::success();
}

static llvm::Error checkScalars(const RunOptions &options,
                                const runtime::Plan &plan) {
  for (const auto &[name, value] : options.scalars) {
    if (plan.scalars.empty()) {
      return inputError("--arg " + name + ": the op has no scalars");
    }
    if (!llvm::is_contained(plan.scalars, name)) {
      return inputError("--arg " + name +
                        ": the op has no such scalar; there are: " +
                        llvm::join(plan.scalars, ", "));
    }
  }
  return llvm::Error::success();
}

/// Elements that a byte of a file holds: two of a 4-bit type.
static unsigned elementsPerByte(StringRef elementType) {
  auto type = reference::parseElementType(elementType);
  return type && reference::bitWidth(*type) == 4 ? 2 : 1;
}

/// Sizes that input files imply, for those that are not given.
static llvm::Error inferDims(const runtime::Plan &plan,
                             const std::map<std::string, NpyArray> &files,
                             Dims &dims) {
  for (const runtime::PlanOperand &operand : plan.operands) {
    auto file = files.find(operand.name);
    if (file == files.end()) {
      continue;
    }
    llvm::ArrayRef<int64_t> shape = file->second.shape();
    if (shape.size() != operand.dims.size()) {
      return inputError(operand.name + ": expected " +
                        llvm::Twine(operand.dims.size()) +
                        " dimensions, found " + reference::shapeText(shape));
    }
    unsigned inner = elementsPerByte(operand.elementType);
    for (auto [index, dim] : llvm::enumerate(operand.dims)) {
      if (!dim.symbol.empty()) {
        bool isInner = index + 1 == operand.dims.size();
        dims.try_emplace(dim.symbol, shape[index] * (isInner ? inner : 1));
      }
    }
  }
  return llvm::Error::success();
}

/// Sizes that lists imply: those of operands of one dimension.
static void inferDims(const runtime::Plan &plan, const Lists &lists,
                      Dims &dims) {
  for (const runtime::PlanOperand &operand : plan.operands) {
    auto list = lists.find(operand.name);
    if (list != lists.end() && operand.dims.size() == 1 &&
        !operand.dims[0].symbol.empty()) {
      dims.try_emplace(operand.dims[0].symbol, int64_t(list->second.size()));
    }
  }
}

/// Reads the input files.
static llvm::Expected<std::map<std::string, NpyArray>>
readFiles(const RunOptions &options) {
  std::map<std::string, NpyArray> files;
  for (const auto &[name, path] : options.inputs) {
    llvm::Expected<NpyArray> array = readNpy(path);
    if (!array) {
      return inputError(name + ": " + llvm::toString(array.takeError()));
    }
    files.emplace(name, std::move(*array));
  }
  return files;
}

/// View and strides of an operand that has no contents yet.
static llvm::Expected<Operand> describe(const runtime::PlanOperand &description,
                                        const RunOptions &options,
                                        const Dims &dims) {
  Operand operand;
  operand.name = description.name;
  operand.access = description.access;
  auto type = reference::parseElementType(description.elementType);
  if (!type) {
    return llvm::createStringError("operand " + description.name +
                                   " has the unknown element type " +
                                   description.elementType);
  }
  operand.view.type = *type;
  for (const runtime::OperandDim &dim : description.dims) {
    operand.view.shape.push_back(dim.symbol.empty() ? dim.size
                                                    : dims.at(dim.symbol));
  }
  operand.view.strides = reference::denseStrides(operand.view.shape);
  auto given = options.strides.find(operand.name);
  if (given != options.strides.end()) {
    if (llvm::Error error =
            applyStrides(operand.name, operand.view, given->second)) {
      return std::move(error);
    }
    operand.hasInnerStrides = given->second.size() > 1;
  }
  if (reference::bitWidth(*type) == 4 &&
      (operand.view.shape.back() % 2 != 0 ||
       (operand.view.shape.size() > 1 && operand.view.strides[0] % 2 != 0))) {
    return inputError(operand.name + ": rows of " + reference::name(*type) +
                      " must be whole bytes; a row of " +
                      llvm::Twine(operand.view.shape.back()) +
                      " elements and a stride of " +
                      llvm::Twine(operand.view.strides[0]) + " are not");
  }
  // Sizes times strides must stay in 64 bits.
  uint64_t rows = operand.view.shape.empty() ? 1 : operand.view.shape[0];
  uint64_t stride0 = operand.view.shape.empty() ? 1 : operand.view.strides[0];
  bool overflow = false;
  uint64_t elements = llvm::SaturatingMultiply(rows, stride0, &overflow);
  if (overflow || elements > (uint64_t(1) << 47)) {
    return inputError(operand.name + " is larger than the address space");
  }
  return operand;
}

/// Elements of the dimensions behind the first \p outer, without gaps.
static uint64_t elementsBehind(const Operand &operand, unsigned outer) {
  uint64_t elements = 1;
  for (int64_t size : llvm::drop_begin(operand.view.shape, outer)) {
    elements *= size;
  }
  return std::max<uint64_t>(elements, 1);
}

/// Elements of one outermost row without gaps.
static uint64_t rowElements(const Operand &operand) {
  return operand.view.shape.empty() ? 1 : elementsBehind(operand, 1);
}

/// The distance of outermost rows in what sources are made with: dense where
/// StridedSource adds the gaps.
static uint64_t rowStride(const Operand &operand) {
  if (operand.hasInnerStrides) {
    return rowElements(operand);
  }
  return operand.view.shape.empty()
             ? 1
             : std::max<uint64_t>(operand.view.strides[0],
                                  rowElements(operand));
}

/// Gives \p operand the contents of a file.
static llvm::Error fillFromFile(Operand &operand, const NpyArray &array) {
  llvm::SmallVector<int64_t, 4> shape = operand.view.shape;
  bool packed = reference::bitWidth(operand.view.type) == 4;
  if (packed) {
    shape.back() /= 2;
  }
  if (array.shape() != llvm::ArrayRef<int64_t>(shape)) {
    return inputError(operand.name + ": expected the shape " +
                      reference::shapeText(shape) +
                      (packed ? " (two elements per byte)" : "") + ", found " +
                      reference::shapeText(array.shape()));
  }
  auto codes = convertCodes(operand.name, operand.view.type, array);
  if (!codes) {
    return codes.takeError();
  }
  operand.source =
      std::make_unique<RowsSource>(operand.view.type, rowElements(operand),
                                   rowStride(operand), std::move(*codes));
  return llvm::Error::success();
}

/// The bytes of \p values as elements of \p operand, whose type is that of
/// integers.
template <typename Integers>
static std::vector<uint8_t> integerBytes(const Operand &operand,
                                         const Integers &values) {
  unsigned size = reference::bitWidth(operand.view.type) / 8;
  std::vector<uint8_t> bytes;
  for (int64_t value : values) {
    for (unsigned byte = 0; byte < size; ++byte) {
      bytes.push_back(uint8_t(uint64_t(value) >> (8 * byte)));
    }
  }
  return bytes;
}

/// Gives \p operand the contents of a list.
static llvm::Error fillFromList(Operand &operand,
                                llvm::ArrayRef<int64_t> values) {
  if (!reference::isInteger(operand.view.type)) {
    return inputError("--list " + operand.name + ": its elements are " +
                      reference::name(operand.view.type) + ", not integers");
  }
  int64_t elements = 1;
  for (int64_t size : operand.view.shape) {
    elements *= size;
  }
  if (elements != int64_t(values.size())) {
    return inputError("--list " + operand.name + ": expected " +
                      llvm::Twine(elements) + " integers for the shape " +
                      reference::shapeText(operand.view.shape) + ", found " +
                      llvm::Twine(values.size()));
  }
  unsigned bits = reference::bitWidth(operand.view.type);
  for (int64_t value : values) {
    if (!llvm::isIntN(bits, value)) {
      return inputError("--list " + operand.name + ": " + llvm::Twine(value) +
                        " is no " + reference::name(operand.view.type));
    }
  }
  operand.source = std::make_unique<RowsSource>(
      operand.view.type, rowElements(operand), rowStride(operand),
      integerBytes(operand, values));
  return llvm::Error::success();
}

/// Gives \p operand generated contents.
static llvm::Error generate(Operand &operand, const Harness &harness,
                            const RunOptions &options, const Dims &dims,
                            const Views &integers) {
  auto given = options.fills.find(operand.name);
  bool integer = reference::isInteger(operand.view.type);
  // What integers hold that are not written is the harness's to say.
  bool isOutput = operand.access == runtime::OperandAccess::Write;
  reference::Fill fill =
      isOutput && !integer ? reference::Fill::NaN : reference::Fill::Random;
  if (given != options.fills.end()) {
    fill = given->second;
  }
  if (integer && fill == reference::Fill::NaN) {
    return inputError("--fill " + operand.name + "=nan: an operand of type " +
                      reference::name(operand.view.type) + " has no NaN");
  }
  if (integer && fill == reference::Fill::Random) {
    auto values =
        harness.generateIntegers(operand.name, integers, dims, options.seed);
    if (!values) {
      return values.takeError();
    }
    if (!*values) {
      return inputError(operand.name + " cannot be generated: give --input " +
                        operand.name + "=FILE.npy");
    }
    operand.source = std::make_unique<RowsSource>(
        operand.view.type, rowElements(operand), rowStride(operand),
        integerBytes(operand, **values));
    return llvm::Error::success();
  }
  reference::GeneratedSource::Options generated;
  generated.seed = options.seed;
  generated.type = operand.view.type;
  generated.fill = fill;
  generated.distribution = harness.distribution(operand.name);
  generated.rowElements = rowElements(operand);
  generated.rowStride = rowStride(operand);
  if (unsigned rowDims = harness.rowDims(operand.name); rowDims > 1) {
    generated.rowElements = generated.rowStride =
        elementsBehind(operand, rowDims);
  }
  if (fill == reference::Fill::Random) {
    generated.liveRows = harness.liveRows(operand.name, integers, dims);
  }
  auto source =
      reference::GeneratedSource::create(operand.name, std::move(generated));
  if (!source) {
    return inputError(operand.name + ": " + llvm::toString(source.takeError()));
  }
  operand.source = std::move(*source);
  // Not the pools, which are larger and read once.
  constexpr uint64_t largestKept = uint64_t(1) << 31;
  uint64_t bytes = operand.view.spanBytes();
  if (operand.access == runtime::OperandAccess::Read && bytes <= largestKept) {
    operand.source =
        std::make_unique<KeptSource>(std::move(operand.source), bytes);
  }
  return llvm::Error::success();
}

namespace {
/// What lay in memory before an op that writes bytes: no zeros, which it may
/// fill up with.
class OldBytes : public reference::ByteSource {
public:
  void read(uint64_t, llvm::MutableArrayRef<uint8_t> bytes) const override {
    llvm::fill(bytes, 0xa5);
  }
};
} // namespace

llvm::Expected<Operands> Operands::create(const runtime::Plan &plan,
                                          const Harness &harness,
                                          const RunOptions &options) {
  if (llvm::Error error = checkNames(options.inputs, "--input", plan)) {
    return std::move(error);
  }
  if (llvm::Error error = checkNames(options.outputs, "--output", plan)) {
    return std::move(error);
  }
  if (llvm::Error error = checkNames(options.strides, "--stride", plan)) {
    return std::move(error);
  }
  if (llvm::Error error = checkNames(options.fills, "--fill", plan)) {
    return std::move(error);
  }
  if (llvm::Error error = checkDims(options, plan)) {
    return std::move(error);
  }
  if (llvm::Error error = checkScalars(options, plan)) {
    return std::move(error);
  }
  auto files = readFiles(options);
  if (!files) {
    return files.takeError();
  }
  Dims dims = options.dims;
  dims.insert(options.scalars.begin(), options.scalars.end());
  if (llvm::Error error = inferDims(plan, *files, dims)) {
    return std::move(error);
  }
  Lists lists = options.lists;
  if (llvm::Error error = harness.expandLists(lists, dims)) {
    return std::move(error);
  }
  if (llvm::Error error = checkNames(lists, "--list", plan)) {
    return std::move(error);
  }
  inferDims(plan, lists, dims);
  if (llvm::Error error = harness.completeDims(dims)) {
    return std::move(error);
  }
  Operands result;
  result.sizes = dims;
  for (const std::string &scalar : plan.scalars) {
    result.scalarValues.push_back(dims.at(scalar));
  }
  for (const runtime::PlanOperand &description : plan.operands) {
    auto operand = describe(description, options, dims);
    if (!operand) {
      return operand.takeError();
    }
    // Rows behind the outermost dimension have the gaps added.
    operand->hasInnerStrides |= harness.rowDims(operand->name) > 1 &&
                                options.strides.count(operand->name);
    result.operands.push_back(std::move(*operand));
  }
  // Integers first, of them those that are given: they decide which rows of the
  // pools are in use, and some of them what others may be.
  Views integers;
  enum class Turn { Given, Generated, Last, Rest };
  for (Turn turn : {Turn::Given, Turn::Generated, Turn::Last, Turn::Rest}) {
    for (Operand &operand : result.operands) {
      auto file = files->find(operand.name);
      auto list = lists.find(operand.name);
      bool isGiven = file != files->end() || list != lists.end();
      bool isInteger = reference::isInteger(operand.view.type);
      Turn own = !isInteger                              ? Turn::Rest
                 : isGiven                               ? Turn::Given
                 : harness.isGeneratedLast(operand.name) ? Turn::Last
                                                         : Turn::Generated;
      if (turn != own) {
        continue;
      }
      if ((file != files->end()) + (list != lists.end()) +
              options.fills.count(operand.name) >
          1) {
        return inputError(operand.name +
                          ": give one of --input, --list and --fill");
      }
      if (auto bytes = harness.storedBytes(operand.name, operand.view)) {
        if (file != files->end() || options.fills.count(operand.name) ||
            options.strides.count(operand.name)) {
          return inputError(operand.name +
                            ": the op reorders what it writes, which has no "
                            "strides and no contents to begin with");
        }
        operand.source = std::make_unique<OldBytes>();
        operand.view.source = operand.source.get();
        operand.stored = reference::TensorView::dense(
            ElementType::I8, {int64_t(*bytes)}, operand.source.get());
        continue;
      }
      llvm::Error error =
          file != files->end() ? fillFromFile(operand, file->second)
          : list != lists.end()
              ? fillFromList(operand, list->second)
              : generate(operand, harness, options, dims, integers);
      if (error) {
        return std::move(error);
      }
      if (operand.hasInnerStrides) {
        operand.source = std::make_unique<StridedSource>(
            operand.view, std::move(operand.source));
      }
      operand.view.source = operand.source.get();
      auto image = harness.reordered(operand.name, operand.view);
      if (!image) {
        return image.takeError();
      }
      operand.image = std::move(*image);
      if (operand.image && options.strides.count(operand.name)) {
        return inputError("--stride " + operand.name +
                          ": its elements are reordered, it has no strides");
      }
      if (isInteger) {
        integers[operand.name] = operand.view;
      }
    }
  }
  return result;
}

const Operand *Operands::find(StringRef name) const {
  auto found = llvm::find_if(
      operands, [&](const Operand &operand) { return operand.name == name; });
  return found == operands.end() ? nullptr : &*found;
}

Views Operands::views() const {
  Views views;
  for (const Operand &operand : operands) {
    views[operand.name] = operand.view;
  }
  return views;
}

llvm::Error Operands::allocate(sim::Memory &memory) {
  for (Operand &operand : operands) {
    sim::AllocOptions allocation;
    allocation.name = operand.name;
    uint64_t bytes = operand.inMemory().spanBytes();
    if (operand.image) {
      bytes = operand.image->bytes;
    }
    allocation.fill = [source = operand.image ? operand.image->source.get()
                                              : operand.source.get()](
                          uint64_t offset,
                          llvm::MutableArrayRef<uint8_t> page) {
      source->read(offset, page);
    };
    auto address = memory.allocate(bytes, allocation);
    if (!address) {
      return inputError(operand.name + ": " +
                        llvm::toString(address.takeError()));
    }
    operand.address = *address;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Bytes that this host could hold of an output: a quarter of its memory.
static uint64_t outputLimit() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         sysconf(_SC_PAGESIZE) / 4;
}

llvm::Error Operands::checkOutputs(const RunOptions &options) const {
  for (const auto &[name, path] : options.outputs) {
    const Operand *operand = find(name);
    if (operand->image) {
      return inputError("--output " + name +
                        ": its elements are reordered, there is no array of "
                        "them");
    }
    uint64_t elements = 1;
    for (int64_t size : operand->view.shape) {
      elements *= size;
    }
    uint64_t bytes = elements * 4;
    if (bytes > outputLimit()) {
      return inputError("--output " + name + ": the operand has " +
                        llvm::Twine(bytes) +
                        " bytes as float32, more than this host can hold (" +
                        llvm::Twine(outputLimit()) + ")");
    }
  }
  return llvm::Error::success();
}

/// The elements of \p operand as a .npy file holds them: row-major, 16-bit
/// floats as float32.
static llvm::Expected<std::vector<uint8_t>> readDense(sim::Memory &memory,
                                                      const Operand &operand) {
  const reference::TensorView &view = operand.view;
  uint64_t bits = reference::bitWidth(view.type);
  // Rows of the first dimension, or of the last where others have strides too.
  size_t rowDims = operand.hasInnerStrides
                       ? view.shape.size() - 1
                       : std::min<size_t>(view.shape.size(), 1);
  if (operand.hasInnerStrides && view.strides.back() != 1) {
    ++rowDims;
  }
  llvm::ArrayRef<int64_t> shape = view.shape;
  uint64_t rows = 1, rowSize = 1;
  for (int64_t size : shape.take_front(rowDims)) {
    rows *= size;
  }
  for (int64_t size : shape.drop_front(rowDims)) {
    rowSize *= size;
  }
  uint64_t rowBytes = rowSize * bits / 8;
  if (llvm::is_contained(view.shape, 0)) {
    rows = 0;
  }
  std::vector<uint8_t> dense(rows * rowBytes);
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t element = 0, rest = row;
    for (size_t dim = rowDims; dim-- > 0;) {
      element += rest % shape[dim] * view.strides[dim];
      rest /= shape[dim];
    }
    llvm::MutableArrayRef<uint8_t> target(dense.data() + row * rowBytes,
                                          rowBytes);
    if (llvm::Error error =
            memory.read(operand.address + element * bits / 8, target)) {
      return std::move(error);
    }
  }
  bool half = view.type == ElementType::BF16 || view.type == ElementType::F16;
  if (!half) {
    return dense;
  }
  std::vector<uint8_t> wide(dense.size() * 2);
  for (size_t index = 0; index < dense.size() / 2; ++index) {
    uint16_t code = 0;
    std::memcpy(&code, dense.data() + 2 * index, 2);
    auto value = static_cast<float>(reference::decode(view.type, code));
    std::memcpy(wide.data() + 4 * index, &value, 4);
  }
  return wide;
}

llvm::Error Operands::writeOutputs(sim::Memory &memory,
                                   const RunOptions &options) const {
  for (const auto &[name, path] : options.outputs) {
    const Operand *operand = find(name);
    if (operand->stored) {
      std::vector<uint8_t> bytes(operand->stored->spanBytes());
      llvm::Error error = memory.read(operand->address, bytes);
      error =
          error ? std::move(error)
                : writeNpy(path, NpyType::UInt8, operand->stored->shape, bytes);
      if (error) {
        return inputError("--output " + name + ": " +
                          llvm::toString(std::move(error)));
      }
      continue;
    }
    auto dense = readDense(memory, *operand);
    if (!dense) {
      return dense.takeError();
    }
    NpyType type = NpyType::UInt8;
    switch (operand->view.type) {
    case ElementType::F32:
    case ElementType::BF16:
    case ElementType::F16:
      type = NpyType::Float32;
      break;
    case ElementType::I32:
      type = NpyType::Int32;
      break;
    case ElementType::I64:
      type = NpyType::Int64;
      break;
    default:
      break;
    }
    llvm::SmallVector<int64_t, 4> shape = operand->view.shape;
    if (reference::bitWidth(operand->view.type) == 4) {
      shape.back() /= 2;
    }
    if (llvm::Error error = writeNpy(path, type, shape, *dense)) {
      return inputError("--output " + name + ": " +
                        llvm::toString(std::move(error)));
    }
  }
  return llvm::Error::success();
}
