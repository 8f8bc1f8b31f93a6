//===- SourceLines.cpp - source locations of instructions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SourceLines.h"

#include "llvm/DebugInfo/DIContext.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace tenon::sim {

struct SourceLines::State {
  std::unique_ptr<object::ObjectFile> file;
  std::unique_ptr<DWARFContext> context;
};

SourceLines::SourceLines(ArrayRef<uint8_t> bytes) : bytes(bytes) {}
SourceLines::~SourceLines() = default;

std::string SourceLines::at(uint64_t address) const {
  if (!state) {
    state = std::make_unique<State>();
    MemoryBufferRef buffer(
        StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()),
        "code object");
    if (auto file = object::ObjectFile::createObjectFile(buffer)) {
      state->file = std::move(*file);
      state->context = DWARFContext::create(
          *state->file, DWARFContext::ProcessDebugRelocations::Process,
          /*L=*/nullptr, /*DWPName=*/"",
          /*RecoverableErrorHandler=*/
          [](Error e) { consumeError(std::move(e)); },
          /*WarningHandler=*/[](Error e) { consumeError(std::move(e)); });
    } else {
      consumeError(file.takeError());
    }
  }
  if (!state->context) {
    return "";
  }
  auto info = state->context->getLineInfoForAddress(
      object::SectionedAddress{address},
      {DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath});
  if (!info || !*info || info->Line == 0) {
    return "";
  }
  return info->FileName + ":" + std::to_string(info->Line);
}

} // namespace tenon::sim
