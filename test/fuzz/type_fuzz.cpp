// libFuzzer: any bytes as the text form and the binary form of each type, and as the digits of a
// fingerprint or a code. The first byte chooses the function. An accepted value is printed and
// sent, and both forms give it again.
#include "server_stubs.hpp"

#include "core/text/document.hpp"
#include "values/code/code.hpp"
#include "values/fingerprint/fingerprint.hpp"

#include <algorithm>
#include <string>

extern "C" {
Datum simhash_hamming_ball_in(PG_FUNCTION_ARGS);
Datum simhash_hamming_ball_out(PG_FUNCTION_ARGS);
Datum simhash_hamming_ball_recv(PG_FUNCTION_ARGS);
Datum simhash_hamming_ball_send(PG_FUNCTION_ARGS);
Datum simhash_hamming_ball_contained(PG_FUNCTION_ARGS);
Datum simhash_bit_ball_in(PG_FUNCTION_ARGS);
Datum simhash_bit_ball_out(PG_FUNCTION_ARGS);
Datum simhash_bit_ball_recv(PG_FUNCTION_ARGS);
Datum simhash_bit_ball_send(PG_FUNCTION_ARGS);
Datum simhash_bit_ball_contained(PG_FUNCTION_ARGS);
Datum simhash_shingle_set_in(PG_FUNCTION_ARGS);
Datum simhash_shingle_set_out(PG_FUNCTION_ARGS);
Datum simhash_shingle_set_recv(PG_FUNCTION_ARGS);
Datum simhash_shingle_set_send(PG_FUNCTION_ARGS);
Datum simhash_shingle_similarity_shingle_set(PG_FUNCTION_ARGS);
Datum simhash_from_hex(PG_FUNCTION_ARGS);
Datum simhash_code_from_hex(PG_FUNCTION_ARGS);
Datum simhash_from_unsigned(PG_FUNCTION_ARGS);
}

using namespace simhash;

