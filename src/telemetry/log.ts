import pino from "pino";

/** What the rooms log through: the part of pino that they need. Prompts, documents and secrets never go in. */
export interface Log {
	debug(fields: object, message: string): void;
	info(fields: object, message: string): void;
	warn(fields: object, message: string): void;
	error(fields: object, message: string): void;
	level: string;
}

/** JSON lines on standard error, written at once: nothing is lost at an exit. */
export function createLog(level: string): Log {
	return pino(
		{ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: ["key", "authorization", "*.key", "*.authorization"] },
		pino.destination({ fd: 2, sync: true }),
	);
}

/** A log that says nothing: for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, level: "silent" };
