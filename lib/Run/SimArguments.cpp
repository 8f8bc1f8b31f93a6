//===- SimArguments.cpp - kernel arguments in text --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimArguments.h"

#include "tenon/Run/Run.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tenon;
using namespace tenon::run;

/// Bytes of a buffer that may be asked for: the simulated address space.
static constexpr uint64_t largestBuffer = uint64_t(1) << 44;

static llvm::Error badArgument(const llvm::Twine &message) {
  return llvm::make_error<InputError>(message.str());
}

/// The low \p bytes of \p value.
static std::vector<uint8_t> littleEndian(uint64_t value, unsigned bytes) {
  std::vector<uint8_t> result(bytes);
  for (unsigned i = 0; i < bytes; ++i) {
    result[i] = uint8_t(value >> (8 * i));
  }
  return result;
}

static llvm::Expected<std::vector<uint8_t>> parseInteger(llvm::StringRef text,
                                                         unsigned bits) {
  llvm::APInt value; // as wide as the text needs
  llvm::StringRef digits = text;
  bool isNegative = digits.consume_front("-");
  if (digits.getAsInteger(0, value)) {
    return badArgument("'" + text + "' is no integer; expected i" +
                       llvm::Twine(bits) +
                       ":NUMBER, decimal or hexadecimal (0x10)");
  }
  unsigned needed = value.getActiveBits();
  bool isLowest = isNegative && needed == bits && value.isPowerOf2();
  if (needed > bits || (isNegative && needed == bits && !isLowest)) {
    return badArgument("'" + text + "' does not fit into " + llvm::Twine(bits) +
                       " bits, signed or unsigned");
  }
  uint64_t magnitude = value.zextOrTrunc(64).getZExtValue();
  return littleEndian(isNegative ? -magnitude : magnitude, bits / 8);
}

static llvm::Expected<std::vector<uint8_t>> parseFloat(llvm::StringRef text,
                                                       unsigned bits) {
  double value = 0;
  std::string copy = text.str();
  char *end = nullptr;
  value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0') {
    return badArgument("'" + text + "' is no number; expected f" +
                       llvm::Twine(bits) + ":NUMBER");
  }
  double largest = bits == 32 ? double(std::numeric_limits<float>::max())
                              : std::numeric_limits<double>::max();
  bool isInfinity = text.ltrim("+-").starts_with_insensitive("inf");
  if (std::fabs(value) > largest && !isInfinity) {
    return badArgument("'" + text + "' is beyond the range of f" +
                       llvm::Twine(bits) + "; an infinity is written 'inf'");
  }
  if (bits == 32) {
    float single = float(value);
    uint32_t code = 0;
    std::memcpy(&code, &single, 4);
    return littleEndian(code, 4);
  }
  uint64_t code = 0;
  std::memcpy(&code, &value, 8);
  return littleEndian(code, 8);
}

/// Fills a page by the offset of each of its 8-byte words.
static void fillRandom(uint64_t offset, llvm::MutableArrayRef<uint8_t> page) {
  for (size_t i = 0; i < page.size(); i += 8) {
    uint64_t hash = (offset + i + 1) * 0x9E3779B97F4A7C15; // splitmix64
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
    hash ^= hash >> 31;
    std::memcpy(&page[i], &hash, std::min<size_t>(8, page.size() - i));
  }
}

