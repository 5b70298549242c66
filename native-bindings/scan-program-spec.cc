// The implementation of scan-program-spec.h.
#include "scan-program-spec.h"

#include <algorithm>
#include <cstring>

namespace waf {

namespace {

constexpr uint32_t kChainsMax = 64;
constexpr uint32_t kNodesMax = 4096;
constexpr uint32_t kTargetsMax = 1 << 20;
constexpr uint32_t kRowPartsMax = 256;
constexpr uint32_t kNamedMax = 16384;
constexpr size_t kClassesMax = 65535;

// Reads a ScanProgramSpec; after the first mistake `error` says what it was.
class SpecReader {
 public:
  SpecReader(Napi::Env env, ScanProgramParts* parts)
      : databases(parts->databases),
        classes(parts->classes),
        row_parts(parts->row_parts),
        unicode_map(parts->unicode_map),
        target_count(parts->target_count),
        env_(env) {}

  bool Read(const Napi::Object& spec) {
    return ReadNodes(spec) && ReadDatabases(spec) && ReadMap(spec) && ReadOwners(spec) &&
           ReadClasses(spec) && ReadRowParts(spec);
  }

  std::vector<std::shared_ptr<DatabaseHandle>>& databases;
  std::vector<ScanClass>& classes;
  std::vector<RowPart>& row_parts;
  std::vector<uint8_t>& unicode_map;
  uint32_t& target_count;
  const char* error = "bad specification";

 private:
  bool Refuse(const char* why) {
    error = why;
    return false;
  }

  bool ReadNodes(const Napi::Object& spec) {
    int32_t* data = nullptr;
    size_t length = 0;
    if (!ReadInt32Array(env_, spec.Get("nodes"), &data, &length) || length < 2 || length % 2 != 0) {
      return Refuse("nodes must be an Int32Array of pairs");
    }
    nodes_.assign(data, data + length);
    if (length / 2 > kNodesMax) return Refuse("too many trie nodes");
    for (size_t i = 1; i < length / 2; ++i) {
      const int32_t parent = nodes_[2 * i];
      const int32_t id = nodes_[2 * i + 1];
      if (parent < 0 || static_cast<size_t>(parent) >= i) return Refuse("a parent comes later");
      if (id < 0 || static_cast<size_t>(id) >= kTransformationCount) {
        return Refuse("unknown transformation id");
      }
    }
    return true;
  }

  bool ReadDatabases(const Napi::Object& spec) {
    Napi::Array list;
    if (!ReadArray(spec, "databases", &list)) return Refuse("databases must be an array");
    for (uint32_t i = 0; i < list.Length(); ++i) {
      auto handle = HsDatabase::HandleOf(env_, list.Get(i));
      if (handle == nullptr) return Refuse("a database is closed or not a database");
      databases.push_back(std::move(handle));
    }
    return true;
  }

  bool ReadMap(const Napi::Object& spec) {
    Napi::Value value = spec.Get("unicodeMap");
    if (value.IsEmpty() || value.IsUndefined()) return true;
    uint8_t* data = nullptr;
    size_t size = 0;
    if (!ReadUint8Array(env_, value, &data, &size) || size != 65536) {
      return Refuse("a unicode map is a Uint8Array of 65536 bytes");
    }
    unicode_map.assign(data, data + size);
    return true;
  }

  // Absent: expression ids are pattern numbers everywhere.
  bool ReadOwners(const Napi::Object& spec) {
    Napi::Value value = spec.Get("owners");
    if (value.IsEmpty() || value.IsUndefined()) return true;
    Napi::Array list;
    if (!ReadArray(spec, "owners", &list)) return Refuse("owners must be an array");
    for (uint32_t i = 0; i < list.Length(); ++i) {
      int32_t* data = nullptr;
      size_t length = 0;
      if (!ReadInt32Array(env_, list.Get(i), &data, &length)) {
        return Refuse("owners must be Int32Arrays");
      }
      owners_.push_back(std::make_shared<const ExpressionOwners>(data, data + length));
    }
    return true;
  }

  // Call when the patterns of the class are read.
  bool ReadOwnersOf(const Napi::Object& object, ScanClass* target) {
    Napi::Value value = object.Get("owners");
    if (value.IsEmpty() || value.IsUndefined()) return true;
    const int64_t at = ReadInteger(object, "owners", -1);
    if (at < 0 || at >= static_cast<int64_t>(owners_.size())) {
      return Refuse("a class names no owners");
    }
    target->owners = owners_[static_cast<size_t>(at)];
    const auto count = static_cast<int32_t>(target->patterns.size());
    for (const int32_t owner : *target->owners) {
      if (owner < -1 || owner >= count) return Refuse("an expression belongs to no pattern");
    }
    return true;
  }

