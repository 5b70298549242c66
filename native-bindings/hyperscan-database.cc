// Databases as JavaScript objects: serialize, deserialize (also into shared memory), facts,
// and a simple scan for callers off the hot path.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "convert.h"
#include "hyperscan.h"

namespace waf {

const char* ErrorText(hs_error_t error) {
  switch (error) {
    case HS_INVALID:
      return "invalid or corrupt database";
    case HS_NOMEM:
      return "out of memory";
    case HS_DB_VERSION_ERROR:
      return "the database was made by another Hyperscan version";
    case HS_DB_PLATFORM_ERROR:
      return "the database was made for another platform";
    case HS_DB_MODE_ERROR:
      return "the database has another mode (block or stream)";
    case HS_BAD_ALIGN:
      return "the memory is not aligned";
    case HS_SCRATCH_IN_USE:
      return "the scratch space is in use";
    case HS_ARCH_ERROR:
      return "this processor lacks SSSE3";
    case HS_INSUFFICIENT_SPACE:
      return "not enough room";
    default:
      return "unknown Hyperscan error";
  }
}

namespace {

const char* ErrorCode(hs_error_t error) {
  if (error == HS_DB_VERSION_ERROR || error == HS_DB_PLATFORM_ERROR) return "hs_foreign";
  return error == HS_NOMEM ? "out_of_memory" : "hs_invalid";
}

Napi::Value FailHyperscan(Napi::Env env, hs_error_t error) {
  return Fail(env, ErrorCode(error), ErrorText(error));
}

// The smallest memory that can hold a database header; anything shorter is refused unread.
constexpr size_t kHeaderBytes = 256;

Napi::Value Deserialize(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  uint8_t* data = nullptr;
  size_t size = 0;
  if (!ReadUint8Array(env, info[0], &data, &size)) return FailType(env, "expected a Uint8Array");
  hs_database_t* database = nullptr;
  const hs_error_t error =
      hs_deserialize_database(reinterpret_cast<const char*>(data), size, &database);
  if (error != HS_SUCCESS) return FailHyperscan(env, error);
  return HsDatabase::Wrap(env, std::make_shared<DatabaseHandle>(env, database));
}

Napi::Value SerializedSize(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  uint8_t* data = nullptr;
  size_t size = 0;
  if (!ReadUint8Array(env, info[0], &data, &size)) return FailType(env, "expected a Uint8Array");
  size_t needed = 0;
  const hs_error_t error =
      hs_serialized_database_size(reinterpret_cast<const char*>(data), size, &needed);
  if (error != HS_SUCCESS) return FailHyperscan(env, error);
  return Napi::Number::New(env, static_cast<double>(needed));
}

// (bytes, target: Uint8Array over shared memory): unpacks the database into `target`.
Napi::Value DeserializeInto(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  uint8_t* data = nullptr;
  uint8_t* target = nullptr;
  size_t size = 0;
  size_t room = 0;
  if (!ReadUint8Array(env, info[0], &data, &size) ||
      !ReadUint8Array(env, info[1], &target, &room)) {
    return FailType(env, "expected two Uint8Arrays");
  }
  size_t needed = 0;
  hs_error_t error =
      hs_serialized_database_size(reinterpret_cast<const char*>(data), size, &needed);
  if (error == HS_SUCCESS && needed > room) error = HS_INSUFFICIENT_SPACE;
  if (error == HS_SUCCESS) {
    error = hs_deserialize_database_at(reinterpret_cast<const char*>(data), size,
                                       reinterpret_cast<hs_database_t*>(target));
  }
  if (error != HS_SUCCESS) return FailHyperscan(env, error);
  return env.Undefined();
}

Napi::Value Attach(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  uint8_t* data = nullptr;
  size_t size = 0;
  if (!ReadUint8Array(env, info[0], &data, &size)) return FailType(env, "expected a Uint8Array");
  const auto* database = reinterpret_cast<const hs_database_t*>(data);
  size_t needed = 0;
  hs_error_t error = size < kHeaderBytes ? HS_INVALID : hs_database_size(database, &needed);
  if (error == HS_SUCCESS && needed > size) error = HS_INVALID;
  if (error != HS_SUCCESS) return FailHyperscan(env, error);
  Napi::Reference<Napi::Uint8Array> keep = Napi::Persistent(info[0].As<Napi::Uint8Array>());
  return HsDatabase::Wrap(env, std::make_shared<DatabaseHandle>(env, database, std::move(keep)));
}

int CollectId(unsigned id, unsigned long long, unsigned long long, unsigned, void* context) {
  static_cast<std::vector<int32_t>*>(context)->push_back(static_cast<int32_t>(id));
  return 0;
}

}  // namespace

void HsDatabase::Register(Napi::Env env, Napi::Object exports) {
  Napi::Function constructor = DefineClass(
      env, "HsDatabase",
      {InstanceMethod<&HsDatabase::Serialize>("serialize"),
       InstanceMethod<&HsDatabase::Scan>("scan"), InstanceMethod<&HsDatabase::Info>("info"),
       InstanceMethod<&HsDatabase::Size>("size"), InstanceMethod<&HsDatabase::Close>("close")});
  DataOf(env).database_class = Napi::Persistent(constructor);
  exports.Set("HsDatabase", constructor);
}

Napi::Value HsDatabase::Wrap(Napi::Env env, std::shared_ptr<DatabaseHandle> handle) {
  // The constructor takes the handle over; nothing but this function can make such an External.
  return DataOf(env).database_class.New(
      {Napi::External<std::shared_ptr<DatabaseHandle>>::New(env, &handle)});
}

HsDatabase::HsDatabase(const Napi::CallbackInfo& info) : Napi::ObjectWrap<HsDatabase>(info) {
  if (!info[0].IsExternal()) {
    FailType(info.Env(), "databases are made by compile, deserialize or attach");
    return;
  }
  handle_ = std::move(*info[0].As<Napi::External<std::shared_ptr<DatabaseHandle>>>().Data());
}

std::shared_ptr<DatabaseHandle> HsDatabase::HandleOf(Napi::Env env, const Napi::Value& value) {
  if (!value.IsObject()) return nullptr;
  Napi::Object object = value.As<Napi::Object>();
  if (!object.InstanceOf(DataOf(env).database_class.Value())) return nullptr;
  return HsDatabase::Unwrap(object)->handle_;
}

bool HsDatabase::IsOpen(Napi::Env env) const {
  if (handle_ != nullptr) return true;
  Fail(env, "closed", "the database is closed");
  return false;
}

Napi::Value HsDatabase::Serialize(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!IsOpen(env)) return env.Undefined();
  char* bytes = nullptr;
  size_t size = 0;
  const hs_error_t error = hs_serialize_database(handle_->get(), &bytes, &size);
  if (error != HS_SUCCESS) return FailHyperscan(env, error);
  Napi::Value result = NewBytes(env, reinterpret_cast<const uint8_t*>(bytes), size);
  free(bytes);
  return result;
}

