//===- CodeObject.cpp - AMDGPU code objects ready to execute ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Sim/CodeObject.h"

#include "Disassembler.h"
#include "Opcode.h"
#include "Program.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <mutex>

using namespace llvm;
using namespace llvm::object;

namespace tenon::sim {

struct CodeObject::State {
  struct Symbol {
    std::string name;
    uint64_t address;
    uint64_t size;
    bool isFunction;
  };
  std::vector<Symbol> symbols;
  std::once_flag decoded;
  std::unique_ptr<Program> program;
};

CodeObject::CodeObject() : state(std::make_unique<State>()) {}
CodeObject::~CodeObject() = default;

StringRef processorName(Processor processor) {
  return processor == Processor::Gfx950 ? "gfx950" : "gfx942";
}

Expected<std::shared_ptr<const CodeObject>>
CodeObject::load(ArrayRef<uint8_t> bytes) {
  std::shared_ptr<CodeObject> object(new CodeObject());
  object->storage.assign(bytes.begin(), bytes.end());
  if (Error error = object->parse()) {
    return std::move(error);
  }
  return object;
}

static Error malformed(const Twine &what) {
  return createStringError("code object: " + what);
}

Error CodeObject::parse() {
  Expected<ELFFile<ELF64LE>> file = ELFFile<ELF64LE>::create(StringRef(
      reinterpret_cast<const char *>(storage.data()), storage.size()));
  if (!file) {
    return malformed("not a 64-bit ELF file: " + toString(file.takeError()));
  }
  const auto &header = file->getHeader();
  if (header.e_machine != ELF::EM_AMDGPU) {
    return malformed("not an AMDGPU ELF file");
  }
  unsigned machine = header.e_flags & ELF::EF_AMDGPU_MACH;
  if (machine == ELF::EF_AMDGPU_MACH_AMDGCN_GFX950) {
    target = Processor::Gfx950;
  } else if (machine == ELF::EF_AMDGPU_MACH_AMDGCN_GFX942) {
    target = Processor::Gfx942;
  } else {
    return malformed(formatv("unsupported target (EF_AMDGPU_MACH {0:x}); "
                             "gfx950 and gfx942 are simulated",
                             machine)
                         .str());
  }
  if (header.e_type != ELF::ET_DYN) {
    return malformed("not linked (an ET_DYN file is needed)");
  }

  auto programHeaders = file->program_headers();
  if (!programHeaders) {
    return programHeaders.takeError();
  }
  for (const auto &segment : *programHeaders) {
    if (segment.p_type == ELF::PT_LOAD) {
      if (segment.p_offset + segment.p_filesz > storage.size() ||
          segment.p_filesz > segment.p_memsz) {
        return malformed("a segment lies outside the file");
      }
      segmentList.push_back(
          {segment.p_vaddr, segment.p_memsz,
           ArrayRef(storage).slice(segment.p_offset, segment.p_filesz)});
      spanBytes =
          std::max<uint64_t>(spanBytes, segment.p_vaddr + segment.p_memsz);
    }
  }

  auto sections = file->sections();
  if (!sections) {
    return sections.takeError();
  }
  for (const auto &section : *sections) {
    if (section.sh_type == ELF::SHT_SYMTAB ||
        (section.sh_type == ELF::SHT_DYNSYM && state->symbols.empty())) {
      auto symbols = file->symbols(&section);
      auto names = file->getStringTableForSymtab(section);
      if (!symbols || !names) {
        return joinErrors(symbols.takeError(), names.takeError());
      }
      state->symbols.clear();
      for (const auto &symbol : *symbols) {
        Expected<StringRef> name = symbol.getName(*names);
        if (!name) {
          return name.takeError();
        }
        if (!name->empty() && symbol.st_shndx != ELF::SHN_UNDEF) {
          state->symbols.push_back({name->str(), symbol.st_value,
                                    symbol.st_size,
                                    symbol.getType() == ELF::STT_FUNC});
        }
      }
    } else if (section.sh_type == ELF::SHT_RELA) {
      auto entries = file->relas(section);
      if (!entries) {
        return entries.takeError();
      }
      for (const auto &entry : *entries) {
        unsigned type = entry.getType(/*isMips64EL=*/false);
        if (type == ELF::R_AMDGPU_RELATIVE64) {
          relocs.push_back({entry.r_offset, uint64_t(entry.r_addend)});
        } else if (type != ELF::R_AMDGPU_NONE) {
          return malformed(
              formatv("unsupported dynamic relocation of type {0}", type)
                  .str());
        }
      }
    } else if (section.sh_type == ELF::SHT_NOTE) {
      Error error = Error::success();
      for (const auto &note : file->notes(section, error)) {
        if (note.getType() == ELF::NT_AMDGPU_METADATA &&
            note.getName() == "AMDGPU") {
          if (Error parseError = parseMetadata(note.getDesc(4))) {
            consumeError(std::move(error));
            return parseError;
          }
        }
      }
      if (error) {
        return error;
      }
    }
  }
  for (Kernel &kernel : kernelList) {
    if (Error error = parseDescriptor(kernel)) {
      return error;
    }
  }
  if (kernelList.empty()) {
    return malformed("no kernel in the metadata");
  }
  return Error::success();
}

static uint64_t integerOf(msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  if (found == map.end()) {
    return 0;
  }
  msgpack::DocNode &node = found->second;
  if (node.getKind() == msgpack::Type::UInt) {
    return node.getUInt();
  }
  if (node.getKind() == msgpack::Type::Int) {
    return uint64_t(node.getInt());
  }
  return node.getKind() == msgpack::Type::Boolean ? node.getBool() : 0;
}

static std::string stringOf(msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  return found != map.end() && found->second.isString()
             ? found->second.getString().str()
             : std::string();
}

static Expected<KernelInfo> kernelInfoOf(msgpack::MapDocNode &map) {
  KernelInfo info;
  info.name = stringOf(map, ".name");
  if (info.name.empty()) {
    return malformed("a kernel without name in the metadata");
  }
  info.kernargBytes = integerOf(map, ".kernarg_segment_size");
  info.agprs = integerOf(map, ".agpr_count");
  info.vgprs = integerOf(map, ".vgpr_count");
  info.sgprs = integerOf(map, ".sgpr_count");
  info.vgprSpills = integerOf(map, ".vgpr_spill_count");
  info.sgprSpills = integerOf(map, ".sgpr_spill_count");
  info.maxWorkgroup = integerOf(map, ".max_flat_workgroup_size");
  info.dynamicStack = integerOf(map, ".uses_dynamic_stack");
  if (auto found = map.find(".reqd_workgroup_size");
      found != map.end() && found->second.isArray()) {
    auto &sizes = found->second.getArray();
    for (unsigned i = 0; i < 3 && i < sizes.size(); ++i) {
      info.requiredWorkgroup[i] = sizes[i].getUInt();
    }
  }
  if (auto found = map.find(".args");
      found != map.end() && found->second.isArray()) {
    for (msgpack::DocNode &node : found->second.getArray()) {
      if (!node.isMap()) {
        return malformed("bad argument metadata of kernel " + info.name);
      }
      auto &arg = node.getMap();
      info.args.push_back({stringOf(arg, ".name"), stringOf(arg, ".value_kind"),
                           integerOf(arg, ".offset"), integerOf(arg, ".size")});
    }
  }
  return info;
}

Error CodeObject::parseMetadata(ArrayRef<uint8_t> note) {
  msgpack::Document document;
  if (!document.readFromBlob(
          StringRef(reinterpret_cast<const char *>(note.data()), note.size()),
          /*Multi=*/false) ||
      !document.getRoot().isMap()) {
    return malformed("unreadable metadata note");
  }
  auto &root = document.getRoot().getMap();
  auto kernels = root.find("amdhsa.kernels");
  if (kernels == root.end() || !kernels->second.isArray()) {
    return Error::success();
  }
  for (msgpack::DocNode &node : kernels->second.getArray()) {
    if (!node.isMap()) {
      return malformed("bad kernel metadata");
    }
    Expected<KernelInfo> info = kernelInfoOf(node.getMap());
    if (!info) {
      return info.takeError();
    }
    Kernel kernel;
    kernel.data = std::move(*info);
    kernel.owner = this;
    kernelList.push_back(std::move(kernel));
  }
  return Error::success();
}

ArrayRef<uint8_t> CodeObject::bytesAt(uint64_t address, uint64_t size) const {
  for (const Segment &segment : segmentList) {
    if (address >= segment.address &&
        address + size <= segment.address + segment.bytes.size()) {
      return segment.bytes.slice(address - segment.address, size);
    }
  }
  return {};
}

Error CodeObject::parseDescriptor(Kernel &kernel) const {
  Expected<uint64_t> address = findSymbol(kernel.data.name + ".kd");
  if (!address) {
    return address.takeError();
  }
  kernel.descriptorBytes = bytesAt(*address, 64);
  if (kernel.descriptorBytes.empty()) {
    return malformed("the descriptor of kernel " + kernel.data.name +
                     " is not in the image");
  }
  const uint8_t *bytes = kernel.descriptorBytes.data();
  KernelInfo &info = kernel.data;
  info.ldsBytes = support::endian::read32le(bytes);
  info.scratchBytes = support::endian::read32le(bytes + 4);
  kernel.entryAddress = *address + support::endian::read64le(bytes + 16);
  uint32_t rsrc3 = support::endian::read32le(bytes + 44);
  uint32_t accumOffset = ((rsrc3 & 0x3F) + 1) * 4;
  // The metadata counts the unified file; AGPRs start at the accum offset.
  if (info.agprs && info.vgprs > accumOffset) {
    info.vgprs = accumOffset;
  }
  uint16_t preload = support::endian::read16le(bytes + 58);
  info.preloadDwords = preload & 0x7F;
  info.preloadOffset = preload >> 7;
  for (const State::Symbol &symbol : state->symbols) {
    if (symbol.address == kernel.entryAddress && symbol.size) {
      kernel.size = symbol.size;
    }
  }
  return Error::success();
}

const Kernel *CodeObject::findKernel(StringRef name) const {
  for (const Kernel &kernel : kernelList) {
    if (kernel.name() == name) {
      return &kernel;
    }
  }
  return nullptr;
}

Expected<uint64_t> CodeObject::findSymbol(StringRef name) const {
  for (const State::Symbol &symbol : state->symbols) {
    if (symbol.name == name) {
      return symbol.address;
    }
  }
  return malformed("no symbol " + name);
}

const Program &CodeObject::program() const {
  std::call_once(state->decoded, [this] {
    // Code is decoded function by function: between functions lies padding.
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const State::Symbol &symbol : state->symbols) {
      if (symbol.isFunction && symbol.size) {
        ranges.push_back({symbol.address, symbol.size});
      }
    }
    // Hand-written kernels may state no size: up to the end of the segment.
    for (const Kernel &kernel : kernelList) {
      if (!kernel.size) {
        for (const Segment &segment : segmentList) {
          if (kernel.entryAddress >= segment.address &&
              kernel.entryAddress < segment.address + segment.bytes.size()) {
            ranges.push_back(
                {kernel.entryAddress,
                 segment.address + segment.bytes.size() - kernel.entryAddress});
          }
        }
      }
    }
    std::sort(ranges.begin(), ranges.end());
    state->program = std::make_unique<Program>(target);
    for (auto [address, size] : ranges) {
      state->program->decode(bytesAt(address, size), address);
    }
    state->program->finish();
  });
  return *state->program;
}

Error forEachInstruction(const Kernel &kernel,
                         function_ref<void(const StaticInstruction &)> visit) {
  return kernel.codeObject().program().forEach(
      kernel.entry(),
      kernel.codeBytes() ? kernel.entry() + kernel.codeBytes() : ~uint64_t(0),
      visit);
}

Expected<InstructionCounts> countStaticInstructions(const Kernel &kernel) {
  // Of records: the texts of forEachInstruction take longer than all else.
  const Program &program = kernel.codeObject().program();
  std::optional<uint32_t> first = program.recordAt(kernel.entry());
  if (!first) {
    return createStringError("code object: no code at the kernel's entry");
  }
  uint64_t end =
      kernel.codeBytes() ? kernel.entry() + kernel.codeBytes() : ~uint64_t(0);
  InstructionCounts counts = {};
  ArrayRef<Instr> records(program.records(), program.recordCount());
  for (const Instr &instr : records.drop_front(*first)) {
    if (instr.address >= end || !instr.bytes) {
      break;
    }
    ++counts[unsigned(instr.instructionClass)];
  }
  return counts;
}

} // namespace tenon::sim
