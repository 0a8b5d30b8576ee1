// What the processor can do beyond the plainest code. The build asks for nothing that some of its
// kind lack, and so stays portable: a function that uses more is compiled for it alone (x86.hpp),
// and taken where the processor, asked at run time, has it. Every AArch64 processor has NEON
// (neon.hpp): there nothing needs to be asked.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define SIMHASH_X86 1
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define SIMHASH_NEON 1
#endif

namespace simhash {

// The levels of this kind of processor, in rising order: one that has a level has those before it.
#if defined(SIMHASH_X86)
// kAvx512 comes with BMI2 and with counting the ones of many words at once.
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

// Of a function's forms, one for each level: that of the highest level, up to `highest`, which the
// processor has.
template <typename Function>
Function best_form(SimdLevel highest, const Function (&forms)[kSimdLevels]) {
    int level = int(highest);
    while (!processor_has(SimdLevel(level)))
        level--;
    return forms[level];
}

} // namespace simhash
