// Streaming scans: a value that arrives in pieces, matched across their borders.
#include <unordered_set>
#include <vector>

#include "convert.h"
#include "hyperscan.h"

namespace waf {

namespace {

class HsStream : public Napi::ObjectWrap<HsStream> {
 public:
  static void Register(Napi::Env env, Napi::Object exports) {
    exports.Set("HsStream", DefineClass(env, "HsStream",
                                        {InstanceMethod<&HsStream::Write>("write"),
                                         InstanceMethod<&HsStream::Close>("close")}));
  }

  explicit HsStream(const Napi::CallbackInfo& info) : Napi::ObjectWrap<HsStream>(info) {
    Napi::Env env = info.Env();
    database_ = HsDatabase::HandleOf(env, info[0]);
    if (database_ == nullptr) {
      Fail(env, "closed", "the database is closed or not a database");
      return;
    }
    const hs_error_t error = hs_open_stream(database_->get(), 0, &stream_);
    if (error == HS_SUCCESS && scratch_.Grow(database_->get())) return;
    Release();
    Fail(env, "hs_invalid", error == HS_SUCCESS ? "out of memory" : ErrorText(error));
  }

  ~HsStream() override { Release(); }

 private:
  static int OnMatch(unsigned id, unsigned long long, unsigned long long, unsigned, void* context) {
    auto* self = static_cast<HsStream*>(context);
    if (self->seen_.insert(id).second) self->fresh_.push_back(static_cast<int32_t>(id));
    return 0;
  }

  // (bytes) -> Int32Array of ids that matched for the first time.
  Napi::Value Write(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    if (stream_ == nullptr) return Fail(env, "closed", "the stream is closed");
    ByteView view;
    if (!ReadBytes(env, info[0], DataOf(env).scratch[0], &view)) return env.Undefined();
    fresh_.clear();
    const char* data = view.size == 0 ? "" : reinterpret_cast<const char*>(view.data);
    const hs_error_t error = hs_scan_stream(stream_, data, static_cast<unsigned>(view.size), 0,
                                            scratch_.get(), OnMatch, this);
    if (error != HS_SUCCESS) return Fail(env, "hs_invalid", ErrorText(error));
    return NewInt32Array(env, fresh_);
  }

  // () -> Int32Array of ids that matched only at the end; a second close gives none.
  Napi::Value Close(const Napi::CallbackInfo& info) {
    fresh_.clear();
    hs_error_t error = HS_SUCCESS;
    if (stream_ != nullptr) error = hs_close_stream(stream_, scratch_.get(), OnMatch, this);
    if (error == HS_SUCCESS) stream_ = nullptr;
    Release();
    if (error != HS_SUCCESS) return Fail(info.Env(), "hs_invalid", ErrorText(error));
    return NewInt32Array(info.Env(), fresh_);
  }

  void Release() {
    if (stream_ != nullptr) hs_close_stream(stream_, nullptr, nullptr, nullptr);
    stream_ = nullptr;
    database_.reset();
  }

  std::shared_ptr<DatabaseHandle> database_;
  hs_stream_t* stream_ = nullptr;
  Scratch scratch_;
  std::unordered_set<unsigned> seen_;
  std::vector<int32_t> fresh_;
};

}  // namespace

void RegisterHyperscanStream(Napi::Env env, Napi::Object exports) {
  HsStream::Register(env, exports);
}

}  // namespace waf
