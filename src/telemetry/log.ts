import pino from "pino";

/** The log of all modules: the part of pino that they need. Prompts, documents and secrets are never logged. */
export interface Log {
	debug(fields: object, message: string): void;
	info(fields: object, message: string): void;
	warn(fields: object, message: string): void;
	error(fields: object, message: string): void;
	level: string;
}

/** Lower-case names of fields and headers whose values are never written, even if one is logged by mistake. */
const SECRET = new Set([
	"key",
	"authorization",
	"proxy-authorization",
	"cookie",
	"set-cookie",
	"x-api-key",
	"x-sign-in-with-x",
	"payment-signature",
	"payment",
	"x-payment",
	"signature",
	"secret",
	"password",
	"token",
	"privatekey",
	"prompt",
	"messages",
	"input",
	"content",
	"body",
]);

/** Nested objects are searched to this depth. */
const DEPTH = 3;

/**
 * Writes JSON lines to standard error synchronously, so that nothing is lost at an exit.
 * @param fields members of every line
 */
export function createLog(level: string, fields: object | null = null): Log {
	return pino(
		{
			level,
			base: fields,
			timestamp: pino.stdTimeFunctions.isoTime,
			formatters: { log: (fields) => hideSecrets(fields, DEPTH) },
		},
		pino.destination({ fd: 2, sync: true }),
	);
}

/** Returns the fields with the values of secret names replaced; the same object if there are none. */
function hideSecrets(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
	let copy: Record<string, unknown> | null = null;
	for (const [name, value] of Object.entries(fields)) {
		const shown = SECRET.has(name.toLowerCase()) && value !== undefined ? "[hidden]" : inner(value, depth);
		if (shown === value) continue;
		copy ??= { ...fields };
		copy[name] = shown;
	}
	return copy ?? fields;
}

function inner(value: unknown, depth: number): unknown {
	const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
	return isPlain && depth > 1 ? hideSecrets(value as Record<string, unknown>, depth - 1) : value;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, level: "silent" };
