// Which fingerprints a part of a scan takes.
#pragma once

#include "core/bits/ball.hpp"
#include "core/layout/probe_plan.hpp"

#include <span>

namespace simhash {

// Takes the fingerprints in a ball ...
struct Filter {
    Ball ball;
    int done_radius = kNoRadius;       // ... but not within this radius of its center, ...
    std::span<const Ball> others = {}; // ... that are in all of these balls, too, ...
    const Probe* done_probe = nullptr; // ... and that this probe around the center does not see.

    // Of a fingerprint in the ball.
    bool takes(uint64_t fingerprint) const {
        if (done_radius >= 0 && hamming_distance(fingerprint, ball.center) <= done_radius)
            return false;
        for (const Ball& other : others)
            if (!other.contains(fingerprint))
                return false;
        return done_probe == nullptr || !done_probe->sees(fingerprint ^ ball.center);
    }
    bool matches(uint64_t fingerprint) const {
        return ball.contains(fingerprint) && takes(fingerprint);
    }
};
constexpr Filter kEverything = {{0, kFingerprintBits}};

} // namespace simhash
