import type { Timers } from "../../telemetry/clock.ts";
import { limitedText, NOT_REDIRECTED } from "../exchange.ts";

/** Thrown if the chain's node gave no usable answer. The message contains neither its address nor a secret of it. */
export class ChainUnavailable extends Error {
	override readonly name = "ChainUnavailable";
}

/** Thrown if the node answered with an error. */
export class ChainRefused extends ChainUnavailable {
	readonly reverted: boolean;
	/** The JSON-RPC code; null if the node gave none. */
	readonly code: number | null;

	constructor(message: string, reverted: boolean, code: number | null = null) {
		super(message);
		this.reverted = reverted;
		this.code = code;
	}
}

export interface JsonRpcOptions {
	readonly url: string;
	/** Timeout of each call. */
	readonly timeoutMs: number;
	readonly timers: Timers;
}

/** A larger answer is not read. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** An eth_call that reverted (https://ethereum.github.io/execution-apis/). */
const REVERTED = 3;

/** Makes JSON-RPC calls over HTTP without retries: callers repeat them. */
export class JsonRpc {
	readonly #options: JsonRpcOptions;

	constructor(options: JsonRpcOptions) {
		this.#options = options;
	}

	/** Throws `ChainUnavailable`. */
	async call(method: string, params: readonly unknown[]): Promise<unknown> {
		const { url, timeoutMs, timers } = this.#options;
		const aborter = new AbortController();
		const cancel = timers.after(timeoutMs, () => aborter.abort());
		try {
			const response = await fetch(url, {
				...NOT_REDIRECTED,
				method: "POST",
				headers: { "content-type": "application/json" },
				body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
				signal: aborter.signal,
			});
			const text = await limitedText(response, MAX_ANSWER_BYTES);
			if (text === null) throw new ChainUnavailable("the chain's node answers too much");
			return resultOf(method, response.status, text);
		} catch (error) {
			if (error instanceof ChainUnavailable) throw error;
			throw new ChainUnavailable(`${method}: the chain's node does not answer`);
		} finally {
			cancel();
		}
	}
}

function resultOf(method: string, status: number, text: string): unknown {
	let answer: { readonly result?: unknown; readonly error?: { readonly code?: unknown; readonly message?: unknown } } | null;
	try {
		answer = JSON.parse(text);
	} catch {
		throw new ChainUnavailable(`${method}: the chain's node answers ${status} without JSON`);
	}
	if (typeof answer !== "object" || answer === null) throw new ChainUnavailable(`${method}: not a JSON-RPC answer`);
	const { result, error } = answer;
	if (error !== undefined && error !== null) {
		const errorMessage = typeof error.message === "string" ? error.message : "";
		throw new ChainRefused(
			`${method}: the chain's node refuses (${String(error.code)})`,
			error.code === REVERTED || /\brevert/i.test(errorMessage),
			typeof error.code === "number" ? error.code : null,
		);
	}
	if (result === undefined) throw new ChainUnavailable(`${method}: the answer has no result`);
	return result;
}
