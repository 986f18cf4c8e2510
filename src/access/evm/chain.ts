import type { Hex } from "viem";
import { ChainError, ChainRefusedError, WrongChainError } from "./chain-errors.ts";

/** The number of a block, or the newest one. */
export type BlockName = number | "latest";

export interface Block {
	readonly number: number;
	readonly hash: string;
	/** Unix seconds. */
	readonly timestamp: number;
}

export interface ChainOptions {
	/** The expected answer of eth_chainId. */
	readonly id: number;
	readonly rpcUrl: string;
	/** Limit for each attempt of a call. */
	readonly timeoutMs: number;
	/** Additional headers of every call. */
	readonly headers?: Readonly<Record<string, string>>;
}

/** Attempts after the first one: a busy or unreachable node is called again, a refusal is final. */
const RETRIES = 2;
const RETRY_MS = 200;

type Request = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * A chain of the Ethereum family, read over JSON-RPC. The first call checks the chain id.
 * @throws {ChainError} from every method: `WrongChainError` for another chain, `ChainRefusedError` if the node answers with an
 * error
 */
export class Chain {
	readonly #options: ChainOptions;
	#request: Promise<Request> | null = null;
	#checked: Promise<void> | null = null;

	constructor(options: ChainOptions) {
		this.#options = options;
	}

	/** Checks the node's chain id again. */
	checkId(): Promise<void> {
		const checking = this.#idIsRight();
		this.#checked = checking;
		checking.catch(() => {
			if (this.#checked === checking) this.#checked = null;
		});
		return checking;
	}

	/** Returns a block; null if it does not exist yet. */
	async block(name: BlockName): Promise<Block | null> {
		const answer = await this.#ask("eth_getBlockByNumber", [blockParameter(name), false]);
		if (answer === null) return null;
		const { number, hash, timestamp } = answer as Readonly<Record<string, unknown>>;
		return { number: quantity(number), hash: bytes(hash), timestamp: quantity(timestamp) };
	}

	async hasCode(address: string, at: BlockName): Promise<boolean> {
		return bytes(await this.#ask("eth_getCode", [address, blockParameter(at)])) !== "0x";
	}

	/** Returns the result of eth_call. Without `to`, the data is code that is executed and not stored. */
	async call(call: { readonly to?: string; readonly data: Hex }, at: BlockName): Promise<Hex> {
		return bytes(await this.#ask("eth_call", [call, blockParameter(at)]));
	}

	async #idIsRight(): Promise<void> {
		const answer = quantity(await this.#send("eth_chainId", []));
		if (answer !== this.#options.id) throw new WrongChainError(this.#options.id, answer);
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
		const reason = [shortMessage, details].filter(Boolean).join(" ") || "the node cannot be reached";
		const text = `${method}: ${withoutAddress(this.#options.rpcUrl, reason)}`.replaceAll(/\s+/g, " ").slice(0, MAX_TEXT);
		if (typeof code !== "number" || CANNOT_NOW.has(code)) return new ChainError(text);
		return new ChainRefusedError(text, code === REVERTED || /\brevert/i.test(details ?? ""));
	}
}

const MAX_TEXT = 300;
const MIN_SECRET = 8;

/** Removes from a text the node's address and all of its parts that may be secret: user, password, path, query. */
function withoutAddress(address: string, text: string): string {
	const { username, password, pathname, searchParams } = new URL(address);
	const parts = [address, username, password, ...pathname.split("/"), ...searchParams.values()];
	return parts.filter((part) => part.length >= MIN_SECRET).reduce((left, part) => left.replaceAll(part, "(hidden)"), text);
}

/** Unknown and internal errors and too many requests: the node may answer later. */
const CANNOT_NOW: ReadonlySet<number> = new Set([-1, -32603, -32005, -32007, 429]);
/** The error code of an eth_call that reverted (https://ethereum.github.io/execution-apis/). */
const REVERTED = 3;

/** Connects at the first call, because the client library takes some megabytes. */
async function connect({ rpcUrl, timeoutMs, headers }: ChainOptions): Promise<Request> {
	const { createClient, http } = await import("viem");
	const client = createClient({
		transport: http(rpcUrl, {
			timeout: timeoutMs,
			retryCount: RETRIES,
			retryDelay: RETRY_MS,
			// Redirects are not followed: the request, with its tokens, is meant only for the configured address.
			fetchOptions: { redirect: "manual", ...(headers === undefined ? {} : { headers: { ...headers } }) },
		}),
	});
	return (method, params) => client.request({ method, params } as never);
}

function blockParameter(block: BlockName): string {
	return block === "latest" ? block : `0x${block.toString(16)}`;
}

function bytes(answer: unknown): Hex {
	if (typeof answer === "string" && /^0x([0-9a-f]{2})*$/i.test(answer)) return answer as Hex;
	throw new ChainError("the chain's node answered with something that is not bytes");
}

function quantity(answer: unknown): number {
	const value = typeof answer === "string" && /^0x[0-9a-f]{1,16}$/i.test(answer) ? Number(answer) : Number.NaN;
	if (!Number.isSafeInteger(value)) throw new ChainError("the chain's node answered with something that is not a whole number");
	return value;
}
