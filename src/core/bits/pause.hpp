// Long work and those who wait for it: it is done in pieces, with a pause after each, in which the
// caller may look whether it is still wanted. A pause may leave by longjmp and not come back, so
// nothing here or in what calls it needs to be cleaned up.
#pragma once

#include <cstddef>

namespace simhash {

// Called every few milliseconds of work.
struct Pause {
    void (*check)(void* context);
    void* context;

    void operator()() const { check(context); }
};

// Some milliseconds, or some tens where each entry waits for memory.
constexpr size_t kEntriesPerPause = size_t{1} << 17;

// Calls step(begin, end) for pieces of 0 .. size, and pause() between them.
template <typename Step, typename AnyPause>
void in_pieces(size_t size, const Step& step, const AnyPause& pause) {
    for (size_t begin = 0; begin < size;) {
        size_t end = size - begin < kEntriesPerPause ? size : begin + kEntriesPerPause;
        step(begin, end);
        begin = end;
        if (begin < size)
            pause();
    }
}

// Calls step(i) for 0 .. size - 1, with pauses.
template <typename Step, typename AnyPause>
void one_by_one(size_t size, const Step& step, const AnyPause& pause) {
    in_pieces(
        size,
        [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; i++)
                step(i);
        },
        pause);
}

} // namespace simhash
