/**
 * Removes the operator's secrets from upstreams' texts: servers quote headers and addresses, in errors and in answers.
 */
import { nextTurn } from "../wire/index.ts";
import { innerPattern, LONGEST_INNER } from "./inner-addresses.ts";
import { JsonTextMask } from "./json-text-mask.ts";
import { PieceMask } from "./piece-mask.ts";
import { PieceSecrets } from "./piece-secrets.ts";

export const MASKED_SECRET = "[secret]";
const MASKED_ADDRESS = "[address]";

/** Shorter values are ordinary words. */
const LEAST_IN_ERRORS = 4;
/** In models' answers only values are masked that cannot occur by chance. */
const LEAST_IN_ANSWERS = 12;

/** Bytes masked in one turn of the event loop. */
const STEP_BYTES = 32 * 1_024;
/** Bytes searched for plain secrets in one turn. */
const SEARCH_BYTES = 4 * 1_048_576;

export class SecretMask {
	/** Secrets that this upstream is sent and may repeat, longest first. */
	readonly ownSecrets: readonly string[];
	readonly #inErrors: readonly string[];
	/** The same secrets as JSON writes them; with a backslash more in other spellings, which the pattern knows. */
	readonly #inJson: readonly string[];
	readonly #pattern: RegExp | null;
	readonly #errorPattern: RegExp;
	/** Maximum length of a match. */
	readonly #longest: number;

