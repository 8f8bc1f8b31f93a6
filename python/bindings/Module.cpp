//===- Module.cpp - The extension module ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Failures.h"
#include "Objects.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tenon::python;

/// Weights and scales of experts by their addresses: where they are and what
/// lies from expert to expert, and where they go.
using Source = std::pair<uint64_t, int64_t>;

static void packExperts(int64_t experts, int64_t rows, int64_t depth,
                        const std::string &order, bool interleaved,
                        Source weights, Source scales, uint64_t packed,
                        uint64_t packedScales, const nb::object &progress) {
  // NOLINTBEGIN(performance-no-int-to-ptr)
  tenon_expert_packing packing{};
  packing.struct_bytes = sizeof packing;
  packing.experts = experts;
  packing.rows = rows;
  packing.depth = depth;
  packing.order = order.c_str();
  packing.interleaved = interleaved;
  packing.weights = reinterpret_cast<const void *>(weights.first);
  packing.scales = reinterpret_cast<const void *>(scales.first);
  packing.weights_stride = weights.second;
  packing.scales_stride = scales.second;
  packing.packed = reinterpret_cast<void *>(packed);
  packing.packed_scales = reinterpret_cast<void *>(packedScales);
  // NOLINTEND(performance-no-int-to-ptr)
  struct Teller {
    const nb::object &tell;
    std::optional<nb::python_error> error;
  } teller{progress, std::nullopt};
  packing.context = &teller;
  if (!progress.is_none()) {
    packing.progress = [](void *context, int64_t done, int64_t count) {
      auto &teller = *static_cast<Teller *>(context);
      nb::gil_scoped_acquire held;
      try {
        if (!teller.error) {
          teller.tell(done, count);
        }
      } catch (nb::python_error &error) {
        teller.error.emplace(std::move(error));
      }
    };
  }
  tenon_status status;
  {
    nb::gil_scoped_release released;
    status = tenon_expert_pack(&packing);
  }
  if (teller.error) {
    throw std::move(*teller.error);
  }
  check(status);
}

NB_MODULE(_tenon, module) {
  module.doc() = "The C interface of the Tenon runtime.";
  // Caches of other packages, as those of torch.compile, may hold kernels past
  // the end.
  nb::set_leak_warnings(false);
  module.attr("version") = tenon_version();

  nb::class_<Runtime>(
      module, "Runtime",
      "Bundles, and what happens when a kernel is in none of them: it comes\n"
      "from the disk cache or the compiler, with a line on standard error\n"
      "(jit=\"warn\") or without (\"allow\"), or is an error that names the\n"
      "command which builds it (\"forbid\"). The compiler is that of the\n"
      "package tenon-compiler where it is installed, else `tenon` on the "
      "PATH.\n"
      "Touches no device.")
      .def(nb::init<const std::string &, const std::optional<std::string> &,
                    const std::optional<std::string> &>(),
           "jit"_a = "warn", "compiler"_a = nb::none(),
           "cache_folder"_a = nb::none())
      .def("load", &Runtime::load, "path"_a, "sha256"_a = nb::none(),
           "Opens a bundle; sha256 (hexadecimal) pins its content.")
      .def("compile_keys", &Runtime::compileKeys, "op"_a,
           "statics"_a = nb::none(),
           "The keys of an op: one per bucket of sizes.")
      .def("compile_only", &Runtime::compileOnly, "target"_a, "op"_a,
           "statics"_a = nb::none(),
           "Has a kernel ready for devices of a chip, such as gfx950: from a\n"
           "bundle, the disk cache or the compiler. statics may be a key.")
      .def("on_compile", &Runtime::onCompile, "callback"_a.none(),
           "Sets what is called with op, settings and target before every\n"
           "compile; None: nothing. It must not call this runtime.")
      .def("counters", &Runtime::counters,
           "Launches, misses, compiles and their seconds so far.")
      .def("prometheus", &Runtime::prometheus,
           "The counters in the text format of Prometheus.");

  nb::class_<Device>(
      module, "Device",
      "\"hip\" or \"hip:INDEX\" (a GPU), \"sim\" or \"sim:CHIP\" (the\n"
      "simulator, where arrays are NumPy's), \"null\" (launches nothing).")
      .def(nb::init<std::shared_ptr<Runtime>, const std::string &>(),
           "runtime"_a, "name"_a)
      .def_prop_ro("name", &Device::name)
      .def_prop_ro("target", &Device::target, "The chip: \"gfx950\".")
      .def_prop_ro("runtime",
                   [](const Device &device) { return device.runtime; })
      .def("preload", &Device::preload,
           "Loads every kernel of the bundles, before a graph is captured;\n"
           "returns the number of modules.")
      .def("synchronize", &Device::synchronize, "stream"_a.none() = nb::none(),
           "Waits for what was enqueued on the stream.");

  nb::class_<Memory>(module, "Memory",
                     "Memory of a device, aligned to 256 bytes: a workspace.")
      .def(nb::init<std::shared_ptr<Device>, uint64_t, bool>(), "device"_a,
           "bytes"_a, "zero"_a = false)
      .def_ro("bytes", &Memory::bytes)
      .def_prop_ro("address", [](const Memory &memory) {
        return reinterpret_cast<uint64_t>(memory.address);
      });

  nb::class_<Kernel>(
      module, "Kernel",
      "An op with its static parameters on a device. statics holds those that\n"
      "differ from their defaults, such as {\"H\": 12}.")
      .def(nb::init<std::shared_ptr<Device>, const std::string &, nb::handle>(),
           "device"_a, "op"_a, "statics"_a.none() = nb::none())
      .def_prop_ro("name", &Kernel::name)
      .def_prop_ro("device", [](const Kernel &kernel) { return kernel.device; })
      .def_prop_ro("operands", &Kernel::operands,
                   "name, type, shape, access and layout of each operand.")
      .def_prop_ro("scalars", &Kernel::scalars,
                   "The integers that come with a call.")
      .def("launch", &Kernel::launch, "arrays"_a, "scalars"_a = nb::dict(),
           "workspace"_a.none() = nb::none(),
           "zeroed_workspace"_a.none() = nb::none(),
           "stream"_a.none() = nb::none(),
           "Checks the operands and enqueues the op on the stream.")
      .def("workspace", &Kernel::workspace, "arrays"_a,
           "scalars"_a = nb::dict(),
           "The bytes of workspace, and of zeroed workspace, of such a call.")
      .def("max_workspace", &Kernel::maxWorkspace, "bounds"_a,
           "The same for all calls whose sizes are at most the bounds, such\n"
           "as {\"N\": 128}.");

  module.def("pack_experts", &packExperts, "experts"_a, "rows"_a, "depth"_a,
             "order"_a, "interleaved"_a, "weights"_a, "scales"_a, "packed"_a,
             "packed_scales"_a, "progress"_a.none(),
             "tenon_expert_pack on memory of the host: weights and scales are\n"
             "addresses with the bytes from expert to expert; progress is\n"
             "called with how many of how many experts are done.");
}
