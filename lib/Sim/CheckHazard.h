//===- CheckHazard.h - wait states between instructions ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wait states that gfx942 and gfx950 leave to software, as LLVM's
// GCNHazardRecognizer documents them. Every issued instruction is one wait
// state, s_nop N is N + 1. Which of them the hardware waits for by itself is
// not published; hand-written kernels in service leave some out.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_SIM_CHECKHAZARD_H
#define TENON_LIB_SIM_CHECKHAZARD_H

#include "CheckProgram.h"

#include <string>

namespace tenon::sim {

/// A hazard that was not waited for.
struct HazardFinding {
  uint32_t producer; ///< record of the earlier instruction
  std::string message;
};

/// What one wave has issued lately.
class HazardState {
public:
  void reset(const CheckProgram &checks);

  /// Issues the instruction `record`; true when it comes too early, with the
  /// reason in `finding`.
  bool issue(uint32_t record, HazardFinding &finding);

private:
  struct Event {
    uint32_t clock = 0; ///< of the event, 0: never
    uint32_t record = 0;
  };

  bool checkVectorUse(const CheckRecord &now, const RegisterRange &use);
  bool checkScalarUse(const CheckRecord &now, const RegisterRange &use);
  bool checkVectorDef(const CheckRecord &now, const RegisterRange &def);
  bool checkExec(const CheckRecord &now);
  bool checkM0(const CheckRecord &now);
  bool checkModeRegister(const CheckRecord &now);
  bool checkDoubleUnit(const CheckRecord &now);
  void remember(uint32_t record, const CheckRecord &now);

  /// Whether fewer than `need` wait states lie between the event and now.
  bool tooEarly(const Event &event, unsigned need, const char *what,
                unsigned reg, bool isScalar);

  const CheckRecord *records = nullptr;
  bool isGfx950 = true;
  uint32_t clock = 1;
  Event rowWrites[512];          ///< by vector ALU or matrix product
  Event rowSourceC[512];         ///< read as SrcC by an XDL product
  Event rowWideStores[512];      ///< data of a store of more than 8 bytes
  Event scalarWrites[sgprCount]; ///< by vector or scalar ALU
  Event setReg;
  Event doubleProduct; ///< any matrix product of doubles
  HazardFinding *out = nullptr;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_CHECKHAZARD_H
