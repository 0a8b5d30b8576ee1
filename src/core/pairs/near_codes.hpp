// All pairs of codes within a radius, of one set or between two sets. A code has one lane or more.
//
// Lane by lane: pairs whose lanes are within that lane's radius (SampledDistances) are found
// among the distinct lanes, as among fingerprints (near_pairs.hpp). Each pair of lanes gives the
// pairs of codes that have them, candidates, of which the whole distance is taken:
//
//     codes       lanes     radius 3: one lane within 1, or the other
//     a           00  f0
//     b           01  f2    lane 0: (00, 01) are near: a b, whose distance is 2, is a pair
//     c           33  f0    lane 1: (f0, f2) are near: a b was within 1 in lane 0 already;
//                                   b c, whose distance is 4, is no pair; (f0, f0): a c
//
// A pair is taken in the first lane whose radius it is within, so no memory of earlier pairs is
// needed. Where many codes have one lane, they are compared with each other at once. Where so many
// pairs would be candidates that it does not pay, or there are few codes, all are compared.
//
// The codes of a set are known by their numbers. Where they are is the caller's matter:
//
//     struct Sets {
//         bool between() const;                           // whether there are two sets, 0 and 1
//         size_t count(int set) const;                    // codes, at most UINT32_MAX
//         void read(int set, size_t number, uint64_t* lanes);
//         void begin_lane(int lane);                      // brings the sets in order of a lane
//         Pair place(int set, size_t place);             // (lane, number) in that order
//         size_t place_of(int set, uint64_t lane);        // the first with a lane that is there
//         void find_pairs(int radius, const PairReceiver&);          // of the distinct lanes
//         void take(uint32_t a, uint32_t b, const Verify& verify);   // verify(a, b), now or later
//         void verify_rest(const Verify& verify);
//     };
//
// Of one set, find_pairs() gives pairs of different lanes, between two also equal ones. Nothing
// here allocates, and nothing needs to be cleaned up: a `Pause` may leave by longjmp.
#pragma once

#include <algorithm>

#include "core/bits/code_lanes.hpp"
#include "core/bits/entry.hpp"
#include "core/bits/fingerprint.hpp"
#include "core/bits/pause.hpp"
#include "core/pairs/near_pairs.hpp"

namespace simhash {

// ---- the radius of each lane ----

// How far apart the lanes of codes that have nothing to do with each other are, and from that the
// radius in which each lane is searched.
//
// Two codes within `radius` bits of each other are within t bits of each other in one lane at least
// if the (t + 1) of all lanes add up to radius + 1: otherwise they would differ in more bits. Which
// lanes get how much of it is free. A bit more in a lane brings more strangers, pairs that are near
// in that lane only. So each bit goes to the lane in which it brings the fewest:
//
//     256 random bits, radius 31            7  7  7  7
//     65 bits, radius 8                     8  -             the second lane has one bit
//     two lanes are 0 in each fourth code   -  15  -  15
//
// How many that are is the sum of two estimates, for a sample of pairs: the share of them that are
// that near, and, for what is too rare for a sample, the binomial distribution with their mean.
// Codes that have the same lane are compared faster than others, so a stranger there counts less.

constexpr int kNotSearched = -1;

struct CodeRadii {
    int of_lane[kMaxCodeLanes]; // or kNotSearched
    double strangers; // the share of all pairs that are within the radius of a lane, so counted
};

class SampledDistances {
  public:
    explicit SampledDistances(int lanes) : lanes_(lanes) {}

    // Adds a pair. a, b: [lanes]
    void add(const uint64_t* a, const uint64_t* b) {
        for (int lane = 0; lane < lanes_; lane++)
            counts_[lane][hamming_distance(a[lane], b[lane])]++;
        pairs_++;
    }

    // Where all lanes together have fewer bits than the radius, each has kFingerprintBits.
    CodeRadii radii(int radius) const;

  private:
    double mean(int lane) const;

    int lanes_;
    size_t pairs_ = 0;
    uint32_t counts_[kMaxCodeLanes][kFingerprintBits + 1] = {}; // pairs at each distance
};

// ---- the search ----

// Receives pairs of codes by their numbers: within one set a < b, between two a is of the first.
struct CodePairReceiver {
    // Called for every pair once, in no particular order. False ends the search.
    bool (*pair)(void* context, size_t a, size_t b, int distance);
    void* context;
};

template <typename Sets>
class NearCodesSearch {
  public:
    NearCodesSearch(Sets* sets, int lanes, int radius, const CodePairReceiver& receiver,
                    Pause pause)
        : sets_(*sets), second_(sets->between() ? 1 : 0), lanes_(lanes), radius_(radius),
          receiver_(receiver), pause_(pause) {}

