//===- Object.cpp - from the llvm dialect to an ELF object ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/CodeGen/CodeGen.h"

#include "MatrixWaits.h"
#include "OrderStatements.h"
#include "WaitCheck.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

// The AMDGPU parts of LLVM. llvm/Support/TargetSelect.h would declare those of
// every target that this LLVM was built with.
extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
}

using namespace tenon;
using namespace tenon::codegen;

// The newest version that every ROCm from 6.0 on loads.
static constexpr uint32_t codeObjectVersion = 500;

namespace {
/// Collects the errors that the back end reports through the context; by
/// itself it would end the process.
struct Diagnostics : llvm::DiagnosticHandler {
  explicit Diagnostics(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(errors);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      stream << "\n";
    }
    return true;
  }

  std::string &errors;
};
} // namespace

struct MachineModule::State {
  std::string errors;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;

  /// What the back end has reported, or success.
  llvm::Error takeErrors() {
    if (errors.empty()) {
      return llvm::Error::success();
    }
    std::string text = std::move(errors);
    errors.clear();
    return llvm::createStringError("LLVM: " + text);
  }
};

MachineModule::MachineModule(std::unique_ptr<State> state)
    : state(std::move(state)) {}
MachineModule::MachineModule(MachineModule &&) = default;
MachineModule::~MachineModule() = default;

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(const llvm::Triple &triple, const target::TargetInfo &target) {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    // For the statements that WaitCheck reads.
    LLVMInitializeAMDGPUAsmParser();
  });
  std::string error;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend) {
    return llvm::createStringError("LLVM has no AMDGPU back end: " + error);
  }
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.chip(), /*features=*/"", llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// The pipeline of -O3.
static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  // Tile lowering has chosen vectors already. Without this LLVM would pair the
  // additions of reductions and lose their DPP operands.
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = false;
  tuning.LoopVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

llvm::Expected<MachineModule>
MachineModule::create(mlir::ModuleOp module, const target::TargetInfo &target) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerROCDLDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);

  auto state = std::make_unique<State>();
  state->context.setDiagnosticHandler(
      std::make_unique<Diagnostics>(state->errors));
  state->module =
      mlir::translateModuleToLLVMIR(module, state->context, "tenon");
  if (!state->module) {
    return llvm::createStringError("cannot translate the module to LLVM IR");
  }
  llvm::Triple triple("amdgcn-amd-amdhsa");
  auto machine = createMachine(triple, target);
  if (!machine) {
    return machine.takeError();
  }
  state->machine = std::move(*machine);
  state->module->setTargetTriple(triple);
  state->module->setDataLayout(state->machine->createDataLayout());
  state->module->addModuleFlag(llvm::Module::Error,
                               "amdhsa_code_object_version", codeObjectVersion);
  optimise(*state->module, *state->machine);
  if (llvm::Error error = state->takeErrors()) {
    return std::move(error);
  }
  return MachineModule(std::move(state));
}

std::string MachineModule::llvmIr() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  state->module->print(stream, nullptr);
  return text;
}

/// Runs the back end on \p module, and the check of waits before the code is
/// written.
static llvm::Error emitFile(llvm::Module &module, llvm::TargetMachine &machine,
                            llvm::CodeGenFileType type,
                            llvm::raw_pwrite_stream &stream) {
  // As TargetMachine::addPassesToEmitFile, which has no place for a pass there.
  auto &codeGen = static_cast<llvm::CodeGenTargetMachineImpl &>(machine);
  llvm::legacy::PassManager passes;
  auto *machineInfo = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig *config = codeGen.createPassConfig(passes);
  passes.add(config);
  passes.add(machineInfo);
  if (config->addISelPasses()) {
    return llvm::createStringError("the AMDGPU back end cannot select code");
  }
  passes.add(createOrderStatementsPass());
  config->addMachinePasses();
  config->setInitialized();
  std::string errors;
  passes.add(createMatrixWaitsPass());
  passes.add(createWaitCheckPass(errors));
  if (codeGen.addAsmPrinter(passes, stream, nullptr, type,
                            machineInfo->getMMI().getContext())) {
    return llvm::createStringError("the AMDGPU back end cannot emit this file");
  }
  passes.run(module);
  return errors.empty()
             ? llvm::Error::success()
             : llvm::createStringError(llvm::StringRef(errors).rtrim().str());
}

llvm::Expected<std::string> MachineModule::assembly() {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  // The back end changes the IR, and the object may still be asked for.
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*state->module);
  if (llvm::Error error =
          emitFile(*copy, *state->machine, llvm::CodeGenFileType::AssemblyFile,
                   stream)) {
    return std::move(error);
  }
  if (llvm::Error error = state->takeErrors()) {
    return std::move(error);
  }
  return std::string(buffer.begin(), buffer.end());
}

llvm::Expected<std::vector<char>> MachineModule::object() {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  if (llvm::Error error = emitFile(*state->module, *state->machine,
                                   llvm::CodeGenFileType::ObjectFile, stream)) {
    return std::move(error);
  }
  if (llvm::Error error = state->takeErrors()) {
    return std::move(error);
  }
  return std::vector<char>(buffer.begin(), buffer.end());
}
