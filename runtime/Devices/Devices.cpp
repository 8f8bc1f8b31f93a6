//===- Devices.cpp - opening devices by name --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Device.h"

#include <fmt/format.h>

#include <cstring>
#include <elf.h>

namespace tenon::runtime {

Result<std::unique_ptr<Device>> openDevice(std::string_view name) {
  size_t colon = std::min(name.find(':'), name.size());
  std::string_view kind = name.substr(0, colon);
  std::string_view option = name.substr(std::min(colon + 1, name.size()));
  if (colon == name.size() || !option.empty()) {
    if (kind == "null") {
      return openNullDevice(option);
    }
    if (kind == "sim") {
      return openSimDevice(option);
    }
    if (kind == "hip") {
      return openHipDevice(option);
    }
  }
  return Error{fmt::format("no device is called '{}'; there are: hip or "
                           "hip:INDEX (a GPU), sim or sim:CHIP (the "
                           "simulator), null or null:CHIP (launches nothing)",
                           name)};
}

Result<std::string> codeObjectTarget(std::span<const uint8_t> codeObject) {
  Elf64_Ehdr header;
  if (codeObject.size() < sizeof(header) ||
      std::memcmp(codeObject.data(), ELFMAG, SELFMAG) != 0) {
    return Error{"the code object is no ELF file"};
  }
  std::memcpy(&header, codeObject.data(), sizeof(header));
  constexpr unsigned amdgpuMachine = 224; // EM_AMDGPU
  if (header.e_machine != amdgpuMachine) {
    return Error{fmt::format("the code object is for ELF machine {}, not for "
                             "AMD GPUs",
                             header.e_machine)};
  }
  // EF_AMDGPU_MACH of the ELF flags; LLVM's AMDGPU usage guide lists them all.
  unsigned machine = header.e_flags & 0xff;
  switch (machine) {
  case 0x2c:
    return std::string("gfx900");
  case 0x30:
    return std::string("gfx908");
  case 0x3f:
    return std::string("gfx90a");
  case 0x4c:
    return std::string("gfx942");
  case 0x4f:
    return std::string("gfx950");
  }
  return Error{fmt::format("the code object is for a chip that Tenon does not "
                           "know (EF_AMDGPU_MACH {:#x})",
                           machine)};
}

} // namespace tenon::runtime