  bool ReadClasses(const Napi::Object& spec) {
    Napi::Array list;
    if (!ReadArray(spec, "classes", &list)) return Refuse("classes must be an array");
    if (list.Length() > kClassesMax) return Refuse("too many classes");
    for (uint32_t i = 0; i < list.Length(); ++i) {
      Napi::HandleScope scope(env_);
      Napi::Object object;
      if (!ReadObject(list, i, &object)) return Refuse("a class must be an object");
      classes.emplace_back();
      ScanClass& target = classes.back();
      if (!ReadChains(object, &target) || !ReadPatterns(object, &target) ||
          !ReadOwnersOf(object, &target) || !ReadTiers(object, &target) ||
          !ReadTests(object, &target)) {
        return false;
      }
    }
    return true;
  }

  // Absent: the program is only asked class by class.
  bool ReadRowParts(const Napi::Object& spec) {
    Napi::Value value = spec.Get("rowParts");
    if (value.IsEmpty() || value.IsUndefined()) return true;
    Napi::Array list;
    if (!ReadArray(spec, "rowParts", &list)) return Refuse("rowParts must be an array");
    if (list.Length() % 2 != 0 || list.Length() > kRowPartsMax) return Refuse("too many row parts");
    for (uint32_t i = 0; i < list.Length(); ++i) {
      Napi::HandleScope scope(env_);
      Napi::Object object;
      if (!ReadObject(list, i, &object)) return Refuse("a row part must be an object");
      row_parts.emplace_back();
      if (!ReadIds(object.Get("classes"), &row_parts.back().any)) return false;
      if (!ReadNamed(object, &row_parts.back())) return false;
    }
    return true;
  }

  bool ReadNamed(const Napi::Object& object, RowPart* row_part) {
    Napi::Array list;
    if (!ReadArray(object, "named", &list)) return Refuse("named must be an array");
    if (list.Length() > kNamedMax) return Refuse("a row part has too many names");
    for (uint32_t i = 0; i < list.Length(); ++i) {
      Napi::Object entry;
      if (!ReadObject(list, i, &entry)) return Refuse("a name must be an object");
      row_part->named.emplace_back();
      row_part->named.back().key = ReadLatin1(entry.Get("key"));
      if (!ReadIds(entry.Get("classes"), &row_part->named.back().classes)) return false;
    }
    return true;
  }

  bool ReadIds(const Napi::Value& value, std::vector<uint16_t>* ids) {
    int32_t* data = nullptr;
    size_t count = 0;
    if (!ReadInt32Array(env_, value, &data, &count)) {
      return Refuse("the classes of a row part must be an Int32Array");
    }
    for (size_t i = 0; i < count; ++i) {
      if (data[i] < 0 || static_cast<size_t>(data[i]) >= classes.size()) {
        return Refuse("a row part names no class");
      }
      ids->push_back(static_cast<uint16_t>(data[i]));
    }
    return true;
  }

  // Keeps the trie nodes that some chain of the class needs, parents first.
  bool ReadChains(const Napi::Object& object, ScanClass* target) {
    int32_t* chains = nullptr;
    size_t count = 0;
    if (!ReadInt32Array(env_, object.Get("chains"), &chains, &count)) {
      return Refuse("chains must be an Int32Array");
    }
    if (count > kChainsMax) return Refuse("a class has more than 64 chains");
    const size_t node_count = nodes_.size() / 2;
    std::vector<uint64_t> ends(node_count, 0);
    std::vector<bool> needed(node_count, false);
    needed[0] = true;
    for (size_t c = 0; c < count; ++c) {
      if (chains[c] < 0 || static_cast<size_t>(chains[c]) >= node_count) {
        return Refuse("a chain names no trie node");
      }
      ends[static_cast<size_t>(chains[c])] |= uint64_t{1} << c;
      target->all_chains |= uint64_t{1} << c;
      for (int32_t node = chains[c]; node > 0; node = nodes_[2 * node]) {
        needed[static_cast<size_t>(node)] = true;
      }
    }
    chain_count_ = count;
    AddSteps(needed, ends, target);
    return true;
  }

