//===- Comgr.cpp - ROCm's code object manager -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opened at run time, as HIP is: nothing of ROCm is needed to build Tenon. The
// numbers below are those of ROCm's amd_comgr.h; version 3 dropped actions and
// counts the others anew, so the number of an action depends on the soname.
//
//===----------------------------------------------------------------------===//

#include "tenon/CodeGen/Comgr.h"

#include "llvm/ADT/StringExtras.h"

#include <dlfcn.h>
#include <mutex>

using namespace tenon;
using namespace tenon::codegen;

namespace {

using Status = int; // 0 is success
constexpr int kindLog = 5, kindRelocatable = 7, kindExecutable = 8;

/// Every object of comgr is a structure of one word.
struct Handle {
  uint64_t word = 0;
};

/// Isa names are those of LLVM's triples with the processor.
constexpr llvm::StringLiteral isaPrefix = "amdgcn-amd-amdhsa--";

} // namespace

struct Comgr::Library {
  int linkAction = 0; ///< relocatable to executable
  Status (*statusString)(Status, const char **);
  void (*getVersion)(size_t *major, size_t *minor);
  Status (*getIsaCount)(size_t *);
  Status (*getIsaName)(size_t index, const char **);
  Status (*createData)(int kind, Handle *);
  Status (*releaseData)(Handle);
  Status (*setData)(Handle, size_t bytes, const char *);
  Status (*setDataName)(Handle, const char *);
  Status (*getData)(Handle, size_t *bytes, char *);
  Status (*getDataIsaName)(Handle, size_t *bytes, char *);
  Status (*createSet)(Handle *);
  Status (*destroySet)(Handle);
  Status (*addToSet)(Handle set, Handle data);
  Status (*countOfSet)(Handle set, int kind, size_t *);
  Status (*getOfSet)(Handle set, int kind, size_t index, Handle *data);
  Status (*createInfo)(Handle *);
  Status (*destroyInfo)(Handle);
  Status (*setInfoIsaName)(Handle, const char *);
  Status (*setInfoLogging)(Handle, bool);
  Status (*doAction)(int kind, Handle info, Handle input, Handle result);
  Status (*getMetadata)(Handle data, Handle *node);
  Status (*destroyMetadata)(Handle node);
  Status (*lookUp)(Handle map, const char *key, Handle *node);
  Status (*listSize)(Handle list, size_t *);
  Status (*listItem)(Handle list, size_t index, Handle *node);
  Status (*getString)(Handle node, size_t *bytes, char *);

  llvm::Error check(Status status, const llvm::Twine &what) const {
    if (status == 0) {
      return llvm::Error::success();
    }
    const char *text = nullptr;
    statusString(status, &text);
    return llvm::createStringError(
        ("comgr cannot " + what + ": " + (text ? text : "unknown error"))
            .str());
  }

  /// A text or bytes that \p get gives in two calls: their length, then they.
  template <typename Get>
  llvm::Expected<std::string> read(Get get, Handle handle,
                                   const llvm::Twine &what) const {
    size_t bytes = 0;
    if (llvm::Error error = check(get(handle, &bytes, nullptr), what)) {
      return error;
    }
    std::string text(bytes, '\0');
    if (llvm::Error error = check(get(handle, &bytes, text.data()), what)) {
      return error;
    }
    return text;
  }
};

namespace {

/// An object of comgr that is given back at the end.
class Owned {
public:
  explicit Owned(Status (*release)(Handle)) : release(release) {}
  ~Owned() {
    if (handle.word != 0) {
      release(handle);
    }
  }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  Handle *operator&() { return &handle; }
  operator Handle() const { return handle; }

private:
  Handle handle;
  Status (*release)(Handle);
};

} // namespace