llvm::Expected<uint64_t> SimArguments::makeBuffer(llvm::StringRef text,
                                                  sim::Memory &memory) {
  auto [size, rest] = text.split(':');
  uint64_t bytes = 0;
  if (size.getAsInteger(0, bytes) || bytes > largestBuffer) {
    return badArgument("'" + size +
                       "' is no number of bytes; expected buf:BYTES, such as "
                       "buf:4096");
  }
  sim::AllocOptions options;
  options.name = ("buf:" + text).str();
  std::string path;
  while (!rest.empty()) {
    if (rest.consume_front("out=")) {
      path = rest.str(); // a path may hold colons
      if (path.empty()) {
        return badArgument("out= names no file");
      }
      break;
    }
    llvm::StringRef option;
    std::tie(option, rest) = rest.split(':');
    if (option == "fill=random") {
      options.fill = fillRandom;
    } else if (option == "fill=nan") {
      options.fill = [](uint64_t, llvm::MutableArrayRef<uint8_t> page) {
        std::fill(page.begin(), page.end(), 0xFF);
      };
    } else if (option == "fill=undef") {
      options.undefined = true;
    } else if (option != "fill=zero") {
      return badArgument("'" + option +
                         "': expected fill=zero, random, nan or undef, or "
                         "out=FILE.npy");
    }
  }
  auto address = memory.allocate(bytes, options);
  if (address && !path.empty()) {
    outputs.push_back(
        {*address, bytes, path, NpyType::UInt8, {int64_t(bytes)}});
  }
  return address;
}

llvm::Expected<uint64_t> SimArguments::loadArray(llvm::StringRef text,
                                                 sim::Memory &memory) {
  auto [path, out] = text.rsplit(":out=");
  if (path.empty() || (out.empty() && text.contains(":out="))) {
    return badArgument((path.empty() ? "npy:" : "out=") +
                       llvm::Twine(" names no file"));
  }
  auto array = readNpy(path);
  if (!array) {
    return badArgument(llvm::toString(array.takeError()));
  }
  sim::AllocOptions options;
  options.name = path.str();
  auto address = memory.allocate(array->data().size(), options);
  if (!address) {
    return address;
  }
  if (llvm::Error error = memory.write(*address, array->data())) {
    return std::move(error);
  }
  if (!out.empty()) {
    outputs.push_back({*address, array->data().size(), out.str(), array->type(),
                       llvm::SmallVector<int64_t, 4>(array->shape())});
  }
  return address;
}

llvm::Expected<uint64_t> SimArguments::makeTable(llvm::StringRef text,
                                                 sim::Memory &memory) {
  std::vector<uint8_t> table;
  for (llvm::StringRef entry : llvm::split(text, ',')) {
    if (entry.starts_with("table:")) {
      return badArgument("a table has no tables in it");
    }
    auto bytes = parseValue(entry, memory);
    if (!bytes) {
      return bytes.takeError();
    }
    table.insert(table.end(), bytes->begin(), bytes->end());
  }
  sim::AllocOptions options;
  options.name = ("table:" + text).str();
  auto address = memory.allocate(table.size(), options);
  if (!address) {
    return address;
  }
  if (llvm::Error error = memory.write(*address, table)) {
    return std::move(error);
  }
  return address;
}

llvm::Expected<std::vector<uint8_t>>
SimArguments::parseValue(llvm::StringRef text, sim::Memory &memory) {
  if (text == "null") {
    return littleEndian(0, 8);
  }
  auto [kind, value] = text.split(':');
  for (unsigned bits : {8, 16, 32, 64}) {
    if (kind == "i" + std::to_string(bits)) {
      return parseInteger(value, bits);
    }
    if (bits >= 32 && kind == "f" + std::to_string(bits)) {
      return parseFloat(value, bits);
    }
  }
  if (kind == "buf" || kind == "npy" || kind == "table") {
    auto address = kind == "buf"   ? makeBuffer(value, memory)
                   : kind == "npy" ? loadArray(value, memory)
                                   : makeTable(value, memory);
    if (!address) {
      return address.takeError();
    }
    return littleEndian(*address, 8);
  }
  return badArgument(
      "'" + text +
      "': expected i8, i16, i32, i64, f32 or f64 with ':NUMBER', "
      "null, buf:BYTES, npy:FILE or table:VALUE,VALUE,...");
}

/// The arguments that a launch has to give. Without metadata there are as many
/// as fit into the segment, each as the text says.
static std::vector<sim::KernelArg>
explicitArguments(const sim::KernelInfo &kernel) {
  std::vector<sim::KernelArg> result;
  llvm::copy_if(kernel.args, std::back_inserter(result),
                [](const sim::KernelArg &arg) { return !arg.isHidden(); });
  return result;
}

