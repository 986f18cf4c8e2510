/**
 * Reads the books: amounts, the audit that proves them, and the record of one request.
 *
 * The audit reads one snapshot, on a live store too, and names every row that does not agree, with its numbers. It
 * never writes or repairs anything.
 */
export { type AuditFinding, type AuditReport, audit } from "./audit.ts";
export * from "./nano.ts";
export { findRequest, type RequestLine, type RequestRecord } from "./requests.ts";
