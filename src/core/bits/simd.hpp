// What the processor can do beyond what every one of its kind can. The build asks for nothing of
// that and so stays portable: a function that uses more is compiled for it alone (x86.hpp), and
// taken where the processor, asked at run time, has it.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define SIMHASH_X86 1
#endif

namespace simhash {

// In rising order: a processor that has one has those before it. kAvx512 comes with BMI2 and with
// counting the ones of many words at once. (AArch64 counts ones in its base form, NEON: its level
// would stand beside these.)
enum class SimdLevel { kPortable, kPopcnt, kAvx2, kAvx512 };
constexpr SimdLevel kHighestSimdLevel = SimdLevel::kAvx512;

// Whether the processor has a level; kPortable every one has.
inline bool processor_has(SimdLevel level) {
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
    return level == SimdLevel::kPortable;
}

} // namespace simhash
