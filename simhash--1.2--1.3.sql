-- simhash 1.2 to 1.3. Each object here stands in simhash--1.3.sql, too; test/upgrade.sh compares the two ways.
\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit

CREATE FUNCTION code_from_hex(digits text, bits integer) RETURNS bit
    AS 'MODULE_PATHNAME', 'simhash_code_from_hex'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION code_from_hex(text, integer) IS
    'code of so many bits from as many hexadecimal digits as these fill';

-- Operators of exclusion constraints that narrow no search (src/index/README.md, "Compared columns").
ALTER OPERATOR FAMILY simhash_ops USING simhash ADD OPERATOR 6 <> (bigint, bigint);
ALTER OPERATOR FAMILY text_ops USING simhash ADD OPERATOR 6 <> (text, text);
ALTER OPERATOR FAMILY bit_ops USING simhash ADD OPERATOR 6 <> (bit, bit);
ALTER OPERATOR FAMILY integer_scope_ops USING simhash ADD OPERATOR 6 <> (integer, integer);
ALTER OPERATOR FAMILY smallint_scope_ops USING simhash ADD OPERATOR 6 <> (smallint, smallint);
ALTER OPERATOR FAMILY name_scope_ops USING simhash ADD OPERATOR 6 <> (name, name);
ALTER OPERATOR FAMILY character_scope_ops USING simhash ADD OPERATOR 6 <> (character, character);
ALTER OPERATOR FAMILY char_scope_ops USING simhash ADD OPERATOR 6 <> ("char", "char");
ALTER OPERATOR FAMILY bytea_scope_ops USING simhash ADD OPERATOR 6 <> (bytea, bytea);
ALTER OPERATOR FAMILY boolean_scope_ops USING simhash ADD OPERATOR 6 <> (boolean, boolean);
ALTER OPERATOR FAMILY uuid_scope_ops USING simhash ADD OPERATOR 6 <> (uuid, uuid);
ALTER OPERATOR FAMILY numeric_scope_ops USING simhash ADD OPERATOR 6 <> (numeric, numeric);
ALTER OPERATOR FAMILY real_scope_ops USING simhash ADD OPERATOR 6 <> (real, real);
ALTER OPERATOR FAMILY double_scope_ops USING simhash ADD
    OPERATOR 6 <> (double precision, double precision);
ALTER OPERATOR FAMILY oid_scope_ops USING simhash ADD OPERATOR 6 <> (oid, oid);
ALTER OPERATOR FAMILY date_scope_ops USING simhash ADD OPERATOR 6 <> (date, date);
ALTER OPERATOR FAMILY time_scope_ops USING simhash ADD OPERATOR 6 <> (time, time);
ALTER OPERATOR FAMILY timetz_scope_ops USING simhash ADD OPERATOR 6 <> (timetz, timetz);
ALTER OPERATOR FAMILY timestamp_scope_ops USING simhash ADD OPERATOR 6 <> (timestamp, timestamp);
ALTER OPERATOR FAMILY timestamptz_scope_ops USING simhash ADD
    OPERATOR 6 <> (timestamptz, timestamptz);
ALTER OPERATOR FAMILY interval_scope_ops USING simhash ADD OPERATOR 6 <> (interval, interval);
ALTER OPERATOR FAMILY inet_scope_ops USING simhash ADD OPERATOR 6 <> (inet, inet);
ALTER OPERATOR FAMILY macaddr_scope_ops USING simhash ADD OPERATOR 6 <> (macaddr, macaddr);
ALTER OPERATOR FAMILY macaddr8_scope_ops USING simhash ADD OPERATOR 6 <> (macaddr8, macaddr8);
ALTER OPERATOR FAMILY pg_lsn_scope_ops USING simhash ADD OPERATOR 6 <> (pg_lsn, pg_lsn);
ALTER OPERATOR FAMILY jsonb_scope_ops USING simhash ADD OPERATOR 6 <> (jsonb, jsonb);
ALTER OPERATOR FAMILY enum_scope_ops USING simhash ADD OPERATOR 6 <> (anyenum, anyenum);
ALTER OPERATOR FAMILY array_scope_ops USING simhash ADD OPERATOR 6 <> (anyarray, anyarray);
ALTER OPERATOR FAMILY range_scope_ops USING simhash ADD
    OPERATOR 6 <> (anyrange, anyrange),
    OPERATOR 7 && (anyrange, anyrange);
ALTER OPERATOR FAMILY multirange_scope_ops USING simhash ADD
    OPERATOR 6 <> (anymultirange, anymultirange),
    OPERATOR 7 && (anymultirange, anymultirange);
ALTER OPERATOR FAMILY record_scope_ops USING simhash ADD OPERATOR 6 <> (record, record);
ALTER OPERATOR FAMILY varbit_scope_ops USING simhash ADD OPERATOR 6 <> (bit varying, bit varying);
