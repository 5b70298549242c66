// Owns the life of one Hyperscan database and of scratch space; shared by the scanning files.
#ifndef WAF_NATIVE_HYPERSCAN_H
#define WAF_NATIVE_HYPERSCAN_H

#include <hs/hs.h>
#include <napi.h>

#include <memory>
#include <string>

namespace waf {

// A database that either owns its memory or lies in shared memory that `keep` holds alive.
class DatabaseHandle {
 public:
  explicit DatabaseHandle(hs_database_t* owned) : database_(owned), owned_(true) {}
  DatabaseHandle(const hs_database_t* shared, Napi::Reference<Napi::Uint8Array> keep)
      : database_(shared), owned_(false), keep_(std::move(keep)) {}
  DatabaseHandle(const DatabaseHandle&) = delete;
  DatabaseHandle& operator=(const DatabaseHandle&) = delete;
  ~DatabaseHandle() {
    if (owned_) hs_free_database(const_cast<hs_database_t*>(database_));
  }
  const hs_database_t* get() const { return database_; }

 private:
  const hs_database_t* database_;
  bool owned_;
  Napi::Reference<Napi::Uint8Array> keep_;
};

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { hs_free_scratch(scratch_); }
  // Makes the scratch large enough for `database` too.
  bool Grow(const hs_database_t* database) {
    return hs_alloc_scratch(database, &scratch_) == HS_SUCCESS;
  }
  hs_scratch_t* get() const { return scratch_; }

 private:
  hs_scratch_t* scratch_ = nullptr;
};

// The JavaScript object around a DatabaseHandle.
class HsDatabase : public Napi::ObjectWrap<HsDatabase> {
 public:
  static void Register(Napi::Env env, Napi::Object exports);
  static Napi::Value Wrap(Napi::Env env, std::shared_ptr<DatabaseHandle> handle);
  // The handle of a JavaScript HsDatabase; nullptr when it is closed or something else.
  static std::shared_ptr<DatabaseHandle> HandleOf(Napi::Env env, const Napi::Value& value);

  explicit HsDatabase(const Napi::CallbackInfo& info);

 private:
  Napi::Value Serialize(const Napi::CallbackInfo& info);
  Napi::Value Scan(const Napi::CallbackInfo& info);
  Napi::Value Info(const Napi::CallbackInfo& info);
  Napi::Value Size(const Napi::CallbackInfo& info);
  Napi::Value Close(const Napi::CallbackInfo& info);
  bool IsOpen(Napi::Env env) const;

  std::shared_ptr<DatabaseHandle> handle_;
  std::unique_ptr<Scratch> scratch_;
};

// What an hs_error_t means, for people.
const char* ErrorText(hs_error_t error);
void RegisterHyperscanCompile(Napi::Env env, Napi::Object exports);

}  // namespace waf

#endif  // WAF_NATIVE_HYPERSCAN_H