template <typename Function>
static bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Finds the functions. Returns the name of one that is missing.
static const char *findAll(void *opened, Comgr::Library &library) {
  const char *missing = nullptr;
  auto need = [&](const char *name, auto &function) {
    if (!find(opened, name, function) && !missing) {
      missing = name;
    }
  };
  need("amd_comgr_status_string", library.statusString);
  need("amd_comgr_get_version", library.getVersion);
  need("amd_comgr_get_isa_count", library.getIsaCount);
  need("amd_comgr_get_isa_name", library.getIsaName);
  need("amd_comgr_create_data", library.createData);
  need("amd_comgr_release_data", library.releaseData);
  need("amd_comgr_set_data", library.setData);
  need("amd_comgr_set_data_name", library.setDataName);
  need("amd_comgr_get_data", library.getData);
  need("amd_comgr_get_data_isa_name", library.getDataIsaName);
  need("amd_comgr_create_data_set", library.createSet);
  need("amd_comgr_destroy_data_set", library.destroySet);
  need("amd_comgr_data_set_add", library.addToSet);
  need("amd_comgr_action_data_count", library.countOfSet);
  need("amd_comgr_action_data_get_data", library.getOfSet);
  need("amd_comgr_create_action_info", library.createInfo);
  need("amd_comgr_destroy_action_info", library.destroyInfo);
  need("amd_comgr_action_info_set_isa_name", library.setInfoIsaName);
  need("amd_comgr_action_info_set_logging", library.setInfoLogging);
  need("amd_comgr_do_action", library.doAction);
  need("amd_comgr_get_data_metadata", library.getMetadata);
  need("amd_comgr_destroy_metadata", library.destroyMetadata);
  need("amd_comgr_metadata_lookup", library.lookUp);
  need("amd_comgr_get_metadata_list_size", library.listSize);
  need("amd_comgr_index_list_metadata", library.listItem);
  need("amd_comgr_get_metadata_string", library.getString);
  return missing;
}

llvm::Expected<std::unique_ptr<const Comgr>> Comgr::open() {
  std::string reasons;
  for (int major : {3, 2}) {
    std::string soname = "libamd_comgr.so." + std::to_string(major);
    void *opened = dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
      continue;
    }
    std::unique_ptr<Comgr> comgr(new Comgr());
    comgr->functions = std::make_unique<Library>();
    Library &library = *comgr->functions;
    if (const char *missing = findAll(opened, library)) {
      return llvm::createStringError(soname + " has no " + missing);
    }
    library.linkAction = major == 3 ? 7 : 9;
    comgr->soname = soname;
    library.getVersion(&comgr->major, &comgr->minor);
    size_t count = 0;
    library.getIsaCount(&count);
    for (size_t i = 0; i < count; ++i) {
      const char *isa = nullptr;
      llvm::StringRef chip = library.getIsaName(i, &isa) == 0 && isa ? isa : "";
      if (chip.consume_front(isaPrefix)) {
        comgr->chips.push_back(chip.str());
      }
    }
    return std::unique_ptr<const Comgr>(std::move(comgr));
  }
  return llvm::createStringError("comgr is not installed: neither "
                                 "libamd_comgr.so.3 nor .2 can be opened (" +
                                 reasons + ")");
}

llvm::Expected<const Comgr *> Comgr::get() {
  static std::once_flag once;
  static std::unique_ptr<const Comgr> comgr;
  static std::string problem;
  std::call_once(once, [] {
    auto opened = open();
    if (opened) {
      comgr = std::move(*opened);
    } else {
      problem = llvm::toString(opened.takeError());
    }
  });
  if (!comgr) {
    return llvm::createStringError(problem);
  }
  return comgr.get();
}

Comgr::Comgr() = default;
Comgr::~Comgr() = default;

std::string Comgr::version() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string Comgr::name() const {
  return "comgr " + version() + " (" + soname + ")";
}

bool Comgr::knows(llvm::StringRef chip) const {
  return llvm::is_contained(chips, chip);
}

llvm::Expected<std::vector<uint8_t>> Comgr::link(llvm::ArrayRef<char> object,
                                                 llvm::StringRef chip) const {
  const Library &library = *functions;
  Owned input(library.releaseData), inputs(library.destroySet),
      results(library.destroySet), info(library.destroyInfo);
  std::string isa = (isaPrefix + chip).str();
  // The steps in order; the first that fails is reported.
  Status status = library.createData(kindRelocatable, &input);
  auto then = [&](auto step) { status = status ? status : step(); };
  then([&] { return library.setData(input, object.size(), object.data()); });
  then([&] { return library.setDataName(input, "kernel.o"); });
  then([&] { return library.createSet(&inputs); });
  then([&] { return library.addToSet(inputs, input); });
  then([&] { return library.createSet(&results); });
  then([&] { return library.createInfo(&info); });
  then([&] { return library.setInfoIsaName(info, isa.c_str()); });
  then([&] { return library.setInfoLogging(info, true); });
  if (llvm::Error error = library.check(status, "prepare a link for " + chip)) {
    return error;
  }
  auto result = [&](int kind) -> llvm::Expected<std::string> {
    Owned data(library.releaseData);
    if (llvm::Error error = library.check(
            library.getOfSet(results, kind, 0, &data), "give its result")) {
      return error;
    }
    return library.read(library.getData, data, "give its result");
  };
  status = library.doAction(library.linkAction, info, inputs, results);
  if (llvm::Error error = library.check(status, "link for " + chip)) {
    // What its linker said, as far as it kept that.
    auto log = result(kindLog);
    std::string text = log ? llvm::StringRef(*log).trim().str() : "";
    llvm::consumeError(log.takeError());
    std::string message = llvm::toString(std::move(error));
    return llvm::createStringError(text.empty() ? message
                                                : message + ": " + text);
  }
  auto linked = result(kindExecutable);
  if (!linked) {
    return linked.takeError();
  }
  return std::vector<uint8_t>(linked->begin(), linked->end());
}