/// ": a, b" for a message; nothing when the metadata have no names.
static std::string namesOf(llvm::ArrayRef<sim::KernelArg> arguments) {
  std::string names;
  for (const sim::KernelArg &arg : arguments) {
    if (!arg.name.empty()) {
      names += (names.empty() ? ": " : ", ") + arg.name;
    }
  }
  return names;
}

llvm::Expected<SimArguments>
SimArguments::create(const sim::KernelInfo &kernel,
                     llvm::ArrayRef<std::string> texts, sim::Memory &memory) {
  std::vector<sim::KernelArg> known = explicitArguments(kernel);
  bool described = !kernel.args.empty();
  SimArguments result;
  for (const sim::KernelArg &arg : known) {
    if (arg.offset + arg.size > (uint64_t(1) << 20)) {
      return badArgument("the metadata place argument '" + arg.name +
                         "' beyond any kernarg segment");
    }
    result.segment.resize(
        std::max<uint64_t>(result.segment.size(), arg.offset + arg.size));
  }
  std::vector<bool> given(known.size());
  size_t position = 0;
  uint64_t end = 0; // of what was placed without metadata
  for (llvm::StringRef text : texts) {
    auto [name, value] = text.split('=');
    bool isNamed = text.contains('=') && !name.contains(':');
    size_t index = position;
    if (isNamed) {
      auto hasName = [name = name](const sim::KernelArg &arg) {
        return arg.name == name;
      };
      if (llvm::count_if(known, hasName) != 1) {
        return badArgument("--arg " + text + ": the kernel has " +
                           (llvm::any_of(known, hasName) ? "several" : "no") +
                           " arguments of the name '" + name + "'" +
                           namesOf(known));
      }
      index = size_t(llvm::find_if(known, hasName) - known.begin());
    } else {
      value = text;
      ++position;
    }
    auto bytes = result.parseValue(value, memory);
    if (!bytes) {
      return badArgument("--arg " + text + ": " +
                         llvm::toString(bytes.takeError()));
    }
    uint64_t offset = 0;
    if (described) {
      if (index >= known.size()) {
        return badArgument("--arg " + text + ": the kernel takes " +
                           llvm::Twine(known.size()) + " argument" +
                           (known.size() == 1 ? "" : "s") + namesOf(known));
      }
      if (given[index]) {
        return badArgument("--arg " + text + ": argument " +
                           llvm::Twine(index) + " is given twice");
      }
      given[index] = true;
      if (bytes->size() != known[index].size) {
        return badArgument("--arg " + text + ": the argument" +
                           (known[index].name.empty()
                                ? std::string()
                                : " '" + known[index].name + "'") +
                           " takes " + llvm::Twine(known[index].size) +
                           " bytes, this has " + llvm::Twine(bytes->size()));
      }
      offset = known[index].offset;
    } else {
      offset = llvm::alignTo(end, bytes->size());
      end = offset + bytes->size();
      result.segment.resize(end);
    }
    std::copy(bytes->begin(), bytes->end(), result.segment.begin() + offset);
  }
  for (auto [index, arg] : llvm::enumerate(known)) {
    if (!given[index]) {
      result.omittedArguments.push_back(
          arg.name.empty() ? "number " + std::to_string(index) : arg.name);
    }
  }
  return result;
}

llvm::Error SimArguments::writeOutputs(sim::Memory &memory) const {
  for (const Output &output : outputs) {
    std::vector<uint8_t> bytes(output.bytes);
    if (llvm::Error error = memory.read(output.address, bytes)) {
      return error;
    }
    if (llvm::Error error =
            writeNpy(output.path, output.type, output.shape, bytes)) {
      return badArgument(llvm::toString(std::move(error)));
    }
  }
  return llvm::Error::success();
}
