/**
 * Checks JSON against callers' schemas, within about a second of a check's turn, whatever the schema. It never compiles a
 * schema, and never runs a caller's pattern on the server's own event loop.
 */
export { SchemaChecker, type SchemaCheckerOptions } from "./schema-checker.ts";
