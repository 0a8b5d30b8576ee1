// Reads scan keys. See the header.
#include "index/search/conditions.hpp"

#include "index/access_method.hpp"
#include "values/fingerprint/fingerprint.hpp"
#include "values/objects.hpp"

#include <algorithm>
#include <optional>

namespace simhash {
namespace {

// The ball of an operator whose argument is a fingerprint.
Ball ball_around_key(const ScanKeyData& key) {
    int radius = radius_of_strategy(key.sk_strategy);
    // A class of bigint has no other strategies (index_validate()).
    if (radius == kNoRadius)
        elog(ERROR, "unexpected strategy number %d of a simhash index scan", key.sk_strategy);
    return {lane_of_integer(key.sk_argument, key.sk_subtype), radius};
}

std::span<uint64_t> allocate_lanes(int count) {
    if (count == 0)
        return {};
    return {static_cast<uint64_t*>(palloc0(count * sizeof(uint64_t))), size_t(count)};
}

} // namespace

Conditions::Conditions(Relation index, int key_count, int order_by_count)
    : index_(index), computes_lanes_(computes_lanes(index)), lanes_(lane_layout(index)),
      value_(lanes_), balls_(static_cast<Ball*>(palloc(std::max(key_count, 1) * sizeof(Ball)))),
      center_(allocate_lanes(lanes_.count)), common_(lanes_),
      target_(allocate_lanes(order_by_count > 0 ? lanes_.count : 0)) {}

void Conditions::clear() {
    // Without conditions a scan returns all rows.
    want_fingerprints_ = want_nulls_ = true;
    ball_count_ = 0;
    is_ordered_ = false;
    radius_ = kEverywhere;
    common_.resize(0);
}

void Conditions::add_ball(const Ball& ball) {
    want_nulls_ = false;
    balls_[ball_count_++] = ball;
}

// Adds the condition that rows lie within a radius of the value with these lanes.
void Conditions::add_center(const uint64_t* lanes, const ValueRadius& radius) {
    if (lanes_.count == 1) {
        add_ball({lanes[0], saturate_radius(radius.bits)});
        return;
    }
    want_nulls_ = false;
    if (radius.bits < radius_.bits) {
        // The scan searches within the smallest radius. The server compares rows with the others.
        // Below 0 the ball is empty, and how far does not matter.
        radius_ = {radius.rule, std::max(radius.bits, kNoRadius)};
        std::copy_n(lanes, lanes_.count, center_.begin());
    }
}

// Adds the condition that rows have one of these lanes.
void Conditions::add_common(std::span<const uint64_t> lanes) {
    want_nulls_ = false;
    // The scan looks up the lanes of the condition that has the fewest. The server compares rows
    // with the others.
    if (common_.all().empty() || lanes.size() < common_.all().size())
        std::copy(lanes.begin(), lanes.end(), common_.resize(lanes.size()).begin());
}

// Adds the condition that rows lie within `radius` of a value.
void Conditions::add_value(Datum value, int radius, bool is_equality) {
    switch (lanes_of_value(index_, value, &value_)) {
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

// Adds the condition of a ball around a center that has the lanes of a value one after another.
void Conditions::add_lanes(const BitBall& ball) {
    uint64_t lanes[kMaxLanes];
    // Another number of lanes: every row is looked at, and the operator raises its error.
    if (read_lanes(ball, {lanes, size_t(lanes_.count)}))
        add_center(lanes, {lanes_.rule, ball.radius});
}

// Any operator may be the <@ of somebody's own class. An argument of another type than ours must
// not be read as a ball.
Conditions::BallKind Conditions::kind_of_ball(Oid type) {
    if (type == ball_type_)
        return ball_kind_;
    const DistanceFamily* family = family_of_ball(type);
    if (family == &kFingerprints)
        ball_kind_ = BallKind::kOfLane;
    else if (family != nullptr && computes_lanes_)
        ball_kind_ = has_values_as_centers(type, index_->rd_opcintype[0]) ? BallKind::kOfValue
                                                                          : BallKind::kOfLanes;
    else
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("index \"%s\" cannot search by a value of type %s",
                       RelationGetRelationName(index_), format_type_be(type)),
                errdetail("Operator %d of its operator class must take hamming_ball, or, "
                          "for other types than bigint, bit_ball.",
                          kWithinBall));
    // An error above keeps the type before.
    ball_type_ = type;
    return ball_kind_;
}

void Conditions::read_ball(const ScanKeyData& key) {
    BallKind kind = kind_of_ball(key.sk_subtype);
    // Lanes of any number are not near each other: every row is looked at.
    if (lanes_vary())
        return;
    if (kind == BallKind::kOfLane) {
        const HammingBall* ball = datum_get_ball(key.sk_argument);
        add_ball({uint64_t(ball->center), saturate_radius(ball->radius)});
        return;
    }
    CallMemory memory;
    BitBall* ball = datum_get_bit_ball(key.sk_argument);
    if (kind == BallKind::kOfLanes)
        add_lanes(*ball);
    else
        add_value(VarBitPGetDatum(simhash::center(ball)), ball->radius, false);
}

// Reads a condition of a class that computes lanes whose argument is a value.
void Conditions::read_value(const ScanKeyData& key) {
    CallMemory memory;
    bool is_equality = key.sk_strategy == kEqual;
    // Values that such a collation calls equal may have different lanes, and of a value of another
    // type, which somebody has added to the family, we know none: every row is looked at.
    if (is_equality && OidIsValid(key.sk_collation) &&
        !get_collation_isdeterministic(key.sk_collation))
        return;
    if (OidIsValid(key.sk_subtype) && key.sk_subtype != index_->rd_opcintype[0])
        return;
    add_value(key.sk_argument, is_equality ? 0 : lanes_.near_radius, is_equality);
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
    if (key.sk_strategy == kWithinBall) {
        read_ball(key);
    } else if (computes_lanes_ && is_value_strategy(key.sk_strategy)) {
        read_value(key);
    } else {
        add_ball(ball_around_key(key));
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
        std::optional<CallMemory> memory;
        if (computes_lanes_)
            memory.emplace();
        // Otherwise rows come in no order, and the operator raises its error at the first of them.
        is_ordered_ = lanes_of_value(index_, key.sk_argument, &value_) == ValueLanes::kFound;
        if (is_ordered_)
            std::copy_n(value_.all().begin(), target_.size(), target_.begin());
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
    if (!scope.is_known) {
        ball_count_ = 0;
        radius_ = kEverywhere;
        common_.resize(0);
    }
    for (size_t i = 0; i < ball_count_; i++)
        balls_[i].center ^= scope.hash;
    for (uint64_t& lane : center_)
        lane ^= scope.hash;
    for (uint64_t& lane : target_)
        lane ^= scope.hash;
    if (lanes_vary())
        common_.store(scope.hash);
}

void Conditions::read(std::span<const ScanKeyData> keys, std::span<const ScanKeyData> order_bys) {
    clear();
    for (const ScanKeyData& key : keys)
        if (key.sk_attno == 1) // read_scope() reads the keys of the scope
            read_key(key);
    // The smallest ball comes first, because the scan searches that one. The others only filter.
    std::sort(balls_, balls_ + ball_count_,
              [](const Ball& a, const Ball& b) { return a.radius < b.radius; });
    read_order(order_bys);
    // This comes after the others, because it moves all that was read into the scope.
    apply(scope_columns(index_) > 0 ? read_scope(index_, keys) : KnownScope{});
    if (ball_count_ > 0) {
        center_[0] = balls_[0].center;
        radius_.bits = balls_[0].radius;
    }
}

} // namespace simhash