namespace {

/// Reads the metadata of code objects.
class MetadataReader {
public:
  explicit MetadataReader(const Comgr::Library &library) : library(library) {}

  /// The text of a key, numbers in decimals; empty when the key is not there.
  std::string text(Handle map, const char *key) const {
    Owned node(library.destroyMetadata);
    if (library.lookUp(map, key, &node) != 0) {
      return "";
    }
    auto value = library.read(library.getString, node, "read metadata");
    if (!value) {
      llvm::consumeError(value.takeError());
      return "";
    }
    return value->c_str(); // without the zero at its end
  }

  uint64_t number(Handle map, const char *key) const {
    uint64_t value = 0;
    llvm::StringRef(text(map, key)).getAsInteger(0, value);
    return value;
  }

  ComgrKernel kernel(Handle map) const {
    ComgrKernel result;
    result.name = text(map, ".name");
    result.sgprs = number(map, ".sgpr_count");
    result.ldsBytes = number(map, ".group_segment_fixed_size");
    result.scratchBytes = number(map, ".private_segment_fixed_size");
    result.kernargBytes = number(map, ".kernarg_segment_size");
    return result;
  }

private:
  const Comgr::Library &library;
};

} // namespace

llvm::Expected<ComgrObject>
Comgr::inspect(llvm::ArrayRef<uint8_t> codeObject) const {
  const Library &library = *functions;
  Owned data(library.releaseData), root(library.destroyMetadata),
      kernels(library.destroyMetadata);
  size_t count = 0;
  Status status = library.createData(kindExecutable, &data);
  auto then = [&](auto step) { status = status ? status : step(); };
  then([&] {
    return library.setData(data, codeObject.size(),
                           reinterpret_cast<const char *>(codeObject.data()));
  });
  then([&] { return library.getMetadata(data, &root); });
  then([&] { return library.lookUp(root, "amdhsa.kernels", &kernels); });
  then([&] { return library.listSize(kernels, &count); });
  if (llvm::Error error =
          library.check(status, "read the metadata of the code object")) {
    return error;
  }
  auto isa = library.read(library.getDataIsaName, data, "tell the chip");
  if (!isa) {
    return isa.takeError();
  }
  ComgrObject result;
  // "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-"
  llvm::StringRef chip = isa->c_str();
  chip.consume_front(isaPrefix);
  result.chip = chip.split(':').first.str();
  MetadataReader reader(library);
  for (size_t i = 0; i < count; ++i) {
    Owned kernel(library.destroyMetadata);
    if (llvm::Error error = library.check(library.listItem(kernels, i, &kernel),
                                          "read a kernel")) {
      return error;
    }
    result.kernels.push_back(reader.kernel(kernel));
  }
  return result;
}

llvm::Error codegen::compareWithComgr(const ComgrObject &seen,
                                      llvm::StringRef chip,
                                      llvm::ArrayRef<KernelReport> reports) {
  if (seen.chip != chip) {
    return llvm::createStringError("comgr takes the code object for one of " +
                                   seen.chip + ", not of " + chip.str());
  }
  if (seen.kernels.size() != reports.size()) {
    return llvm::createStringError(
        "comgr finds " + std::to_string(seen.kernels.size()) +
        " kernels in the code object, Tenon " + std::to_string(reports.size()));
  }
  for (const KernelReport &report : reports) {
    auto kernel = llvm::find_if(seen.kernels, [&](const ComgrKernel &kernel) {
      return kernel.name == report.name;
    });
    if (kernel == seen.kernels.end()) {
      return llvm::createStringError("comgr finds no kernel " + report.name);
    }
    struct Figure {
      const char *name;
      uint64_t comgr, own;
    };
    for (const Figure &figure : std::initializer_list<Figure>{
             {"SGPRs", kernel->sgprs, report.sgprs},
             {"bytes of LDS", kernel->ldsBytes, report.ldsBytes},
             {"bytes of scratch", kernel->scratchBytes, report.scratchBytes}}) {
      if (figure.comgr != figure.own) {
        return llvm::createStringError("of " + report.name + ", comgr reads " +
                                       std::to_string(figure.comgr) + " " +
                                       figure.name + ", Tenon " +
                                       std::to_string(figure.own));
      }
    }
  }
  return llvm::Error::success();
}
