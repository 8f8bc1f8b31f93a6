//===- Link.cpp - LLD in this process ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/CodeGen/CodeGen.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace tenon;

/// Writes \p bytes to a new temporary file and returns its path.
static llvm::Expected<std::string> writeTemporary(llvm::ArrayRef<char> bytes) {
  int descriptor = -1;
  llvm::SmallString<128> path;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tenon", "o", descriptor, path)) {
    return llvm::createStringError(code, "cannot create a temporary file");
  }
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream.write(bytes.data(), bytes.size());
  stream.close();
  if (stream.has_error()) {
    std::error_code code = stream.error();
    stream.clear_error();
    llvm::sys::fs::remove(path);
    return llvm::createStringError(code, "cannot write %s", path.c_str());
  }
  return std::string(path);
}

llvm::Expected<std::vector<uint8_t>>
codegen::linkCodeObject(llvm::ArrayRef<char> object) {
  llvm::Expected<std::string> input = writeTemporary(object);
  if (!input) {
    return input.takeError();
  }
  std::string output = *input + ".co";
  auto cleanUp = llvm::make_scope_exit([&] {
    llvm::sys::fs::remove(*input);
    llvm::sys::fs::remove(output);
  });
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const char *args[] = {"ld.lld",      "-shared", input->c_str(),
                        "--threads=1", "-o",      output.c_str()};
  lld::Result result;
  {
    // LLD keeps global state.
    static std::mutex linker;
    std::lock_guard<std::mutex> guard(linker);
    result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  }
  if (result.retCode != 0) {
    return llvm::createStringError("ld.lld: " + messages);
  }
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    return llvm::createStringError(buffer.getError(), "cannot read %s",
                                   output.c_str());
  }
  llvm::StringRef bytes = (*buffer)->getBuffer();
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}
