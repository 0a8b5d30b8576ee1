-- Every object of the extension, as the server would describe it without OIDs: a database that was upgraded and a new one print the same.
WITH member AS (
    SELECT d.classid, d.objid, d.objsubid FROM pg_depend d JOIN pg_extension e ON d.refobjid = e.oid
    WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'simhash'
), family AS (
    SELECT objid AS oid FROM member WHERE classid = 'pg_opfamily'::regclass
)
SELECT pg_describe_object(classid, objid, objsubid) AS object, obj_description(objid, classid::regclass::name) AS comment, CASE classid
    WHEN 'pg_proc'::regclass THEN (
        SELECT pg_get_function_arguments(oid) || ' -> ' || pg_get_function_result(oid) || ' ' || coalesce(pg_get_function_sqlbody(oid), '') ||
            (to_jsonb(p) - '{oid,prorettype,proargtypes,proallargtypes,proargdefaults,prosqlbody,provariadic}'::text[]) FROM pg_proc p WHERE oid = objid) ||
        coalesce((SELECT (to_jsonb(a) - '{aggfnoid,aggsortop,aggtranstype,aggmtranstype}'::text[])::text || aggtranstype::regtype || aggmtranstype::regtype || aggsortop::regoper FROM pg_aggregate a WHERE aggfnoid = objid), '')
    WHEN 'pg_type'::regclass THEN (SELECT (to_jsonb(t) - '{oid,typarray,typrelid,typelem,typbasetype}'::text[])::text FROM pg_type t WHERE oid = objid)
    WHEN 'pg_operator'::regclass THEN (SELECT oprcom::regoperator || ' ' || oprnegate::regoperator || ' ' || oprresult::regtype ||
        (to_jsonb(o) - '{oid,oprleft,oprright,oprresult,oprcom,oprnegate}'::text[]) FROM pg_operator o WHERE oid = objid)
    WHEN 'pg_cast'::regclass THEN (SELECT castfunc::regprocedure || ' ' || castcontext::text || castmethod::text FROM pg_cast WHERE oid = objid)
    WHEN 'pg_opclass'::regclass THEN (SELECT opcdefault || ' ' || opcintype::regtype || ' ' || opckeytype::regtype || ' ' || amvalidate(oid) FROM pg_opclass WHERE oid = objid)
    WHEN 'pg_am'::regclass THEN (SELECT amhandler || ' ' || amtype::text FROM pg_am WHERE oid = objid)
    ELSE '' END AS definition
FROM member
UNION ALL
SELECT pg_describe_object('pg_amop'::regclass, o.oid, 0), NULL, amopstrategy || ' ' || amoppurpose::text || ' ' || coalesce((SELECT opfname FROM pg_opfamily f WHERE f.oid = amopsortfamily), '')
FROM pg_amop o JOIN family ON amopfamily = family.oid
UNION ALL
SELECT pg_describe_object('pg_amproc'::regclass, p.oid, 0), NULL, amproc || ' ' || amprocnum FROM pg_amproc p JOIN family ON amprocfamily = family.oid
ORDER BY 1;
