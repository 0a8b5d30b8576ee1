// Asking the processor to fetch memory that will be read soon.
#pragma once

namespace simhash {

// Has the cache line at an address fetched, which need not be a valid one. The empty statement is
// there because compilers take a function that does nothing else for one without effect, and leave
// out its calls where they see its body (GCC with -flto does).
inline void prefetch(const void* address) {
    __builtin_prefetch(address);
    asm volatile("");
}

} // namespace simhash
