/**
 * Takes the operator's secrets out of what upstreams say: servers quote headers and addresses, in errors and in answers.
 */

const MASKED_SECRET = "[secret]";
const MASKED_ADDRESS = "[address]";

/** Shorter values are words that anybody may say. */
const LEAST_IN_ERRORS = 4;
/** In answers of models only what cannot be there by chance. */
const LEAST_IN_ANSWERS = 12;

/** `user:password@` of an address. */
const CREDENTIALS = /\/\/[^\s/?#"'<>@]{1,512}@/g;
const IPV4 = String.raw`(?:10|127)(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}`;
const IPV6 = String.raw`\[(?:::1|f[cd][0-9a-f]{2}:[0-9a-f:]{2,39}|fe80:[0-9a-z:.%]{2,60})\]`;
const NAMES = String.raw`[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,8}\.(?:internal|local|localdomain|lan|intranet|svc)|localhost`;
/** Addresses that the public internet does not know (RFC 1918, 3927, 4193, 6762), with their port. */
const INNER_ADDRESS = new RegExp(String.raw`(?<![\w.-])(?:${IPV4}|${IPV6}|${NAMES})(?::\d{1,5})?(?![\w-])`, "gi");

export class SecretMask {
	readonly #inErrors: readonly string[];
	readonly #inAnswers: readonly string[];
	readonly #needles: readonly Buffer[];

	/**
	 * @param own secrets that this upstream is sent, and may repeat wherever it speaks
	 * @param all secrets of every upstream: none of them stands in an error
	 */
	constructor(own: readonly string[], all: readonly string[]) {
		// The longer first: a secret may hold another one.
		const longFirst = (secrets: readonly string[], least: number) =>
			[...new Set(secrets)].filter(({ length }) => length >= least).sort((a, b) => b.length - a.length);
		this.#inErrors = longFirst([...own, ...all], LEAST_IN_ERRORS);
		this.#inAnswers = longFirst(own.flatMap(spellings), LEAST_IN_ANSWERS);
		this.#needles = this.#inAnswers.map((secret) => Buffer.from(secret));
	}

	/** An error's text, for callers: without secrets, credentials in addresses, and addresses of the inner network. */
	error(text: string): string {
		return this.log(text).replaceAll(CREDENTIALS, `//${MASKED_SECRET}@`).replaceAll(INNER_ADDRESS, MASKED_ADDRESS);
	}

	/** A text for the operator's log: without secrets. */
	log(text: string): string {
		return this.#inErrors.reduce((rest, secret) => rest.replaceAll(secret, MASKED_SECRET), text);
	}

	/** JSON, or a part of it, of an answer: without this upstream's own secrets. */
	answer(text: string): string {
		let rest = text;
		for (const secret of this.#inAnswers) if (rest.includes(secret)) rest = rest.replaceAll(secret, MASKED_SECRET);
		return rest;
	}

	/** The same of bytes; the same object where there is nothing to mask. */
	answerBytes(bytes: Uint8Array): Uint8Array {
		const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		if (!this.#needles.some((needle) => buffer.includes(needle))) return bytes;
		// Byte for byte: an answer need not be whole UTF-8.
		return Buffer.from(this.#masked(buffer.toString("latin1")), "latin1");
	}

	#masked(latin1: string): string {
		return this.#needles.reduce((rest, needle) => rest.replaceAll(needle.toString("latin1"), MASKED_SECRET), latin1);
	}
}

export const NO_SECRETS = new SecretMask([], []);

/** A secret as it is, and as JSON writes it: some servers write a slash with a backslash before it. */
function spellings(secret: string): string[] {
	const inJson = JSON.stringify(secret).slice(1, -1);
	return [secret, inJson, inJson.replaceAll("/", "\\/")];
}
