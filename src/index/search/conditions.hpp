// What a scan looks for, as its scan keys say: conditions on the first column, an order, a scope.
#pragma once

#include "core/bits/fingerprint.hpp"
#include "index/lanes.hpp"
#include "index/scope.hpp"
#include "values/objects.hpp"

namespace simhash {

// Lanes of values and distances from them are those that the index stores: XORed with the hash of
// the scope.
class Conditions {
  public:
    // Takes its memory from the current context.
    explicit Conditions(Relation index);

    void read(std::span<const ScanKeyData> keys, std::span<const ScanKeyData> order_bys);

    int lane_count() const { return lanes_.count; }
    bool lanes_vary() const { return lanes_.rule == LaneRule::kCommon; }
    bool want_fingerprints() const { return want_fingerprints_; }
    bool want_nulls() const { return want_nulls_; }

    // Rows lie within radius() of the value with these lanes. Of values of any number of lanes they
    // must have one of these, if there are any.
    std::span<const uint64_t> center() const { return center_.all(); }
    const ValueRadius& radius() const { return radius_; }
    bool has_radius() const { return radius_.bits != kEverywhere.bits; }
    // True when the server must compare the rows found with all conditions. A row of another scope
    // may match by chance, a lane does not tell its value, and of several conditions one is
    // searched for.
    bool need_recheck() const { return need_recheck_; }

    // Rows are ordered by the distance from the value with these lanes. The server sorts the rows
    // at one distance where there are further orders.
    bool is_ordered() const { return is_ordered_; }
    std::span<const uint64_t> target() const { return target_.all(); }

  private:
    void clear();
    void clear_center();
    void read_key(const ScanKeyData& key);
    void read_ball(const ScanKeyData& key);
    void read_value(const ScanKeyData& key);
    void add_value(ValueLanes lanes, int radius, bool is_equality);
    void add_center(const uint64_t* lanes, const ValueRadius& radius);
    void add_lane(uint64_t lane, int radius);
    void add_common(std::span<const uint64_t> lanes);
    void read_order(std::span<const ScanKeyData> order_bys);
    void apply(const KnownScope& scope);

    const DistanceFamily& family_of_ball(Oid type);

    Relation index_;
    const bool computes_lanes_;
    const LaneLayout lanes_;
    LaneList value_; // of the last value that was read

    // The type of the last ball, and its family, which takes looks into the catalogs.
    Oid ball_type_ = InvalidOid;
    const DistanceFamily* ball_family_ = nullptr;

    bool want_fingerprints_ = true, want_nulls_ = true, need_recheck_ = false;
    LaneList center_;
    static constexpr ValueRadius kEverywhere = {LaneRule::kSum, kMaxLanes* kFingerprintBits};
    ValueRadius radius_ = kEverywhere;
    LaneList target_;
    bool is_ordered_ = false; // target_ is set
};

} // namespace simhash
