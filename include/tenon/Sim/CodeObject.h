//===- CodeObject.h - AMDGPU code objects ready to execute ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_SIM_CODEOBJECT_H
#define TENON_SIM_CODEOBJECT_H

#include "tenon/Sim/InstructionClass.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon::sim {

class CodeObject;
class Program;

/// Processors whose code objects can be executed.
enum class Processor : uint8_t { Gfx942, Gfx950 };

/// LLVM's name of a processor ("gfx950").
llvm::StringRef processorName(Processor processor);

/// One kernel argument as the code object's metadata states it.
struct KernelArg {
  std::string name;    ///< may be empty
  std::string kind;    ///< metadata ".value_kind": "global_buffer", "by_value",
                       ///< "hidden_block_count_x" ...
  uint64_t offset = 0; ///< in the kernarg segment
  uint64_t size = 0;   ///< bytes

  /// Arguments the simulator fills in itself.
  bool isHidden() const { return llvm::StringRef(kind).starts_with("hidden_"); }
};

/// What the kernel descriptor and the metadata say about a kernel.
struct KernelInfo {
  std::string name;
  std::vector<KernelArg> args;
  uint64_t kernargBytes = 0; ///< size of the kernarg segment
  uint32_t vgprs = 0;        ///< architectural VGPRs, per lane
  uint32_t agprs = 0;        ///< accumulation VGPRs, per lane
  uint32_t sgprs = 0;        ///< as the metadata counts them
  uint32_t vgprSpills = 0;   ///< from the metadata
  uint32_t sgprSpills = 0;   ///< from the metadata
  uint32_t ldsBytes = 0;     ///< static group segment
  uint32_t scratchBytes = 0; ///< private segment, per work-item
  uint32_t maxWorkgroup = 0; ///< work-items; 0 when not stated
  std::array<uint32_t, 3> requiredWorkgroup = {0, 0, 0}; ///< 0: any
  uint32_t preloadDwords = 0; ///< kernel arguments preloaded into SGPRs
  uint32_t preloadOffset = 0; ///< first preloaded dword of the kernarg segment
  bool dynamicStack = false;
};

/// A kernel of a loaded code object; lives as long as the code object.
class Kernel {
public:
  const KernelInfo &info() const { return data; }
  llvm::StringRef name() const { return data.name; }
  const CodeObject &codeObject() const { return *owner; }

  /// The 64 bytes of the kernel descriptor.
  llvm::ArrayRef<uint8_t> descriptor() const { return descriptorBytes; }

  /// ELF address and size in bytes of the code.
  uint64_t entry() const { return entryAddress; }
  uint64_t codeBytes() const { return size; }

private:
  friend class CodeObject;
  KernelInfo data;
  const CodeObject *owner = nullptr;
  llvm::ArrayRef<uint8_t> descriptorBytes;
  uint64_t entryAddress = 0;
  uint64_t size = 0;
};

/// A part of the loaded image, at an ELF virtual address.
struct Segment {
  uint64_t address = 0;
  uint64_t memoryBytes = 0; ///< what lies beyond `bytes` is zero
  llvm::ArrayRef<uint8_t> bytes;
};

/// A relocation that adds the load address: the 64-bit word at `address`
/// becomes load address + `addend`.
struct RelativeRelocation {
  uint64_t address = 0;
  uint64_t addend = 0;
};

/// A parsed AMDGPU ELF for gfx942 or gfx950. Thread-safe after `load`.
class CodeObject {
public:
  /// Parses a linked code object; copies the bytes.
  static llvm::Expected<std::shared_ptr<const CodeObject>>
  load(llvm::ArrayRef<uint8_t> bytes);

  ~CodeObject();

  Processor processor() const { return target; }
  llvm::ArrayRef<Kernel> kernels() const { return kernelList; }

  /// The kernel of that name, or null.
  const Kernel *findKernel(llvm::StringRef name) const;

  /// Loadable parts, and the bytes of address space they span.
  llvm::ArrayRef<Segment> segments() const { return segmentList; }
  llvm::ArrayRef<RelativeRelocation> relocations() const { return relocs; }
  uint64_t imageBytes() const { return spanBytes; }

  /// The whole file.
  llvm::ArrayRef<uint8_t> fileBytes() const { return storage; }

  /// ELF address of a data symbol, or an error that names it.
  llvm::Expected<uint64_t> findSymbol(llvm::StringRef name) const;

  /// The decoded instructions; decoded on first use.
  const Program &program() const;

private:
  CodeObject();
  llvm::Error parse();
  llvm::Error parseMetadata(llvm::ArrayRef<uint8_t> note);
  llvm::Error parseDescriptor(Kernel &kernel) const;
  llvm::ArrayRef<uint8_t> bytesAt(uint64_t address, uint64_t size) const;

  struct State;
  std::vector<uint8_t> storage;
  Processor target = Processor::Gfx950;
  std::vector<Kernel> kernelList;
  std::vector<Segment> segmentList;
  std::vector<RelativeRelocation> relocs;
  uint64_t spanBytes = 0;
  std::unique_ptr<State> state;
};

/// One static instruction as the disassembler shows it.
struct StaticInstruction {
  uint64_t address = 0; ///< ELF address
  uint32_t bytes = 0;
  std::string text;
  InstructionClass instructionClass = InstructionClass::Other;
  bool implemented = false; ///< whether the simulator can execute it
};

/// Visits the instructions of a kernel in address order, up to the end of its
/// code symbol.
llvm::Error
forEachInstruction(const Kernel &kernel,
                   llvm::function_ref<void(const StaticInstruction &)> visit);

/// Static instruction counts of a kernel, by class.
llvm::Expected<InstructionCounts> countStaticInstructions(const Kernel &kernel);

} // namespace tenon::sim

#endif // TENON_SIM_CODEOBJECT_H
