// Reads scan keys. See the header.
#include "index/search/conditions.hpp"

#include "index/access_method.hpp"
#include "index/store/page.hpp"
#include "values/code/code.hpp"
#include "values/fingerprint/fingerprint.hpp"

#include <algorithm>

namespace simhash {

Conditions::Conditions(Relation index)
    : index_(index), computes_lanes_(computes_lanes(index)), lanes_(lane_layout(index)),
      value_(lanes_), center_(cached_layout(index)), target_(cached_layout(index)) {}

void Conditions::clear() {
    // Without conditions a scan returns all rows.
    want_fingerprints_ = want_nulls_ = true;
    need_recheck_ = needs_recheck(index_);
    is_ordered_ = false;
    clear_center();
}

// Every value is within the greatest distance of any other.
void Conditions::clear_center() {
    radius_ = kEverywhere;
    std::ranges::fill(center_.resize(lanes_vary() ? 0 : size_t(lanes_.count)), 0);
}

// Adds the condition that rows lie within a radius of the value with these lanes.
void Conditions::add_center(const uint64_t* lanes, const ValueRadius& radius) {
    want_nulls_ = false;
    // The scan searches within the smallest radius. The server compares rows with the others.
    need_recheck_ |= has_radius();
    if (radius.bits < radius_.bits) {
        // Below 0 the ball is empty, and how far does not matter.
        radius_ = {radius.rule, std::max(radius.bits, kNoRadius)};
        std::copy_n(lanes, lanes_.count, center_.all().begin());
    }
}

// Adds the condition that rows lie within a radius of one lane. Where values have several lanes,
// every row is looked at.
void Conditions::add_lane(uint64_t lane, int radius) {
    if (lanes_.count == 1 && !lanes_vary())
        add_center(&lane, {LaneRule::kSum, radius});
}

// Adds the condition that rows have one of these lanes.
void Conditions::add_common(std::span<const uint64_t> lanes) {
    want_nulls_ = false;
    // The scan looks up the lanes of the condition that has the fewest. The server compares rows
    // with the others.
    if (center().empty() || lanes.size() < center().size())
        std::ranges::copy(lanes, center_.resize(lanes.size()).begin());
}

// Adds the condition that rows lie within `radius` of the value with the lanes value_.
void Conditions::add_value(ValueLanes lanes, int radius, bool is_equality) {
    switch (lanes) {
    case ValueLanes::kFound:
        // Equal values have all lanes in common, so one is enough to find them. The sum of the
        // distances of their lanes is 0.
        if (lanes_vary())
            add_common(is_equality ? value_.all().first(1) : value_.all());
        else
            add_center(value_.all().data(), {is_equality ? LaneRule::kSum : lanes_.rule, radius});
        break;
    case ValueLanes::kNone:
        // It is equal only to others without any, and resembles none.
        want_fingerprints_ = false;
        want_nulls_ &= is_equality;
        break;
    case ValueLanes::kUnknown:
        // Every row is looked at, and the operator raises its error; but none is equal.
        want_fingerprints_ &= !is_equality;
    }
}

// Any operator may be the <@ of somebody's own class. An argument of another type than ours must
// not be read as a ball.
const DistanceFamily& Conditions::family_of_ball(Oid type) {
    if (type == ball_type_)
        return *ball_family_;
    const DistanceFamily* family = simhash::family_of_ball(type);
    if (family != &kFingerprints && (family == nullptr || !computes_lanes_))
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("index \"%s\" cannot search by a value of type %s",
                       RelationGetRelationName(index_), format_type_be(type)),
                errdetail("Operator %d of its operator class must take hamming_ball, or, "
                          "for other types than bigint, bit_ball.",
                          kWithinBall));
    ball_type_ = type;
    ball_family_ = family;
    return *family;
}

// The center is a lane, a value of the column's type, or the lanes of a value one after another.
void Conditions::read_ball(const ScanKeyData& key) {
    const DistanceFamily& family = family_of_ball(key.sk_subtype);
    // Lanes of any number are not near each other: every row is looked at.
    if (lanes_vary())
        return;
    if (&family == &kFingerprints) {
        const HammingBall* ball = datum_get_ball(key.sk_argument);
        add_lane(uint64_t(ball->center), ball->radius);
        return;
    }
    CallMemory memory;
    BitBall* ball = datum_get_bit_ball(key.sk_argument);
    uint64_t lanes[kMaxLanes];
    if (family.type == index_->rd_opcintype[0])
        add_value(lanes_of_value(index_, VarBitPGetDatum(simhash::center(ball)), &value_),
                  ball->radius, false);
    // Another number of lanes: every row is looked at, and the operator raises its error.
    else if (read_lanes(*ball, {lanes, size_t(lanes_.count)}))
        add_center(lanes, {lanes_.rule, ball->radius});
}

