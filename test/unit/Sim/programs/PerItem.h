//===- PerItem.h - programs that run on device and host alike ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function computes one 64-bit result from an item's index and a table of
// numbers. PerItem.c makes kernels of them; the test compiles them for the
// host, and both have to agree to the bit. The text is C and C++; nothing in it
// is written with the simulator in mind.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_SIM_PROGRAMS_PERITEM_H
#define TENON_TEST_UNIT_SIM_PROGRAMS_PERITEM_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef unsigned __int128 u128;

/// Numbers in the table.
#define TABLE_SIZE 256

#define NOINLINE __attribute__((noinline))

/// Mixes a value into a running result.
static inline u64 mix(u64 hash, u64 value) {
  hash ^= value;
  hash *= 0x9E3779B97F4A7C15ul;
  return hash ^ (hash >> 29);
}

static inline u64 bitsOfDouble(double value) {
  u64 bits;
  __builtin_memcpy(&bits, &value, 8);
  return value != value ? 0x7FF8000000000000ul : bits;
}

static inline u32 bitsOfFloat(float value) {
  u32 bits;
  __builtin_memcpy(&bits, &value, 4);
  return value != value ? 0x7FC00000u : bits;
}

static inline u16 bitsOfHalf(_Float16 value) {
  u16 bits;
  __builtin_memcpy(&bits, &value, 2);
  return value != value ? 0x7E00 : bits;
}

/// CRC-32 of the bytes of some words, bit by bit.
static inline u64 crc32(u32 i, const u64 *in) {
  u32 crc = ~0u;
  for (u32 n = 0; n <= i % 5; ++n) {
    u64 word = in[(i + n) % TABLE_SIZE];
    for (u32 b = 0; b < 8; ++b) {
      crc ^= (u8)(word >> (8 * b));
      for (u32 k = 0; k < 8; ++k) {
        crc = (crc >> 1) ^ (0xEDB88320u & -(crc & 1));
      }
    }
  }
  return ~crc;
}

