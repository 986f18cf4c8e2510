import type { PreparedAnswer } from "../../budgets/port.ts";
import type { RpcMethod } from "../../catalog/rpc/index.ts";
import { ApiError } from "../../errors/index.ts";
import { CLIENT_LEFT, CLIENT_LEFT_ANSWER } from "../../server/client-left.ts";
import { directStream } from "../../server/direct-stream.ts";
import type { MeteredAnswer } from "../../server/endpoint.ts";
import type { RpcAnswer, RpcOutcome, RpcStream } from "../../upstreams/rpc/port.ts";
import type { Splice } from "../../wire/index.ts";
import { batchAnswer, singleAnswer } from "./answers.ts";
import { batchCredits, costHeaders, ERROR_ITEM_CREDITS, itemCredits } from "./credits.ts";
import type { RpcRunDeps } from "./run-deps.ts";
import { NEVER_ABORTS, SendLog } from "./send-log.ts";
import { streamedAnswer } from "./streamed-answer.ts";

/** Longer answers are not joined: their values stay where they were gathered, on disk where they are long. */
const MAX_JOINED_BYTES = 8 << 20;
const PIECE_BYTES = 256 << 10;

type Answered = Pick<RpcAnswer<unknown>, "upstream" | "retries">;

/** The result of an item that an earlier attempt has sent. */
const NO_UPSTREAM: Answered = { upstream: null, retries: 0 };

/**
 * Does the work of a request: audits its sends, forwards it, posts its cost, and makes its answer. Sends and requests
 * with an idempotency key finish even when their caller leaves, since their outcome is needed later. Other work is
 * stopped at once, and is charged as an error where it had been sent.
 */
export class RpcRun {
	readonly #of: RpcRunDeps;
	readonly #methods: readonly RpcMethod[];
	readonly #log: SendLog;
	#wasSent = false;

	constructor(of: RpcRunDeps) {
		this.#of = of;
		this.#methods = of.items.map((item) => item.method);
		this.#log = new SendLog(of);
	}

	/** Returns the answer. Throws the errors of the upstreams; then nothing is posted and nothing is left open. */
	async answer(): Promise<MeteredAnswer> {
		const { call } = this.#of;
		call.suspendIdleTimeout();
		try {
			await this.#log.begin();
			return await this.#forwarded();
		} catch (error) {
			if (call.signal.aborted && !this.#outlivesCaller && this.#wasSent) return this.#leftBehind();
			throw await this.#log.failed(error);
		} finally {
			call.resumeIdleTimeout();
		}
	}

	get #outlivesCaller(): boolean {
		return this.#of.keyed !== null || this.#log.hasSends;
	}

	async #forwarded(): Promise<MeteredAnswer> {
		const { envelope, items, deps } = this.#of;
		const known = await this.#log.sentBefore();
		const places = items.flatMap((_, index) => (known.has(index) ? [] : [index]));
		const outcomes = items.map((_, index): RpcOutcome => known.get(index) ?? { kind: "missing" });
		if (places.length === 0) return this.#whole(outcomes, NO_UPSTREAM);
		const call = this.#upstreamCall(places);
		if (envelope.batch) {
			const answered = await deps.upstreams.batch(call);
			for (const [place, index] of places.entries()) outcomes[index] = answered.outcome[place] ?? { kind: "missing" };
			return this.#whole(outcomes, answered);
		}
		const answered = await deps.upstreams.single(call);
		const { outcome } = answered;
		return "cancel" in outcome ? this.#streamed(outcome, answered) : this.#whole([outcome], answered);
	}

	#upstreamCall(places: readonly number[]) {
		const { network, call, items } = this.#of;
		this.#log.forwarding(places);
		return {
			network,
			items: places.flatMap((index) => {
				const item = items[index];
				return item === undefined ? [] : [this.#log.withHash(item, index)];
			}),
			requestId: call.requestId,
			tenant: call.tenant,
			signal: this.#outlivesCaller ? NEVER_ABORTS : call.signal,
			onSent: () => {
				this.#wasSent = true;
			},
		};
	}

	/** Posts, and answers with all outcomes. */
	async #whole(outcomes: readonly RpcOutcome[], { upstream, retries }: Answered): Promise<MeteredAnswer> {
		const { envelope, network, keyed, call } = this.#of;
		const credits = batchCredits(network, this.#methods, outcomes);
		const isSend = (index: number) => this.#methods[index]?.send != null;
		const [only] = outcomes;
		const single = !envelope.batch && only !== undefined;
		const answer = single ? singleAnswer(envelope, only) : batchAnswer(envelope, outcomes, isSend);
		const body = answer.byteLength > MAX_JOINED_BYTES ? null : answer.bytes();
		// An answer with a send of unknown outcome is not stored under the key: a retry looks the send up.
		const keeps = keyed !== null && !this.#log.anyUnknown(outcomes);
		const storedAnswer = keeps && body !== null ? await keyed.ticket.prepare({ status: 200, body, note: "" }) : null;
		this.#post(credits, upstream, storedAnswer);
		if (keeps && storedAnswer === null) keyed.ticket.release();
		await this.#log.ended(outcomes);
		return this.#answer(body ?? inPieces(answer, call.signal), credits, retries);
	}

	#streamed(stream: RpcStream, { upstream, retries }: Answered): MeteredAnswer {
		const { envelope, network, keyed, call, settlement } = this.#of;
		const [method] = this.#methods;
		const credits = method === undefined ? ERROR_ITEM_CREDITS : itemCredits(network, method, stream.kind);
		const { body, ended } = streamedAnswer({
			envelope,
			stream,
			signal: call.signal,
			ticket: keyed?.ticket ?? null,
			post: (storedAnswer) => this.#post(credits, upstream, storedAnswer),
			end: () => {
				settlement.void();
				this.#of.credits?.settle(0);
				keyed?.ticket.release();
			},
		});
		return { ...this.#answer(body, credits, retries), ended };
	}

	/** Posts a request that was sent before its caller left: each item costs as much as one without a result. */
	#leftBehind(): MeteredAnswer {
		this.#post(this.#methods.length * ERROR_ITEM_CREDITS, null, null);
		return CLIENT_LEFT_ANSWER;
	}

	/** Posts the credits. Resolves when the post is durable. */
	#post(credits: number, upstream: string | null, storedAnswer: PreparedAnswer | null): Promise<void> {
		const { network, settlement, picoPrice, call } = this.#of;
		const posted = settlement.post({
			lines: [{ sku: `crypto-rpc-${network.slug}-credit`, units: credits, picoPrice }],
			usage: null,
			status: call.signal.aborted ? CLIENT_LEFT : 200,
			upstream,
			storedAnswer,
		});
		if (posted === null) throw new ApiError("UNKNOWN_ERROR", { cause: new Error("a chain call was settled twice") });
		this.#of.credits?.settle(credits);
		return posted.durable;
	}

	#answer(body: NonNullable<MeteredAnswer["body"]>, credits: number, retries: number): MeteredAnswer {
		const headers = costHeaders(credits, this.#of.picoPrice);
		if (retries > 0) headers["x-retry-count"] = String(retries);
		return { status: 200, type: "application/json", body, headers };
	}
}

/** Returns a stream that sends no faster than the caller reads, and ends where the caller leaves. */
function inPieces(answer: Splice, signal: AbortSignal): ReadableStream {
	return directStream(async (sink) => {
		const callerLeft = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
		for (const piece of answer.pieces(PIECE_BYTES)) {
			if (signal.aborted) return;
			const written = sink.write(piece);
			if (typeof written !== "number") await Promise.race([written, callerLeft]);
		}
		sink.close();
	});
}
