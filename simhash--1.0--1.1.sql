\echo Use "ALTER EXTENSION simhash UPDATE" to load this file. \quit