    void run() {
        // Within one set, different codes have a distance of 1 at least.
        if (all_pairs() < 1 || radius_ < (sets_.between() ? 0 : 1))
            return;
        // There are few codes: to bring them in the order of one lane costs more already.
        if (compare_cost() <= order_cost()) {
            compare_all();
            return;
        }
        radii_ = sample().radii(radius_);
        if (compare_cost() <= searched_lanes() * order_cost() + candidates_cost())
            compare_all();
        else
            search_lanes();
    }

    // The same by lanes, whatever it costs.
    void run_by_lanes() {
        radii_ = sample().radii(radius_);
        search_lanes();
    }

  private:
    // ---- what it costs, in nanoseconds or so ----

    double all_pairs() const {
        auto a = double(sets_.count(0)), b = double(sets_.count(second_));
        return sets_.between() ? a * b : a * (a - 1) / 2;
    }

    // Most pairs are beyond the radius before all their lanes are compared.
    double compare_cost() const { return all_pairs() * 6; }

    // Of a lane.
    double order_cost() const {
        return 300 * double(sets_.count(0) + (sets_.between() ? sets_.count(1) : 0));
    }

    double candidates_cost() const { return all_pairs() * radii_.strangers * 300; }

    SampledDistances sample() {
        // The same pairs are drawn each time, so a search of the same codes does the same again.
        constexpr size_t kMostPairs = size_t{1} << 14;
        SampledDistances distances(lanes_);
        auto pairs = size_t(std::min(double(kMostPairs), all_pairs() / 4));
        uint64_t state = 0;
        auto any_of = [&](int set) {
            state = state * 6364136223846793005 + 1442695040888963407; // Knuth's MMIX
            return size_t((state >> 32) * sets_.count(set) >> 32);
        };
        for (size_t i = 0; i < pairs; i++) {
            size_t a = any_of(0), b = any_of(second_);
            if (a == b && !sets_.between())
                continue;
            sets_.read(0, a, tile_);
            sets_.read(second_, b, lanes_of_b_);
            distances.add(tile_, lanes_of_b_);
        }
        return distances;
    }

    // ---- lanes ----

    int searched_lanes() const {
        return lanes_ - int(std::count(radii_.of_lane, radii_.of_lane + lanes_, kNotSearched));
    }

    void search_lanes() {
        for (lane_ = 0; lane_ < lanes_ && !is_ended_; lane_++)
            if (radii_.of_lane[lane_] != kNotSearched)
                search_lane();
    }

    void search_lane() {
        sets_.begin_lane(lane_);
        of_a_ = {0, 0};
        auto verify = [this](uint32_t a, uint32_t b) { this->verify(a, b); };
        if (!sets_.between())
            search_equal_lanes();
        // No all_pairs: lanes that are near need not have codes that are.
        sets_.find_pairs(radii_.of_lane[lane_], {receive_lanes, nullptr, this});
        sets_.verify_rest(verify);
    }

    // Places of a set in order of the lane, or numbers of its codes.
    struct Range {
        size_t begin, end;

        size_t size() const { return end - begin; }
    };

    // The places of the codes that have the lane of the first.
    Range places_from(int set, size_t begin) {
        uint64_t lane = sets_.place(set, begin).first;
        size_t end = begin + 1;
        while (end < sets_.count(set) && sets_.place(set, end).first == lane)
            end++;
        return {begin, end};
    }

    uint32_t number_at(int set, size_t place) { return uint32_t(sets_.place(set, place).second); }

    void search_equal_lanes() {
        auto number = [this](int set, size_t place) { return number_at(set, place); };
        for (size_t begin = 0; begin < sets_.count(0) && !is_ended_;) {
            Range equal = places_from(0, begin);
            if (equal.size() > kFew)
                compare(equal, equal, number);
            else
                for (size_t i = equal.begin; i + 1 < equal.end; i++)
                    take(i, {i + 1, equal.end});
            worked(equal.size());
            begin = equal.end;
        }
    }

    // Pairs of lanes come with the same first lane one after the other.
    static bool receive_lanes(void* search, uint64_t a, uint64_t b) {
        auto* self = static_cast<NearCodesSearch*>(search);
        if (self->of_a_.size() == 0 || a != self->lane_of_a_)
            self->of_a_ = self->places_from(0, self->sets_.place_of(0, a));
        self->lane_of_a_ = a;
        int second = self->second_;
        self->take_pairs(self->of_a_, self->places_from(second, self->sets_.place_of(second, b)));
        return !self->is_ended_;
    }

