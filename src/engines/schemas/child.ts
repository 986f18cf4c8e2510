/** The process that checks values against callers' schemas: nothing of them becomes code, and it may be killed at any time. */
import { Errors } from "typebox/schema";
import { serveParent } from "../child-side.ts";

/** The number of reported errors, enough to correct an answer. */
const MAX_REPORTED = 8;
const MAX_FAULT_CHARS = 300;

interface CheckJob {
	readonly id: number;
	readonly value: unknown;
	readonly schema: Readonly<Record<string, unknown>>;
}

/** Returns the errors of the value; null if the schema itself is unusable. */
function faults({ value, schema }: CheckJob): string[] | null {
	try {
		const [fits, errors] = Errors(schema, value);
		if (fits) return [];
		return errors
			.slice(0, MAX_REPORTED)
			.map(({ instancePath, message }) => `${instancePath || "the whole"}: ${message}`.slice(0, MAX_FAULT_CHARS));
	} catch {
		return null;
	}
}

serveParent({
	start: () => Promise.resolve(null),
	async work(work) {
		const job = work as CheckJob;
		return { id: job.id, faults: faults(job) };
	},
});
