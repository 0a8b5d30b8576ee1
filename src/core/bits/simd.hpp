// The instruction sets that the processor has beyond the baseline. The build itself uses only the
// baseline, and so stays portable. A function that uses more is compiled for that instruction set
// alone (x86.hpp), and chosen at run time if the processor has it. Every AArch64 processor has NEON
// (neon.hpp), so there nothing is tested.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define SIMHASH_X86 1
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define SIMHASH_NEON 1
#endif

namespace simhash {

// The levels of this architecture, in rising order: a processor that has a level has those below
// it.
#if defined(SIMHASH_X86)
// kAvx512 includes BMI2 and VPOPCNTDQ, which counts the ones of many words at once.
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

inline bool processor_has([[maybe_unused]] SimdLevel level) {
#ifdef SIMHASH_X86
    switch (level) {
    case SimdLevel::kAvx512:
        return __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("bmi2");
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

// `forms` has a function's form for each level. Returns the one of the highest level, at most
// `highest`, that the processor has.
template <class Function>
Function best_form(SimdLevel highest, const Function (&forms)[kSimdLevels]) {
    int level = int(highest);
    while (!processor_has(SimdLevel(level)))
        --level;
    return forms[level];
}

} // namespace simhash
