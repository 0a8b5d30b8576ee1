// Finds out what a condition compares. See the header.
#include "values/hamming_space.hpp"

#include "core/bits/code_lanes.hpp"
#include "core/bits/distances.hpp"
#include "server/expressions.hpp"
#include "values/code/code.hpp"
#include "values/fingerprint/fingerprint.hpp"
#include "values/objects.hpp"

#include <algorithm>
#include <climits>

namespace simhash {
namespace {

// PDQ's codes have this length.
constexpr int kAssumedBits = 256;
// Without a length in the type or the value.
constexpr int kUnknownBits = 0;

bool is_code_type(Oid type) {
    Oid base = getBaseType(type);
    return base == BITOID || base == VARBITOID;
}

// The number of bits of a code's expression, if its value or its type bit(n) tells it.
int known_bits(const Node* node) {
    // A cast from bit varying to bit without a change of the bytes hides the value below it.
    while (IsA(node, RelabelType))
        node = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(node)->arg);
    if (!is_code_type(exprType(node)))
        return kUnknownBits;
    if (IsA(node, Const)) {
        auto* constant = reinterpret_cast<const Const*>(node);
        return constant->constisnull ? kUnknownBits
                                     : datum_get_code(constant->constvalue).bit_count;
    }
    int32 typmod = exprTypmod(node);
    Oid base = getBaseTypeAndTypmod(exprType(node), &typmod);
    // The type modifier of bit varying is the greatest length, not the length.
    return base == BITOID && typmod > 0 ? typmod : kUnknownBits;
}

} // namespace

HammingSpace space_of(const Node* left, const Node* right) {
    if (!is_code_type(exprType(left)) && !is_code_type(exprType(right)))
        return {false, kFingerprintBits};
    // Codes that are compared have one length, so either side tells it.
    int bits = std::max(known_bits(left), known_bits(right));
    return {true, bits != kUnknownBits ? bits : kAssumedBits};
}

int HammingSpace::saturate(int64 radius) const {
    return int(std::clamp<int64>(radius, kNoRadius, bits));
}

int HammingSpace::likely_radius() const {
    // A guess that is too small leads to an index scan of more rows than expected; one that is too
    // large to a sequential scan for a few.
    return is_of_codes ? near_radius_of_bits(bits) : kCloseRadius;
}

bool HammingSpace::has_type(Oid type) const {
    // Statistics of a domain are those of its base type.
    return is_of_codes ? is_code_type(type) : getBaseType(type) == INT8OID;
}

int HammingSpace::distance(Datum a, Datum b) const {
    if (!is_of_codes)
        return hamming_distance(uint64_t(DatumGetInt64(a)), uint64_t(DatumGetInt64(b)));
    Code left = datum_get_code(a), right = datum_get_code(b);
    // The statistics may have codes of several lengths.
    return left.bit_count == right.bit_count ? code_distance(left, right) : INT_MAX;
}

KnownBall examine_ball(PlannerInfo* root, Node* ball, int greatest_distance, int likely_radius) {
    auto clamped = [=](int64 radius) {
        return int(std::clamp<int64>(radius, kNoRadius, greatest_distance));
    };
    // This also computes stable functions and known parameters, which hold for an estimate.
    Node* value = estimate_expression_value(root, ball);
    if (is_null_constant(value))
        return {ball, kNoRadius};
    if (IsA(value, Const)) {
        Datum known = reinterpret_cast<Const*>(value)->constvalue;
        // Somebody may have declared an operator of other types with our estimator.
        const DistanceFamily* family = family_of_ball(exprType(value));
        if (family == &kFingerprints)
            return {reinterpret_cast<Node*>(make_bigint_constant(datum_get_ball(known)->center)),
                    clamped(datum_get_ball(known)->radius)};
        if (family == &kCodes)
            return {reinterpret_cast<Node*>(make_code_constant(center(datum_get_bit_ball(known)))),
                    clamped(datum_get_bit_ball(known)->radius)};
    }
    auto* call = reinterpret_cast<FuncExpr*>(ball);
    if (!IsA(ball, FuncExpr) || family_of(call->funcid, &DistanceFamily::ball_make) == nullptr)
        return {ball, clamped(likely_radius)};
    // The radius is often a constant even where the center is not.
    Node* radius = estimate_expression_value(root, node_at(call->args, 1));
    if (is_null_constant(radius))
        return {ball, kNoRadius};
    const Const* known = bigint_constant(radius);
    return {node_at(call->args, 0),
            clamped(known != nullptr ? DatumGetInt64(known->constvalue) : likely_radius)};
}

} // namespace simhash
