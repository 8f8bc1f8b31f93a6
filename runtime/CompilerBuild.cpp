//===- CompilerBuild.cpp - what tells builds of the compiler apart --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of a kernel depends on the program and on the libraries of
// Tenon, MLIR, LLVM and LLD that it loads, which a distribution replaces on
// their own. They are found as the loader finds them, without starting the
// program.
//
//===----------------------------------------------------------------------===//

#include "tenon/Runtime/Compiler.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::runtime {

namespace {

/// A file in memory.
class MappedFile {
public:
  explicit MappedFile(const std::string &path) {
    int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0) {
      size = status.st_size;
      // An empty file cannot be mapped: "Invalid argument".
      address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    code = errno;
    if (file >= 0) {
      ::close(file);
    }
  }
  ~MappedFile() {
    if (*this) {
      munmap(address, size);
    }
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  explicit operator bool() const { return address != MAP_FAILED; }
  /// Why there is nothing in memory.
  int error() const { return code; }
  std::span<const uint8_t> bytes() const {
    return {static_cast<const uint8_t *>(address), size};
  }

private:
  void *address = MAP_FAILED;
  size_t size = 0;
  int code = 0;
};

/// What the loader reads of a program or library; empty for other files.
class ElfFile {
public:
  explicit ElfFile(std::span<const uint8_t> bytes) : bytes(bytes) {
    Elf64_Ehdr header;
    if (!read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_phentsize != sizeof(Elf64_Phdr)) {
      return;
    }
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr segment;
      if (read(header.e_phoff + i * sizeof(segment), segment)) {
        segments.push_back(segment);
      }
    }
    for (const Elf64_Phdr &segment : segments) {
      if (segment.p_type == PT_DYNAMIC) {
        readDynamic(segment);
      } else if (segment.p_type == PT_NOTE) {
        readNotes(segment);
      }
    }
  }

  std::vector<std::string> needed;
  std::string runpath, rpath;
  std::span<const uint8_t> buildId;

private:
  template <typename T> bool read(uint64_t offset, T &value) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
      return false;
    }
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return true;
  }

  /// The text at \p offset of the strings, which lie at an address in memory.
  std::string text(uint64_t strings, uint64_t offset) const {
    for (const Elf64_Phdr &segment : segments) {
      if (segment.p_type != PT_LOAD || strings < segment.p_vaddr ||
          strings - segment.p_vaddr >= segment.p_filesz) {
        continue;
      }
      uint64_t start = strings - segment.p_vaddr + segment.p_offset + offset;
      if (start >= bytes.size()) {
        break;
      }
      auto first = bytes.begin() + start;
      return std::string(first, std::find(first, bytes.end(), 0));
    }
    return "";
  }

  void readDynamic(const Elf64_Phdr &segment) {
    std::vector<Elf64_Dyn> entries;
    uint64_t strings = 0;
    Elf64_Dyn entry;
    for (uint64_t at = 0;
         at < segment.p_filesz && read(segment.p_offset + at, entry) &&
         entry.d_tag != DT_NULL;
         at += sizeof(entry)) {
      entries.push_back(entry);
      if (entry.d_tag == DT_STRTAB) {
        strings = entry.d_un.d_ptr;
      }
    }
    for (const Elf64_Dyn &found : entries) {
      if (found.d_tag == DT_NEEDED) {
        needed.push_back(text(strings, found.d_un.d_val));
      } else if (found.d_tag == DT_RUNPATH) {
        runpath = text(strings, found.d_un.d_val);
      } else if (found.d_tag == DT_RPATH) {
        rpath = text(strings, found.d_un.d_val);
      }
    }
  }

  void readNotes(const Elf64_Phdr &segment) {
    Elf64_Nhdr note;
    uint64_t at = segment.p_offset;
    while (at - segment.p_offset < segment.p_filesz && read(at, note)) {
      auto rounded = [](uint64_t size) { return (size + 3) / 4 * 4; };
      uint64_t name = at + sizeof(note);
      uint64_t content = name + rounded(note.n_namesz);
      at = content + rounded(note.n_descsz);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          note.n_descsz != 0 && at <= bytes.size() &&
          std::memcmp(bytes.data() + name, "GNU", 4) == 0) {
        buildId = bytes.subspan(content, note.n_descsz);
      }
    }
  }

  std::span<const uint8_t> bytes;
  std::vector<Elf64_Phdr> segments;
};

