// Long work is done in pieces, with a pause between them in which the caller can look for a
// cancellation. A pause may leave by longjmp and not return, so neither this code nor its callers
// hold anything that must be cleaned up.
#pragma once

#include <cstddef>

#include "core/bits/function_ref.hpp"

namespace simhash {

// Called every few milliseconds of work.
using Pause = FunctionRef<void()>;

// Some milliseconds of work; some tens of milliseconds if each entry waits for memory.
constexpr size_t kEntriesPerPause = size_t{1} << 17;

// Calls step(i) for 0 .. size - 1, in pieces, and pause() between them.
void one_by_one(size_t size, const auto& step, const auto& pause) {
    for (size_t i = 0; i < size;) {
        for (size_t end = size - i < kEntriesPerPause ? size : i + kEntriesPerPause; i < end; i++)
            step(i);
        if (i < size)
            pause();
    }
}

} // namespace simhash
