import type { IncomingMessage } from "node:http";
import { PartyCapacity } from "../../fairness/index.ts";
import { type Dial, httpGet } from "./http-get.ts";
import { type PublicAnswer, type PublicFetch, PublicFetchFault, type PublicGet } from "./port.ts";
import { publicTarget, type Target } from "./public-url.ts";
import { ACCEPT_ENCODING, type BodyListener, readBody } from "./read-body.ts";
import { addressesOf, type Resolve, systemResolve } from "./resolve-host.ts";

export interface PublicFetchOptions {
	/** The user agent that sites see. */
	readonly userAgent: () => string;
	/** Private hosts that are allowed, as `host` or `host:port`. */
	readonly trustedHosts: () => readonly string[];
	/** Default: the system's resolver. */
	readonly resolve?: Resolve;
	/** Default: a direct connection. */
	readonly dial?: Dial;
	/** Default: the system's certificates. */
	readonly ca?: string;
	/** Maximum bytes of all readings under way; each tenant has a share. Default 256 MiB. */
	readonly maxBytesInFlight?: number;
}

export const MAX_REDIRECTS = 5;
const TOTAL_MS = 20_000;
const IDLE_MS = 10_000;
const MAX_BYTES_IN_FLIGHT = 256 * 2 ** 20;
/** Time limit for each address of a host while there is another one to try. */
const CONNECT_MS = 5_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Creates a reader of addresses in the public internet. It resolves each host, checks each of its addresses, and
 * connects to exactly the checked one. A name that changes its address gains nothing.
 */
export function createPublicFetch(options: PublicFetchOptions): PublicFetch {
	const memory = new PartyCapacity(options.maxBytesInFlight ?? MAX_BYTES_IN_FLIGHT);
	const get = (url: string, request: PublicGet) => new Reading(options, request, memory).run(url);
	return {
		get,
		async read(url, request) {
			const answer = await get(url, request);
			if (answer.status >= 200 && answer.status < 300) return answer;
			throw new PublicFetchFault("status", `${new URL(answer.url).host} answers ${answer.status}`);
		},
	};
}

/** One reading, with its redirects and time limits. */
class Reading implements BodyListener {
	readonly #options: PublicFetchOptions;
	readonly #request: PublicGet;
	readonly #end = new AbortController();
	readonly #memory: PartyCapacity;
	#idle: ReturnType<typeof setTimeout> | undefined;
	#heldBytes = 0;

	constructor(options: PublicFetchOptions, request: PublicGet, memory: PartyCapacity) {
		this.#options = options;
		this.#request = request;
		this.#memory = memory;
	}

	async run(first: string): Promise<PublicAnswer> {
		const { signal, totalMs = TOTAL_MS } = this.#request;
		signal.throwIfAborted();
		const leave = () => this.#end.abort(signal.reason);
		signal.addEventListener("abort", leave, { once: true });
		const total = setTimeout(() => this.#end.abort(tooLate(totalMs)), totalMs);
		this.#restartIdle();
		try {
			return await this.#follow(first);
		} finally {
			clearTimeout(total);
			clearTimeout(this.#idle);
			signal.removeEventListener("abort", leave);
			this.#memory.giveBack(this.#request.tenant, this.#heldBytes);
		}
	}

	async #follow(first: string): Promise<PublicAnswer> {
		const trusted = new Set(this.#options.trustedHosts());
		let url = first;
		for (let redirects = 0; ; redirects += 1) {
			const target = publicTarget(url, trusted);
			// `allow` has time limits of its own.
			clearTimeout(this.#idle);
			await this.#inTime(this.#request.allow?.(target.url));
			this.#restartIdle();
			const message = await this.#open(target);
			const { location } = message.headers;
			if (!REDIRECTS.has(message.statusCode ?? 0) || location === undefined) return await this.#answer(target, message);
			message.destroy();
			if (redirects === MAX_REDIRECTS) throw new PublicFetchFault("redirects", `More than ${MAX_REDIRECTS} redirects`);
			const next = URL.parse(location, target.url.href);
			if (next === null) throw new PublicFetchFault("redirects", `${target.host} redirects to something that is not a URL`);
			url = next.href;
		}
	}

	/** Returns the answer's headers from the first address of the host that accepts a connection. */
	async #open(target: Target): Promise<IncomingMessage> {
		const { resolve = systemResolve, dial = (host, port) => ({ host, port }), ca, userAgent } = this.#options;
		const addresses = await this.#inTime(addressesOf(target, resolve));
		const headers = {
			"user-agent": userAgent(),
			accept: this.#request.accept ?? "*/*",
			"accept-encoding": ACCEPT_ENCODING,
			connection: "close",
		};
		for (const [index, address] of addresses.entries()) {
			this.#restartIdle();
			const isLast = index === addresses.length - 1;
			const attempt = new AbortController();
			const timer = isLast ? undefined : setTimeout(() => attempt.abort(), CONNECT_MS);
			const signal = AbortSignal.any([this.#end.signal, attempt.signal]);
			try {
				const message = await httpGet({ target, address, headers, signal, dial, ...(ca === undefined ? {} : { ca }) });
				this.#restartIdle();
				return message;
			} catch (fault) {
				if (isLast || this.#end.signal.aborted) throw fault;
			} finally {
				clearTimeout(timer);
			}
		}
		throw new PublicFetchFault("unreachable", `${target.host} cannot be reached`);
	}

	async #answer(target: Target, message: IncomingMessage): Promise<PublicAnswer> {
		const status = message.statusCode ?? 0;
		const headers = new Map<string, string>();
		for (const [name, value] of Object.entries(message.headers))
			if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
		const isGood = status >= 200 && status < 300;
		try {
			const bytes = isGood ? await readBody(message, this.#request, this.#end.signal, this) : new Uint8Array();
			return { url: target.url.href, status, headers, bytes };
		} finally {
			message.destroy();
		}
	}

	onBytes(): void {
		this.#restartIdle();
	}

	onHeldBytes(bytes: number): void {
		if (this.#memory.take(this.#request.tenant, bytes, this.#heldBytes) !== "taken")
			throw new PublicFetchFault("busy", "Too much is being read right now; try again shortly");
		this.#heldBytes += bytes;
	}

	/** Restarts the idle timer. */
	#restartIdle(): void {
		const { idleMs = IDLE_MS } = this.#request;
		clearTimeout(this.#idle);
		this.#idle = setTimeout(() => this.#end.abort(tooSilent(idleMs)), idleMs);
	}

	/** Waits for work, but no longer than the reading lasts. */
	#inTime<T>(work: T | Promise<T>): Promise<T> {
		const { signal } = this.#end;
		signal.throwIfAborted();
		return new Promise((resolve, reject) => {
			const leave = () => reject(signal.reason);
			signal.addEventListener("abort", leave, { once: true });
			Promise.resolve(work)
				.then(resolve, reject)
				.finally(() => signal.removeEventListener("abort", leave));
		});
	}
}

const tooLate = (ms: number) => new PublicFetchFault("timeout", `The address did not answer whole within ${ms / 1_000} s`);
const tooSilent = (ms: number) => new PublicFetchFault("timeout", `The address was silent for ${ms / 1_000} s`);
