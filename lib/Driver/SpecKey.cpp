//===- SpecKey.cpp - the key of the kernel that a spec describes -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Driver/SpecKey.h"

#include "dialects/Tenon/Tenon.h"
#include "tenon/Driver/OpCatalogue.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <set>

using namespace mlir;
using namespace tenon;
using namespace tenon::driver;

/// What a spec says, in parts that can be compared one by one.
using Features = std::set<std::string>;

static std::string print(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

static Features featuresOf(spec::SpecOpInterface op) {
  Features features;
  for (const spec::OperandContract &operand : op.getOperandContracts()) {
    std::string name = operand.name.str();
    auto type = dyn_cast<MemRefType>(operand.value.getType());
    if (!type) {
      features.insert(name);
      continue;
    }
    std::string element;
    llvm::raw_string_ostream(element) << type.getElementType();
    features.insert(name + " of " + element);
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      features.insert(name + "[" + std::to_string(dim) +
                      "] = " + std::to_string(size));
    }
    // Strides come with the call; an order of elements is part of the kernel.
    MemRefLayoutAttrInterface layout = type.getLayout();
    if (!isa<AffineMapAttr, StridedLayoutAttr>(layout)) {
      features.insert(name + " in " + print(layout));
    }
  }
  for (const spec::HostRange &range : op.getHostRanges()) {
    features.insert(range.begin.str());
  }
  for (const spec::HostScalar &scalar : op.getHostScalars()) {
    features.insert(scalar.name.str());
  }
  runtime::Result<const runtime::OpEntry *> entry =
      runtime::findOp(op->getName().stripDialect());
  for (NamedAttribute attr : op->getAttrs()) {
    // What schedules are ranked for may be left out when it is the default.
    auto integer = dyn_cast<IntegerAttr>(attr.getValue());
    bool isDefaultBucket =
        integer && entry &&
        llvm::any_of(
            (*entry)->parameters, [&](const runtime::OpParameter &parameter) {
              return !parameter.bucketOf.empty() &&
                     StringRef(parameter.name) == attr.getName().strref() &&
                     parameter.defaultValue == std::to_string(integer.getInt());
            });
    if (attr.getName() != "schedules" &&
        attr.getName() != "operandSegmentSizes" && !isDefaultBucket) {
      features.insert(attr.getName().str() + " = " + print(attr.getValue()));
    }
  }
  return features;
}

static FailureOr<spec::SpecOpInterface> findSpec(ModuleOp module) {
  SmallVector<spec::SpecOpInterface> ops;
  module.walk([&](spec::SpecOpInterface op) { ops.push_back(op); });
  if (ops.size() != 1) {
    return failure();
  }
  return ops.front();
}

/// What the spec of \p settings says; none for settings that give no valid one.
static std::optional<Features> featuresOf(StringRef op,
                                          const runtime::Settings &settings,
                                          MLIRContext *context) {
  auto text = specText(op, settings);
  if (!text) {
    llvm::consumeError(text.takeError());
    return std::nullopt;
  }
  ScopedDiagnosticHandler silence(context,
                                  [](Diagnostic &) { return success(); });
  auto module = parseSourceString<ModuleOp>(*text, ParserConfig(context));
  if (!module) {
    return std::nullopt;
  }
  FailureOr<spec::SpecOpInterface> found = findSpec(*module);
  return failed(found) ? std::nullopt : std::optional(featuresOf(*found));
}

/// How many parts \p features get wrong.
static size_t distance(const Features &wanted, const Features &features) {
  size_t different = 0;
  for (const std::string &feature : wanted) {
    different += !features.count(feature);
  }
  for (const std::string &feature : features) {
    different += !wanted.count(feature);
  }
  return different;
}

