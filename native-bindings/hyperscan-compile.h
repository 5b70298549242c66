// Expressions on their way from JavaScript to Hyperscan's compiler.
#ifndef WAF_NATIVE_HYPERSCAN_COMPILE_H
#define WAF_NATIVE_HYPERSCAN_COMPILE_H

#include <string>
#include <vector>

#include "hyperscan.h"

namespace waf {

struct ExpressionSet {
  std::vector<std::string> patterns;
  std::vector<unsigned> flags;
  std::vector<unsigned> ids;
  std::vector<bool> literal;
};

// False, with a JavaScript error pending, where `value` is no list of expressions.
bool ReadExpressions(Napi::Env env, const Napi::Value& value, ExpressionSet* set);

// Compiles a set, whose patterns it rewrites; touches no JavaScript, so that any thread may call.
hs_error_t CompileSet(ExpressionSet& set, unsigned mode, hs_database_t** database,
                      hs_compile_error_t** error);

// The text of an error, which is freed, and which expression it is about; -1 for all of them.
std::string TakeMessage(hs_compile_error_t* error, int* expression);

}  // namespace waf

#endif  // WAF_NATIVE_HYPERSCAN_COMPILE_H