  void AddSteps(const std::vector<bool>& needed, const std::vector<uint64_t>& ends,
                ScanClass* target) {
    std::vector<uint16_t> step_of(needed.size(), 0);
    for (size_t node = 0; node < needed.size(); ++node) {
      if (!needed[node]) continue;
      step_of[node] = static_cast<uint16_t>(target->steps.size());
      ScanStep step{0, 0, false, 0, ends[node], false};
      if (node != 0) {
        const Transformation& t = kTransformations[nodes_[2 * node + 1]];
        step.parent = step_of[static_cast<size_t>(nodes_[2 * node])];
        step.transformation = static_cast<uint8_t>(nodes_[2 * node + 1]);
        step.always = t.always;
        step.trigger = t.trigger;
        step.changed_only = step.transformation == kFillersRemoved;
        target->always |= t.always;
        target->trigger_union |= t.trigger;
      }
      if (!step.changed_only) target->unchanged_chains |= step.chains;
      target->steps.push_back(step);
    }
  }

  bool TakeTarget(int64_t target_id) {
    if (target_id < 0 || target_id >= kTargetsMax) return Refuse("a target id is out of range");
    target_count = std::max(target_count, static_cast<uint32_t>(target_id) + 1);
    return true;
  }

  bool TakeChain(int64_t chain) {
    if (chain >= 0 && static_cast<size_t>(chain) < chain_count_) return true;
    return Refuse("a pattern, part or test names no chain of its class");
  }

  bool ReadPatterns(const Napi::Object& object, ScanClass* target) {
    int32_t* data = nullptr;
    size_t length = 0;
    if (!ReadInt32Array(env_, object.Get("patterns"), &data, &length) || length % 3 != 0) {
      return Refuse("patterns must be an Int32Array of triples");
    }
    target->patterns.reserve(length / 3);
    for (size_t i = 0; i < length; i += 3) {
      ScanPattern pattern{kNoTarget, 0, false};
      if (data[i] != -1) {
        if (!TakeTarget(data[i]) || !TakeChain(data[i + 1])) return false;
        pattern.target_id = static_cast<uint32_t>(data[i]);
        pattern.chain = static_cast<uint8_t>(data[i + 1]);
        pattern.negated = data[i + 2] != 0;
        target->pattern_chains |= uint64_t{1} << pattern.chain;
        if (pattern.negated) target->negated.push_back(static_cast<uint32_t>(i / 3));
      }
      target->patterns.push_back(pattern);
    }
    return true;
  }

  bool ReadTiers(const Napi::Object& object, ScanClass* target) {
    Napi::Array list;
    if (!ReadArray(object, "tiers", &list)) return Refuse("tiers must be an array");
    for (uint32_t i = 0; i < list.Length(); ++i) {
      Napi::Object entry;
      if (!ReadObject(list, i, &entry)) return Refuse("a tier must be an object");
      const int64_t lines = ReadInteger(entry, "lines", -1);
      const int64_t guarded = ReadInteger(entry, "guarded", -1);
      const int64_t guard = ReadInteger(entry, "guard", -1);
      for (const int64_t one : {lines, guarded, guard}) {
        if (one != -1 && !IsDatabase(one)) return Refuse("a tier names no database");
      }
      if ((guarded < 0) != (guard < 0)) return Refuse("a guard comes with what it guards");
      const uint32_t mask = static_cast<uint32_t>(ReadInteger(entry, "allowedMask", 0));
      target->tiers.push_back(ScanTier{mask,
                                       {},
                                       static_cast<int32_t>(lines),
                                       static_cast<int32_t>(guarded),
                                       static_cast<int32_t>(guard)});
      if (!ReadParts(entry, target->all_chains, &target->tiers.back())) return false;
    }
    return true;
  }

