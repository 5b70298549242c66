// md5 and sha1 as transformations: the raw digest bytes of the value (RFC 1321, RFC 3174).
// They are SecLang features for comparing values, never used for security here.
#include <cstring>

#include "transformations.h"

namespace waf {

namespace {

inline uint32_t RotateLeft(uint32_t x, unsigned by) { return (x << by) | (x >> (32 - by)); }

// Runs `Block` over the padded message: whole blocks from `in`, then the tail with the length.
template <typename State>
void Digest(State& state, const uint8_t* in, size_t n, bool big_endian) {
  size_t i = 0;
  for (; i + 64 <= n; i += 64) state.Block(in + i);
  uint8_t tail[128] = {0};
  const size_t rest = n - i;
  if (rest != 0) std::memcpy(tail, in + i, rest);
  tail[rest] = 0x80;
  const size_t size = rest < 56 ? 64 : 128;
  const uint64_t bits = static_cast<uint64_t>(n) * 8;
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned shift = big_endian ? 8 * (7 - k) : 8 * k;
    tail[size - 8 + k] = static_cast<uint8_t>(bits >> shift);
  }
  for (size_t at = 0; at < size; at += 64) state.Block(tail + at);
}

constexpr uint32_t kMd5Sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr unsigned kMd5Shifts[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

struct Md5State {
  uint32_t h[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

  void Block(const uint8_t* p) {
    uint32_t w[16];
    for (unsigned k = 0; k < 16; ++k) {
      w[k] = uint32_t{p[4 * k]} | uint32_t{p[4 * k + 1]} << 8 | uint32_t{p[4 * k + 2]} << 16 |
             uint32_t{p[4 * k + 3]} << 24;
    }
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3];
    for (unsigned k = 0; k < 64; ++k) {
      const unsigned round = k / 16;
      const uint32_t f = round == 0   ? (b & c) | (~b & d)
                         : round == 1 ? (d & b) | (~d & c)
                         : round == 2 ? b ^ c ^ d
                                      : c ^ (b | ~d);
      const unsigned g = round == 0   ? k
                         : round == 1 ? (5 * k + 1) % 16
                         : round == 2 ? (3 * k + 5) % 16
                                      : (7 * k) % 16;
      const uint32_t next = b + RotateLeft(a + f + kMd5Sines[k] + w[g], kMd5Shifts[round][k % 4]);
      a = d;
      d = c;
      c = b;
      b = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
  }
};

struct Sha1State {
  uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

  void Block(const uint8_t* p) {
    uint32_t w[80];
    for (unsigned k = 0; k < 16; ++k) {
      w[k] = uint32_t{p[4 * k]} << 24 | uint32_t{p[4 * k + 1]} << 16 | uint32_t{p[4 * k + 2]} << 8 |
             uint32_t{p[4 * k + 3]};
    }
    for (unsigned k = 16; k < 80; ++k) {
      w[k] = RotateLeft(w[k - 3] ^ w[k - 8] ^ w[k - 14] ^ w[k - 16], 1);
    }
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (unsigned k = 0; k < 80; ++k) {
      const unsigned round = k / 20;
      const uint32_t f = round == 0   ? ((b & c) | (~b & d)) + 0x5a827999
                         : round == 1 ? (b ^ c ^ d) + 0x6ed9eba1
                         : round == 2 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                      : (b ^ c ^ d) + 0xca62c1d6;
      const uint32_t next = RotateLeft(a, 5) + f + e + w[k];
      e = d;
      d = c;
      c = RotateLeft(b, 30);
      b = a;
      a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
  }
};

}  // namespace

WAF_TRANSFORM(Md5) {
  (void)context;
  Md5State state;
  Digest(state, in, n, false);
  for (unsigned k = 0; k < 16; ++k) out[k] = static_cast<uint8_t>(state.h[k / 4] >> (8 * (k % 4)));
  return 16;
}

WAF_TRANSFORM(Sha1) {
  (void)context;
  Sha1State state;
  Digest(state, in, n, true);
  for (unsigned k = 0; k < 20; ++k) {
    out[k] = static_cast<uint8_t>(state.h[k / 4] >> (24 - 8 * (k % 4)));
  }
  return 20;
}

}  // namespace waf