	/**
	 * @param own secrets that this upstream is sent, and may repeat
	 * @param all secrets of every upstream: no error may contain one
	 * @param hosts names of servers: no error may contain those of the inner network
	 */
	constructor(own: readonly string[], all: readonly string[], hosts: readonly string[] = []) {
		// The longer comes first, since a secret may contain another.
		const longFirst = (secrets: readonly string[], least: number) =>
			[...new Set(secrets)].filter(({ length }) => length >= least).sort((a, b) => b.length - a.length);
		this.#inErrors = longFirst([...own, ...all], LEAST_IN_ERRORS);
		this.ownSecrets = longFirst(own, LEAST_IN_ANSWERS);
		this.#inJson = longFirst(this.ownSecrets.flatMap(spellings), LEAST_IN_ANSWERS);
		const secrets = this.ownSecrets.map(anySpelling).join("|");
		this.#pattern = secrets === "" ? null : new RegExp(secrets, "g");
		const patterns = [...anyOf(this.#inErrors.flatMap(forms)), innerPattern(hosts)].join("|");
		this.#errorPattern = new RegExp(patterns, "gi");
		this.#longest = Math.max(LONGEST_INNER, 6 * (this.#inErrors[0]?.length ?? 0));
	}

	/**
	 * Returns an error's text for callers, without secrets, credentials in addresses, and addresses of the inner network.
	 */
	error(text: string): string {
		return text.replaceAll(this.#errorPattern, replacementOf);
	}

	/** Returns a text for the operator's log, without secrets. */
	log(text: string): string {
		return this.#inErrors.reduce((rest, secret) => rest.replaceAll(secret, MASKED_SECRET), text);
	}

	/** Returns JSON, or a part of it, of an answer, without this upstream's own secrets. */
	answer(text: string): string {
		if (this.#pattern === null) return text;
		let rest = text;
		for (const secret of this.#inJson) if (rest.includes(secret)) rest = rest.replaceAll(secret, MASKED_SECRET);
		return rest.includes("\\u") ? rest.replaceAll(this.#pattern, MASKED_SECRET) : rest;
	}

	/** Masks the bytes of a whole answer; returns the same object if there is nothing to mask. */
	async answerBytes(bytes: Uint8Array): Promise<Uint8Array> {
		if (this.#pattern === null || !(await this.#suspects(bytes))) return bytes;
		return this.#maskBytes(bytes, this.#pattern);
	}

	/** Masks an answer in pieces; null if there is nothing to look for. */
	answerPieces(): PieceSecrets | null {
		return this.#pattern === null ? null : new PieceSecrets(this.#inJson, this.#pattern, replacementOf);
	}

	/** Masks sound in pieces, keeping its length. */
	soundPieces(): PieceSecrets | null {
		const hidden = (secret: unknown) => "*".repeat(String(secret).length);
		return this.#pattern === null ? null : new PieceSecrets(this.#inJson, this.#pattern, hidden);
	}

	async #suspects(bytes: Uint8Array): Promise<boolean> {
		for (let at = 0; at < bytes.length; at += SEARCH_BYTES) {
			if (at > 0) await nextTurn();
			const length = Math.min(SEARCH_BYTES + this.#longest, bytes.length - at);
			const step = Buffer.from(bytes.buffer, bytes.byteOffset + at, length);
			if (this.#inJson.some((secret) => step.includes(secret)) || step.includes("\\u")) return true;
		}
		return false;
	}

	/** Returns an error's JSON for callers, masked as `error` does; the same object if there is nothing to mask. */
	async errorBytes(bytes: Uint8Array): Promise<Uint8Array> {
		let isMasked = false;
		const mask = this.#errorMask(() => {
			isMasked = true;
		});
		const pieces = await inSteps(bytes, (piece) => mask.take(piece));
		pieces.push(mask.end());
		return isMasked ? Buffer.concat(pieces) : bytes;
	}

	/** Masks an error in pieces. */
	errorPieces(): TransformStream<Uint8Array, Uint8Array> {
		const mask = this.#errorMask(() => {});
		return new TransformStream({
			async transform(piece, controller) {
				for (const step of await inSteps(piece, (part) => mask.take(part))) controller.enqueue(step);
			},
			flush: (controller) => controller.enqueue(mask.end()),
		});
	}

	#errorMask(onMasked: () => void): JsonTextMask {
		const replace = (...match: readonly unknown[]) => {
			onMasked();
			return replacementOf(...match);
		};
		return new JsonTextMask(new PieceMask(this.#errorPattern, replace, this.#longest));
	}

	async #maskBytes(bytes: Uint8Array, pattern: RegExp): Promise<Uint8Array> {
		const mask = new PieceMask(pattern, replacementOf, this.#longest);
		const pieces = await inSteps(bytes, (piece) => mask.take(Buffer.from(piece).toString("latin1")));
		return Buffer.from([...pieces, mask.end()].join(""), "latin1");
	}
}

/** Processes bytes step by step, in turns of the event loop. */
async function inSteps<T>(bytes: Uint8Array, work: (step: Uint8Array) => T): Promise<T[]> {
	const done: T[] = [];
	for (let at = 0; at < bytes.length; at += STEP_BYTES) {
		if (at > 0) await nextTurn();
		done.push(work(bytes.subarray(at, at + STEP_BYTES)));
	}
	return done;
}

function replacementOf(...match: readonly unknown[]): string {
	const groups = match.at(-1) as Readonly<Record<string, unknown>> | string | undefined;
	if (typeof groups !== "object") return MASKED_SECRET;
	if (groups.credentials !== undefined) return `//${MASKED_SECRET}@`;
	if (groups.bare !== undefined) return `${MASKED_SECRET}@`;
	return groups.address === undefined ? MASKED_SECRET : MASKED_ADDRESS;
}

export const NO_SECRETS = new SecretMask([], []);

/** Returns the spellings of a secret in a text, whose bytes may stand for characters, and in nested JSON text. */
function forms(secret: string): string[] {
	const bytes = [...secret].map((sign) => (sign < "\u0100" ? Buffer.from(sign).toString("latin1") : sign)).join("");
	return [...spellings(secret), Buffer.from(secret).toString("latin1"), bytes];
}

type Trie = Map<string, Trie>;

/**
 * Returns one pattern for many texts that matches in linear time, even if they begin alike; none if there is no
 * text.
 */
function anyOf(texts: readonly string[]): string[] {
	const root: Trie = new Map();
	for (const text of texts) {
		let at = root;
		for (const sign of text) {
			const next = at.get(sign) ?? new Map<string, Trie>();
			at.set(sign, next);
			at = next;
		}
		at.set("", new Map());
	}
	const written = (trie: Trie): string => {
		const [only, another] = trie;
		if (only !== undefined && another === undefined) return only[0] === "" ? "" : quoted(only[0]) + written(only[1]);
		// The longer comes first, since a secret may begin with another.
		const ways = [...trie].sort(([a], [b]) => b.length - a.length).map(([sign, rest]) => quoted(sign) + written(rest));
		return `(?:${ways.join("|")})`;
	};
	return texts.length === 0 ? [] : [written(root)];
}

/** Returns a secret plain, and as JSON writes it: some servers escape a slash by a backslash. */
function spellings(secret: string): string[] {
	const inJson = JSON.stringify(secret).slice(1, -1);
	return [secret, inJson, inJson.replaceAll("/", "\\/")];
}

/**
 * Returns a pattern of a secret, each of its characters plain or escaped (RFC 8259, 7): `A` is also `\\u0041`. It is
 * matched against bytes too, so beyond ASCII a character may also be its bytes.
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