    void take_pairs(Range of_a, Range of_b) {
        auto number = [this](int set, size_t place) { return number_at(set, place); };
        if (of_a.size() > kFew && of_b.size() > kFew)
            compare(of_a, of_b, number);
        else
            for (size_t i = of_a.begin; i < of_a.end; i++)
                take(i, of_b);
    }

    void take(size_t place, Range others) {
        auto verify = [this](uint32_t a, uint32_t b) { this->verify(a, b); };
        uint32_t a = number_at(0, place);
        for (size_t i = others.begin; i < others.end; i++)
            sets_.take(a, number_at(second_, i), verify);
        worked(others.size());
    }

    void verify(uint32_t a, uint32_t b) {
        int distance;
        sets_.read(0, a, tile_);
        sets_.read(second_, b, lanes_of_b_);
        if (is_taken(tile_, lanes_of_b_, &distance))
            report(a, b, distance);
    }

    // Whether the pair is within the radius, and was not found in an earlier lane.
    // An earlier lane within its own radius has given this pair already.
    bool is_taken(const uint64_t* of_a, const uint64_t* of_b, int* whole_distance) const {
        int distance = 0;
        for (int lane = 0; lane < lanes_; lane++) {
            int of_lane = hamming_distance(of_a[lane], of_b[lane]);
            distance += of_lane;
            if (distance > radius_ || (lane < lane_ && of_lane <= radii_.of_lane[lane]))
                return false;
        }
        *whole_distance = distance;
        return true;
    }

    void report(size_t a, size_t b, int distance) {
        if (!sets_.between() && a > b)
            std::swap(a, b);
        is_ended_ = is_ended_ || !receiver_.pair(receiver_.context, a, b, distance);
    }

    // ---- comparing each with each ----

    void compare_all() {
        // lane_ is 0 here, so no earlier lane is asked.
        compare({0, sets_.count(0)}, {0, sets_.count(second_)},
                [](int, size_t number) { return number; });
    }

    // Of one set, equal ranges stand for all pairs in it. number(set, i): of a member of a range
    template <typename Number>
    void compare(Range of_a, Range of_b, const Number& number) {
        bool within = !sets_.between() && of_a.begin == of_b.begin;
        for (size_t begin = of_a.begin; begin < of_a.end && !is_ended_; begin += kTile) {
            Range tile = {begin, std::min(begin + kTile, of_a.end)};
            for (size_t i = begin; i < tile.end; i++) {
                numbers_[i - begin] = number(0, i);
                sets_.read(0, numbers_[i - begin], tile_ + (i - begin) * lanes_);
            }
            for (size_t i = within ? begin + 1 : of_b.begin; i < of_b.end && !is_ended_; i++)
                // Within one set it is compared with the codes of the tile that come before it.
                compare_tile(within ? std::min(i - begin, tile.size()) : tile.size(),
                             number(second_, i));
        }
    }

    void compare_tile(size_t count, size_t b) {
        int distance;
        sets_.read(second_, b, lanes_of_b_);
        for (size_t i = 0; i < count; i++)
            if (is_taken(tile_ + i * lanes_, lanes_of_b_, &distance))
                report(numbers_[i], b, distance);
        worked(count);
    }

    void worked(size_t work) {
        work_ += work;
        if (work_ >= kWorkPerPause) {
            work_ = 0;
            pause_();
        }
    }

    // 64 codes of 16 lanes are 8 kB, in the first cache while the other codes are read.
    static constexpr size_t kTile = 64;                      // codes
    static constexpr size_t kFew = 8;                        // codes that have a lane
    static constexpr size_t kWorkPerPause = size_t{1} << 16; // pairs

    Sets& sets_;
    int second_; // the set of a pair's second code
    int lanes_;
    int radius_;
    CodePairReceiver receiver_;
    Pause pause_;
    CodeRadii radii_ = {};
    int lane_ = 0;
    uint64_t lane_of_a_ = 0; // of the last pair of lanes
    Range of_a_ = {0, 0};    // the places of those that have it
    size_t work_ = 0;        // since the last pause
    bool is_ended_ = false;  // by the receiver
    size_t numbers_[kTile];  // of the codes of the tile
    uint64_t tile_[kTile * kMaxCodeLanes];
    uint64_t lanes_of_b_[kMaxCodeLanes];
};

} // namespace simhash
