//===- Compile.cpp - from a spec to a code object ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Driver/Compile.h"

#include "PlanExport.h"

#include "passes/Pipelines.h"
#include "tenon/CodeGen/CodeGen.h"
#include "tenon/CodeGen/Comgr.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/LocationSnapshot.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::driver;

llvm::Expected<target::TargetInfo> driver::setTarget(ModuleOp module,
                                                     StringRef chip) {
  auto info = target::TargetInfo::get(chip);
  if (!info) {
    return info.takeError();
  }
  if (auto given = module->getAttrOfType<tile::TargetAttr>("tile.target")) {
    if (given.getChip() != chip) {
      return llvm::createStringError(("the module is written for " +
                                      given.getChip() +
                                      ", the target asked for is " + chip)
                                         .str());
    }
  }
  module->setAttr("tile.target",
                  tile::TargetAttr::get(module.getContext(), chip));
  return *info;
}

/// The one tenon op of \p module; emits an error when there is none or more.
static FailureOr<spec::SpecOpInterface> findSpec(ModuleOp module) {
  SmallVector<spec::SpecOpInterface> ops;
  module.walk([&](spec::SpecOpInterface op) { ops.push_back(op); });
  if (ops.size() != 1) {
    Operation *where = ops.empty() ? module.getOperation() : ops[1];
    where->emitError("a spec file holds one tenon op, found ") << ops.size();
    return failure();
  }
  return ops.front();
}

static void watch(PassManager &passes, const CompileOptions &options) {
  if (options.times) {
    options.times->watch(passes);
  }
}

/// Gives the op its ranked schedules, or the one of the options.
static LogicalResult schedule(ModuleOp module, const CompileOptions &options) {
  FailureOr<spec::SpecOpInterface> op = findSpec(module);
  if (failed(op)) {
    return failure();
  }
  if (options.schedule) {
    Attribute attr = parseAttribute(*options.schedule, module.getContext());
    if (!isa_and_nonnull<DictionaryAttr>(attr)) {
      return (*op)->emitError("the schedule is no dictionary");
    }
    (*op)->setAttr("schedules", ArrayAttr::get(module.getContext(), attr));
  }
  PassManager passes(module->getName());
  watch(passes, options);
  passes.addPass(createTenonChooseSchedule());
  return passes.run(module);
}

