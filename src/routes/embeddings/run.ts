import { EMBEDDED } from "../../catalog/index.ts";
import type { EmbeddingModel, ModelTarget } from "../../catalog/types.ts";
import { tokensOfBytes } from "../../engines/tokens/estimate-tokens.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import { CLIENT_LEFT, CLIENT_LEFT_ANSWER } from "../../server/client-left.ts";
import type { MeteredAnswer, Settlement } from "../../server/endpoint.ts";
import { vectorList, writtenVector } from "../../upstreams/embeddings/vectors.ts";
import { concatInSteps, headerText, inTurns, type LongStrings } from "../../wire/index.ts";
import type { EmbeddingsDeps } from "./deps.ts";
import type { EmbeddingsBody } from "./schema.ts";

/** Longer texts are not counted, which would take too long. */
const MAX_COUNTED_BYTES = 4 * 1_048_576;

export interface EmbeddingOrder {
	readonly body: EmbeddingsBody;
	readonly raw: Uint8Array;
	readonly long: LongStrings;
	/** The texts of `body`. The long ones of a large body are cut. */
	readonly texts: readonly string[];
	/** Bytes of all whole texts. */
	readonly bytes: number;
	/** Upper bound of the tokens. A larger reported count is ignored. */
	readonly mostTokens: number;
	readonly call: Call;
	readonly settlement: Settlement;
	readonly model: EmbeddingModel;
}

interface Vectors {
	/** The `data` of the answer, in pieces. */
	readonly data: readonly Uint8Array[];
	/** Tokens reported with the vectors; null: not reported. */
	readonly tokens: number | null;
}

/** A request after admission and hold. */
export class EmbeddingRun {
	readonly #of: EmbeddingOrder;
	readonly #deps: EmbeddingsDeps;
	/** The upstream that was sent the texts. From then on a caller that leaves is charged. */
	#sentTo: string | null = null;

	constructor(of: EmbeddingOrder, deps: EmbeddingsDeps) {
		this.#of = of;
		this.#deps = deps;
	}

	async answer(): Promise<MeteredAnswer> {
		const { call, model } = this.#of;
		call.suspendIdleTimeout();
		try {
			const { data, tokens } = await this.#vectors();
			const promptTokens = await this.#post(tokens, call.signal.aborted ? CLIENT_LEFT : 200);
			const head = `{"object":"list","model":${JSON.stringify(model.id)},"data":`;
			const tail = `,"usage":{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens}}}`;
			return {
				status: 200,
				type: "application/json",
				body: await inTurns(concatInSteps([Buffer.from(head), ...data, Buffer.from(tail)])),
			};
		} catch (error) {
			if (!call.signal.aborted || this.#sentTo === null) throw error;
			await this.#post(null, CLIENT_LEFT);
			return CLIENT_LEFT_ANSWER;
		} finally {
			call.resumeIdleTimeout();
		}
	}

	/** Makes the vectors with the model's servers and this machine's engine, in the configured order. */
	async #vectors(): Promise<Vectors> {
		const servers = this.#of.model.targets.filter(({ upstream }) => upstream !== EMBEDDED);
		const own = this.#of.model.targets.find(({ upstream }) => upstream === EMBEDDED);
		if (own === undefined || this.#deps.engine === null) return this.#forward(servers);
		if (servers.length === 0 || servers.every(({ order }) => order > own.order)) {
			return this.#orElse(() => this.#embed(), servers.length === 0 ? null : () => this.#forward(servers));
		}
		return this.#orElse(
			() => this.#forward(servers),
			() => this.#embed(),
		);
	}

	/** Runs the second if the first fails without a fault of the request. */
	async #orElse<T>(first: () => Promise<T>, second: (() => Promise<T>) | null): Promise<T> {
		try {
			return await first();
		} catch (error) {
			const isOurs = error instanceof ApiError && (error.status >= 500 || error.code === "MODEL_OVERLOADED");
			if (second === null || !isOurs || this.#of.call.signal.aborted) throw error;
			return second();
		}
	}

	async #forward(targets: readonly ModelTarget[]): Promise<Vectors> {
		const { body, raw, long, texts, call, model } = this.#of;
		const forwarded = this.#deps.upstreams.embed({
			requestId: call.requestId,
			tenant: call.tenant,
			targets,
			raw,
			input: typeof body.input === "string" ? (texts[0] ?? "") : texts,
			long,
			dimensions: body.dimensions,
			modelDimensions: model.embedding.dimensions,
			format: body.encoding_format ?? "float",
			signal: call.signal,
			onSent: (upstream) => {
				this.#sentTo = upstream;
			},
		});
		const answer = await forwarded.catch(throwForInput);
		call.headers["x-service-model-router"] = headerText(answer.upstream);
		if (answer.retries > 0) call.headers["x-retry-count"] = String(answer.retries);
		return answer;
	}

	async #embed(): Promise<Vectors> {
		const { body, long, texts, call } = this.#of;
		const { engine } = this.#deps;
		if (engine === null) throw new ApiError("MODEL_OFFLINE", { param: "model" });
		this.#sentTo = EMBEDDED;
		const whole = texts.map((text) => long.textOf(text));
		const { vectors, tokens } = await engine.embed(whole, call);
		call.headers["x-service-model-router"] = EMBEDDED;
		const format = body.encoding_format ?? "float";
		return { data: vectorList(vectors.map((vector) => writtenVector(vector, format))), tokens };
	}

	/** Counts the tokens; very long texts are estimated by their bytes. */
	async #counted(): Promise<number> {
		const { texts, long, bytes, call } = this.#of;
		if (bytes > MAX_COUNTED_BYTES) return tokensOfBytes(bytes);
		return this.#deps.countTokens(texts.map((text) => long.textOf(text)).join("\n"), call.tenant);
	}

	/** Posts the tokens. If they are null or above the bound, they are counted here. */
	async #post(tokens: number | null, status: number): Promise<number> {
		const { settlement, model, mostTokens } = this.#of;
		const plausible = tokens !== null && tokens <= mostTokens ? tokens : null;
		const promptTokens = plausible ?? (await this.#counted());
		const posted = settlement.post({
			lines: [{ sku: `${model.id}-llm-input-mtoken`, units: promptTokens, picoPrice: model.embedding.tokenPrice }],
			usage: {
				promptTokens,
				completionTokens: 0,
				cachedTokens: 0,
				cacheWriteTokens: 0,
				reasoningTokens: 0,
				counted: plausible === null,
			},
			status,
			upstream: this.#sentTo,
		});
		if (posted === null) throw new ApiError("UNKNOWN_ERROR", { cause: new Error("embeddings were settled twice") });
		return promptTokens;
	}
}

/** Throws an upstream's failure; one that names the field of chat names that of embeddings. */
function throwForInput(error: unknown): never {
	if (error instanceof ApiError && error.code === "TOO_MANY_TOKENS")
		throw new ApiError(error.code, { ...error.options, param: "input" });
	throw error;
}
