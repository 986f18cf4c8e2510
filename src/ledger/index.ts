/**
 * The books, read: amounts, the audit that proves them, and the record of one request.
 *
 * Promises: the audit looks at one snapshot, on a live store too, and names every row that does not agree, with its
 * numbers. Never: writes, or mends what it finds.
 */
export { type AuditFinding, type AuditReport, audit } from "./audit.ts";
export * from "./nano.ts";
export { findRequest, type RequestLine, type RequestRecord } from "./requests.ts";