namespace {

using Bytes = std::span<const uint8_t>;

Bytes stored_varlena(Datum value) {
    return {reinterpret_cast<const uint8_t*>(DatumGetPointer(value)),
            VARSIZE(DatumGetPointer(value))};
}

Bytes stored_ball(Datum value) {
    return {reinterpret_cast<const uint8_t*>(datum_get_ball(value)), sizeof(HammingBall)};
}

// ---- what holds of every value ----

// A ball has its center, unless it has nothing.
void use_ball(Datum value) {
    const HammingBall* ball = datum_get_ball(value);
    require(ball->reserved == 0);
    bool contained = DatumGetBool(
        call(simhash_hamming_ball_contained, {Int64GetDatum(ball->center), PointerGetDatum(ball)}));
    require(contained == (ball->radius >= 0));
}

void use_bit_ball(Datum value) {
    BitBall* ball = datum_get_bit_ball(value);
    bool contained = DatumGetBool(
        call(simhash_bit_ball_contained, {VarBitPGetDatum(center(ball)), PointerGetDatum(ball)}));
    require(contained == (ball->radius >= 0));
}

// A set with a shingle is like itself; without one there is no similarity, and call() returns 0.
void use_set(Datum value) {
    Datum similarity = call(simhash_shingle_similarity_shingle_set, {value, value});
    require(similarity == 0 || DatumGetFloat8(similarity) == 1);
}

struct Type {
    PGFunction in, out, recv, send;
    Bytes (*stored)(Datum value); // the bytes of the value
    void (*use)(Datum value);
};

constexpr Type kTypes[] = {
    {simhash_hamming_ball_in, simhash_hamming_ball_out, simhash_hamming_ball_recv,
     simhash_hamming_ball_send, stored_ball, use_ball},
    {simhash_bit_ball_in, simhash_bit_ball_out, simhash_bit_ball_recv, simhash_bit_ball_send,
     stored_varlena, use_bit_ball},
    {simhash_shingle_set_in, simhash_shingle_set_out, simhash_shingle_set_recv,
     simhash_shingle_set_send, stored_varlena, use_set},
};

Datum received(const Type& type, Bytes message) {
    return call(type.recv, {PointerGetDatum(copied_message(message))});
}

void check_value(const Type& type, Datum value) {
    auto is_same = [&](Datum other) {
        Bytes a = type.stored(value), b = type.stored(other);
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    require(is_same(call(type.in, {call(type.out, {value})})));
    require(is_same(received(type, content(DatumGetByteaP(call(type.send, {value}))))));
    type.use(value);
}

// ---- the choice of a function by the first byte ----

enum : int { kTypeCount = std::size(kTypes), kHex = 2 * kTypeCount, kCodeHex, kUnsigned, kChoices };

bool is_binary(int choice) { return choice < kHex && choice % 2 == 1; }

void run(int choice, Bytes input) {
    if (choice == kHex)
        call(simhash_from_hex, {PointerGetDatum(copied_bytea(input, true))});
    else if (choice == kCodeHex)
        call(simhash_code_from_hex, {PointerGetDatum(copied_bytea(input, true))});
    else if (choice == kUnsigned)
        call(simhash_from_unsigned, {CStringGetDatum(copied_text(input))});
    else if (const Type& type = kTypes[choice / 2]; is_binary(choice))
        check_value(type, received(type, input));
    else
        check_value(type, call(type.in, {CStringGetDatum(copied_text(input))}));
}

// The errors of input that is not the form of a value.
bool is_error_of_input(int choice, int state) {
    if (is_binary(choice))
        return state == ERRCODE_INVALID_BINARY_REPRESENTATION ||
               state == ERRCODE_PROTOCOL_VIOLATION;
    return state == ERRCODE_INVALID_TEXT_REPRESENTATION ||
           state == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
}

// ---- valid values ----

uint64_t random_word() {
    return uint64_t(rand()) << 42 ^ uint64_t(rand()) << 21 ^ uint64_t(rand());
}

// A number of any length, as few numbers of 64 bits are short.
int64_t random_number() { return int64_t(random_word()) >> rand() % 64; }

std::string hexadecimal(uint64_t number, int digits) {
    char text[17];
    snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(number));
    return text;
}

std::string ball_text(const std::string& center) {
    return "(" + center + "," + std::to_string(random_number()) + ")";
}

std::string set_text() {
    std::string text = rand() % 2 ? "words/" : "chars/";
    text += std::to_string(1 + rand() % kMaxWidth) + ":";
    uint64_t hash = 0;
    for (int i = rand() % 20; i > 0; i--)
        text += hexadecimal(hash += 1 + (random_word() >> 6), 16);
    return text;
}

std::string valid_text(int choice) {
    switch (choice) {
    case 0:
        return ball_text(std::to_string(random_number()));
    case 2: {
        std::string digits;
        for (int i = rand() % 300; i > 0; i--)
            digits += char('0' + rand() % 2);
        return ball_text(digits);
    }
    case 4:
        return set_text();
    case kHex:
        return (rand() % 2 ? "0x" : "") + hexadecimal(random_word(), rand() % 17);
    case kCodeHex:
        return hexadecimal(random_word(), 2 * (rand() % 9));
    default:
        return std::to_string(random_word()) + (rand() % 2 ? ".00" : "");
    }
}

std::string valid_input(int choice) {
    if (!is_binary(choice))
        return valid_text(choice);
    std::string text = valid_text(choice - 1), message;
    const Type& type = kTypes[choice / 2];
    int state = run_statement([&] {
        Bytes sent = content(
            DatumGetByteaP(call(type.send, {call(type.in, {CStringGetDatum(text.c_str())})})));
        message.assign(sent.begin(), sent.end());
    });
    require(state == 0);
    return message;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1)
        return 0;
    int choice = data[0] % kChoices;
    int state = run_statement([&] { run(choice, {data + 1, size - 1}); });
    require(state == 0 || is_error_of_input(choice, state));
    return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
    if (max_size < 512 || seed % 4 != 0)
        return LLVMFuzzerMutate(data, size, max_size);
    srand(seed);
    int choice = rand() % kChoices;
    std::string input = valid_input(choice);
    for (int i = rand() % 3; i > 0 && !input.empty(); i--)
        input[size_t(rand()) % input.size()] = char(rand());
    data[0] = uint8_t(choice);
    memcpy(data + 1, input.data(), input.size());
    return 1 + input.size();
}
