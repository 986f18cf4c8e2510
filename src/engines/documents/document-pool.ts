import { join } from "node:path";
import type { Static } from "typebox";
import Value from "typebox/value";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { JobPool } from "../job-pool.ts";
import { type ChildStart, ReadDone, type ReadJob } from "./child-work.ts";
import { DocumentFault } from "./document-fault.ts";
import type { DocumentReader } from "./port.ts";

export interface DocumentPoolOptions {
	readonly log: Log;
	/** The number of files read at once, each in its own process. */
	readonly processes: number;
	/** Processor time of one file. */
	readonly limitMs: number;
	/** Resident memory of a process. */
	readonly maxMemoryMb: number;
	/** The number of waiting files. Default 512. */
	readonly maxWaiting?: number;
	readonly idleStopMs?: number;
	/** Path of the program that reads scanned pages, null if there is none. Default: looked up on the PATH. */
	readonly tesseract?: string | null;
	/** The child's entry file. */
	readonly entry?: string;
}

/** Reads files in a few child processes, one file at a time in each. */
export class DocumentPool implements DocumentReader {
	readonly #jobs: JobPool<Static<typeof ReadDone>>;

	constructor(options: DocumentPoolOptions) {
		const start: ChildStart = { tesseract: options.tesseract === undefined ? Bun.which("tesseract") : options.tesseract };
		this.#jobs = new JobPool({
			name: "documents",
			log: options.log,
			entry: options.entry ?? join(import.meta.dir, "child.ts"),
			init: async () => start,
			parse: (done) => Value.Parse(ReadDone, done),
			processes: options.processes,
			reserve: true,
			limitMs: options.limitMs,
			maxMemoryMb: options.maxMemoryMb,
			maxWaiting: options.maxWaiting ?? 512,
			idleStopMs: options.idleStopMs ?? 300_000,
			isRefusal: ({ fault }) => fault !== undefined,
			faults: { tooSlow, tooHungry, ended, overflow },
		});
	}

	async read(bytes: Uint8Array, name: string, requester: Requester): Promise<string> {
		const job: Omit<ReadJob, "id"> = { bytes, name };
		try {
			const { text, fault } = await this.#jobs.run(job, requester);
			if (fault !== undefined) throw new DocumentFault(fault.kind, fault.message);
			return text ?? "";
		} catch (fault) {
			throw fault instanceof DocumentFault ? forCaller(fault) : fault;
		}
	}

	/** Returns the ids of the running processes. */
	pids(): number[] {
		return this.#jobs.pids();
	}

	/** Ends all processes for good; waiting files are refused. */
	stop(): Promise<void> {
		return this.#jobs.stop();
	}
}

function forCaller(fault: DocumentFault): ApiError {
	const issue = { path: ["file"], code: `file_${fault.kind.replace("-", "_")}`, message: fault.message };
	return new ApiError("INVALID_REQUEST", { message: fault.message, param: "file", issues: [issue] });
}

const tooSlow = (limitMs: number) =>
	new ApiError("REQUEST_TIMEOUT", {
		message: `The file takes more than ${limitMs / 1_000} s of processor time to read; send it in parts`,
	});
const tooHungry = () => new DocumentFault("too-costly", "The file takes more memory than a file may; send it in parts");
const ended = () => new DocumentFault("too-costly", "The file could not be read: its reader ended in the middle of it");
const overflow = () =>
	new ApiError("SERVICE_UNAVAILABLE", {
		message: "Too many files wait to be read; try again shortly",
		retryAfterSeconds: 2,
	});
