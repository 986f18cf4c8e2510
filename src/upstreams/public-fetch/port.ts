import type { Requester } from "../../fairness/index.ts";

/** Reading public addresses that callers name: what routes and engines hand in and get. */
export interface PublicFetch {
	/**
	 * Reads a public http(s) address with GET; follows at most five redirects, each checked like the first.
	 * The body of an answer that is no 2xx is not read. Nothing of a caller goes along: no cookie, no credential.
	 * @throws PublicFetchFault; what `signal` aborts with
	 */
	get(url: string, options: PublicGet): Promise<PublicAnswer>;
	/** Like `get`, and an answer that is no 2xx is a fault (`status`). */
	read(url: string, options: PublicGet): Promise<PublicAnswer>;
}

export interface PublicGet extends Requester {
	/** Of the body as it is after decompression, and of what the header declares. */
	readonly maxBytes: number;
	/** True: of a longer body the first `maxBytes` are the answer. Default false: it is a fault. */
	readonly cutOff?: boolean;
	/** For everything: names, redirects, headers, body. Default 20 s. */
	readonly totalMs?: number;
	/** Silence, also before the first byte. Default 10 s. */
	readonly idleMs?: number;
	/** The Accept header. */
	readonly accept?: string;
	/** Is asked before each address is read, redirects too; what it throws ends the reading. */
	readonly allow?: (url: URL) => void | Promise<void>;
}

export interface PublicAnswer {
	/** Where it came from, after redirects. */
	readonly url: string;
	readonly status: number;
	/** Lower-case names; repeated headers are joined with ", ". */
	readonly headers: ReadonlyMap<string, string>;
	/** Decompressed. */
	readonly bytes: Uint8Array<ArrayBuffer>;
}

export type PublicFetchFaultKind =
	/** No absolute http(s) URL, or one with a user name or an unusual port. */
	| "url"
	/** A host of this machine, of a private network, or reserved. */
	| "private"
	/** The host's name is not known. */
	| "unknown_host"
	/** No connection, a bad certificate, or one that broke off. */
	| "unreachable"
	/** Past `totalMs` or `idleMs`. */
	| "timeout"
	| "too_large"
	| "redirects"
	/** An answer that is no 2xx. */
	| "status"
	/** A body that does not decompress, or in an encoding that was not asked for. */
	| "encoding"
	/** All readings together hold too much: nothing is wrong with the address. */
	| "busy";

/** Why an address was not read. The text may go to the caller. */
export class PublicFetchFault extends Error {
	override readonly name = "PublicFetchFault";
	readonly kind: PublicFetchFaultKind;

	constructor(kind: PublicFetchFaultKind, message: string, cause?: unknown) {
		super(message, cause === undefined ? undefined : { cause });
		this.kind = kind;
	}
}