FailureOr<std::string> driver::compileToTile(ModuleOp module,
                                             const CompileOptions &options) {
  if (failed(schedule(module, options))) {
    return failure();
  }
  PassManager passes(module.getContext());
  watch(passes, options);
  buildSpecPipeline(passes, 0);
  if (failed(passes.run(module))) {
    return failure();
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

/// Why the driver does not take a kernel; empty when it does.
static std::string objection(const codegen::KernelReport &report,
                             const target::TargetInfo &target) {
  if (report.scratchBytes != 0) {
    return std::to_string(report.spills) + " registers are spilled and " +
           std::to_string(report.scratchBytes) + " bytes of scratch are used";
  }
  if (report.ldsBytes > target.facts().ldsBytes) {
    return std::to_string(report.ldsBytes) + " bytes of LDS are used";
  }
  if (report.workgroupsPerCu == 0) {
    return "its registers do not fit a compute unit";
  }
  return "";
}

namespace {
/// One attempt: a copy of the module compiled with one schedule.
struct Attempt {
  OwningOpRef<ModuleOp> module;
  runtime::Plan plan;
  llvm::StringMap<std::string> programs; ///< tile programs by kernel
  std::string tileProgram;               ///< when line tables are asked for
  std::unique_ptr<codegen::MachineModule> machine;
};
} // namespace

/// Whether \p module is a tile program rather than a spec.
static bool isTileProgram(ModuleOp module) {
  bool hasSpec = false;
  module.walk([&](spec::SpecOpInterface) { hasSpec = true; });
  return !hasSpec && !module.getOps<tile::KernelOp>().empty();
}

/// The tile programs of \p module by kernel, as text.
static llvm::StringMap<std::string> programsOf(ModuleOp module) {
  llvm::StringMap<std::string> programs;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    llvm::raw_string_ostream stream(programs[kernel.getName()]);
    kernel.print(stream);
  }
  return programs;
}

/// Takes a copy of \p module to tile programs, a spec with schedule number
/// \p index.
static FailureOr<Attempt> startAttempt(ModuleOp module, unsigned index,
                                       const CompileOptions &options) {
  Attempt result;
  result.module = module.clone();
  if (!isTileProgram(module)) {
    PassManager specPasses(module.getContext());
    watch(specPasses, options);
    buildSpecPipeline(specPasses, index);
    if (failed(specPasses.run(*result.module))) {
      return failure();
    }
    result.programs = programsOf(*result.module);
  }
  return result;
}

/// Takes \p result, a copy of \p module, from tile programs to optimised LLVM
/// IR. With \p ownLines, line tables name the locations that the module was
/// read with, unless those of CompileOptions::tileFile are asked for.
static LogicalResult continueAttempt(Attempt &result, ModuleOp module,
                                     const CompileOptions &options,
                                     const target::TargetInfo &target,
                                     bool ownLines = false) {
  PassManager tilePasses(module.getContext());
  watch(tilePasses, options);
  buildTilePipeline(tilePasses);
  if (options.tileFile) {
    llvm::raw_string_ostream stream(result.tileProgram);
    generateLocationsFromIR(stream, *options.tileFile, *result.module,
                            OpPrintingFlags());
  }
  if (options.tileFile || ownLines) {
    // Without a scope LLVM drops the locations.
    tilePasses.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  }
  if (failed(tilePasses.run(*result.module))) {
    return failure();
  }
  for (auto plan :
       llvm::make_early_inc_range(result.module->getOps<spec::PlanOp>())) {
    FailureOr<runtime::Plan> exported = exportPlan(plan);
    if (failed(exported)) {
      return failure();
    }
    result.plan = std::move(*exported);
    plan.erase();
  }
  // What is left is for LLVM alone.
  result.module.get()->removeAttr("tile.target");
  result.module->walk([](LLVM::LLVMFuncOp function) {
    for (unsigned arg = 0; arg < function.getNumArguments(); ++arg) {
      function.removeArgAttr(arg, "tile.name");
    }
  });
  PhaseTimes::Scope scope(options.times, "llvm-ir");
  auto machine = codegen::MachineModule::create(*result.module, target);
  if (!machine) {
    return result.module->emitError(llvm::toString(machine.takeError()));
  }
  result.machine =
      std::make_unique<codegen::MachineModule>(std::move(*machine));
  return success();
}

/// The comgr of the options, null for LLD. Warns when it is asked for and
/// cannot serve.
static const codegen::Comgr *chooseComgr(ModuleOp module,
                                         const CompileOptions &options) {
  if (options.linker != Linker::Comgr) {
    return nullptr;
  }
  auto warn = [&](const std::string &reason) {
    emitWarning(UnknownLoc::get(module.getContext()), reason)
        << "; LLD links instead";
    return nullptr;
  };
  llvm::Expected<const codegen::Comgr *> comgr = codegen::Comgr::get();
  if (!comgr) {
    return warn(llvm::toString(comgr.takeError()));
  }
  if (!(*comgr)->knows(options.chip)) {
    return warn((*comgr)->name() + " does not know " + options.chip);
  }
  return *comgr;
}

/// The object, the code object and the reports of an attempt, linked by \p
/// comgr unless that is null.
static llvm::Expected<Compiled> finish(Attempt &attempt,
                                       const target::TargetInfo &target,
                                       const codegen::Comgr *comgr,
                                       PhaseTimes *times) {
  Compiled compiled;
  compiled.linker = comgr ? comgr->name() : "LLD";
  compiled.plan = std::move(attempt.plan);
  compiled.tileProgram = std::move(attempt.tileProgram);
  auto timed = [&](StringRef phase, auto work) {
    PhaseTimes::Scope scope(times, phase);
    return work();
  };
  auto object =
      timed("llvm-codegen", [&] { return attempt.machine->object(); });
  if (!object) {
    return object.takeError();
  }
  auto linked = timed("link", [&] {
    return comgr ? comgr->link(*object, target.chip())
                 : codegen::linkCodeObject(*object);
  });
  if (!linked) {
    return linked.takeError();
  }
  compiled.codeObject = std::move(*linked);
  auto reports = timed("report", [&] {
    return codegen::reportKernels(compiled.codeObject, target);
  });
  if (!reports) {
    return reports.takeError();
  }
  compiled.reports = std::move(*reports);
  if (comgr) {
    auto seen = comgr->inspect(compiled.codeObject);
    if (!seen) {
      return seen.takeError();
    }
    if (llvm::Error error =
            codegen::compareWithComgr(*seen, target.chip(), compiled.reports)) {
      return error;
    }
  }
  return compiled;
}

/// Why the driver does not take what an attempt has become; empty when it does.
static std::string objection(const Compiled &compiled,
                             const target::TargetInfo &target) {
  for (const codegen::KernelReport &report : compiled.reports) {
    std::string reason = objection(report, target);
    if (!reason.empty()) {
      return "of " + report.name + ", " + reason;
    }
  }
  return "";
}

namespace {
/// Why a later schedule is preferred to what an attempt has become, though that
/// is correct.
struct Misgiving {
  std::string reason; ///< empty when none is
  std::string kernel;
};
} // namespace

/// Whether registers are kept in others for want of room, more than a few:
/// scalars cost an instruction each, and where they are as few among those of a
/// loop as moves may be, another schedule is not worth it.
static bool lacksRegisters(const codegen::KernelReport &report) {
  unsigned hot = 0;
  for (const codegen::HotLoop &loop : report.loops) {
    hot = std::max(hot, loop.instructions());
  }
  return report.spills != 0 ||
         report.scalarSpills * codegen::HotLoop::instructionsPerMove > hot;
}

static Misgiving misgiving(const Compiled &compiled) {
  for (const codegen::KernelReport &report : compiled.reports) {
    if (lacksRegisters(report)) {
      return {report.name + " moves " + std::to_string(report.spills) +
                  " vector and " + std::to_string(report.scalarSpills) +
                  " scalar registers to others for want of room",
              report.name};
    }
    for (const codegen::HotLoop &loop : report.loops) {
      std::string reason = codegen::objection(loop);
      if (!reason.empty()) {
        return {"of " + report.name + ", " + reason, report.name};
      }
    }
  }
  return {};
}

/// The assembly of \p attempt into \p assembly when it is asked for, and what
/// it becomes.
static llvm::Expected<Compiled>
finish(Attempt &attempt, const target::TargetInfo &target,
       const codegen::Comgr *comgr, std::string *assembly, PhaseTimes *times) {
  if (assembly) {
    auto text = attempt.machine->assembly();
    if (!text) {
      return text.takeError();
    }
    *assembly = std::move(*text);
  }
  return finish(attempt, target, comgr, times);
}

/// Compiles a tile program, which has the one schedule that it was written
/// with. Its plan is empty, its code object names its lines; \p assembly stays
/// free of them.
static FailureOr<Compiled> compileProgram(ModuleOp module,
                                          const CompileOptions &options,
                                          std::string *assembly) {
  FailureOr<target::TargetInfo> target = tile::getTarget(module);
  if (failed(target)) {
    return failure();
  }
  FailureOr<Attempt> candidate = startAttempt(module, 0, options);
  if (failed(candidate) ||
      failed(continueAttempt(*candidate, module, options, *target,
                             /*ownLines=*/!assembly))) {
    return failure();
  }
  llvm::Expected<Compiled> compiled =
      finish(*candidate, *target, chooseComgr(module, options), assembly,
             options.times);
  if (!compiled) {
    return module.emitError(llvm::toString(compiled.takeError()));
  }
  std::string reason = objection(*compiled, *target);
  if (!reason.empty()) {
    return module.emitError("the machine code is not acceptable: ") << reason;
  }
  return std::move(*compiled);
}

/// Tries the schedules in order and returns the first that compiles to
/// acceptable machine code without misgivings, or the first that does with them
/// when there is no other.
static FailureOr<Compiled>
tryAll(ModuleOp module, const CompileOptions &options, std::string *assembly) {
  if (isTileProgram(module)) {
    return compileProgram(module, options, assembly);
  }
  if (failed(schedule(module, options))) {
    return failure();
  }
  FailureOr<target::TargetInfo> target = tile::getTarget(module);
  FailureOr<spec::SpecOpInterface> op = findSpec(module);
  if (failed(target) || failed(op)) {
    return failure();
  }
  const codegen::Comgr *comgr = chooseComgr(module, options);
  auto schedules = (*op)->getAttrOfType<ArrayAttr>("schedules");
  std::string objections;
  std::optional<Compiled> fallback;
  std::string fallbackAssembly;
  // Kernels that gave rise to misgivings: a schedule that has one of them too
  // need not be compiled.
  llvm::StringMap<std::string> doubtful;
  for (auto [index, chosen] : llvm::enumerate(schedules)) {
    FailureOr<Attempt> candidate = startAttempt(module, index, options);
    if (failed(candidate)) {
      return failure();
    }
    auto isDoubtful = [&](const auto &program) {
      auto known = candidate->programs.find(program.first());
      return known != candidate->programs.end() &&
             known->second == program.second;
    };
    if (auto same = llvm::find_if(doubtful, isDoubtful);
        same != doubtful.end()) {
      (*op)->emitRemark("schedule ")
          << chosen << " is not tried: it has the same " << same->first();
      continue;
    }
    if (failed(continueAttempt(*candidate, module, options, *target))) {
      return failure();
    }
    llvm::Expected<Compiled> compiled =
        finish(*candidate, *target, comgr, assembly, options.times);
    if (!compiled) {
      return (*op)->emitError(llvm::toString(compiled.takeError()));
    }
    llvm::raw_string_ostream(compiled->schedule) << chosen;
    std::string reason = objection(*compiled, *target);
    bool isCorrect = reason.empty();
    if (isCorrect) {
      Misgiving doubt = misgiving(*compiled);
      reason = doubt.reason;
      if (!reason.empty()) {
        doubtful[doubt.kernel] = candidate->programs[doubt.kernel];
      }
    }
    if (reason.empty()) {
      return std::move(*compiled);
    }
    if (isCorrect && !fallback) {
      fallback = std::move(*compiled);
      fallbackAssembly = assembly ? *assembly : "";
      (*op)->emitRemark("schedule ") << chosen << " is put back: " << reason;
      continue;
    }
    (*op)->emitRemark("schedule ") << chosen << " is rejected: " << reason;
    objections += "\n  " + compiled->schedule + ": " + reason;
  }
  if (fallback) {
    if (assembly) {
      *assembly = std::move(fallbackAssembly);
    }
    return std::move(*fallback);
  }
  return (*op)->emitError("no schedule gives acceptable machine code:")
         << objections;
}

FailureOr<std::string> driver::compileToIsa(ModuleOp module,
                                            const CompileOptions &options) {
  std::string assembly;
  if (failed(tryAll(module, options, &assembly))) {
    return failure();
  }
  return assembly;
}

FailureOr<Compiled> driver::compile(ModuleOp module,
                                    const CompileOptions &options) {
  return tryAll(module, options, nullptr);
}