/// The values that are worth trying for a parameter: its choices, or the
/// numbers that the spec names, and twice those (a parameter may count what an
/// epilogue halves).
static std::vector<std::string>
candidates(const runtime::OpParameter &parameter, spec::SpecOpInterface op) {
  std::vector<std::string> values;
  if (!parameter.choices.empty()) {
    values.assign(parameter.choices.begin(), parameter.choices.end());
    return values;
  }
  std::set<int64_t> integers;
  for (const spec::OperandContract &operand : op.getOperandContracts()) {
    if (auto type = dyn_cast<MemRefType>(operand.value.getType())) {
      for (int64_t size : type.getShape()) {
        if (!ShapedType::isDynamic(size)) {
          integers.insert({size, 2 * size});
        }
      }
    }
  }
  for (NamedAttribute attr : op->getAttrs()) {
    if (auto integer = dyn_cast<IntegerAttr>(attr.getValue())) {
      integers.insert(integer.getInt());
    } else if (auto number = dyn_cast<FloatAttr>(attr.getValue())) {
      SmallString<32> text;
      number.getValue().toString(text);
      values.push_back(text.str().lower());
    }
  }
  for (int64_t integer : integers) {
    values.push_back(std::to_string(integer));
  }
  if (parameter.defaultValue == "?") {
    values.push_back("?");
  }
  return values;
}

std::string driver::specOpName(ModuleOp module) {
  FailureOr<spec::SpecOpInterface> op = findSpec(module);
  return failed(op) ? "" : (*op)->getName().stripDialect().str();
}

llvm::Expected<runtime::Settings> driver::specSettings(ModuleOp module) {
  FailureOr<spec::SpecOpInterface> op = findSpec(module);
  if (failed(op)) {
    return llvm::createStringError("a spec file holds one tenon op");
  }
  StringRef name = (*op)->getName().stripDialect();
  auto entry = runtime::findOp(name);
  if (!entry) {
    return llvm::createStringError(entry.error().message);
  }
  Features wanted = featuresOf(*op);
  MLIRContext *context = module.getContext();
  auto complete = runtime::completeSettings(**entry, {});
  auto settings = std::get<runtime::Settings>(complete);
  std::optional<Features> current = featuresOf(name, settings, context);
  std::optional<size_t> best;
  if (current) {
    best = distance(wanted, *current);
  }
  /// Calls \p visit with every change of one parameter, and with what it makes
  /// of the spec, until it says that this is enough.
  using Visit = llvm::function_ref<bool(const runtime::Settings &,
                                        const Features &, size_t)>;
  auto forEachChange = [&](const runtime::Settings &from, Visit visit) {
    for (auto [index, parameter] : llvm::enumerate((*entry)->parameters)) {
      for (const std::string &value : candidates(parameter, *op)) {
        runtime::Settings tried = from;
        tried[index].second = value;
        auto features = featuresOf(name, tried, context);
        if (features && visit(tried, *features, distance(wanted, *features))) {
          return true;
        }
      }
    }
    return false;
  };
  auto takesBetter = [&](const runtime::Settings &tried,
                         const Features &features, size_t reached) {
    if (best && reached >= *best) {
      return false;
    }
    best = reached;
    settings = tried;
    current = features;
    return true;
  };
  while (best != 0u) {
    // One parameter at a time, the first value that helps most.
    std::optional<size_t> before = best;
    forEachChange(settings, [&](const runtime::Settings &tried,
                                const Features &features, size_t reached) {
      takesBetter(tried, features, reached);
      return false;
    });
    if (best != before) {
      continue;
    }
    // Then two, of which the first one alone wins as much as it loses: an
    // operand is there, but of another size.
    bool found =
        forEachChange(settings, [&](const runtime::Settings &tried,
                                    const Features &features, size_t reached) {
          return best && reached == *best && features != *current &&
                 forEachChange(tried, takesBetter);
        });
    if (!found) {
      break;
    }
  }
  if (best != 0u) {
    return llvm::createStringError(
        "no settings of tenon." + name.str() +
        " stand for this spec, so nothing could find its kernel: describe it "
        "with --op and --set instead (`tenon ops " +
        name.str() + "` lists them)");
  }
  return settings;
}
