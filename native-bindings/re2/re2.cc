// RE2 patterns: over bytes (Latin-1, one byte a character) or over text (UTF-8). Loaded by the
// engine and by control, which loads no other library of the engine.
#include <napi.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace {

// Strings are converted into it, one at a time; cut back when it grew beyond kScratchKept.
struct Scratch {
  std::vector<char> bytes;
};
constexpr size_t kScratchKept = 1 << 20;

// Places of a match, the whole one first; further groups are not looked for.
constexpr size_t kPlacesMax = 16;

void FailType(Napi::Env env, const char* message) {
  Napi::TypeError::New(env, message).ThrowAsJavaScriptException();
}

class Re2 : public Napi::ObjectWrap<Re2> {
 public:
  static void Register(Napi::Env env, Napi::Object exports) {
    exports.Set("Re2", DefineClass(env, "Re2",
                                   {InstanceMethod<&Re2::Test>("test"),
                                    InstanceMethod<&Re2::Exec>("exec")}));
  }

  // (pattern: string, isText: boolean)
  explicit Re2(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Re2>(info) {
    Napi::Env env = info.Env();
    if (!info[0].IsString() || !info[1].IsBoolean()) {
      FailType(env, "expected a pattern and whether it reads text");
      return;
    }
    is_text_ = info[1].As<Napi::Boolean>();
    re2::StringPiece pattern;
    if (!Read(info[0], &pattern)) return;
    re2::RE2::Options options(is_text_ ? re2::RE2::DefaultOptions : re2::RE2::Latin1);
    options.set_log_errors(false);
    regex_ = std::make_unique<re2::RE2>(pattern, options);
    if (regex_->ok()) return;
    Napi::Error error = Napi::Error::New(env, regex_->error());
    error.Set("code", Napi::String::New(env, "re2_compile"));
    error.ThrowAsJavaScriptException();
    regex_.reset();
  }

 private:
  // The bytes of a Uint8Array, or of a string, which are valid until the next one is read.
  bool Read(napi_value value, re2::StringPiece* bytes) {
    Napi::Env env = Env();
    const auto read = is_text_ ? napi_get_value_string_utf8 : napi_get_value_string_latin1;
    size_t length = 0;
    if (read(env, value, nullptr, 0, &length) == napi_ok) {
      std::vector<char>& scratch = env.GetInstanceData<Scratch>()->bytes;
      if (scratch.size() <= length) {
        scratch.resize(length + 1);
      } else if (scratch.size() > kScratchKept && length < kScratchKept) {
        scratch = std::vector<char>(kScratchKept);
      }
      read(env, value, scratch.data(), scratch.size(), &length);
      *bytes = re2::StringPiece(scratch.data(), length);
      return true;
    }
    napi_typedarray_type type;
    void* data = nullptr;
    const napi_status status =
        napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr);
    if (status != napi_ok || type != napi_uint8_array) {
      FailType(env, "expected a string or a Uint8Array");
      return false;
    }
    *bytes = re2::StringPiece(length == 0 ? "" : static_cast<const char*>(data), length);
    return true;
  }

  // (value: string | Uint8Array): boolean
  Napi::Value Test(const Napi::CallbackInfo& info) {
    re2::StringPiece value;
    if (!Read(info[0], &value)) return info.Env().Undefined();
    const bool found = regex_->Match(value, 0, value.size(), re2::RE2::UNANCHORED, nullptr, 0);
    return Napi::Boolean::New(info.Env(), found);
  }

  // (value: string | Uint8Array, start: number, places: Int32Array): number of pairs in `places`
  Napi::Value Exec(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    if (!info[1].IsNumber() || !info[2].IsTypedArray() ||
        info[2].As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
      FailType(env, "expected where to begin and an Int32Array");
      return env.Undefined();
    }
    re2::StringPiece value;
    if (!Read(info[0], &value)) return env.Undefined();
    const int64_t start = info[1].As<Napi::Number>().Int64Value();
    Napi::Int32Array places = info[2].As<Napi::Int32Array>();
    re2::StringPiece groups[kPlacesMax];
    const size_t wanted = 1 + static_cast<size_t>(regex_->NumberOfCapturingGroups());
    const size_t count = std::min({wanted, kPlacesMax, places.ElementLength() / 2});
    if (start < 0 || static_cast<size_t>(start) > value.size() ||
        !regex_->Match(value, static_cast<size_t>(start), value.size(), re2::RE2::UNANCHORED,
                       groups, static_cast<int>(count))) {
      return Napi::Number::New(env, 0);
    }
    for (size_t i = 0; i < count; ++i) {
      const bool set = groups[i].data() != nullptr;
      const int64_t from = set ? groups[i].data() - value.data() : -1;
      places[2 * i] = static_cast<int32_t>(from);
      places[2 * i + 1] = set ? static_cast<int32_t>(from + groups[i].size()) : -1;
    }
    return Napi::Number::New(env, static_cast<double>(count));
  }

  bool is_text_ = false;
  std::unique_ptr<re2::RE2> regex_;
};

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Scratch());
  Re2::Register(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(waf_re2, Init)
