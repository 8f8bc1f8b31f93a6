//===- FakeComgr.cpp - what of comgr Tenon calls ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library under comgr's name for tests, where no version of the real one is
// at hand that knows the chips of Tenon. Version 3 knows gfx950, version 2
// gfx942 alone, and each has the action numbers of its own interface. It links
// by running ld.lld, and says so. TENON_FAKE_COMGR=fail refuses to link,
// =misread reads an LDS size that is off by one.
//
//===----------------------------------------------------------------------===//

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <memory>
#include <set>

using namespace llvm;

namespace {

constexpr int success = 0, failure = 1, invalid = 2;
constexpr int kindLog = 5, kindExecutable = 8;
constexpr int linkAction = FAKE_COMGR_MAJOR == 3 ? 7 : 9;
constexpr const char *isaName = FAKE_COMGR_MAJOR == 3
                                    ? "amdgcn-amd-amdhsa--gfx950"
                                    : "amdgcn-amd-amdhsa--gfx942";

struct Object {
  int kind = 0;
  std::string bytes; ///< of data; the isa of an action
  std::vector<Object *> members;
  std::unique_ptr<msgpack::Document> document; ///< of the root of metadata
  msgpack::DocNode node;
};

struct Handle {
  Object *object;
};

bool asked(const char *what) {
  const char *mode = std::getenv("TENON_FAKE_COMGR");
  return mode && std::strcmp(mode, what) == 0;
}

/// What was made and not given back; the test ends with none.
std::set<Object *> living;
struct AtEnd {
  ~AtEnd() {
    if (!living.empty()) {
      errs() << "fake comgr: " << living.size() << " objects are left\n";
    }
  }
} atEnd;

int make(Handle *handle, int kind = 0) {
  handle->object = new Object();
  handle->object->kind = kind;
  living.insert(handle->object);
  return success;
}

int destroy(Handle handle) {
  living.erase(handle.object);
  delete handle.object;
  return success;
}

int give(const std::string &text, size_t *size, char *bytes) {
  if (bytes) {
    std::memcpy(bytes, text.data(), *size);
  } else {
    *size = text.size();
  }
  return success;
}

/// The note of a code object with its metadata.
StringRef metadataNote(const Object &data) {
  auto file = object::ELF64LEFile::create(data.bytes);
  if (!file) {
    consumeError(file.takeError());
    return "";
  }
  auto headers = file->program_headers();
  for (const auto &header : cantFail(std::move(headers))) {
    if (header.p_type != ELF::PT_NOTE) {
      continue;
    }
    Error error = Error::success();
    for (auto note : file->notes(header, error)) {
      if (note.getType() == ELF::NT_AMDGPU_METADATA) {
        consumeError(std::move(error));
        return note.getDescAsStringRef(4);
      }
    }
    consumeError(std::move(error));
  }
  return "";
}

} // namespace

