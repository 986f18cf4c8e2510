/**
 * Extracts the text of files. The type is detected by content first; each file is read in a child process, within 30 s and 1
 * GB; a zip bomb is refused by its declared and by its inflated size; a refusal names the file's fault. Nothing is written to
 * disk, and nothing of a file outlives its answer.
 */
export { checkDocuments } from "./check.ts";
export { DocumentFault, type DocumentFaultKind } from "./document-fault.ts";
export { DocumentPool, type DocumentPoolOptions } from "./document-pool.ts";
export type { DocumentReader } from "./port.ts";
