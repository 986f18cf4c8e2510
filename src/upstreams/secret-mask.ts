/**
 * Takes the operator's secrets out of what upstreams say: servers quote headers and addresses, in errors and in answers.
 */
import { nextTurn } from "../wire/index.ts";
import { PieceMask } from "./piece-mask.ts";

export const MASKED_SECRET = "[secret]";
const MASKED_ADDRESS = "[address]";

/** Shorter values are words that anybody may say. */
const LEAST_IN_ERRORS = 4;
/** In answers of models only what cannot be there by chance. */
const LEAST_IN_ANSWERS = 12;

/** `user:password@` of an address; PHP writes a slash in JSON with a backslash before it. */
const CREDENTIALS = String.raw`/\\?/[^\s/?#"'<>@]{1,512}@`;
const IPV4 = String.raw`(?:10|127)(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}`;
const IPV6 = String.raw`\[(?:::1|f[cd][0-9a-f]{2}:[0-9a-f:]{2,39}|fe80:[0-9a-z:.%]{2,60})\]`;
const NAMES = String.raw`[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,8}\.(?:internal|local|localdomain|lan|intranet|svc)|localhost`;
/** Addresses that the public internet does not know (RFC 1918, 3927, 4193, 6762), with their port. */
const INNER_ADDRESS = String.raw`(?<![\w.-])(?:${IPV4}|${IPV6}|${NAMES})(?::\d{1,5})?(?![\w-])`;
/** What no error holds, whatever the secrets are. */
const INNER = `(?<credentials>${CREDENTIALS})|(?<address>${INNER_ADDRESS})`;
const INNER_PATTERN = new RegExp(INNER, "gi");
/** No match of it is longer. */
const LONGEST_INNER = 1_024;

/** What is masked in one turn of the event loop. */
const STEP_BYTES = 512 * 1_024;

export class SecretMask {
	/** What this upstream is sent and may repeat, longest first. */
	readonly spoken: readonly string[];
	readonly #inErrors: readonly string[];
	/** The same secrets as JSON writes them; with a backslash more in other spellings, which the pattern knows. */
	readonly #inJson: readonly string[];
	readonly #pattern: RegExp | null;
	readonly #errorPattern: RegExp;
	/** No match of the patterns is longer. */
	readonly #longest: number;

	/**
	 * @param own secrets that this upstream is sent, and may repeat wherever it speaks
	 * @param all secrets of every upstream: none of them stands in an error
	 */
	constructor(own: readonly string[], all: readonly string[]) {
		// The longer first: a secret may hold another one.
		const longFirst = (secrets: readonly string[], least: number) =>
			[...new Set(secrets)].filter(({ length }) => length >= least).sort((a, b) => b.length - a.length);
		this.#inErrors = longFirst([...own, ...all], LEAST_IN_ERRORS);
		this.spoken = longFirst(own, LEAST_IN_ANSWERS);
		this.#inJson = longFirst(this.spoken.flatMap(spellings), LEAST_IN_ANSWERS);
		const secrets = this.spoken.map(anySpelling).join("|");
		this.#pattern = secrets === "" ? null : new RegExp(secrets, "g");
		this.#errorPattern = new RegExp(secrets === "" ? INNER : `${secrets}|${INNER}`, "gi");
		this.#longest = Math.max(LONGEST_INNER, 6 * (this.spoken[0]?.length ?? 0));
	}

	/** An error's text, for callers: without secrets, credentials in addresses, and addresses of the inner network. */
	error(text: string): string {
		return this.log(text).replaceAll(INNER_PATTERN, masked);
	}

	/** A text for the operator's log: without secrets. */
	log(text: string): string {
		return this.#inErrors.reduce((rest, secret) => rest.replaceAll(secret, MASKED_SECRET), text);
	}

	/** JSON, or a part of it, of an answer: without this upstream's own secrets. */
	answer(text: string): string {
		if (this.#pattern === null) return text;
		let rest = text;
		for (const secret of this.#inJson) if (rest.includes(secret)) rest = rest.replaceAll(secret, MASKED_SECRET);
		return rest.includes("\\u") ? rest.replaceAll(this.#pattern, MASKED_SECRET) : rest;
	}

	/** The same of the bytes of a whole answer; the same object where there is nothing to mask. */
	async answerBytes(bytes: Uint8Array): Promise<Uint8Array> {
		if (this.#pattern === null) return bytes;
		const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		if (!this.#inJson.some((secret) => buffer.includes(secret)) && !buffer.includes("\\u")) return bytes;
		return this.#masked(buffer, this.#pattern);
	}

	/** JSON of an error, for callers: without this upstream's own secrets, and what else `error` takes out. */
	errorBytes(bytes: Uint8Array): Promise<Uint8Array> {
		return this.#masked(bytes, this.#errorPattern);
	}

	/** The same of an error that is read as it comes. */
	errorPieces(): TransformStream<Uint8Array, Uint8Array> {
		const mask = new PieceMask(this.#errorPattern, masked, this.#longest);
		return new TransformStream({
			transform: (piece, controller) => controller.enqueue(mask.take(piece)),
			flush: (controller) => controller.enqueue(mask.end()),
		});
	}

	async #masked(bytes: Uint8Array, pattern: RegExp): Promise<Uint8Array> {
		const mask = new PieceMask(pattern, masked, this.#longest);
		const pieces: Uint8Array[] = [];
		for (let at = 0; at < bytes.length; at += STEP_BYTES) {
			if (at > 0) await nextTurn();
			pieces.push(mask.take(bytes.subarray(at, at + STEP_BYTES)));
		}
		return Buffer.concat([...pieces, mask.end()]);
	}
}

function masked(...match: readonly unknown[]): string {
	const groups = match.at(-1) as Readonly<Record<string, unknown>> | string | undefined;
	if (typeof groups !== "object") return MASKED_SECRET;
	if (groups.credentials !== undefined) return `//${MASKED_SECRET}@`;
	return groups.address === undefined ? MASKED_SECRET : MASKED_ADDRESS;
}

export const NO_SECRETS = new SecretMask([], []);

/** A secret as it is, and as JSON writes it: some servers write a slash with a backslash before it. */
function spellings(secret: string): string[] {
	const inJson = JSON.stringify(secret).slice(1, -1);
	return [secret, inJson, inJson.replaceAll("/", "\\/")];
}

/**
 * A pattern of a secret, each of its characters as it is or escaped (RFC 8259, 7): `A` is also `\\u0041`. It is compared with
 * bytes too, so beyond ASCII a character may also be its bytes.
 */
function anySpelling(secret: string): string {
	return [...secret]
		.map((character) => {
			const plain = [character, JSON.stringify(character).slice(1, -1), Buffer.from(character).toString("latin1")];
			if (character === "/") plain.push("\\/");
			return `(?:${[...new Set(plain)].map(quoted).join("|")}|${escapes(character)})`;
		})
		.join("");
}

function escapes(character: string): string {
	return Array.from({ length: character.length }, (_, index) => {
		const digits = character.charCodeAt(index).toString(16).padStart(4, "0");
		return `\\\\u${digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
	}).join("");
}

const quoted = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16)}`);
