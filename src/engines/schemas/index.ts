/**
 * Checks of JSON against schemas that callers give. Promises: an answer within about a second of its turn, whatever
 * the schema. Never compiles a schema, and never runs a caller's pattern on the server's own event loop.
 */
export { SchemaChecker, type SchemaCheckerOptions } from "./schema-checker.ts";
