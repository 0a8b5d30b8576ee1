// Loops by as many threads as the bench was told to use.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

inline int threads = 1;

// Calls work(i) for each number below `count`, in chunks that the threads take one after another.
template <typename Work>
void in_parallel(size_t count, size_t chunk, Work work) {
    std::atomic<size_t> next{0};
    const auto take_chunks = [&] {
        for (size_t begin; (begin = next.fetch_add(chunk)) < count;)
            for (size_t i = begin; i < std::min(begin + chunk, count); i++)
                work(i);
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads; i++)
        others.emplace_back(take_chunks);
    take_chunks();
    for (std::thread& other : others)
        other.join();
}
