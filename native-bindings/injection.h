// The declarations of libinjection, which comes without a header in Debian.
#ifndef WAF_NATIVE_INJECTION_H
#define WAF_NATIVE_INJECTION_H

#include <cstddef>

extern "C" {
int libinjection_sqli(const char* input, size_t length, char fingerprint[8]);
int libinjection_xss(const char* input, size_t length);
const char* libinjection_version(void);

// The state is opaque here. A look-up gives the type of a word, 0 for none; the library's own needs
// its state only for the type of look-up that asks for the fingerprint.
struct libinjection_sqli_state;
typedef char (*libinjection_sqli_lookup)(libinjection_sqli_state* state, int type, const char* word,
                                         size_t length);
void libinjection_sqli_init(libinjection_sqli_state* state, const char* input, size_t length,
                            int flags);
void libinjection_sqli_callback(libinjection_sqli_state* state, libinjection_sqli_lookup lookup,
                                void* user_data);
int libinjection_is_sqli(libinjection_sqli_state* state);
char libinjection_sqli_lookup_word(libinjection_sqli_state* state, int type, const char* word,
                                   size_t length);
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
