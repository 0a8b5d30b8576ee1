// Inputs for a fuzzer without libFuzzer, which knows x86 and ARM only and cannot run under
// emulation: made by the fuzzer's own mutator, from one seed after another, and so the same on
// every machine.
//
//   replay-leaf RUNS [FIRST-SEED]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed);

// What libFuzzer offers to mutators: here, a few bytes are changed, or the end is taken away.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t) {
    for (int i = rand() % 8; i > 0; i--)
        data[size_t(rand()) % size] = uint8_t(rand());
    return rand() % 4 == 0 ? 1 + size_t(rand()) % size : size;
}

int main(int count, char** arguments) {
    if (count < 2 || count > 3) {
        fprintf(stderr, "usage: %s RUNS [FIRST-SEED]\n", arguments[0]);
        return 2;
    }
    const unsigned runs = unsigned(strtoul(arguments[1], nullptr, 10));
    const unsigned first = count == 3 ? unsigned(strtoul(arguments[2], nullptr, 10)) : 0;
    std::vector<uint8_t> input(8200, 0);
    size_t size = 1;
    for (unsigned seed = first; seed - first < runs; seed++) {
        size = LLVMFuzzerCustomMutator(input.data(), size, input.size(), seed);
        if (LLVMFuzzerTestOneInput(input.data(), size) != 0)
            return 1;
    }
    printf("%u inputs from seed %u on: all answers agree\n", runs, first);
    return 0;
}
