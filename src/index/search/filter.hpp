// The test that decides which fingerprints a part of a scan takes.
#pragma once

#include "core/bits/ball.hpp"
#include "core/layout/probe_plan.hpp"

#include <span>

namespace simhash {

// A fingerprint passes if it meets all four conditions.
struct Filter {
    Ball ball;                         // it lies in this ball
    int done_radius = kNoRadius;       // it lies outside of this radius around the ball's center
    std::span<const Ball> others = {}; // it lies in all of these balls
    const Probe* done_probe = nullptr; // this probe around the center does not see it; may be null

    // Tests a fingerprint that is known to lie in the ball.
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
