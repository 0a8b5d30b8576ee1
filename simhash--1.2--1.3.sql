-- simhash 1.2 to 1.3. Each object here stands in simhash--1.3.sql, too; test/upgrade.sh compares the two ways.
\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit
