// Turns expressions into Hyperscan databases, with every error mapped to its expression.
#include "hyperscan-compile.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "convert.h"

namespace waf {

namespace {

constexpr unsigned kLiteralFlags =
    HS_FLAG_CASELESS | HS_FLAG_MULTILINE | HS_FLAG_SINGLEMATCH | HS_FLAG_SOM_LEFTMOST;

// A regular expression that matches exactly the bytes of `text`.
std::string EscapeLiteral(const std::string& text) {
  std::string out;
  char hex[8];
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      out += c;
    } else {
      std::snprintf(hex, sizeof(hex), "\\x%02x", static_cast<unsigned char>(c));
      out += hex;
    }
  }
  return out;
}

// Hyperscan takes NUL-terminated expressions: a NUL byte inside becomes \x00.
std::string EscapeNul(const std::string& pattern) {
  std::string out;
  bool escaped = false;
  for (const char c : pattern) {
    if (c == '\0') {
      out += escaped ? "x00" : "\\x00";
      escaped = false;
      continue;
    }
    out += c;
    escaped = c == '\\' && !escaped;
  }
  return out;
}

bool AllPureLiterals(const ExpressionSet& set) {
  for (size_t i = 0; i < set.patterns.size(); ++i) {
    if (!set.literal[i] || set.patterns[i].empty() || (set.flags[i] & ~kLiteralFlags) != 0) {
      return false;
    }
  }
  return !set.patterns.empty();
}

}  // namespace

bool ReadExpressions(Napi::Env env, const Napi::Value& value, ExpressionSet* set) {
  if (!value.IsArray()) {
    FailType(env, "expected an array of expressions");
    return false;
  }
  Napi::Array list = value.As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) {
    Napi::HandleScope scope(env);
    Napi::Object expression;
    Napi::Value pattern;
    if (ReadObject(list, i, &expression)) pattern = expression.Get("pattern");
    if (pattern.IsEmpty() || !pattern.IsString()) {
      FailType(env, "an expression has pattern, flags and id");
      return false;
    }
    set->patterns.push_back(ReadLatin1(pattern));
    set->flags.push_back(static_cast<unsigned>(ReadInteger(expression, "flags", 0)));
    set->ids.push_back(static_cast<unsigned>(ReadInteger(expression, "id", 0)));
    set->literal.push_back(ReadFlag(expression, "literal"));
  }
  return true;
}

hs_error_t CompileSet(ExpressionSet& set, unsigned mode, hs_database_t** database,
                      hs_compile_error_t** error) {
  hs_platform_info_t platform;
  const bool known = hs_populate_platform(&platform) == HS_SUCCESS;
  const bool literals = AllPureLiterals(set);
  std::vector<const char*> pointers;
  std::vector<size_t> lengths;
  for (size_t i = 0; i < set.patterns.size(); ++i) {
    if (!literals) {
      set.patterns[i] =
          set.literal[i] ? EscapeLiteral(set.patterns[i]) : EscapeNul(set.patterns[i]);
    }
    pointers.push_back(set.patterns[i].c_str());
    lengths.push_back(set.patterns[i].size());
  }
  const unsigned count = static_cast<unsigned>(set.patterns.size());
  const hs_platform_info_t* target = known ? &platform : nullptr;
  if (literals) {
    return hs_compile_lit_multi(pointers.data(), set.flags.data(), set.ids.data(), lengths.data(),
                                count, mode, target, database, error);
  }
  return hs_compile_multi(pointers.data(), set.flags.data(), set.ids.data(), count, mode, target,
                          database, error);
}

std::string TakeMessage(hs_compile_error_t* error, int* expression) {
  std::string message = "unknown compile error";
  *expression = -1;
  if (error == nullptr) return message;
  if (error->message != nullptr) message = error->message;
  *expression = error->expression;
  hs_free_compile_error(error);
  return message;
}

