// Asks the processor to fetch memory that will be read soon.
#pragma once

namespace simhash {

// Fetches the cache line at an address, which need not be valid. Without the empty statement a
// compiler that sees this body may take the function for one without effect and drop calls to it
// (GCC with -flto does).
inline void prefetch(const void* address) {
    __builtin_prefetch(address);
    asm volatile("");
}

} // namespace simhash
