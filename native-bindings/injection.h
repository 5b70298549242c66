// The declarations of libinjection, which comes without a header in Debian.
#ifndef WAF_NATIVE_INJECTION_H
#define WAF_NATIVE_INJECTION_H

#include <cstddef>

extern "C" {
int libinjection_sqli(const char* input, size_t length, char fingerprint[8]);
int libinjection_xss(const char* input, size_t length);
const char* libinjection_version(void);
struct libinjection_sqli_state;
char libinjection_sqli_lookup_word(struct libinjection_sqli_state* state, int type,
                                   const char* word, size_t length);
}

namespace waf {

inline bool IsSqli(const unsigned char* data, size_t size, char fingerprint[8]) {
  return libinjection_sqli(reinterpret_cast<const char*>(data), size, fingerprint) == 1;
}

// True for keywords, functions, types and operators of SQL, letter case aside. The library looks
// words up without its state.
inline bool IsSqlWord(const unsigned char* data, size_t size) {
  constexpr int kLookupWord = 1;
  const char* word = reinterpret_cast<const char*>(data);
  return libinjection_sqli_lookup_word(nullptr, kLookupWord, word, size) != 0;
}

inline bool IsXss(const unsigned char* data, size_t size) {
  return libinjection_xss(reinterpret_cast<const char*>(data), size) == 1;
}

}  // namespace waf

#endif  // WAF_NATIVE_INJECTION_H
