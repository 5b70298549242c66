// PCRE2 patterns in byte mode (no UTF) with JIT and limits: the engine for what RE2 cannot do.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>

#include "convert.h"

namespace waf {

namespace {

constexpr size_t kJitStackBytes = 512 * 1024;
constexpr int kLimitExceeded = -1;

pcre2_jit_stack* JitStackOf(void* env_data) {
  auto* data = static_cast<InstanceData*>(env_data);
  if (data->jit_stack == nullptr) {
    data->jit_stack = pcre2_jit_stack_create(32 * 1024, kJitStackBytes, nullptr);
  }
  return data->jit_stack;
}

struct FreeCode {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
};
struct FreeMatchData {
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
};
struct FreeMatchContext {
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
};

uint32_t OptionsOf(const Napi::Object& flags) {
  struct Name {
    const char* key;
    uint32_t option;
  };
  const Name names[] = {{"caseless", PCRE2_CASELESS}, {"multiline", PCRE2_MULTILINE},
                        {"dotall", PCRE2_DOTALL},     {"dollarEndOnly", PCRE2_DOLLAR_ENDONLY},
                        {"extended", PCRE2_EXTENDED}, {"anchored", PCRE2_ANCHORED},
                        {"ungreedy", PCRE2_UNGREEDY}};
  uint32_t options = 0;
  for (const Name& name : names) {
    if (ReadFlag(flags, name.key)) options |= name.option;
  }
  return options | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP;
}

class Pcre : public Napi::ObjectWrap<Pcre> {
 public:
  static void Register(Napi::Env env, Napi::Object exports) {
    exports.Set("Pcre", DefineClass(env, "Pcre",
                                    {InstanceMethod<&Pcre::Exec>("exec"),
                                     InstanceMethod<&Pcre::Test>("test"),
                                     InstanceMethod<&Pcre::CaptureCount>("captureCount"),
                                     InstanceMethod<&Pcre::Close>("close")}));
  }

  // (pattern: string, flags: object, limits: {matchLimit, depthLimit})
  explicit Pcre(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Pcre>(info) {
    Napi::Env env = info.Env();
    if (!info[0].IsString() || !info[1].IsObject() || !info[2].IsObject()) {
      FailType(env, "expected pattern, flags and limits");
      return;
    }
    const std::string pattern = ReadLatin1(info[0]);
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                              OptionsOf(info[1].As<Napi::Object>()), &error, &offset, nullptr));
    if (code_ == nullptr) {
      ThrowCompileError(env, error, offset);
      return;
    }
    pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);
    match_data_.reset(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
    context_.reset(pcre2_match_context_create(nullptr));
    if (match_data_ == nullptr || context_ == nullptr) {
      Fail(env, "out_of_memory", "no memory for a PCRE2 match context");
      code_.reset();
      return;
    }
    const Napi::Object limits = info[2].As<Napi::Object>();
    const int64_t match_limit = ReadInteger(limits, "matchLimit", 0);
    const int64_t depth_limit = ReadInteger(limits, "depthLimit", 0);
    if (match_limit > 0) {
      pcre2_set_match_limit(context_.get(), static_cast<uint32_t>(match_limit));
    }
    if (depth_limit > 0) {
      pcre2_set_depth_limit(context_.get(), static_cast<uint32_t>(depth_limit));
    }
    pcre2_jit_stack_assign(context_.get(), JitStackOf, &DataOf(env));
  }

 private:
  static void ThrowCompileError(Napi::Env env, int error, PCRE2_SIZE offset) {
    PCRE2_UCHAR message[256] = {0};
    pcre2_get_error_message(error, message, sizeof(message));
    Napi::Error thrown = Napi::Error::New(env, reinterpret_cast<const char*>(message));
    thrown.Set("code", Napi::String::New(env, "pcre_compile"));
    thrown.Set("offset", Napi::Number::New(env, static_cast<double>(offset)));
    thrown.ThrowAsJavaScriptException();
  }

  // The number of pairs, 0 when there is no match, kLimitExceeded; kFailed with a pending error.
  static constexpr int kFailed = -2;
  int Match(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    if (code_ == nullptr) {
      Fail(env, "closed", "the pattern is closed");
      return kFailed;
    }
    ByteView view;
    if (!ReadBytes(env, info[0], DataOf(env).scratch[0], &view)) return kFailed;
    const int64_t start = info[1].IsNumber() ? info[1].As<Napi::Number>().Int64Value() : 0;
    if (start < 0 || static_cast<size_t>(start) > view.size) return 0;
    static const uint8_t kEmpty = 0;
    const uint8_t* subject = view.size == 0 ? &kEmpty : view.data;
    const int result = pcre2_match(code_.get(), subject, view.size, static_cast<size_t>(start), 0,
                                   match_data_.get(), context_.get());
    if (result == PCRE2_ERROR_NOMATCH) return 0;
    return result > 0 ? result : kLimitExceeded;
  }

  Napi::Value Exec(const Napi::CallbackInfo& info) {
    const int result = Match(info);
    if (result == kFailed) return info.Env().Undefined();
    if (result == kLimitExceeded) return Napi::Number::New(info.Env(), kLimitExceeded);
    if (result == 0) return info.Env().Null();
    const uint32_t pairs = pcre2_get_ovector_count(match_data_.get());
    const PCRE2_SIZE* ovector = pcre2_get_ovector_pointer(match_data_.get());
    Napi::Int32Array out = Napi::Int32Array::New(info.Env(), pairs * 2);
    if (out.IsEmpty()) return info.Env().Undefined();
    for (uint32_t i = 0; i < pairs * 2; ++i) {
      const bool set = i < static_cast<uint32_t>(result) * 2 && ovector[i] != PCRE2_UNSET;
      out[i] = set ? static_cast<int32_t>(ovector[i]) : -1;
    }
    return out;
  }

  // 1, 0 or kLimitExceeded.
  Napi::Value Test(const Napi::CallbackInfo& info) {
    const int result = Match(info);
    if (result == kFailed) return info.Env().Undefined();
    return Napi::Number::New(info.Env(), result > 0 ? 1 : result);
  }

  Napi::Value CaptureCount(const Napi::CallbackInfo& info) {
    uint32_t count = 0;
    if (code_ != nullptr) pcre2_pattern_info(code_.get(), PCRE2_INFO_CAPTURECOUNT, &count);
    return Napi::Number::New(info.Env(), count);
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    match_data_.reset();
    context_.reset();
    code_.reset();
    return info.Env().Undefined();
  }

  std::unique_ptr<pcre2_code, FreeCode> code_;
  std::unique_ptr<pcre2_match_data, FreeMatchData> match_data_;
  std::unique_ptr<pcre2_match_context, FreeMatchContext> context_;
};

// The library's release and its date, for example "10.42 2022-12-11".
Napi::Value Version(const Napi::CallbackInfo& info) {
  char text[64] = {0};
  if (pcre2_config(PCRE2_CONFIG_VERSION, nullptr) <= static_cast<int>(sizeof text)) {
    pcre2_config(PCRE2_CONFIG_VERSION, text);
  }
  return Napi::String::New(info.Env(), text);
}

}  // namespace

InstanceData::~InstanceData() {
  if (jit_stack != nullptr) pcre2_jit_stack_free(jit_stack);
}

void RegisterPcre(Napi::Env env, Napi::Object exports) {
  Pcre::Register(env, exports);
  exports.Set("pcreVersion", Napi::Function::New(env, Version));
}

}  // namespace waf
