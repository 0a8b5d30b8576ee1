// libFuzzer: any bytes as the serialised state of an aggregate. The first byte chooses the aggregate
// and how the bytes are stored. An accepted state serialises to the same bytes, and can be combined,
// added to and finished.
#include "server_stubs.hpp"

#include <algorithm>
#include <cmath>

extern "C" {
Datum simhash_agg_transition(PG_FUNCTION_ARGS);
Datum simhash_agg_combine(PG_FUNCTION_ARGS);
Datum simhash_agg_serialize(PG_FUNCTION_ARGS);
Datum simhash_agg_deserialize(PG_FUNCTION_ARGS);
Datum simhash_agg_final(PG_FUNCTION_ARGS);
Datum simhash_minhash_agg_transition(PG_FUNCTION_ARGS);
Datum simhash_minhash_agg_combine(PG_FUNCTION_ARGS);
Datum simhash_minhash_agg_serialize(PG_FUNCTION_ARGS);
Datum simhash_minhash_agg_deserialize(PG_FUNCTION_ARGS);
Datum simhash_minhash_agg_final(PG_FUNCTION_ARGS);
}

using namespace simhash;

namespace {

struct Aggregate {
    PGFunction transition, combine, serialize, deserialize, final;
    bool has_weights;
};

constexpr Aggregate kAggregates[] = {
    {simhash_agg_transition, simhash_agg_combine, simhash_agg_serialize, simhash_agg_deserialize,
     simhash_agg_final, true},
    {simhash_minhash_agg_transition, simhash_minhash_agg_combine, simhash_minhash_agg_serialize,
     simhash_minhash_agg_deserialize, simhash_minhash_agg_final, false},
};

const Aggregate& chosen_aggregate(uint8_t choice) {
    return kAggregates[choice % std::size(kAggregates)];
}

std::span<const uint8_t> serialized(const Aggregate& aggregate, Datum state) {
    return content(DatumGetByteaP(call(aggregate.serialize, {state})));
}

// Adds a feature to a state, or to a new one if there is none.
Datum with_feature(const Aggregate& aggregate, Datum state, std::span<const uint8_t> feature,
                   double weight) {
    LOCAL_FCINFO(call, 3);
    InitFunctionCallInfoData(*call, nullptr, aggregate.has_weights ? 3 : 2, InvalidOid, nullptr,
                             nullptr);
    call->args[0] = {state, state == 0};
    call->args[1] = {PointerGetDatum(copied_bytea(feature, true)), false};
    call->args[2] = {Float8GetDatum(weight), false};
    return aggregate.transition(call);
}

void use(const Aggregate& aggregate, std::span<const uint8_t> bytes, bool is_short) {
    auto state_of_bytes = [&] {
        return call(aggregate.deserialize,
                    {PointerGetDatum(copied_bytea(bytes, is_short)), Datum(0)});
    };
    Datum state = state_of_bytes();
    auto again = serialized(aggregate, state);
    require(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    call(aggregate.final, {state});
    for (int i = 0; i < 3; i++)
        call(aggregate.combine, {state, state_of_bytes()});
    for (double weight : {1.0, -1e12})
        with_feature(aggregate, state, bytes.first(std::min<size_t>(bytes.size(), 20)), weight);
    call(aggregate.final, {state});
    serialized(aggregate, state);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1)
        return 0;
    int state = run_statement([&] {
        use(chosen_aggregate(data[0]), {data + 1, size - 1}, data[0] & 0x80);
    });
    require(state == 0 || state == ERRCODE_INVALID_BINARY_REPRESENTATION);
    return 0;
}

// Most bytes have not even the length of a state. A quarter of the inputs is the state of a few
// features, changed a little.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
    if (max_size < 2048 || seed % 4 != 0)
        return LLVMFuzzerMutate(data, size, max_size);
    srand(seed);
    data[0] = uint8_t(rand());
    const Aggregate& aggregate = chosen_aggregate(data[0]);
    size_t bytes = 1;
    int error = run_statement([&] {
        Datum state = 0;
        for (int i = 1 + rand() % 20; i > 0; i--) {
            auto feature = rand();
            state = with_feature(aggregate, state,
                                 {reinterpret_cast<const uint8_t*>(&feature), sizeof feature},
                                 ldexp(rand() - RAND_MAX / 2, rand() % 40 - 32));
        }
        auto valid = serialized(aggregate, state);
        std::copy(valid.begin(), valid.end(), data + 1);
        bytes += valid.size();
    });
    require(error == 0);
    for (int i = rand() % 4; i > 0; i--)
        data[1 + size_t(rand()) % (bytes - 1)] = uint8_t(rand());
    return bytes;
}