// Reads a condition of a class that computes lanes whose argument is a value.
void Conditions::read_value(const ScanKeyData& key) {
    CallMemory memory;
    bool is_equality = key.sk_strategy == kEqual;
    Oid type = key.sk_subtype;
    bool is_of_column = !OidIsValid(type) || type == index_->rd_opcintype[0];
    // Values that such a collation calls equal may have different lanes, and so may values that are
    // near: every row is looked at. So it is for a value of another type that somebody has added to
    // the family.
    if (is_equality ? !is_of_column || (OidIsValid(key.sk_collation) &&
                                        !get_collation_isdeterministic(key.sk_collation))
                    : is_of_column && lanes_vary() && lanes_.near_radius > 0)
        return;
    add_value(is_of_column ? lanes_of_value(index_, key.sk_argument, &value_)
                           : lanes_of_query(index_, key.sk_argument, type, &value_),
              is_equality ? 0 : lanes_.near_radius, is_equality);
}

void Conditions::read_key(const ScanKeyData& key) {
    if (key.sk_flags & SK_SEARCHNULL) {
        want_fingerprints_ = false;
        return;
    }
    // Values without a lane are in the null table, too.
    if (key.sk_flags & SK_SEARCHNOTNULL) {
        want_nulls_ &= computes_lanes_;
        return;
    }
    // All operators are strict: a comparison with NULL finds no row.
    if (key.sk_flags & SK_ISNULL) {
        want_fingerprints_ = want_nulls_ = false;
        return;
    }
    // Rows with a value are found, and the server compares them.
    if (compares_rows(key.sk_strategy)) {
        need_recheck_ = true;
        want_nulls_ &= computes_lanes_;
        return;
    }
    if (key.sk_strategy == kWithinBall) {
        read_ball(key);
    } else if (computes_lanes_ && (key.sk_strategy == kEqual || key.sk_strategy == kAlike)) {
        read_value(key);
    } else {
        int radius = radius_of_strategy(key.sk_strategy);
        // A class of bigint has no other strategies (index_validate()).
        if (radius == kNoRadius)
            elog(ERROR, "unexpected strategy number %d of a simhash index scan", key.sk_strategy);
        add_lane(uint64_t(integer_value(key.sk_argument, key.sk_subtype)), radius);
    }
}

// Reads ORDER BY fp <~> a, fp <~> b ... The first distance orders the rows. One from NULL is NULL
// for all rows and orders nothing.
void Conditions::read_order(std::span<const ScanKeyData> order_bys) {
    for (const ScanKeyData& key : order_bys) {
        if (key.sk_flags & SK_ISNULL)
            continue;
        if (lanes_.rule != LaneRule::kSum)
            elog(ERROR, "a simhash operator class of which one lane decides has no order");
        CallMemory memory;
        // Otherwise rows come in no order, and the operator raises its error at the first of them.
        is_ordered_ = lanes_of_value(index_, key.sk_argument, &value_) == ValueLanes::kFound;
        if (is_ordered_)
            std::ranges::copy(value_.all(), target_.resize(value_.all().size()).begin());
        return;
    }
}

// Moves conditions and order into the scope: XORs lanes with the scope's hash, as the index stores
// fingerprints. If the keys leave the scope open, any stored fingerprint may match, so the
// conditions go; the planner asks for no order then (cost.cpp).
void Conditions::apply(const KnownScope& scope) {
    if (scope.is_empty) {
        want_fingerprints_ = want_nulls_ = false;
        return;
    }
    if (!scope.is_known && is_ordered())
        elog(ERROR, "simhash indexes order rows within one scope only");
    if (!scope.is_known)
        clear_center();
    center_.store(scope.hash);
    target_.store(scope.hash);
}

void Conditions::read(std::span<const ScanKeyData> keys, std::span<const ScanKeyData> order_bys) {
    clear();
    for (const ScanKeyData& key : keys)
        if (key.sk_attno == 1) // read_scope() reads the keys of the scope
            read_key(key);
    read_order(order_bys);
    // This comes after the others, because it moves all that was read into the scope.
    if (scope_columns(index_) == 0)
        return apply(KnownScope{});
    // A copy: a hash function may make the server look up a type or open a relation, and so process
    // an invalidation, which ends the cache.
    Layout layout = cached_layout(index_);
    apply(read_scope(index_, layout, keys));
}

} // namespace simhash
