//===- BundleFuzz.cpp - any bytes as a bundle -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each input is read twice: as it is, which the checksums refuse nearly always,
// and with its checksums made right, as an attacker would.
//
//===----------------------------------------------------------------------===//

#include "CheckPlan.h"

#include "runtime/BundleFormat.h"
#include "tenon/Runtime/Bundle.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

using namespace tenon::runtime;
using tenon::fuzz::require;

/// Makes size and checksums of \p bytes right where they lie inside.
static void repair(std::vector<uint8_t> &bytes) {
  bundle::Header header;
  if (bytes.size() < sizeof(header)) {
    return;
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.fileBytes = bytes.size();
  const uint64_t size = bytes.size();
  auto checksum = [&](uint64_t offset, uint64_t length, uint64_t &sum) {
    if (offset <= size && length <= size - offset) {
      sum = XXH3_64bits(bytes.data() + offset, length);
    }
  };
  uint64_t indexBytes = uint64_t(header.recordCount) * sizeof(bundle::Record);
  if (header.indexOffset <= size && indexBytes <= size - header.indexOffset) {
    for (uint32_t i = 0; i < header.recordCount; ++i) {
      uint8_t *place =
          bytes.data() + header.indexOffset + i * sizeof(bundle::Record);
      bundle::Record record;
      std::memcpy(&record, place, sizeof(record));
      for (bundle::Content *content : {&record.plan, &record.codeObject}) {
        checksum(content->offset, content->length, content->checksum);
      }
      std::memcpy(place, &record, sizeof(record));
    }
    if (header.stringsBytes <= size) {
      checksum(header.indexOffset, indexBytes + header.stringsBytes,
               header.indexChecksum);
    }
  }
  header.headerChecksum =
      XXH3_64bits(&header, offsetof(bundle::Header, headerChecksum));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

/// Reads all of a bundle. One that is sound can be written again, to a bundle
/// of the same kernels.
static void read(std::vector<uint8_t> bytes) {
  auto bundle = Bundle::fromBytes(std::move(bytes), "input");
  if (!bundle) {
    require(!bundle.error().message.empty(), "errors have a message");
    return;
  }
  std::vector<BundleKernel> kernels;
  for (size_t i = 0; i < (*bundle)->size(); ++i) {
    BundleEntry entry = (*bundle)->entry(i);
    auto [begin, end] = (*bundle)->find(entry.op, entry.statics, entry.target);
    require(begin <= i && i < end, "a kernel is found under its key");
    if (auto plan = (*bundle)->plan(i)) {
      tenon::fuzz::checkText(*plan);
    }
    if (auto kernel = (*bundle)->kernel(i)) {
      kernels.push_back(std::move(*kernel));
    }
  }
  size_t count = kernels.size();
  auto written = writeBundle(kernels);
  require(bool(written), "kernels that were read can be written");
  auto again = Bundle::fromBytes(*written, "written");
  require(bool(again) && (*again)->size() == count,
          "what is written can be read");
  for (size_t i = 0; i < count; ++i) {
    auto kernel = (*again)->kernel(i);
    require(kernel && kernel->plan == kernels[i].plan &&
                kernel->codeObject == kernels[i].codeObject &&
                kernel->key.statics == kernels[i].key.statics,
            "a kernel is written as it was read");
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  read(bytes);
  repair(bytes);
  read(std::move(bytes));
  return 0;
}
