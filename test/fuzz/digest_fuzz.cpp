// libFuzzer: any bytes as the arguments of the functions of both passes over a query, and as what
// another server may have given for a pass. What the functions give is read as what it is, and a
// document that the second pass is asked for has the key that its digest has.
#include "server_stubs.hpp"

#include <algorithm>
#include <cmath>

#include "server/arguments.hpp"
#include "whole_tables/digests.hpp"

using namespace simhash;

namespace {

struct Pass {
    const PassFunctions& functions;
    double greatest; // limit
};
const Pass kPasses[] = {
    {kDocumentPasses, 1}, {kSetPasses, 1}, {kPassagePasses, 100}, {kContainmentPasses, 1}};
constexpr size_t kArgumentBytes = sizeof(PassArguments);

const Pass& chosen_pass(uint8_t choice) { return kPasses[choice % std::size(kPasses)]; }

// Of one row: a call that keeps nothing from rows before.
Datum call_of_row(const OurFunction& function, Datum value, Datum arguments) {
    FmgrInfo info{};
    info.fn_mcxt = CurrentMemoryContext;
    LOCAL_FCINFO(call, 2);
    InitFunctionCallInfoData(*call, &info, 2, InvalidOid, nullptr, nullptr);
    call->args[0] = {value, false};
    call->args[1] = {arguments, false};
    Datum result = function.address(call);
    return call->isnull ? 0 : result;
}

DigestHeader digest_header(const Pass& pass, Datum digest) {
    if (&pass.functions == &kPassagePasses || &pass.functions == &kContainmentPasses)
        return PassResult<DigestHeader, uint64_t>(digest).header;
    return PassResult<DocumentDigest, uint32_t>(digest, kMinimaOfDocument).header.header;
}

// A sound value of the type that the pass reads.
Datum sound_value(const Pass& pass, std::span<const uint8_t> bytes, bool is_short) {
    if (&pass.functions != &kSetPasses)
        return PointerGetDatum(copied_bytea(bytes, is_short));
    // As many hashes as there are bytes, ascending.
    size_t size = offsetof(ShingleSet, hashes) + bytes.size() * sizeof(uint64_t);
    auto* set = static_cast<ShingleSet*>(palloc(size));
    SET_VARSIZE(set, size);
    set->features = uint16(kShingles);
    set->width = kShingleWidth;
    for (size_t i = 0; i < bytes.size(); i++)
        set->hashes[i] = uint64_t(i) << 32 | bytes[i];
    return PointerGetDatum(set);
}

void use(const Pass& pass, std::span<const uint8_t> arguments, std::span<const uint8_t> bytes,
         bool is_short) {
    Datum value = sound_value(pass, bytes, is_short);
    Datum given = PointerGetDatum(copied_bytea(arguments, is_short));
    Datum digest = call_of_row(pass.functions.digest, value, given);
    DigestHeader header = digest_header(pass, digest);

    HashFilter wanted(1);
    wanted.add(header.text_hash);
    wanted.add(hash_of_size(header.bytes));
    PassArguments argument;
    memcpy(&argument, arguments.data(), sizeof argument);
    Datum asked = bytea_of(&argument, sizeof argument, std::as_bytes(wanted.filter()));
    Datum of_document = call_of_row(pass.functions.content, value, asked);
    require(of_document != 0);
    require(PassResult<uint64_t, uint64_t>(of_document).header == header.content_key());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 2)
        return 0;
    const Pass& pass = chosen_pass(data[0]);
    bool is_short = data[0] & 0x80;
    size_t count = std::min<size_t>(data[1], size - 2);
    std::span<const uint8_t> arguments(data + 2, count), bytes(data + 2 + count, size - 2 - count);
    int error = run_statement([&] { use(pass, arguments, bytes, is_short); });
    require(error == 0 || error == ERRCODE_INVALID_PARAMETER_VALUE);
    // The second pass with any filter.
    error = run_statement([&] {
        call_of_row(pass.functions.content, sound_value(pass, bytes, is_short),
                    PointerGetDatum(copied_bytea(arguments, is_short)));
    });
    require(error == 0 || error == ERRCODE_INVALID_PARAMETER_VALUE);
    // The bytes as a result of another server.
    error = run_statement([&] {
        auto result = PointerGetDatum(copied_bytea(bytes, is_short));
        digest_header(pass, result);
        PassResult<uint64_t, uint64_t> content(result);
        require(content.rest_bytes % sizeof(uint64_t) == 0);
    });
    require(error == 0 || error == ERRCODE_DATA_EXCEPTION);
    return 0;
}

// Most bytes are no arguments. Three quarters of the inputs begin with sound ones, of either pass.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
    srand(seed);
    size = LLVMFuzzerMutate(data, size, max_size);
    if (size < 2 + kArgumentBytes || seed % 4 == 0)
        return size;
    size_t filter = rand() % 2 ? 0 : size_t{1} << rand() % 8;
    data[1] = uint8_t(kArgumentBytes + std::min(filter, size - 2 - kArgumentBytes));
    PassArguments arguments = {uint64_t(rand()),
                               chosen_pass(data[0]).greatest * (rand() % 101) / 100};
    memcpy(data + 2, &arguments, sizeof arguments);
    return size;
}
