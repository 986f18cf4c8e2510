/** The process that reads files: hostile ones take its time and memory, never the server's. */
import { serveParent } from "../child-side.ts";
import type { ChildStart, ReadJob } from "./child-work.ts";
import { DocumentFault } from "./document-fault.ts";
import { type ExtractDeps, extractText } from "./extract.ts";
import { tesseractReader } from "./pdf/tesseract.ts";

let deps: ExtractDeps = { readScan: null };
let working = false;

serveParent({
	async start(init) {
		const { tesseract } = init as ChildStart;
		deps = { readScan: tesseract === null ? null : tesseractReader(tesseract) };
		return null;
	},
	async work(work) {
		const { id, bytes, name } = work as ReadJob;
		working = true;
		try {
			return { id, text: await extractText(bytes, name, deps) };
		} catch (fault) {
			if (!(fault instanceof DocumentFault)) throw fault;
			return { id, fault: { kind: fault.kind, message: fault.message } };
		} finally {
			working = false;
		}
	},
	busy: () => working,
});
