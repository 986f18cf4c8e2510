import type { Requester } from "../../fairness/index.ts";

/** Reads public addresses that callers name, for routes and engines. */
export interface PublicFetch {
	/**
	 * Reads a public http(s) address with GET and follows at most five redirects, each checked like the first. Only the
	 * body of a 2xx is read. No cookie and no credential is sent.
	 * @throws PublicFetchFault; the signal's reason
	 */
	get(url: string, options: PublicGet): Promise<PublicAnswer>;
	/** Works like `get`, and throws a fault (`status`) if the status is not 2xx. */
	read(url: string, options: PublicGet): Promise<PublicAnswer>;
}

export interface PublicGet extends Requester {
	/** Maximum size of the body after decompression, and of the declared length. */
	readonly maxBytes: number;
	/** True: a longer body is cut to `maxBytes`. Default false: it is a fault. */
	readonly cutOff?: boolean;
	/** Time limit for everything: names, redirects, headers, body. Default 20 s. */
	readonly totalMs?: number;
	/** Limit of a silence, also before the first byte. Default 10 s. */
	readonly idleMs?: number;
	/** The Accept header. */
	readonly accept?: string;
	/** Called before each address is read, redirects too. If it throws, the reading ends. */
	readonly allow?: (url: URL) => void | Promise<void>;
}

export interface PublicAnswer {
	/** The address of the answer, after redirects. */
	readonly url: string;
	readonly status: number;
	/** Names are in lower case; repeated headers are joined with ", ". */
	readonly headers: ReadonlyMap<string, string>;
	/** The decompressed body. */
	readonly bytes: Uint8Array<ArrayBuffer>;
}

export type PublicFetchFaultKind =
	/** Not an absolute http(s) URL, or one with a user name or an unusual port. */
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

/** The reason why an address was not read. Its text may be sent to the caller. */
export class PublicFetchFault extends Error {
	override readonly name = "PublicFetchFault";
	readonly kind: PublicFetchFaultKind;

	constructor(kind: PublicFetchFaultKind, message: string, cause?: unknown) {
		super(message, cause === undefined ? undefined : { cause });
		this.kind = kind;
	}
}
