//===- CompilerBuildTest.cpp - what tells compilers apart -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs and libraries are made here, with no more than what the loader
// reads.
//
//===----------------------------------------------------------------------===//

#include "tenon/Runtime/Compiler.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <set>

using namespace tenon::runtime;

namespace {

/// The bytes of an ELF file that needs libraries.
std::string elfFile(const std::vector<std::string> &needed,
                    const std::string &runpath, const std::string &buildId,
                    const std::string &code) {
  std::string strings(1, '\0');
  std::vector<Elf64_Dyn> dynamic;
  auto add = [&](Elf64_Sxword tag, const std::string &text) {
    Elf64_Dyn entry = {};
    entry.d_tag = tag;
    entry.d_un.d_val = strings.size();
    dynamic.push_back(entry);
    strings += text + '\0';
  };
  for (const std::string &name : needed) {
    add(DT_NEEDED, name);
  }
  if (!runpath.empty()) {
    add(DT_RUNPATH, runpath);
  }
  std::string note;
  if (!buildId.empty()) {
    Elf64_Nhdr header = {4, Elf64_Word(buildId.size()), NT_GNU_BUILD_ID};
    note.assign(reinterpret_cast<const char *>(&header), sizeof(header));
    note += std::string("GNU\0", 4) + buildId;
    note.resize((note.size() + 3) / 4 * 4);
  }
  constexpr uint64_t base = 0x10000; // addresses are not offsets
  const uint64_t notes = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  const uint64_t table = notes + note.size();
  const uint64_t texts = table + (dynamic.size() + 2) * sizeof(Elf64_Dyn);
  Elf64_Dyn place = {};
  place.d_tag = DT_STRTAB;
  place.d_un.d_ptr = base + texts;
  dynamic.push_back(place);
  dynamic.push_back({});

  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  Elf64_Phdr segments[3] = {};
  segments[0].p_type = PT_LOAD;
  segments[0].p_vaddr = base;
  segments[0].p_filesz = texts + strings.size();
  segments[1].p_type = PT_DYNAMIC;
  segments[1].p_offset = table;
  segments[1].p_filesz = dynamic.size() * sizeof(Elf64_Dyn);
  segments[2].p_type = PT_NOTE;
  segments[2].p_offset = notes;
  segments[2].p_filesz = note.size();
  std::string file(reinterpret_cast<const char *>(&header), sizeof(header));
  file.append(reinterpret_cast<const char *>(segments), sizeof(segments));
  file += note;
  file.append(reinterpret_cast<const char *>(dynamic.data()),
              dynamic.size() * sizeof(Elf64_Dyn));
  return file + strings + code;
}

/// A folder with the program "tenon", which loads libMLIR from ../lib, which
/// loads libLLVM from beside it.
class CompilerBuildTest : public testing::Test {
protected:
  CompilerBuildTest() {
    std::string pattern = testing::TempDir() + "tenon-build-XXXXXX";
    root = ::mkdtemp(pattern.data());
    std::filesystem::create_directory(root + "/bin");
    std::filesystem::create_directory(root + "/lib");
    write("bin/tenon", elfFile({"libMLIRSample.so", "libother.so"},
                               "/none:$ORIGIN/../lib", "", "program"));
    write("lib/libMLIRSample.so",
          elfFile({"libLLVMSample.so"}, "${ORIGIN}", "", "code"));
    write("lib/libLLVMSample.so", elfFile({}, "", "id 1", "code"));
    write("lib/libother.so", "anything");
  }
  ~CompilerBuildTest() override { std::filesystem::remove_all(root); }

  void write(const std::string &name, const std::string &content) {
    std::ofstream(root + "/" + name, std::ios::binary) << content;
  }

  std::string build() {
    auto result = compilerBuild(root + "/bin/tenon");
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : "";
  }

  std::string root;
};

} // namespace

// Another program, or another of the libraries that make code, is another
// build; a library is known by its build id, else by its content; others do not
// count.
TEST_F(CompilerBuildTest, LibrariesCount) {
  std::set<std::string> seen = {build()};
  EXPECT_EQ(build(), *seen.begin());
  EXPECT_EQ(seen.begin()->size(), 32u);
  auto expectNew = [&](const char *what) {
    EXPECT_TRUE(seen.insert(build()).second) << what;
  };
  write("lib/libother.so", "something else");
  EXPECT_TRUE(seen.count(build()));
  write("lib/libLLVMSample.so", elfFile({}, "", "id 1", "moved"));
  EXPECT_TRUE(seen.count(build()));
  write("lib/libLLVMSample.so", elfFile({}, "", "id 2", "code"));
  expectNew("another build id, of a library's library");
  write("lib/libLLVMSample.so", elfFile({}, "", "", "code"));
  expectNew("no build id");
  write("lib/libLLVMSample.so", elfFile({}, "", "", "mode"));
  expectNew("other content");
  std::filesystem::remove(root + "/lib/libLLVMSample.so");
  expectNew("a library that is not found");
  write("lib/libMLIRSample.so", elfFile({}, "", "", "code"));
  expectNew("a library that needs less");
  write("bin/tenon",
        elfFile({"libMLIRSample.so"}, "$ORIGIN/../lib", "", "other"));
  expectNew("another program");
}

// The environment's folders come in front of those of the program.
TEST_F(CompilerBuildTest, EnvironmentCounts) {
  std::string before = build();
  std::filesystem::create_directory(root + "/first");
  write("first/libMLIRSample.so", elfFile({}, "", "", "first"));
  ASSERT_EQ(::setenv("LD_LIBRARY_PATH", (root + "/first").c_str(), 1), 0);
  EXPECT_NE(build(), before);
  ::unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(build(), before);
}

// A script that starts a program, as wheels install it, is told apart by that
// too.
TEST_F(CompilerBuildTest, ScriptsLeadToPrograms) {
  std::filesystem::create_directory(root + "/real");
  write("real/tenon", elfFile({}, "", "one build", ""));
  write("bin/tenon", "#!/bin/sh\necho a warning >&2\n[ \"$1\" = --program ] "
                     "&& echo " +
                         root + "/real/tenon\n");
  chmod((root + "/bin/tenon").c_str(), 0755);
  std::string before = build();
  EXPECT_EQ(build(), before);
  write("real/tenon", elfFile({}, "", "another build", ""));
  std::string after = build();
  EXPECT_NE(after, before);
  // One that says nothing is a file like others.
  chmod((root + "/bin/tenon").c_str(), 0644);
  std::string alone = build();
  EXPECT_NE(alone, after);
  write("real/tenon", elfFile({}, "", "one build", ""));
  EXPECT_EQ(build(), alone);
}

// Scripts are known by their content; of programs that are cut or damaged
// anywhere nothing is read that is not there.
TEST_F(CompilerBuildTest, AnyFileHasABuild) {
  write("bin/tenon", "#!/bin/sh\n");
  std::string script = build();
  write("bin/tenon", "#!/bin/sh\nexit\n");
  EXPECT_NE(build(), script);
  const std::string whole =
      elfFile({"libMLIRSample.so"}, "$ORIGIN/../lib", "an id of a program", "");
  for (size_t at = 0; at < whole.size(); ++at) {
    write("bin/tenon", whole.substr(0, at + 1));
    build();
    for (char bits : {'\x01', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[at] ^= bits;
      write("bin/tenon", damaged);
      build();
    }
  }
  std::filesystem::remove(root + "/bin/tenon");
  auto missing = compilerBuild(root + "/bin/tenon");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
}
