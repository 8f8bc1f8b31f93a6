//===- Check.cpp - device memory against the reference ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Check.h"

#include "llvm/ADT/STLExtras.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

using namespace tenon;
using namespace tenon::run;
using reference::Region;

/// What is reported of regions of \p operand that are measured against
/// \p against: the operand, or "operand/against".
static std::string checkName(llvm::StringRef operand, llvm::StringRef against) {
  return against.empty() ? operand.str() : (operand + "/" + against).str();
}

namespace {
/// Bytes of an operand that the reference speaks of.
struct Interval {
  uint64_t begin;
  uint64_t end;
};

/// What one thread, and then all together, found of one operand.
struct Findings {
  reference::ErrorAccumulator errors;
  uint64_t skippedGroups = 0;
  std::vector<Interval> covered;
};

/// Walks the contiguous runs of a region.
class RegionRuns {
public:
  RegionRuns(const Region &region, const reference::TensorView &view)
      : region(region), view(view),
        elementBytes(reference::bitWidth(view.type) / 8) {
    // Inner dimensions that are whole and dense belong to one run.
    runDims = view.shape.size();
    runElements = 1;
    // Rows that are named lie apart.
    unsigned outer = region.rows.empty() ? 0 : 1;
    while (runDims > outer &&
           view.strides[runDims - 1] == static_cast<int64_t>(runElements)) {
      runElements *= region.extents[runDims - 1];
      --runDims;
      if (region.extents[runDims] != view.shape[runDims]) {
        break;
      }
    }
  }

  uint64_t elementsPerRun() const { return runElements; }

  /// Calls \p visit with the byte offset of each run, in row-major order.
  void forEach(llvm::function_ref<void(uint64_t)> visit) const {
    llvm::SmallVector<int64_t, 4> index(runDims, 0);
    uint64_t first = 0;
    bool named = !region.rows.empty();
    for (unsigned dim = named ? 1 : 0; dim < view.shape.size(); ++dim) {
      first += region.offset[dim] * view.strides[dim];
    }
    for (;;) {
      uint64_t element = first;
      for (unsigned dim = 0; dim < runDims; ++dim) {
        int64_t at = dim == 0 && named ? region.rows[index[0]] : index[dim];
        element += at * view.strides[dim];
      }
      visit(element * elementBytes);
      unsigned dim = runDims;
      while (dim > 0 && ++index[dim - 1] == region.extents[dim - 1]) {
        index[--dim] = 0;
      }
      if (dim == 0) {
        return;
      }
    }
  }

private:
  const Region &region;
  const reference::TensorView &view;
  uint64_t elementBytes;
  unsigned runDims;
  uint64_t runElements;
};
} // namespace

/// Compares one region with the device's memory.
static llvm::Error compareRegion(sim::Memory &memory, const Operand &operand,
                                 const Region &region, Findings &findings) {
  if (llvm::is_contained(region.extents, 0)) {
    return llvm::Error::success();
  }
  RegionRuns runs(region, operand.inMemory());
  if (region.skipped) {
    ++findings.skippedGroups;
    uint64_t runBytes = runs.elementsPerRun() *
                        reference::bitWidth(operand.inMemory().type) / 8;
    runs.forEach([&](uint64_t offset) {
      findings.covered.push_back({offset, offset + runBytes});
    });
    return llvm::Error::success();
  }
  uint64_t elementBytes = reference::bitWidth(operand.inMemory().type) / 8;
  std::vector<uint8_t> bytes(runs.elementsPerRun() * elementBytes);
  std::vector<uint64_t> codes;
  llvm::Error failure = llvm::Error::success();
  runs.forEach([&](uint64_t offset) {
    findings.covered.push_back({offset, offset + bytes.size()});
    if (llvm::Error error = memory.read(operand.address + offset, bytes)) {
      failure = llvm::joinErrors(std::move(failure), std::move(error));
      return;
    }
    for (size_t byte = 0; byte < bytes.size(); byte += elementBytes) {
      uint64_t code = 0;
      std::memcpy(&code, bytes.data() + byte, elementBytes);
      codes.push_back(code);
    }
  });
  if (failure) {
    return failure;
  }
  if (region.exact) {
    findings.errors.addExact(region, codes);
    return llvm::Error::success();
  }
  if (region.valuesOf) {
    findings.errors.add(region, region.valuesOf(codes));
    return llvm::Error::success();
  }
  std::vector<double> values;
  values.reserve(codes.size());
  for (uint64_t code : codes) {
    values.push_back(reference::decode(operand.inMemory().type, code));
  }
  findings.errors.add(region, values);
  return llvm::Error::success();
}

