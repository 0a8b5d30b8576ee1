// A search that begins at a guess and goes on from there in growing steps. Where guesses are good
// it looks at fewer places than halving, and at places that lie close together.
#pragma once

namespace simhash {

// The last number in [low, high) for which `holds` is true. It must be true of the numbers up to
// some one and false beyond; it is not asked about `low`, which stands for all before. The first
// step is `step` wide, and each further one twice as wide as the one before.
template <typename Holds>
int last_that_holds(int low, int high, int guess, int step, const Holds& holds) {
    for (int at = guess; high - low > 1; step *= 2) {
        at = at <= low ? low + 1 : at >= high ? high - 1 : at;
        bool right = holds(at);
        (right ? low : high) = at;
        at = high - low <= step ? (low + high) / 2 : right ? low + step : high - step;
    }
    return low;
}

} // namespace simhash
