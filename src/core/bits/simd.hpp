// The instruction sets that the processor has beyond the baseline. The build itself uses only the
// baseline, and so stays portable. A function that uses more is compiled for that instruction set
// alone, and chosen at run time if the processor has it. Every AArch64 processor has NEON
// (vectors.hpp), so there nothing is tested.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define SIMHASH_X86 1
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define SIMHASH_NEON 1
#endif

namespace simhash {

// The levels of this architecture, rising: a processor that has a level has those below it.
#if defined(SIMHASH_X86)
// kAvx512 includes BMI2, VPOPCNTDQ, which counts the ones of many words at once, and DQ, which
// multiplies them.
enum class SimdLevel { kPortable, kPopcnt, kAvx2, kAvx512 };
constexpr SimdLevel kHighestSimdLevel = SimdLevel::kAvx512;
#elif defined(SIMHASH_NEON)
enum class SimdLevel { kPortable, kNeon };
constexpr SimdLevel kHighestSimdLevel = SimdLevel::kNeon;
#else
enum class SimdLevel { kPortable };
constexpr SimdLevel kHighestSimdLevel = SimdLevel::kPortable;
#endif
constexpr int kSimdLevels = int(kHighestSimdLevel) + 1;

#ifdef SIMHASH_X86
#define SIMHASH_TARGET(features) [[gnu::target(features)]]
#define SIMHASH_POPCNT "popcnt"
#define SIMHASH_AVX2 "popcnt,avx2"
#define SIMHASH_AVX512 "popcnt,bmi2,avx512f,avx512dq,avx512vpopcntdq"
#endif

inline bool processor_has([[maybe_unused]] SimdLevel level) {
#ifdef SIMHASH_X86
    switch (level) {
    case SimdLevel::kAvx512:
        return __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("bmi2");
    case SimdLevel::kAvx2:
        return __builtin_cpu_supports("avx2");
    case SimdLevel::kPopcnt:
        return __builtin_cpu_supports("popcnt");
    case SimdLevel::kPortable:
        break;
    }
#endif
    return true;
}

// The highest level, at most `highest`, that the processor has.
inline SimdLevel best_level(SimdLevel highest) {
    while (!processor_has(highest))
        highest = SimdLevel(int(highest) - 1);
    return highest;
}

namespace internal {

template <SimdLevel level, typename Kernel>
[[gnu::always_inline]] inline auto run_at(const Kernel& kernel) {
    return kernel.template operator()<level>();
}

#ifdef SIMHASH_X86
template <typename Kernel>
SIMHASH_TARGET(SIMHASH_POPCNT)
auto run_with_popcnt(const Kernel& kernel) {
    return run_at<SimdLevel::kPopcnt>(kernel);
}

template <typename Kernel>
SIMHASH_TARGET(SIMHASH_AVX2)
auto run_with_avx2(const Kernel& kernel) {
    return run_at<SimdLevel::kAvx2>(kernel);
}

template <typename Kernel>
SIMHASH_TARGET(SIMHASH_AVX512)
auto run_with_avx512(const Kernel& kernel) {
    return run_at<SimdLevel::kAvx512>(kernel);
}
#endif

} // namespace internal

// Calls a kernel at the best level. The kernel is a lambda with a level as its template parameter
// that is always inlined, so it is compiled once for each level.
auto at_best_level([[maybe_unused]] SimdLevel highest, const auto& kernel) {
#if defined(SIMHASH_X86)
    switch (best_level(highest)) {
    case SimdLevel::kAvx512:
        return internal::run_with_avx512(kernel);
    case SimdLevel::kAvx2:
        return internal::run_with_avx2(kernel);
    case SimdLevel::kPopcnt:
        return internal::run_with_popcnt(kernel);
    case SimdLevel::kPortable:
        break;
    }
    return internal::run_at<SimdLevel::kPortable>(kernel);
#else
    return internal::run_at<kHighestSimdLevel>(kernel);
#endif
}

// Numbers of 32 or of 64 bits, as many as a vector of the level holds. The compiler makes plain
// code of it where the processor has no vectors.
template <SimdLevel level>
struct VectorAt {
#ifdef SIMHASH_X86
    static constexpr int kBytes = level == SimdLevel::kAvx512 ? 64
                                  : level == SimdLevel::kAvx2 ? 32
                                                              : 16;
#else
    static constexpr int kBytes = 16;
#endif
    using Type [[gnu::vector_size(kBytes)]] = uint32_t;
    using Words [[gnu::vector_size(kBytes)]] = uint64_t;
};

// What a level does with several words at once (vectors.hpp). It has kWords words of 64 bits, or
// none, and of 32 bits sixteen:
//
//   near_words(words, targets, count, radius)     which of the words are within the radius (-64 ..
//                                                 64) of one of `count` targets
//   near_halves(halves, target, radius)           which of sixteen halves of words are
//
// The results have kMaskBits bits for each word, of which the lowest is set; the first word's come
// first. No vector is passed in or out: the loops that call these are written once for all levels,
// and compiled for one only where they are inlined (at_best_level()).
template <SimdLevel level>
struct WordsAt {
    static constexpr size_t kWords = 0;

    // Position of the n-th set bit, 0 < n <= number of set bits.
    [[gnu::always_inline]] static int nth_one(uint64_t bits, uint64_t n) {
        for (; n > 1; n--)
            bits &= bits - 1;
        return std::countr_zero(bits);
    }
};

} // namespace simhash
