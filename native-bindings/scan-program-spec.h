// The reading of a scan program's specification from JavaScript.
#ifndef WAF_NATIVE_SCAN_PROGRAM_SPEC_H
#define WAF_NATIVE_SCAN_PROGRAM_SPEC_H

#include <memory>
#include <vector>

#include "convert.h"
#include "scan-rows.h"

namespace waf {

// What a specification came to.
struct ScanProgramParts {
  std::vector<std::shared_ptr<DatabaseHandle>> databases;
  std::vector<ScanClass> classes;
  std::vector<RowPart> row_parts;
  std::vector<uint8_t> unicode_map;
  uint32_t target_count = 0;
};

// False when `spec` contradicts itself; `error` says how, if no JavaScript error is pending.
bool ReadScanProgram(Napi::Env env, const Napi::Object& spec, ScanProgramParts* parts,
                     const char** error);

}  // namespace waf

#endif  // WAF_NATIVE_SCAN_PROGRAM_SPEC_H
