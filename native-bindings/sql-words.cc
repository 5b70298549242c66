// The implementation of sql-words.h.
#include "sql-words.h"

#include <cstring>
#include <string>

#include "byte-class.h"
#include "injection.h"

// The first words of the phrases that the linked libinjection knows, such as UNION of UNION ALL,
// with commas between them; nothing where the build did not find them.
#ifndef WAF_SQL_PHRASES
#define WAF_SQL_PHRASES
#endif
#define WAF_TEXT_OF(...) #__VA_ARGS__
#define WAF_TEXT(...) WAF_TEXT_OF(__VA_ARGS__)

namespace waf {

namespace {

// libinjection folds a value to five tokens and reads one more.
constexpr size_t kTokens = 6;
constexpr size_t kKnownWords = 1024;
// A value with quotes is read again as if it began inside a string.
constexpr uint32_t kQuotes = MaskOf(kSingleQuote) | MaskOf(kDoubleQuote);
constexpr uint32_t kLetters = MaskOf(kLower) | MaskOf(kUpper);
constexpr uint32_t kWordBytes = kLetters | MaskOf(kDigit) | MaskOf(kUnderscore);

const char kPhrases[] = "," WAF_TEXT(WAF_SQL_PHRASES) ",";

bool BeginsPhrase(const uint8_t* word, size_t size) {
  std::string wanted(1, ',');
  for (size_t i = 0; i < size; ++i) {
    const uint8_t c = word[i];
    wanted.push_back(static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c));
  }
  wanted.push_back(',');
  return std::strstr(kPhrases, wanted.c_str()) != nullptr;
}

uint32_t HashOf(const uint8_t* word, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ word[i]) * 16777619u;
  return hash ^ (hash >> 15);
}

bool FindsNothing(const std::string& value) {
  char fingerprint[8] = {0};
  return !IsSqli(reinterpret_cast<const uint8_t*>(value.data()), value.size(), fingerprint);
}

// True when rows of names are no injection to the library, and only their beginning counts.
bool ReadsAsExpected() {
  if (sizeof(kPhrases) < 16) return false;
  std::string names;
  for (size_t i = 0; i < kTokens; ++i) {
    names += i == 0 ? "zqv" : " zqv";
    if (!FindsNothing(names)) return false;
  }
  return FindsNothing(names + " union select 1 from zqv -- ") &&
         FindsNothing(names + "; drop table zqv");
}

}  // namespace

SqlWords::SqlWords() : usable_(ReadsAsExpected()) {
  if (usable_) known_.resize(kKnownWords);
}

bool SqlWords::AreNames(const uint8_t* data, size_t size, uint32_t mask) {
  if (!usable_ || (mask & kQuotes) != 0) return false;
  size_t at = 0;
  for (size_t token = 0; token < kTokens; ++token) {
    while (at < size && data[at] == ' ') ++at;
    if (at == size) return true;
    const size_t start = at;
    if ((kByteMask.bit[data[at]] & kLetters) == 0) return false;
    while (at < size && (kByteMask.bit[data[at]] & kWordBytes) != 0) ++at;
    if (at < size && data[at] != ' ') return false;
    if (at - start > kWordMax || !IsName(data + start, at - start)) return false;
  }
  return true;
}

bool SqlWords::IsName(const uint8_t* word, size_t size) {
  Known& known = known_[HashOf(word, size) & (kKnownWords - 1)];
  if (known.size == size && std::memcmp(known.word, word, size) == 0) return known.is_name;
  std::memcpy(known.word, word, size);
  known.size = static_cast<uint8_t>(size);
  known.is_name = !IsSqlWord(word, size) && !BeginsPhrase(word, size);
  return known.is_name;
}

}  // namespace waf