extern "C" {

int amd_comgr_status_string(int status, const char **text) {
  *text = status == success   ? "SUCCESS"
          : status == invalid ? "INVALID_ARGUMENT"
                              : "ERROR";
  return success;
}

void amd_comgr_get_version(size_t *major, size_t *minor) {
  *major = FAKE_COMGR_MAJOR;
  *minor = 1;
}

int amd_comgr_get_isa_count(size_t *count) {
  *count = 1;
  return success;
}

int amd_comgr_get_isa_name(size_t, const char **name) {
  *name = isaName;
  return success;
}

int amd_comgr_create_data(int kind, Handle *data) { return make(data, kind); }
int amd_comgr_release_data(Handle data) { return destroy(data); }

int amd_comgr_set_data(Handle data, size_t size, const char *bytes) {
  data.object->bytes.assign(bytes, size);
  return success;
}

int amd_comgr_set_data_name(Handle, const char *) { return success; }

int amd_comgr_get_data(Handle data, size_t *size, char *bytes) {
  return give(data.object->bytes, size, bytes);
}

int amd_comgr_get_data_isa_name(Handle, size_t *size, char *bytes) {
  // Texts come with the zero at their end.
  std::string text = std::string(isaName) + ":sramecc+:xnack-";
  return give({text.c_str(), text.size() + 1}, size, bytes);
}

int amd_comgr_create_data_set(Handle *set) { return make(set); }

int amd_comgr_destroy_data_set(Handle set) {
  for (Object *member : set.object->members) {
    if (member->kind == kindLog || member->kind == kindExecutable) {
      delete member;
    }
  }
  return destroy(set);
}

int amd_comgr_data_set_add(Handle set, Handle data) {
  set.object->members.push_back(data.object);
  return success;
}

int amd_comgr_action_data_count(Handle set, int kind, size_t *count) {
  *count = llvm::count_if(set.object->members,
                          [&](Object *data) { return data->kind == kind; });
  return success;
}

int amd_comgr_action_data_get_data(Handle set, int kind, size_t index,
                                   Handle *data) {
  for (Object *member : set.object->members) {
    if (member->kind == kind && index-- == 0) {
      make(data, kind);
      data->object->bytes = member->bytes;
      return success;
    }
  }
  return invalid;
}

int amd_comgr_create_action_info(Handle *info) { return make(info); }
int amd_comgr_destroy_action_info(Handle info) { return destroy(info); }

int amd_comgr_action_info_set_isa_name(Handle info, const char *name) {
  info.object->bytes = name;
  return info.object->bytes == isaName ? success : invalid;
}

int amd_comgr_action_info_set_logging(Handle, bool) { return success; }

int amd_comgr_do_action(int kind, Handle info, Handle input, Handle result) {
  auto add = [&](int kind, StringRef bytes) {
    Object *data = new Object();
    data->kind = kind;
    data->bytes = bytes.str();
    result.object->members.push_back(data);
  };
  if (kind != linkAction || info.object->bytes != isaName ||
      input.object->members.size() != 1) {
    return invalid;
  }
  if (asked("fail")) {
    add(kindLog, "lld: error: asked to fail\n");
    return failure;
  }
  SmallString<64> from, to;
  std::error_code ignored;
  sys::fs::createTemporaryFile("fake-comgr", "o", from);
  sys::fs::createTemporaryFile("fake-comgr", "co", to);
  raw_fd_ostream(from, ignored) << input.object->members[0]->bytes;
  int code = sys::ExecuteAndWait(FAKE_COMGR_LD,
                                 {FAKE_COMGR_LD, "-shared", from, "-o", to});
  if (code == 0) {
    add(kindExecutable, (*MemoryBuffer::getFile(to))->getBuffer());
    errs() << "fake comgr: linked for " << isaName << "\n";
  }
  sys::fs::remove(from);
  sys::fs::remove(to);
  return code == 0 ? success : failure;
}

int amd_comgr_get_data_metadata(Handle data, Handle *node) {
  make(node);
  node->object->document = std::make_unique<msgpack::Document>();
  // The document's texts lie in the bytes of the data.
  if (!node->object->document->readFromBlob(metadataNote(*data.object),
                                            /*Multi=*/false)) {
    destroy(*node);
    node->object = nullptr;
    return failure;
  }
  node->object->node = node->object->document->getRoot();
  return success;
}

int amd_comgr_destroy_metadata(Handle node) { return destroy(node); }

int amd_comgr_metadata_lookup(Handle map, const char *key, Handle *node) {
  if (!map.object->node.isMap()) {
    return invalid;
  }
  auto &entries = map.object->node.getMap();
  auto found = entries.find(StringRef(key));
  if (found == entries.end()) {
    return failure;
  }
  make(node);
  node->object->node = found->second;
  if (asked("misread") && std::strcmp(key, ".group_segment_fixed_size") == 0) {
    node->object->node =
        found->second.getDocument()->getNode(found->second.getUInt() + 1);
  }
  return success;
}

int amd_comgr_get_metadata_list_size(Handle list, size_t *size) {
  *size = list.object->node.getArray().size();
  return success;
}

int amd_comgr_index_list_metadata(Handle list, size_t index, Handle *node) {
  make(node);
  node->object->node = list.object->node.getArray()[index];
  return success;
}

int amd_comgr_get_metadata_string(Handle node, size_t *size, char *bytes) {
  std::string text = node.object->node.toString();
  return give({text.c_str(), text.size() + 1}, size, bytes);
}
}
