// The JavaScript binding of ScanProgram and RowScanner: calls over bound typed arrays.
#include <random>

#include "convert.h"
#include "scan-program-spec.h"

namespace waf {

namespace {

// Value tables that may be attached at once: requests in flight in one thread.
constexpr uint32_t kTablesMax = 1 << 16;

// The workspace that the programs of this thread share.
std::shared_ptr<ScanWorkspace> WorkspaceOf(Napi::Env env, MemoSize size) {
  std::weak_ptr<ScanWorkspace>& known = DataOf(env).scan_workspaces[size.entries];
  std::shared_ptr<ScanWorkspace> workspace = known.lock();
  if (workspace != nullptr) return workspace;
  std::random_device random;
  const uint64_t seed = uint64_t{random()} << 32 | random();
  workspace = std::make_shared<ScanWorkspace>(size, seed);
  known = workspace;
  return workspace;
}

class ScanProgramObject : public Napi::ObjectWrap<ScanProgramObject> {
 public:
  static void Register(Napi::Env env, Napi::Object exports) {
    // `scanRows` is a plain callback: the wrapper of ObjectWrap would cost as much as a short scan.
    napi_property_descriptor rows = {
        "scanRows", nullptr, ScanRows, nullptr, nullptr, nullptr, napi_default_method, nullptr};
    exports.Set("ScanProgram",
                DefineClass(env, "ScanProgram",
                            {Napi::ClassPropertyDescriptor<ScanProgramObject>(rows),
                             InstanceMethod<&ScanProgramObject::Scan>("scan"),
                             InstanceMethod<&ScanProgramObject::Attach>("attach"),
                             InstanceMethod<&ScanProgramObject::BindHits>("bindHits"),
                             InstanceMethod<&ScanProgramObject::Stats>("stats"),
                             InstanceMethod<&ScanProgramObject::Close>("close")}));
  }