/// Compares what no region covers with the initial contents.
static llvm::Error checkUntouched(sim::Memory &memory, const Operand &operand,
                                  std::vector<Interval> &covered,
                                  OperandCheck &check) {
  llvm::sort(covered, [](const Interval &left, const Interval &right) {
    return left.begin < right.begin;
  });
  std::vector<uint8_t> before;
  auto compare = [&](uint64_t begin, uint64_t end, uint64_t pageOffset,
                     llvm::ArrayRef<uint8_t> page) {
    // Made only for pages that have a gap: it is what takes time here.
    if (before.empty()) {
      before.resize(page.size());
      operand.source->read(pageOffset, before);
    }
    for (uint64_t byte = begin; byte < end; ++byte) {
      if (page[byte - pageOffset] == before[byte - pageOffset]) {
        continue;
      }
      if (check.strayBytes++ == 0) {
        uint64_t elementBytes =
            reference::bitWidth(operand.inMemory().type) / 8;
        check.firstStray = "element offset " +
                           std::to_string(byte / elementBytes) +
                           " of the operand's memory was changed";
      }
    }
  };
  return memory.forEachMaterialisedPage(
      operand.address,
      [&](uint64_t offset, llvm::ArrayRef<uint8_t> page, bool written) {
        if (!written) {
          return;
        }
        before.clear();
        uint64_t position = offset;
        uint64_t end = offset + page.size();
        auto next = llvm::upper_bound(covered, offset,
                                      [](uint64_t value, const Interval &run) {
                                        return value < run.end;
                                      });
        for (; next != covered.end() && next->begin < end; ++next) {
          if (next->begin > position) {
            compare(position, next->begin, offset, page);
          }
          position = std::max(position, next->end);
        }
        if (position < end) {
          compare(position, end, offset, page);
        }
      });
}

/// The pieces of \p count that a sampled check compares; all when there are not
/// more of them than a sample has.
static llvm::DenseSet<uint64_t> samplePieces(uint64_t count) {
  constexpr uint64_t last = 20, random = 64;
  llvm::DenseSet<uint64_t> sample;
  if (count <= 1 + last + random) {
    for (uint64_t piece = 0; piece < count; ++piece) {
      sample.insert(piece);
    }
    return sample;
  }
  sample.insert(0);
  for (uint64_t piece = count - last; piece < count; ++piece) {
    sample.insert(piece);
  }
  uint64_t key = reference::randomKey(count, "sample");
  for (int32_t piece : llvm::cantFail(reference::generateDistinct(
           key, random, 1, static_cast<int64_t>(count - last)))) {
    sample.insert(piece);
  }
  return sample;
}

llvm::Expected<std::vector<OperandCheck>>
run::checkOperands(sim::Memory &memory, Operands &operands,
                   const Expectation &expectation, const Harness &harness,
                   unsigned threads, bool sampled) {
  std::optional<llvm::DenseSet<uint64_t>> sample;
  if (sampled) {
    sample = samplePieces(expectation.pieces());
  }
  llvm::StringMap<Findings> merged;
  for (const Operand &operand : operands.all()) {
    if (operand.access != runtime::OperandAccess::Read) {
      merged.try_emplace(operand.name);
    }
  }
  std::mutex lock;
  std::atomic<uint64_t> nextPiece = 0;
  std::string failures;
  auto work = [&] {
    llvm::StringMap<Findings> mine;
    std::string errors;
    for (uint64_t piece = nextPiece++; piece < expectation.pieces();
         piece = nextPiece++) {
      auto compare = [&](Region &&region) {
        const Operand *operand = operands.find(region.operand);
        Findings &findings = mine[checkName(region.operand, region.against)];
        if (llvm::Error error =
                compareRegion(memory, *operand, region, findings)) {
          errors += llvm::toString(std::move(error)) + "\n";
        }
      };
      if (sample && !sample->contains(piece)) {
        expectation.skip(piece, compare);
      } else {
        expectation.piece(piece, compare);
      }
    }
    std::lock_guard<std::mutex> guard(lock);
    failures += errors;
    for (auto &entry : mine) {
      Findings &all = merged[entry.getKey()];
      all.errors.merge(entry.getValue().errors);
      all.skippedGroups += entry.getValue().skippedGroups;
      llvm::append_range(all.covered, entry.getValue().covered);
    }
  };
  std::vector<std::thread> workers;
  for (unsigned index = 1; index < threads; ++index) {
    workers.emplace_back(work);
  }
  work();
  for (std::thread &worker : workers) {
    worker.join();
  }
  if (!failures.empty()) {
    return llvm::createStringError(failures);
  }

  std::vector<OperandCheck> checks;
  for (const Operand &operand : operands.all()) {
    auto found = merged.find(operand.name);
    if (found == merged.end()) {
      continue;
    }
    auto checkOf = [&](const std::string &name, const Findings &findings) {
      OperandCheck check;
      check.operand = name;
      check.tolerance = harness.tolerance(name);
      check.errors = findings.errors;
      check.skippedGroups = findings.skippedGroups;
      check.passed = check.errors.within(check.tolerance);
      return check;
    };
    OperandCheck check = checkOf(operand.name, found->second);
    if (llvm::Error error =
            checkUntouched(memory, operand, found->second.covered, check)) {
      return std::move(error);
    }
    check.passed &= check.strayBytes == 0;
    checks.push_back(std::move(check));
    // What the operand is measured against besides, by name.
    std::map<std::string, const Findings *> others;
    for (const auto &entry : merged) {
      if (entry.getKey().starts_with(operand.name + "/")) {
        others[entry.getKey().str()] = &entry.getValue();
      }
    }
    for (const auto &[name, findings] : others) {
      checks.push_back(checkOf(name, *findings));
    }
  }
  return checks;
}