  // Either `parts`, or one `database` for all chains.
  bool ReadParts(const Napi::Object& entry, uint64_t all_chains, ScanTier* tier) {
    Napi::Value value = entry.Get("parts");
    if (value.IsEmpty() || value.IsUndefined()) {
      const int64_t database = ReadInteger(entry, "database", -1);
      if (database == -1) return true;
      if (!IsDatabase(database)) return Refuse("a tier names no database");
      tier->parts.push_back(TierPart{all_chains, static_cast<int32_t>(database)});
      return true;
    }
    Napi::Array list;
    if (!ReadArray(entry, "parts", &list)) return Refuse("parts must be an array");
    for (uint32_t i = 0; i < list.Length(); ++i) {
      Napi::Object object;
      if (!ReadObject(list, i, &object)) return Refuse("a part must be an object");
      const int64_t database = ReadInteger(object, "database", -1);
      if (!IsDatabase(database)) return Refuse("a part names no database");
      int32_t* chains = nullptr;
      size_t count = 0;
      if (!ReadInt32Array(env_, object.Get("chains"), &chains, &count)) {
        return Refuse("the chains of a part must be an Int32Array");
      }
      TierPart part{0, static_cast<int32_t>(database)};
      for (size_t c = 0; c < count; ++c) {
        if (!TakeChain(chains[c])) return false;
        part.chains |= uint64_t{1} << chains[c];
      }
      tier->parts.push_back(part);
    }
    return true;
  }

  bool IsDatabase(int64_t index) const {
    return index >= 0 && index < static_cast<int64_t>(databases.size());
  }

  static bool KindOf(const std::string& name, TestKind* kind) {
    const char* names[kTestKinds] = {"sqli", "xss",     "byteRange", "urlEncoding",
                                     "utf8", "present", "within",    "number"};
    for (size_t k = 0; k < kTestKinds; ++k) {
      if (name != names[k]) continue;
      *kind = static_cast<TestKind>(k);
      return true;
    }
    return false;
  }

  bool ReadTests(const Napi::Object& object, ScanClass* target) {
    Napi::Array list;
    if (!ReadArray(object, "tests", &list)) return Refuse("tests must be an array");
    for (uint32_t i = 0; i < list.Length(); ++i) {
      Napi::Object entry;
      if (!ReadObject(list, i, &entry)) return Refuse("a test must be an object");
      if (!ReadTest(entry, target)) return false;
    }
    return true;
  }

  bool ReadTest(const Napi::Object& entry, ScanClass* target) {
    ScanTest test{};
    const int64_t target_id = ReadInteger(entry, "targetId", -1);
    const int64_t chain = ReadInteger(entry, "chain", -1);
    if (!TakeTarget(target_id) || !TakeChain(chain)) return false;
    test.target_id = static_cast<uint32_t>(target_id);
    test.chain = static_cast<uint8_t>(chain);
    test.negated = ReadFlag(entry, "negated");
    test.skip_mask = static_cast<uint32_t>(ReadInteger(entry, "skipMask", 0));
    if (!KindOf(ReadLatin1(entry.Get("kind")), &test.kind)) return Refuse("unknown kind of test");
    if (test.kind == TestKind::kByteRange) {
      uint8_t* table = nullptr;
      size_t size = 0;
      if (!ReadUint8Array(env_, entry.Get("table"), &table, &size) || size != 32) {
        return Refuse("a byteRange test has a table of 32 bytes");
      }
      std::memcpy(test.allowed, table, size);
    }
    if (test.kind == TestKind::kWithin) {
      test.text = ReadLatin1(entry.Get("text"));
      test.prefix = ReadLatin1(entry.Get("prefix"));
      test.suffix = ReadLatin1(entry.Get("suffix"));
    }
    if (test.kind == TestKind::kNumber && !ReadRelation(entry, &test)) return false;
    target->tests.push_back(test);
    return true;
  }

  bool ReadRelation(const Napi::Object& entry, ScanTest* test) {
    const std::string name = ReadLatin1(entry.Get("relation"));
    const char* names[] = {"eq", "ge", "gt", "le", "lt"};
    size_t at = 0;
    while (at < 5 && name != names[at]) ++at;
    Napi::Value operand = entry.Get("operand");
    if (at == 5 || !operand.IsBigInt()) return Refuse("a number test has a relation and a bigint");
    bool lossless = true;
    test->relation = static_cast<NumberRelation>(at);
    test->operand = operand.As<Napi::BigInt>().Int64Value(&lossless);
    return lossless || Refuse("an operand has more than 64 bits");
  }

  Napi::Env env_;
  std::vector<int32_t> nodes_;
  std::vector<std::shared_ptr<const ExpressionOwners>> owners_;
  size_t chain_count_ = 0;
};

}  // namespace

bool ReadScanProgram(Napi::Env env, const Napi::Object& spec, ScanProgramParts* parts,
                     const char** error) {
  SpecReader reader(env, parts);
  if (reader.Read(spec)) return true;
  *error = reader.error;
  return false;
}

}  // namespace waf