/// The table of constants of SHA-256, the fractions of cube roots of primes.
static const u32 shaTable[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline u32 rotateRight(u32 x, u32 n) {
  return (x >> n) | (x << (32 - n));
}

/// One block of SHA-256: byte order, rotations, a private array of 64 words.
static inline u64 sha256(u32 i, const u64 *in) {
  u32 w[64];
  u32 s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  u32 start[8];
  for (u32 t = 0; t < 16; ++t) {
    w[t] = __builtin_bswap32(
        (u32)(in[(i + t / 2) % TABLE_SIZE] >> (32 * (t % 2))));
  }
  for (u32 t = 16; t < 64; ++t) {
    u32 a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + w[t - 7] +
           (rotateRight(a, 7) ^ rotateRight(a, 18) ^ (a >> 3)) +
           (rotateRight(b, 17) ^ rotateRight(b, 19) ^ (b >> 10));
  }
  for (u32 k = 0; k < 8; ++k) {
    start[k] = s[k];
  }
  for (u32 t = 0; t < 64; ++t) {
    u32 one =
        rotateRight(s[4], 6) ^ rotateRight(s[4], 11) ^ rotateRight(s[4], 25);
    u32 zero =
        rotateRight(s[0], 2) ^ rotateRight(s[0], 13) ^ rotateRight(s[0], 22);
    u32 first =
        s[7] + one + ((s[4] & s[5]) ^ (~s[4] & s[6])) + shaTable[t] + w[t];
    u32 second = zero + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (u32 k = 7; k > 0; --k) {
      s[k] = s[k - 1];
    }
    s[4] += first;
    s[0] = first + second;
  }
  u64 result = 0;
  for (u32 k = 0; k < 8; ++k) {
    result = mix(result, s[k] + start[k]);
  }
  return result;
}

/// Division and remainder of every width, signed and unsigned.
static inline u64 divisions(u32 i, const u64 *in) {
  u64 a = in[i % TABLE_SIZE], b = in[(i * 7 + 3) % TABLE_SIZE];
  b >>= a & 31;
  u64 hash = b ? mix(a / b, a % b) : 1;
  i64 sa = (i64)a, sb = (i64)b;
  if (sb && !(sb == -1 && a == 1ul << 63)) {
    hash = mix(hash, (u64)(sa / sb) + 3 * (u64)(sa % sb));
  }
  u32 wa = (u32)(a >> 13), wb = (u32)(b >> 5);
  hash = wb ? mix(hash, wa / wb + (u64)(wa % wb) * 5) : hash;
  i32 xa = (i32)wa, xb = (i32)wb;
  if (xb && !(xb == -1 && wa == 1u << 31)) {
    hash = mix(hash, (u64)(i64)(xa / xb) + 7 * (u64)(i64)(xa % xb));
  }
  i16 ha = (i16)a, hb = (i16)(b | 1);
  hash = mix(hash, (u64)(i64)(ha / hb) * 11 + (u64)(i64)(ha % hb));
  u8 ba = (u8)a, bb = (u8)(b | 1);
  hash = mix(hash, (u64)(ba / bb) * 13 + ba % bb);
  return mix(hash, a / 1000000007ul + sa / -12345 + wa % 641 + xa % -7);
}

/// Shifts and rotations by amounts that differ from item to item.
static inline u64 shifts(u32 i, const u64 *in) {
  u64 a = in[i % TABLE_SIZE], hash = 0;
  for (u32 n = 0; n < 64; n += 1 + i % 3) {
    hash = mix(hash, (a << n) + (a >> n) * 3 + (u64)((i64)a >> n) * 5);
    hash = mix(hash, n ? (a << n) | (a >> (64 - n)) : a);
    u32 w = (u32)a, m = n % 32;
    hash =
        mix(hash, (u64)(w << m) + (w >> m) * 3ul + (u64)(i64)((i32)w >> m) * 5);
    u16 h = (u16)a;
    hash = mix(hash, (u16)(h << (n % 16)) + 9u * (h >> (n % 16)) +
                         (u64)(i64)((i16)h >> (n % 16)));
  }
  return hash;
}

/// Products of 128 bits and sums with carries.
static inline u64 wideProducts(u32 i, const u64 *in) {
  u64 a = in[i % TABLE_SIZE], b = in[(i + 1) % TABLE_SIZE];
  u128 product = (u128)a * b;
  product += (u128)b << 37;
  product -= (u128)a * 0xFFFFFFFFul;
  __int128 negative = (__int128)(i64)a * (i64)b;
  negative >>= 19;
  u64 sum, difference, overflow = 0;
  overflow += __builtin_add_overflow(a, b, &sum);
  overflow += 2 * __builtin_sub_overflow(a, b, &difference);
  i64 checked;
  overflow += 4 * __builtin_mul_overflow((i64)a >> 20, (i64)b >> 30, &checked);
  u64 hash = mix((u64)product, (u64)(product >> 64));
  hash = mix(hash, (u64)negative ^ (u64)(negative >> 64));
  return mix(hash, sum + difference * 3 + (u64)checked * 5 + overflow);
}

/// Counting, reversing and interleaving of bits.
static inline u64 bitTricks(u32 i, const u64 *in) {
  u64 a = in[i % TABLE_SIZE] >> (i % 64), hash = i;
  u32 w = (u32)a;
  hash = mix(hash, (u64)__builtin_popcountl(a) + 64 * __builtin_parityl(a));
  hash = mix(hash, a ? (u64)__builtin_clzl(a) * 64 + __builtin_ctzl(a) : 99);
  hash = mix(hash, w ? (u64)__builtin_clz(w) * 64 + __builtin_ctz(w) : 77);
  hash = mix(hash, (u64)__builtin_ffsl((i64)a) + __builtin_clrsb((i32)w));
  hash = mix(hash, __builtin_bitreverse64(a) + __builtin_bitreverse32(w) * 3ul);
  hash = mix(hash, __builtin_bswap64(a) ^ __builtin_bswap16((u16)a));
  hash = mix(hash, __builtin_bitreverse16((u16)a) * 5ul +
                       __builtin_bitreverse8((u8)a));
  u64 spread = w; // Morton order
  spread = (spread | spread << 16) & 0x0000FFFF0000FFFFul;
  spread = (spread | spread << 8) & 0x00FF00FF00FF00FFul;
  spread = (spread | spread << 4) & 0x0F0F0F0F0F0F0F0Ful;
  spread = (spread | spread << 2) & 0x3333333333333333ul;
  spread = (spread | spread << 1) & 0x5555555555555555ul;
  hash = mix(hash, spread);
  hash = mix(hash, (a & -a) + (a & (a - 1)) * 3 + (a ^ (a >> 1)) * 5);
  u32 field = (w >> (i % 27)) & 31, inserted = (w & ~(31u << 9)) | field << 9;
  return mix(hash, inserted + (u64)(i64)((i32)(w << 11) >> 20));
}

/// A machine with eight operations whose program is data: a dense switch in a
/// loop that each item leaves at its own time.
static inline u64 interpreter(u32 i, const u64 *in) {
  u64 accumulator = in[i % TABLE_SIZE], other = i;
  u32 at = i * 5, steps = 0;
  for (;;) {
    u64 word = in[at % TABLE_SIZE];
    u32 code = (u32)(word >> (at % 50)) & 15;
    if (++steps > 40 + i % 17) {
      break;
    }
    switch (code) {
    case 0:
      accumulator += word;
      break;
    case 1:
      accumulator -= other;
      break;
    case 2:
      accumulator *= 2 * other + 1;
      break;
    case 3:
      accumulator = (accumulator << 7) | (accumulator >> 57);
      break;
    case 4:
      other ^= accumulator;
      break;
    case 5:
      if (accumulator & 1) {
        at += 3;
        continue;
      }
      break;
    case 6:
      other = accumulator % 1009;
      break;
    case 7:
      accumulator ^= other << (word & 31);
      break;
    case 9:
      accumulator = ~accumulator;
      __attribute__((fallthrough));
    case 10:
      other += 3;
      break;
    case 15:
      if (steps > 30) {
        return mix(accumulator, other);
      }
      break;
    default:
      accumulator += code;
    }
    ++at;
  }
  return mix(accumulator, other + steps);
}

/// Sorting by a heap in a private array.
static inline u64 heapSort(u32 i, const u64 *in) {
  u32 values[24];
  const u32 n = 24;
  for (u32 k = 0; k < n; ++k) {
    values[k] = (u32)(in[(i + k) % TABLE_SIZE] >> (k % 13)) & 0xFFFF;
  }
  for (u32 end = n + n / 2; end > 1;) {
    u32 root, last;
    --end;
    if (end >= n) { // build the heap
      root = end - n;
      last = n;
    } else {
      u32 top = values[0];
      values[0] = values[end];
      values[end] = top;
      root = 0;
      last = end;
    }
    for (u32 child = 2 * root + 1; child < last; child = 2 * root + 1) {
      if (child + 1 < last && values[child] < values[child + 1]) {
        ++child;
      }
      if (values[root] >= values[child]) {
        break;
      }
      u32 swapped = values[root];
      values[root] = values[child];
      values[child] = swapped;
      root = child;
    }
  }
  u64 hash = 0;
  for (u32 k = 0; k < n; ++k) {
    hash =
        mix(hash, values[k] + (k && values[k - 1] > values[k] ? 1 : 0) * 7ul);
  }
  return hash;
}

/// Sorting by recursion, halves merged through pointers into private memory.
NOINLINE static void mergeSort(u32 *values, u32 *space, u32 n) {
  if (n < 2) {
    return;
  }
  u32 half = n / 2;
  mergeSort(values, space, half);
  mergeSort(values + half, space + half, n - half);
  u32 a = 0, b = half;
  for (u32 k = 0; k < n; ++k) {
    space[k] = b >= n || (a < half && values[a] <= values[b]) ? values[a++]
                                                              : values[b++];
  }
  for (u32 k = 0; k < n; ++k) {
    values[k] = space[k];
  }
}

static inline u64 recursiveSort(u32 i, const u64 *in) {
  u32 values[13], space[13];
  u32 n = 6 + i % 8;
  for (u32 k = 0; k < n; ++k) {
    values[k] = (u32)in[(3 * i + k) % TABLE_SIZE];
  }
  mergeSort(values, space, n);
  u64 hash = 0;
  for (u32 k = 0; k < n; ++k) {
    hash = mix(hash, values[k]);
  }
  return hash;
}

NOINLINE static u32 isOdd(u32 n);
NOINLINE static u32 isEven(u32 n) { return n == 0 ? 1 : isOdd(n - 1); }
NOINLINE static u32 isOdd(u32 n) { return n == 0 ? 0 : isEven(n - 1); }
NOINLINE static u64 fibonacci(u32 n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/// Functions that call themselves and each other, to a depth of the item's own.
static inline u64 recursions(u32 i, const u64 *in) {
  return fibonacci(i % 8) * 1000 + isEven(i % 11) * 100 + isOdd(i % 6) + in[0];
}

NOINLINE static u64 opAdd(u64 a, u64 b) { return a + b; }
NOINLINE static u64 opXor(u64 a, u64 b) { return a ^ (b << 1); }
NOINLINE static u64 opMultiply(u64 a, u64 b) { return a * (b | 1); }
NOINLINE static u64 opRemainder(u64 a, u64 b) { return a % (b | 1); }
static u64 (*const operations[4])(u64, u64) = {opAdd, opXor, opMultiply,
                                               opRemainder};

/// Calls through pointers that differ from item to item.
static inline u64 functionPointers(u32 i, const u64 *in) {
  u64 value = in[i % TABLE_SIZE];
  for (u32 n = 0; n < 4; ++n) {
    value = operations[(value >> 5) % 4](value, in[(i + n) % TABLE_SIZE]);
  }
  return value;
}

typedef struct {
  i64 m[3][3];
  i32 count;
} Matrix;

NOINLINE static Matrix multiply(Matrix a, Matrix b) {
  Matrix c;
  for (u32 y = 0; y < 3; ++y) {
    for (u32 x = 0; x < 3; ++x) {
      c.m[y][x] =
          a.m[y][0] * b.m[0][x] + a.m[y][1] * b.m[1][x] + a.m[y][2] * b.m[2][x];
    }
  }
  c.count = a.count + b.count;
  return c;
}

/// Structures passed and returned by value.
static inline u64 structures(u32 i, const u64 *in) {
  Matrix power = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0}, base;
  for (u32 k = 0; k < 9; ++k) {
    base.m[k / 3][k % 3] = (i64)(in[(i + k) % TABLE_SIZE] % 19) - 9;
  }
  base.count = 1;
  for (u32 n = i % 11 + 1; n; n /= 2) {
    if (n & 1) {
      power = multiply(power, base);
    }
    base = multiply(base, base);
  }
  u64 hash = (u64)power.count;
  for (u32 k = 0; k < 9; ++k) {
    hash = mix(hash, (u64)power.m[k / 3][k % 3]);
  }
  return hash;
}

/// Numbers to text and back, and a search for one text in another.
static inline u64 strings(u32 i, const u64 *in) {
  char text[24], pattern[4];
  u32 length = 0;
  u64 value = in[i % TABLE_SIZE] >> (i % 40);
  char digits[24];
  u32 count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  while (count) {
    text[length++] = digits[--count];
  }
  text[length] = 0;
  pattern[0] = (char)('0' + i % 10);
  pattern[1] = (char)('0' + i / 7 % 10);
  pattern[2] = 0;
  u32 found = 0;
  for (const char *at = text; *at; ++at) {
    const char *a = at, *b = pattern;
    while (*b && *a == *b) {
      ++a;
      ++b;
    }
    found += *b == 0 ? (u32)(at - text) + 1 : 0;
  }
  u64 back = 0;
  for (const char *at = text; *at; ++at) {
    back = back * 10 + (u64)(*at - '0');
  }
  return mix(back, found * 32 + length);
}

/// The decoder of UTF-8 over random bytes, errors included.
static inline u64 utf8(u32 i, const u64 *in) {
  u64 hash = 0;
  for (u32 at = 0; at < 24;) {
    u32 bytes[4];
    for (u32 k = 0; k < 4; ++k) {
      u32 place = at + k;
      bytes[k] = (u8)(in[(i + place / 8) % TABLE_SIZE] >> (8 * (place % 8)));
    }
    u32 code = bytes[0], length = 1;
    if (code >= 0xF0 && code < 0xF8) {
      length = 4;
      code &= 7;
    } else if (code >= 0xE0) {
      length = 3;
      code &= 15;
    } else if (code >= 0xC0) {
      length = 2;
      code &= 31;
    } else if (code >= 0x80) {
      code = 0xFFFD;
    }
    for (u32 k = 1; k < length; ++k) {
      if ((bytes[k] & 0xC0) != 0x80) {
        code = 0xFFFD;
        length = k;
        break;
      }
      code = code << 6 | (bytes[k] & 63);
    }
    hash = mix(hash, code);
    at += length;
  }
  return hash;
}

static inline double doubleOf(u64 bits) {
  // Exponents near one, so that sums keep bits of both.
  bits = (bits & 0x800FFFFFFFFFFFFFul) | (u64)(1003 + (bits >> 53) % 40) << 52;
  double value;
  __builtin_memcpy(&value, &bits, 8);
  return value;
}

/// Double precision: arithmetic, rounding, conversions, comparisons.
static inline u64 doubles(u32 i, const u64 *in) {
  double a = doubleOf(in[i % TABLE_SIZE]),
         b = doubleOf(in[(i + 9) % TABLE_SIZE]);
  u64 hash = bitsOfDouble(a + b);
  hash = mix(hash, bitsOfDouble(a - b) ^ bitsOfDouble(a * b));
  hash = mix(hash, bitsOfDouble(a / b) + bitsOfDouble(__builtin_sqrt(a * a)));
  hash = mix(hash, bitsOfDouble(__builtin_fma(a, b, -a)));
  hash = mix(hash, bitsOfDouble(__builtin_floor(a)) +
                       bitsOfDouble(__builtin_ceil(b)) * 3);
  hash = mix(hash, bitsOfDouble(__builtin_trunc(a)) +
                       bitsOfDouble(__builtin_rint(a * 8)) * 3);
  hash = mix(hash, bitsOfDouble(__builtin_fmin(a, b)) +
                       bitsOfDouble(__builtin_fmax(a, b)) * 5);
  hash = mix(hash, bitsOfDouble(__builtin_copysign(a, b)) ^
                       bitsOfDouble(__builtin_fabs(b)));
  hash = mix(hash, (u64)(i64)(a * 1e12) + (u64)(u32)(i32)(b * 100));
  hash = mix(hash, (u64)(__builtin_fabs(a) * 1e13));
  hash = mix(hash, bitsOfDouble((double)in[i % TABLE_SIZE]) ^
                       bitsOfDouble((double)(i64)in[(i + 3) % TABLE_SIZE]));
  hash =
      mix(hash, bitsOfFloat((float)a) + bitsOfFloat((float)in[i % TABLE_SIZE]));
  hash = mix(hash, (u64)(a < b) + 2 * (a >= b) + 4 * (a == b) + 8 * (a != a));
  double sum = 0, lost = 0; // Kahan
  for (u32 k = 0; k < 16; ++k) {
    double y = doubleOf(in[(i + k) % TABLE_SIZE]) - lost, t = sum + y;
    lost = t - sum - y;
    sum = t;
  }
  return mix(hash, bitsOfDouble(sum) ^ bitsOfDouble(lost));
}

/// Single precision the same way, denormals and infinities included.
static inline u64 floats(u32 i, const u64 *in) {
  u32 x = (u32)in[i % TABLE_SIZE], y = (u32)(in[(i + 5) % TABLE_SIZE] >> 20);
  float a, b;
  __builtin_memcpy(&a, &x, 4);
  __builtin_memcpy(&b, &y, 4);
  u64 hash = bitsOfFloat(a + b) * 3ul + bitsOfFloat(a * b);
  hash = mix(hash, bitsOfFloat(a / b) ^ bitsOfFloat(a - b));
  hash = mix(hash, bitsOfFloat(__builtin_sqrtf(__builtin_fabsf(a))));
  hash = mix(hash, bitsOfFloat(__builtin_fmaf(a, b, a)));
  hash = mix(hash, bitsOfFloat(__builtin_floorf(a)) +
                       bitsOfFloat(__builtin_ceilf(b)) * 3ul);
  hash = mix(hash, bitsOfFloat(__builtin_truncf(a)) +
                       bitsOfFloat(__builtin_rintf(b)) * 3ul);
  hash = mix(hash, bitsOfDouble(a) ^ bitsOfFloat((float)(i32)x));
  hash = mix(hash, bitsOfFloat((float)y) + bitsOfFloat((float)(u16)x));
  float small = (float)(x % 100000) / 7 - 5000;
  hash = mix(hash, (u64)(i64)small + (u64)(u32)(i32)(small * 3));
  hash = mix(hash, (u64)(a < b) + 2 * (a >= b) + 4 * (a == b) + 8 * (a != a) +
                       16 * __builtin_isunordered(a, b));
  return mix(hash, bitsOfFloat(__builtin_copysignf(b, a)));
}

/// A float rounded to bf16; hosts lack the conversion.
static inline u16 brainBits(float value) {
#ifdef __AMDGPU__
  __bf16 brain = (__bf16)value;
  u16 bits;
  __builtin_memcpy(&bits, &brain, 2);
  return bits;
#else
  u32 bits = bitsOfFloat(value);
  return (u16)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
#endif
}

/// Half precision and bf16; every result is stored before it is used.
static inline u64 halves(u32 i, const u64 *in) {
  u16 x = (u16)in[i % TABLE_SIZE], y = (u16)(in[(i + 2) % TABLE_SIZE] >> 30);
  _Float16 a, b;
  __builtin_memcpy(&a, &x, 2);
  __builtin_memcpy(&b, &y, 2);
  _Float16 sum = a + b, product = a * b, difference = a - b;
  u64 hash = bitsOfHalf(sum) + bitsOfHalf(product) * 65536ul +
             ((u64)bitsOfHalf(difference) << 32);
  hash = mix(hash, bitsOfFloat((float)a) ^ bitsOfDouble((double)b));
  float f = (float)(i32)(u32)in[i % TABLE_SIZE] / 65536;
  hash = mix(hash, bitsOfHalf((_Float16)f));
  hash = mix(hash, bitsOfHalf((_Float16)((float)(x % 2049) / 1024)));
  hash = mix(hash, bitsOfHalf((_Float16)(i32)(y % 3000)));
  hash = mix(hash, (u64)(a < b) + 2 * (a >= b) + 4 * (a == b));
  return mix(hash, brainBits(f));
}

typedef u16 u16x4 __attribute__((ext_vector_type(4)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef u8 u8x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x2 __attribute__((ext_vector_type(2)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));

/// Vectors of narrow elements: packed instructions where the chip has them.
static inline u64 packedVectors(u32 i, const u64 *in) {
  u64 a = in[i % TABLE_SIZE], b = in[(i + 4) % TABLE_SIZE];
  u16x4 x, y;
  u8x8 p, q;
  __builtin_memcpy(&x, &a, 8);
  __builtin_memcpy(&y, &b, 8);
  __builtin_memcpy(&p, &a, 8);
  __builtin_memcpy(&q, &b, 8);
  u16x4 r = x * y + (x >> 3) - (y << 2);
  r = __builtin_elementwise_max(r, x) ^ __builtin_elementwise_min(x, y);
  r = r.wzyx + (u16x4)(x > y);
  u8x8 s = p * q + p;
  s = __builtin_elementwise_add_sat(s, q) - __builtin_elementwise_sub_sat(p, q);
  u64 hash = 0, part;
  __builtin_memcpy(&part, &r, 8);
  hash = mix(hash, part);
  __builtin_memcpy(&part, &s, 8);
  hash = mix(hash, part);
  i16x2 m = {(i16)a, (i16)(a >> 16)}, n = {(i16)b, (i16)(b >> 16)};
  m = (m >> 5) * n - __builtin_elementwise_max(m, n);
  hash = mix(hash, (u16)m.x + 65536ul * (u16)m.y);
  f16x2 h = {(_Float16)(i32)(a % 64), (_Float16)(i32)(b % 64)}, k = h.yx;
  h = h * k;
  h = h + k;
  hash = mix(hash, bitsOfHalf(h.x) + 65536ul * bitsOfHalf(h.y));
  f32x2 f = {(float)(u32)a, (float)(u32)b}, g = f.yx * 0.5f;
  f = f * g + g;
  hash = mix(hash, bitsOfFloat(f.x) + 3ul * bitsOfFloat(f.y));
  u32x4 w = {(u32)a, (u32)b, (u32)(a >> 32), (u32)(b >> 32)};
  w = w.yzwx * 2654435761u + w;
  return mix(hash, w.x ^ (u64)w.y << 9 ^ (u64)w.z << 20 ^ (u64)w.w << 31);
}

/// Solutions of the eight queens behind a first row that the item sets.
static inline u64 queens(u32 i, const u64 *in) {
  u32 columns[8], left[8], right[8], open[8];
  u32 row = 1, count = 0, first = 1u << (in[i % TABLE_SIZE] % 6);
  const u32 all = 63;
  columns[1] = first;
  left[1] = first << 1;
  right[1] = first >> 1;
  open[1] = all & ~(columns[1] | left[1] | right[1]);
  while (row > 0) {
    if (!open[row]) {
      --row;
      continue;
    }
    u32 bit = open[row] & -open[row];
    open[row] ^= bit;
    if (row == 5) {
      ++count;
      continue;
    }
    columns[row + 1] = columns[row] | bit;
    left[row + 1] = (left[row] | bit) << 1;
    right[row + 1] = (right[row] | bit) >> 1;
    ++row;
    open[row] = all & ~(columns[row] | left[row] | right[row]);
  }
  return count;
}

/// The distance between two texts: a private table of two dimensions.
static inline u64 editDistance(u32 i, const u64 *in) {
  u8 table[9][9];
  u64 a = in[i % TABLE_SIZE], b = in[(i + 1) % TABLE_SIZE];
  for (u32 k = 0; k < 9; ++k) {
    table[k][0] = table[0][k] = (u8)k;
  }
  for (u32 y = 1; y < 9; ++y) {
    for (u32 x = 1; x < 9; ++x) {
      u32 same = ((a >> (8 * (y - 1))) & 3) == ((b >> (8 * (x - 1))) & 3);
      u8 best = (u8)(table[y - 1][x - 1] + !same);
      u8 up = (u8)(table[y - 1][x] + 1), side = (u8)(table[y][x - 1] + 1);
      best = up < best ? up : best;
      table[y][x] = side < best ? side : best;
    }
  }
  return table[8][8] + 16ul * table[5][7];
}

/// Powers modulo a prime by 128-bit products.
static inline u64 modularPower(u32 i, const u64 *in) {
  const u64 prime = (1ul << 61) - 1;
  u64 base = in[i % TABLE_SIZE] % prime, result = 1;
  for (u64 e = in [(i + 8) % TABLE_SIZE] >> (40 + i % 8); e; e >>= 1) {
    if (e & 1) {
      u128 product = (u128)result * base;
      result = (u64)(product & prime) + (u64)(product >> 61);
      result = result >= prime ? result - prime : result;
    }
    u128 square = (u128)base * base;
    base = (u64)(square & prime) + (u64)(square >> 61);
    base = base >= prime ? base - prime : base;
  }
  return result;
}

/// A list threaded through private memory, turned round by its links.
static inline u64 linkedList(u32 i, const u64 *in) {
  struct Node {
    struct Node *next;
    u32 value;
  } nodes[10];
  struct Node *head = 0;
  for (u32 k = 0; k < 10; ++k) {
    u32 slot = (k * 7 + i) % 10;
    nodes[slot].value = (u32)in[(i + k) % TABLE_SIZE];
    if (nodes[slot].value % 5 == 0 && head) {
      nodes[slot].next = head->next; // behind the head
      head->next = &nodes[slot];
    } else {
      nodes[slot].next = head;
      head = &nodes[slot];
    }
  }
  struct Node *reversed = 0;
  while (head) {
    struct Node *next = head->next;
    head->next = reversed;
    reversed = head;
    head = next;
  }
  u64 hash = 0;
  for (; reversed; reversed = reversed->next) {
    hash = mix(hash, reversed->value);
  }
  return hash;
}

/// Jumps into the middle of a loop: control flow that is no nest.
static inline u64 jumps(u32 i, const u64 *in) {
  u64 value = in[i % TABLE_SIZE], count = 0;
  if (value & 1) {
    goto middle;
  }
top:
  value = value * 3 + 1;
  if (++count > 30) {
    goto end;
  }
middle:
  value ^= value >> 11;
  if (value % 7 == 3) {
    ++count;
    goto top;
  }
  value += i;
  if (value % 5 == 1) {
    goto end;
  }
  if (++count < 25) {
    if (value & 2) {
      goto middle;
    }
    goto top;
  }
end:
  return mix(value, count);
}

/// A generator with a private state that is indexed at run time.
static inline u64 generator(u32 i, const u64 *in) {
  u32 state[16];
  for (u32 k = 0; k < 16; ++k) {
    state[k] = (u32)in[(i + k) % TABLE_SIZE] + k;
  }
  u32 at = 0;
  u64 hash = 0;
  for (u32 n = 0; n < 24; ++n) { // WELL 512
    u32 a = state[at], c = state[(at + 13) & 15];
    u32 b = a ^ c ^ (a << 16) ^ (c << 15);
    c = state[(at + 9) & 15];
    c ^= c >> 11;
    a = state[at] = b ^ c;
    u32 d = a ^ ((a << 5) & 0xDA442D24u);
    at = (at + 15) & 15;
    a = state[at];
    state[at] = a ^ b ^ d ^ (a << 2) ^ (b << 18) ^ (c << 28);
    hash = mix(hash, state[at]);
  }
  return hash;
}

/// The product of two integers of 256 bits in limbs of 32.
static inline u64 bigProduct(u32 i, const u64 *in) {
  u32 a[8], b[8], c[16];
  for (u32 k = 0; k < 8; ++k) {
    a[k] = (u32)in[(i + k) % TABLE_SIZE];
    b[k] = (u32)(in[(i + 2 * k) % TABLE_SIZE] >> 32);
    c[k] = c[k + 8] = 0;
  }
  for (u32 x = 0; x < 8; ++x) {
    u64 carry = 0;
    for (u32 y = 0; y < 8; ++y) {
      carry += (u64)a[x] * b[y] + c[x + y];
      c[x + y] = (u32)carry;
      carry >>= 32;
    }
    c[x + 8] = (u32)carry;
  }
  u64 hash = 0;
  for (u32 k = 0; k < 16; ++k) {
    hash = mix(hash, c[k]);
  }
  return hash;
}

/// All of them, for the kernels and for the test.
// clang-format off
#define PER_ITEM_PROGRAMS(X) \
  X(crc32) X(sha256) X(divisions) X(shifts) \
  X(wideProducts) X(bitTricks) X(interpreter) X(heapSort) \
  X(recursiveSort) X(recursions) X(functionPointers) X(structures) \
  X(strings) X(utf8) X(doubles) X(floats) \
  X(halves) X(packedVectors) X(queens) X(editDistance) \
  X(modularPower) X(linkedList) X(jumps) X(generator) \
  X(bigProduct)
// clang-format on

#endif // TENON_TEST_UNIT_SIM_PROGRAMS_PERITEM_H