// (value) -> Int32Array of the ids that match, ascending, each once.
Napi::Value HsDatabase::Scan(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!IsOpen(env)) return env.Undefined();
  if (scratch_ == nullptr) {
    scratch_ = std::make_unique<Scratch>();
    if (!scratch_->Grow(handle_->get())) {
      scratch_.reset();
      return FailHyperscan(env, HS_NOMEM);
    }
  }
  ByteView view;
  if (!ReadBytes(env, info[0], DataOf(env).scratch[0], &view)) return env.Undefined();
  std::vector<int32_t> ids;
  const char* data = view.size == 0 ? "" : reinterpret_cast<const char*>(view.data);
  const hs_error_t error = hs_scan(handle_->get(), data, static_cast<unsigned>(view.size), 0,
                                   scratch_->get(), CollectId, &ids);
  if (error != HS_SUCCESS) return FailHyperscan(env, error);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return NewInt32Array(env, ids);
}

Napi::Value HsDatabase::Info(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!IsOpen(env)) return env.Undefined();
  char* text = nullptr;
  const hs_error_t error = hs_database_info(handle_->get(), &text);
  if (error != HS_SUCCESS) return FailHyperscan(env, error);
  Napi::String result = Napi::String::New(env, text);
  free(text);
  return result;
}

Napi::Value HsDatabase::Size(const Napi::CallbackInfo& info) {
  if (!IsOpen(info.Env())) return info.Env().Undefined();
  size_t size = 0;
  hs_database_size(handle_->get(), &size);
  return Napi::Number::New(info.Env(), static_cast<double>(size));
}

Napi::Value HsDatabase::Close(const Napi::CallbackInfo& info) {
  scratch_.reset();
  handle_.reset();
  return info.Env().Undefined();
}

void RegisterHyperscan(Napi::Env env, Napi::Object exports) {
  HsDatabase::Register(env, exports);
  RegisterHyperscanCompile(env, exports);
  RegisterHyperscanQueue(env, exports);
  exports.Set("hsDeserialize", Napi::Function::New(env, Deserialize));
  exports.Set("hsSerializedSize", Napi::Function::New(env, SerializedSize));
  exports.Set("hsDeserializeInto", Napi::Function::New(env, DeserializeInto));
  exports.Set("hsAttach", Napi::Function::New(env, Attach));
}

}  // namespace waf