/// Hashes of the libraries that a program loads, by their names.
class Libraries {
public:
  void addNeeded(const ElfFile &elf, const std::string &path) {
    std::error_code code;
    std::string origin =
        std::filesystem::canonical(path, code).parent_path().string();
    for (const std::string &name : elf.needed) {
      if (!isOurs(name) || !hashes.try_emplace(name).second) {
        continue;
      }
      std::string found = find(name, elf, origin);
      MappedFile file(found);
      if (found.empty() || !file) {
        hashes[name] = "not found";
        continue;
      }
      ElfFile library(file.bytes());
      // A build id stands for all of a file, which may have 200 MB.
      std::span<const uint8_t> content =
          library.buildId.empty() ? file.bytes() : library.buildId;
      hashes[name] =
          fmt::format("{:016x}", XXH3_64bits(content.data(), content.size()));
      addNeeded(library, found);
    }
  }

  const std::map<std::string, std::string> &all() const { return hashes; }

private:
  static bool isOurs(std::string_view name) {
    return std::any_of(
        std::begin(prefixes), std::end(prefixes),
        [&](std::string_view prefix) { return name.starts_with(prefix); });
  }

  static std::string find(const std::string &name, const ElfFile &elf,
                          const std::string &origin) {
    const char *variable = std::getenv("LD_LIBRARY_PATH");
    std::string folders = elf.runpath.empty() ? elf.rpath : "";
    for (std::string_view more :
         {std::string_view(variable ? variable : ""),
          std::string_view(elf.runpath), systemFolders}) {
      folders += fmt::format(":{}", more);
    }
    for (size_t begin = 0; begin < folders.size();) {
      size_t end = std::min(folders.find(':', begin), folders.size());
      std::string folder = folders.substr(begin, end - begin);
      begin = end + 1;
      for (std::string_view spelling : {"${ORIGIN}", "$ORIGIN"}) {
        size_t at = folder.find(spelling);
        if (at != std::string::npos) {
          folder.replace(at, spelling.size(), origin);
        }
      }
      std::string path = folder + "/" + name;
      if (!folder.empty() && ::access(path.c_str(), R_OK) == 0) {
        return path;
      }
    }
    return "";
  }

  static constexpr std::string_view prefixes[] = {
      "libTenon", "libtenon", "libMLIR", "libLLVM", "liblld"};
  static constexpr std::string_view systemFolders =
      "/usr/local/lib:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:"
      "/usr/lib64:/lib:/usr/lib";

  std::map<std::string, std::string> hashes;
};

} // namespace

/// The program to which \p script leads: what it prints when it is asked. Empty
/// when that is no other file.
static std::string programBehind(const std::string &script) {
  std::string said;
  if (!runProgram({script, "--program"}, &said)) {
    return "";
  }
  said.erase(said.find_last_not_of('\n') + 1);
  // Below what an interpreter may have to say.
  std::string program = said.substr(said.rfind('\n') + 1);
  std::error_code code;
  bool isSame = std::filesystem::equivalent(program, script, code);
  return program.starts_with('/') && !code && !isSame ? program : "";
}

static std::string hashOf(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// compilerBuild(), which starts a script only if \p followScript.
static Result<std::string> buildOf(const std::string &path, bool followScript) {
  MappedFile file(path);
  if (!file) {
    return Error{fmt::format("cannot read the compiler '{}': {}", path,
                             std::strerror(file.error()))};
  }
  std::span<const uint8_t> bytes = file.bytes();
  std::string_view content(reinterpret_cast<const char *>(bytes.data()),
                           bytes.size());
  std::string text = hashOf(content);
  if (content.starts_with("#!")) {
    std::string program = followScript ? programBehind(path) : "";
    if (program.empty()) {
      return text;
    }
    Result<std::string> build = buildOf(program, /*followScript=*/false);
    return build ? hashOf(text + *build) : build;
  }
  Libraries libraries;
  libraries.addNeeded(ElfFile(bytes), path);
  if (libraries.all().empty()) {
    return text;
  }
  for (const auto &[name, content] : libraries.all()) {
    text += fmt::format("\n{} {}", name, content);
  }
  return hashOf(text);
}

Result<std::string> compilerBuild(const std::string &path) {
  return buildOf(path, /*followScript=*/true);
}

} // namespace tenon::runtime
