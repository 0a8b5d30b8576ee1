// What a scan looks for, as its scan keys say: conditions on the first column, an order, a scope.
#pragma once

#include "core/bits/fingerprint.hpp"
#include "index/lanes.hpp"
#include "index/scope.hpp"
#include "values/code/code.hpp"

namespace simhash {

// Lanes of values and distances from them are those that the index stores: XORed with the hash of
// the scope.
class Conditions {
  public:
    // Takes memory for this many keys from the current context.
    Conditions(Relation index, int key_count, int order_by_count);

    void read(std::span<const ScanKeyData> keys, std::span<const ScanKeyData> order_bys);

    int lane_count() const { return lanes_.count; }
    bool lanes_vary() const { return lanes_.rule == LaneRule::kCommon; }
    bool want_fingerprints() const { return want_fingerprints_; }
    bool want_nulls() const { return want_nulls_; }

    // Of values of one lane: rows must lie in all of these balls; the first is the smallest.
    std::span<const Ball> balls() const { return {balls_, ball_count_}; }
    // Rows lie within radius() of the value with these lanes; of one lane, in others() too.
    std::span<const uint64_t> center() const { return center_; }
    const ValueRadius& radius() const { return radius_; }
    std::span<const Ball> others() const { return {balls_ + 1, ball_count_ - (ball_count_ > 0)}; }
    // Of values of any number of lanes: rows must have one of common_lanes(), if there are any.
    std::span<const uint64_t> common_lanes() const { return common_.all(); }
    bool has_radius() const { return radius_.bits != kEverywhere.bits; }

    // Rows are ordered by the distance from the value with these lanes. The server sorts the rows
    // at one distance where there are further orders.
    bool is_ordered() const { return is_ordered_; }
    std::span<const uint64_t> target() const { return target_; }

  private:
    void clear();
    void read_key(const ScanKeyData& key);
    void read_ball(const ScanKeyData& key);
    void read_value(const ScanKeyData& key);
    void add_ball(const Ball& ball);
    void add_value(Datum value, int radius, bool is_equality);
    void add_center(const uint64_t* lanes, const ValueRadius& radius);
    void add_common(std::span<const uint64_t> lanes);
    void add_lanes(const BitBall& ball);
    void read_order(std::span<const ScanKeyData> order_bys);
    void apply(const KnownScope& scope);

    // What a type of balls holds beside a radius: a lane, a value, or all lanes of a value.
    enum class BallKind : uint8 { kOfLane, kOfValue, kOfLanes };
    BallKind kind_of_ball(Oid type);

    Relation index_;
    const bool computes_lanes_;
    const LaneLayout lanes_;
    LaneList value_; // of the last value that was read

    // The type of the last ball, and its kind, which takes looks into the catalogs.
    Oid ball_type_ = InvalidOid;
    BallKind ball_kind_ = BallKind::kOfLane;

    bool want_fingerprints_ = true, want_nulls_ = true;
    Ball* balls_; // [ball_count_]
    size_t ball_count_ = 0;
    std::span<uint64_t> center_;
    static constexpr ValueRadius kEverywhere = {LaneRule::kSum, kMaxLanes* kFingerprintBits};
    ValueRadius radius_ = kEverywhere;
    LaneList common_;
    std::span<uint64_t> target_;
    bool is_ordered_ = false; // target_ is set
};

} // namespace simhash
