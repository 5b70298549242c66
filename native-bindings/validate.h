// The three validating operators over bytes; true means the operator fires (invalid).
#ifndef WAF_NATIVE_VALIDATE_H
#define WAF_NATIVE_VALIDATE_H

#include <cstddef>
#include <cstdint>

namespace waf {

// Does a byte lie outside the 32-byte bitmap of allowed values?
bool OutsideByteRange(const uint8_t* data, size_t size, const uint8_t* allowed);
// Is there a '%' without two hexadecimal digits after it?
bool BadUrlEncoding(const uint8_t* data, size_t size);
// Is there anything that RFC 3629 does not allow: overlong, surrogate, beyond U+10FFFF, cut off?
bool BadUtf8(const uint8_t* data, size_t size);

}  // namespace waf

#endif  // WAF_NATIVE_VALIDATE_H