namespace {

// (expressions, stream: boolean) -> HsDatabase
Napi::Value Compile(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  ExpressionSet set;
  if (!ReadExpressions(env, info[0], &set)) return env.Undefined();
  if (set.patterns.empty()) return FailType(env, "a database needs at least one expression");
  const unsigned mode = ReadBoolean(info[1]) ? HS_MODE_STREAM : HS_MODE_BLOCK;
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  if (CompileSet(set, mode, &database, &error) == HS_SUCCESS) {
    return HsDatabase::Wrap(env, std::make_shared<DatabaseHandle>(env, database));
  }
  int expression = -1;
  Napi::Error thrown = Napi::Error::New(env, TakeMessage(error, &expression));
  thrown.Set("code", Napi::String::New(env, "hs_compile"));
  thrown.Set("expression", Napi::Number::New(env, expression));
  thrown.ThrowAsJavaScriptException();
  return env.Undefined();
}

Napi::Object Refusal(Napi::Env env, hs_compile_error_t* error) {
  int expression = -1;
  Napi::Object result = Napi::Object::New(env);
  result.Set("ok", Napi::Boolean::New(env, false));
  result.Set("message", Napi::String::New(env, TakeMessage(error, &expression)));
  return result;
}

// (pattern, flags, compile: boolean) -> {ok, message?, minWidth, maxWidth, ...}
Napi::Value CheckExpression(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!info[0].IsString() || !info[1].IsNumber()) return FailType(env, "expected pattern, flags");
  const unsigned flags = info[1].As<Napi::Number>().Uint32Value();
  ExpressionSet set{{EscapeNul(ReadLatin1(info[0]))}, {flags}, {0}, {false}};
  hs_expr_info_t* facts = nullptr;
  hs_compile_error_t* error = nullptr;
  if (hs_expression_info(set.patterns[0].c_str(), flags, &facts, &error) != HS_SUCCESS) {
    return Refusal(env, error);
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("ok", Napi::Boolean::New(env, true));
  result.Set("minWidth", Napi::Number::New(env, facts->min_width));
  // UINT_MAX says "no bound"; JavaScript says Infinity.
  const double widest = facts->max_width == 0xFFFFFFFFu ? HUGE_VAL : facts->max_width;
  result.Set("maxWidth", Napi::Number::New(env, widest));
  result.Set("matchesAtEnd", Napi::Boolean::New(env, facts->matches_at_eod != 0));
  result.Set("matchesOnlyAtEnd", Napi::Boolean::New(env, facts->matches_only_at_eod != 0));
  free(facts);
  if (!ReadBoolean(info[2])) return result;
  hs_database_t* database = nullptr;
  if (CompileSet(set, HS_MODE_BLOCK, &database, &error) != HS_SUCCESS) return Refusal(env, error);
  size_t size = 0;
  hs_database_size(database, &size);
  hs_free_database(database);
  result.Set("sizeBytes", Napi::Number::New(env, static_cast<double>(size)));
  return result;
}

Napi::Value Version(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), hs_version());
}

// The CPU features a database compiled here may use, as a number; part of a cache key.
Napi::Value PlatformFeatures(const Napi::CallbackInfo& info) {
  hs_platform_info_t platform;
  if (hs_populate_platform(&platform) != HS_SUCCESS) return Napi::Number::New(info.Env(), 0);
  return Napi::Number::New(info.Env(), static_cast<double>(platform.cpu_features));
}

Napi::Value PlatformTune(const Napi::CallbackInfo& info) {
  hs_platform_info_t platform;
  if (hs_populate_platform(&platform) != HS_SUCCESS) return Napi::Number::New(info.Env(), 0);
  return Napi::Number::New(info.Env(), platform.tune);
}

}  // namespace

void RegisterHyperscanCompile(Napi::Env env, Napi::Object exports) {
  exports.Set("hsCompile", Napi::Function::New(env, Compile));
  exports.Set("hsCheckExpression", Napi::Function::New(env, CheckExpression));
  exports.Set("hsVersion", Napi::Function::New(env, Version));
  exports.Set("hsPlatformFeatures", Napi::Function::New(env, PlatformFeatures));
  exports.Set("hsPlatformTune", Napi::Function::New(env, PlatformTune));
}

}  // namespace waf
