// The transformations that encode: hexadecimal, base64, URL, decimal length, %uHHHH.
#include <cstring>

#include "hex.h"
#include "transformations.h"

namespace waf {

namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

WAF_TRANSFORM(HexEncode) {
  (void)context;
  for (size_t i = 0; i < n; ++i) {
    out[2 * i] = static_cast<uint8_t>(kHexDigits[in[i] >> 4]);
    out[2 * i + 1] = static_cast<uint8_t>(kHexDigits[in[i] & 15]);
  }
  return 2 * n;
}

WAF_TRANSFORM(Base64Encode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n; i += 3) {
    const size_t left = n - i;
    const uint32_t bits = (uint32_t{in[i]} << 16) | (left > 1 ? uint32_t{in[i + 1]} << 8 : 0) |
                          (left > 2 ? uint32_t{in[i + 2]} : 0);
    out[o++] = static_cast<uint8_t>(kBase64Digits[bits >> 18]);
    out[o++] = static_cast<uint8_t>(kBase64Digits[(bits >> 12) & 63]);
    out[o++] = left > 1 ? static_cast<uint8_t>(kBase64Digits[(bits >> 6) & 63]) : '=';
    out[o++] = left > 2 ? static_cast<uint8_t>(kBase64Digits[bits & 63]) : '=';
  }
  return o;
}

WAF_TRANSFORM(UrlEncode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint8_t c = in[i];
    if (c == ' ') {
      out[o++] = '+';
    } else if (c == '*' || IsAlnum(c)) {
      out[o++] = c;
    } else {
      out[o++] = '%';
      out[o++] = static_cast<uint8_t>(kHexDigits[c >> 4]);
      out[o++] = static_cast<uint8_t>(kHexDigits[c & 15]);
    }
  }
  return o;
}

WAF_TRANSFORM(Length) {
  (void)context;
  (void)in;
  size_t digits = 1;
  for (size_t rest = n; rest >= 10; rest /= 10) ++digits;
  for (size_t at = digits; at-- > 0; n /= 10) out[at] = static_cast<uint8_t>('0' + n % 10);
  return digits;
}

namespace {

inline bool Continues(const uint8_t* in, size_t n, size_t i, size_t count) {
  for (size_t k = 1; k < count; ++k) {
    if (i + k >= n || (in[i + k] & 0xC0) != 0x80) return false;
  }
  return true;
}

// Writes %u and at least four lower-case hexadecimal digits.
size_t WriteUnicode(uint32_t code, uint8_t* out) {
  size_t digits = 4;
  while (digits < 6 && (code >> (4 * digits)) != 0) ++digits;
  out[0] = '%';
  out[1] = 'u';
  for (size_t k = 0; k < digits; ++k) {
    out[2 + k] = static_cast<uint8_t>(kHexDigits[(code >> (4 * (digits - 1 - k))) & 15]);
  }
  return 2 + digits;
}

inline bool Overlong(uint32_t code, size_t count) {
  return count == 4 ? code < 0x10000 : count == 3 ? code < 0x800 : code < 0x80;
}

}  // namespace

// UTF-8 sequences become %uHHHH. A lead byte without its continuation is dropped, NULs before the
// last byte are dropped; a surrogate or an overlong form is followed by its lead byte. As
// ModSecurity does.
WAF_TRANSFORM(Utf8ToUnicode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    const uint8_t c = in[i];
    if (c < 0x80) {
      if (c != 0) out[o++] = c;
      ++i;
      continue;
    }
    const size_t count = (c & 0xE0) == 0xC0   ? 2
                         : (c & 0xF0) == 0xE0 ? 3
                         : (c & 0xF8) == 0xF0 ? 4
                                              : 1;
    if (count == 1 || c >= 0xF5) out[o++] = c;
    if (count == 1 || !Continues(in, n, i, count)) {
      ++i;
      continue;
    }
    uint32_t code = c & (0xFFu >> (count + 1));
    for (size_t k = 1; k < count; ++k) code = (code << 6) | (in[i + k] & 0x3F);
    o += WriteUnicode(code, out + o);
    if (code >= 0xD800 && code <= 0xDFFF) out[o++] = c;
    if (Overlong(code, count)) out[o++] = c;
    i += count;
  }
  return o;
}

}  // namespace waf
