import type { Hex } from "viem";
import { ChainError, ChainRefusedError, WrongChainError } from "./chain-errors.ts";

/** Number of a block, or the newest one. */
export type BlockName = number | "latest";

export interface Block {
	readonly number: number;
	readonly hash: string;
	/** Unix seconds. */
	readonly timestamp: number;
}

export interface ChainOptions {
	/** What eth_chainId has to answer. */
	readonly id: number;
	readonly rpcUrl: string;
	/** Each try of a call. */
	readonly timeoutMs: number;
	/** Further headers of every call. */
	readonly headers?: Readonly<Record<string, string>>;
}

/** Tries beside the first one: a node that is busy or cannot be reached is asked again, one that refuses is not. */
const RETRIES = 2;
const RETRY_MS = 200;

type Request = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * A chain of the Ethereum family, read over JSON-RPC. The first question is which chain it is. Every question throws
 * `ChainError`: `WrongChainError` where it is another one, `ChainRefusedError` where the node answers with an error.
 */
export class Chain {
	readonly #options: ChainOptions;
	#request: Promise<Request> | null = null;
	#checked: Promise<void> | null = null;

	constructor(options: ChainOptions) {
		this.#options = options;
	}

	/** Asks the node again which chain it serves. */
	checkId(): Promise<void> {
		const checking = this.#idIsRight();
		this.#checked = checking;
		checking.catch(() => {
			if (this.#checked === checking) this.#checked = null;
		});
		return checking;
	}

	/** null where there is no such block yet. */
	async block(name: BlockName): Promise<Block | null> {
		const found = await this.#ask("eth_getBlockByNumber", [named(name), false]);
		if (found === null) return null;
		const { number, hash, timestamp } = found as Readonly<Record<string, unknown>>;
		return { number: whole(number), hash: bytes(hash), timestamp: whole(timestamp) };
	}

	async hasCode(address: string, at: BlockName): Promise<boolean> {
		return bytes(await this.#ask("eth_getCode", [address, named(at)])) !== "0x";
	}

	/** What a call returns. Without `to` the data is code that is run and not kept. */
	async call(call: { readonly to?: string; readonly data: Hex }, at: BlockName): Promise<Hex> {
		return bytes(await this.#ask("eth_call", [call, named(at)]));
	}

	async #idIsRight(): Promise<void> {
		const found = whole(await this.#send("eth_chainId", []));
		if (found !== this.#options.id) throw new WrongChainError(this.#options.id, found);
	}

	async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
		await (this.#checked ?? this.checkId());
		return this.#send(method, params);
	}

	async #send(method: string, params: readonly unknown[]): Promise<unknown> {
		this.#request ??= connect(this.#options);
		const request = await this.#request;
		try {
			return await request(method, params);
		} catch (error) {
			throw this.#faultOf(method, error);
		}
	}

	#faultOf(method: string, error: unknown): ChainError {
		const { code, shortMessage, details } = error as { code?: unknown; shortMessage?: string; details?: string };
		const said = [shortMessage, details].filter(Boolean).join(" ") || "the node cannot be reached";
		const text = `${method}: ${withoutAddress(this.#options.rpcUrl, said)}`.replaceAll(/\s+/g, " ").slice(0, MAX_TEXT);
		if (typeof code !== "number" || CANNOT_NOW.has(code)) return new ChainError(text);
		return new ChainRefusedError(text, code === REVERTED || /\brevert/i.test(details ?? ""));
	}
}

const MAX_TEXT = 300;
const MIN_SECRET = 8;

/** A text in which neither an address nor what may be a secret in it (user, password, path, query) stands. */
function withoutAddress(address: string, text: string): string {
	const { username, password, pathname, searchParams } = new URL(address);
	const parts = [address, username, password, ...pathname.split("/"), ...searchParams.values()];
	return parts.filter((part) => part.length >= MIN_SECRET).reduce((left, part) => left.replaceAll(part, "(hidden)"), text);
}

/** Unknown and internal errors, too many requests: the node cannot answer now. */
const CANNOT_NOW: ReadonlySet<number> = new Set([-1, -32603, -32005, -32007, 429]);
/** An eth_call that reverted (https://ethereum.github.io/execution-apis/). */
const REVERTED = 3;

/** The client costs some megabytes: it is loaded at the first question. */
async function connect({ rpcUrl, timeoutMs, headers }: ChainOptions): Promise<Request> {
	const { createClient, http } = await import("viem");
	const client = createClient({
		transport: http(rpcUrl, {
			timeout: timeoutMs,
			retryCount: RETRIES,
			retryDelay: RETRY_MS,
			// What is sent, tokens among it, is for the configured address alone.
			fetchOptions: { redirect: "manual", ...(headers === undefined ? {} : { headers: { ...headers } }) },
		}),
	});
	return (method, params) => client.request({ method, params } as never);
}

function named(block: BlockName): string {
	return block === "latest" ? block : `0x${block.toString(16)}`;
}

function bytes(answer: unknown): Hex {
	if (typeof answer === "string" && /^0x([0-9a-f]{2})*$/i.test(answer)) return answer as Hex;
	throw new ChainError("the chain's node answered with something that is no bytes");
}

function whole(answer: unknown): number {
	const value = typeof answer === "string" && /^0x[0-9a-f]{1,16}$/i.test(answer) ? Number(answer) : Number.NaN;
	if (!Number.isSafeInteger(value)) throw new ChainError("the chain's node answered with something that is no whole number");
	return value;
}
