/**
 * The text of files. Promises: type by content first; each file in a child process, within 30 s and 1 GB; a bomb is
 * refused by what it declares and again by what it inflates to; a refusal says which fault the file has. Nothing is
 * written to disk, and nothing of a file outlives its answer here.
 */
export { checkDocuments } from "./check.ts";
export { DocumentFault, type DocumentFaultKind } from "./document-fault.ts";
export { DocumentPool, type DocumentPoolOptions } from "./document-pool.ts";
export type { DocumentReader } from "./port.ts";
