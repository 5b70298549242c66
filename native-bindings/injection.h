// The declarations of libinjection, which comes without a header in Debian.
#ifndef WAF_NATIVE_INJECTION_H
#define WAF_NATIVE_INJECTION_H

#include <cstddef>

extern "C" {
int libinjection_sqli(const char* input, size_t length, char fingerprint[8]);
int libinjection_xss(const char* input, size_t length);
const char* libinjection_version(void);
}

namespace waf {

inline bool IsSqli(const unsigned char* data, size_t size, char fingerprint[8]) {
  return libinjection_sqli(reinterpret_cast<const char*>(data), size, fingerprint) == 1;
}

inline bool IsXss(const unsigned char* data, size_t size) {
  return libinjection_xss(reinterpret_cast<const char*>(data), size) == 1;
}

}  // namespace waf

#endif  // WAF_NATIVE_INJECTION_H