  // (spec, arenaBytesMax, memoEntries, memoEntriesMax)
  explicit ScanProgramObject(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<ScanProgramObject>(info) {
    Napi::Env env = info.Env();
    if (!info[0].IsObject() || !info[1].IsNumber() || !info[2].IsNumber() || !info[3].IsNumber()) {
      FailType(env, "expected a specification and three limits");
      return;
    }
    ScanProgramParts parts;
    const char* error = nullptr;
    if (!ReadScanProgram(env, info[0].As<Napi::Object>(), &parts, &error)) {
      if (!env.IsExceptionPending()) Fail(env, "bad_scan_program", error);
      return;
    }
    const auto sizeOf = [&](size_t at) {
      return static_cast<size_t>(info[at].As<Napi::Number>().Int64Value());
    };
    program_ = std::make_unique<ScanProgram>(
        std::move(parts.databases), std::move(parts.classes), parts.target_count,
        std::move(parts.unicode_map), sizeOf(1), WorkspaceOf(env, MemoSize{sizeOf(2), sizeOf(3)}));
    scanner_ = std::make_unique<RowScanner>(program_.get(), std::move(parts.row_parts));
    if (program_->Prepare()) return;
    scanner_.reset();
    program_.reset();
    Fail(env, "out_of_memory", "no memory for Hyperscan scratch space");
  }

 private:
  // (slab, rows, rowCount, hits) -> number of hits; rows are triples [start, end, class]
  Napi::Value Scan(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    uint8_t* slab = nullptr;
    int32_t* rows = nullptr;
    int32_t* hits = nullptr;
    size_t slab_size = 0;
    size_t row_length = 0;
    size_t hit_length = 0;
    if (!ReadUint8Array(env, info[0], &slab, &slab_size) ||
        !ReadInt32Array(env, info[1], &rows, &row_length) || !info[2].IsNumber() ||
        !ReadInt32Array(env, info[3], &hits, &hit_length)) {
      return FailType(env, "scan(slab, rows, rowCount, hits)");
    }
    if (program_ == nullptr) return Fail(env, "closed", "the scan program is closed");
    const size_t count = info[2].As<Napi::Number>().Uint32Value();
    items_.clear();
    for (size_t r = 0; r < count; ++r) {
      if (3 * r + 2 >= row_length || !AddItem(slab, slab_size, rows + 3 * r, r)) {
        return FailType(env, "a row lies outside the slab or names no class");
      }
    }
    const size_t found = program_->Scan(items_.data(), items_.size(), hits, hit_length / 2);
    if (program_->end() != ScanEnd::kDone) return FailScan(env, program_->end());
    return Napi::Number::New(env, static_cast<double>(found));
  }

  // A scan that was not completed has found nothing out.
  static Napi::Value FailScan(Napi::Env env, ScanEnd end) {
    if (end == ScanEnd::kArenaFull) {
      return Fail(env, "arena_full", "the outputs of a value's transformations exceed their limit");
    }
    return Fail(env, "scan_failed", "Hyperscan could not scan a value");
  }

  bool AddItem(const uint8_t* slab, size_t slab_size, const int32_t* row, size_t location) {
    static const uint8_t kNothing = 0;
    const int32_t start = row[0];
    const int32_t end = row[1];
    if (start < 0 || end < start || static_cast<size_t>(end) > slab_size) return false;
    if (row[2] < 0 || static_cast<size_t>(row[2]) >= program_->class_count()) return false;
    items_.push_back(ScanItem{start == end ? &kNothing : slab + start,
                              static_cast<uint32_t>(end - start), static_cast<int32_t>(location),
                              program_->GroupOf(static_cast<uint16_t>(row[2]))});
    return true;
  }

  // (id, slab, source, keyStart, keyEnd, start, end): remembers where a value table's arrays lie.
  // The caller keeps them alive and attaches again when one of them was replaced; reading their
  // addresses at every scan would cost more than the rest of the call.
  Napi::Value Attach(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    RowTable table;
    uint8_t* slab = nullptr;
    uint8_t* source = nullptr;
    int32_t* offsets[4];
    size_t lengths[4];
    size_t source_size = 0;
    bool good = info[0].IsNumber() && ReadUint8Array(env, info[1], &slab, &table.slab_size) &&
                ReadUint8Array(env, info[2], &source, &source_size);
    for (size_t i = 0; good && i < 4; ++i) {
      good =
          ReadInt32Array(env, info[3 + i], &offsets[i], &lengths[i]) && lengths[i] >= source_size;
    }
    const uint32_t id = good ? info[0].As<Napi::Number>().Uint32Value() : kTablesMax;
    if (id >= kTablesMax) return FailType(env, "attach(id, slab, source, keyStart, keyEnd, ...)");
    table.slab = slab;
    table.source = source;
    table.rows = source_size;
    table.key_start = offsets[0];
    table.key_end = offsets[1];
    table.start = offsets[2];
    table.end = offsets[3];
    if (tables_.size() <= id) tables_.resize(id + 1);
    tables_[id] = table;
    return env.Undefined();
  }

  // (hits): where scanRows writes; the caller keeps it alive.
  Napi::Value BindHits(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    if (!ReadInt32Array(env, info[0], &hits_, &hit_length_)) {
      return FailType(env, "expected an Int32Array");
    }
    return env.Undefined();
  }

  // (id, from, to, only class or -1) -> number of hits, over the attached table and the bound hits
  static napi_value ScanRows(napi_env env, napi_callback_info info) {
    napi_value argv[4];
    size_t argc = 4;
    napi_value self = nullptr;
    void* wrapped = nullptr;
    uint32_t numbers[3];
    int32_t only_class = -1;
    bool good = napi_get_cb_info(env, info, &argc, argv, &self, nullptr) == napi_ok && argc >= 4 &&
                napi_get_value_int32(env, argv[3], &only_class) == napi_ok &&
                napi_unwrap(env, self, &wrapped) == napi_ok;
    for (size_t i = 0; good && i < 3; ++i) {
      good = napi_get_value_uint32(env, argv[i], &numbers[i]) == napi_ok;
    }
    if (!good) return FailType(env, "scanRows(id, from, to, class)");
    auto* object = static_cast<ScanProgramObject*>(wrapped);
    if (object->scanner_ == nullptr) return Fail(env, "closed", "the scan program is closed");
    if (numbers[0] >= object->tables_.size()) return FailType(env, "no such table is attached");
    const RowTable& table = object->tables_[numbers[0]];
    if (!object->scanner_->Valid(table, numbers[1], numbers[2])) {
      return FailType(env, "a row lies outside its table or has no known source");
    }
    const size_t count = object->scanner_->Scan(
        table, numbers[1], numbers[2], object->hits_, object->hit_length_ / 2,
        only_class < 0 ? RowScanner::kAllClasses : static_cast<size_t>(only_class));
    const ScanEnd end = object->scanner_->end();
    if (end != ScanEnd::kDone) return FailScan(env, end);
    napi_value result = nullptr;
    napi_create_uint32(env, static_cast<uint32_t>(count), &result);
    return result;
  }

  Napi::Value Stats(const Napi::CallbackInfo& info) {
    Napi::Env env = info.Env();
    if (program_ == nullptr) return Fail(env, "closed", "the scan program is closed");
    const ScanStats& stats = program_->stats();
    Napi::Object result = Napi::Object::New(env);
    const auto put = [&](const char* key, uint64_t value) {
      result.Set(key, Napi::Number::New(env, static_cast<double>(value)));
    };
    put("scans", stats.scans);
    put("bytes", stats.bytes);
    put("rows", stats.rows);
    put("outputs", stats.outputs);
    put("skipped", stats.skipped);
    put("transforms", stats.transforms);
    put("overflows", stats.overflows);
    put("tests", stats.tests);
    put("matches", stats.matches);
    put("abandoned", stats.abandoned);
    put("remembered", scanner_->remembered());
    put("shared", scanner_->shared());
    return result;
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    tables_.clear();
    scanner_.reset();
    program_.reset();
    return info.Env().Undefined();
  }

  std::vector<RowTable> tables_;
  std::vector<ScanItem> items_;
  int32_t* hits_ = nullptr;
  size_t hit_length_ = 0;
  std::unique_ptr<ScanProgram> program_;
  std::unique_ptr<RowScanner> scanner_;
};

}  // namespace

void RegisterScanProgram(Napi::Env env, Napi::Object exports) {
  ScanProgramObject::Register(env, exports);
}

}  // namespace waf
