import type { Caller, CeilingRequest, CeilingResult, Hold, HoldContext } from "../budgets/port.ts";
import { linesNano, serviceParametersEcho } from "../catalog/index.ts";
import { ApiError } from "../errors/index.ts";
import type { Call } from "../server/call.ts";
import type { Admission, AdmissionRate, MeteredAnswer, Settlement } from "../server/endpoint.ts";
import type { ChatForward } from "../upstreams/chat/port.ts";
import type { AdmittedChat } from "./admitted-chat.ts";
import type { AnswerForm } from "./answer-form.ts";
import { answerStreamed } from "./answer-streamed.ts";
import { answerWhole } from "./answer-whole.ts";
import { bodyEdits, callerMaxTokens } from "./body-edits.ts";
import { highestRates } from "./charge.ts";
import type { ChatDeps } from "./chat-deps.ts";
import type { ChatInput } from "./chat-input.ts";
import { type CheckedChat, chatRate, checkChat } from "./check-chat.ts";
import { requireCountInContext, requireInContext } from "./context-limit.ts";
import { ChatMeter, type SourcePrice } from "./meter.ts";
import { preparationSettings, streamEcho, xResultPrice } from "./preparation.ts";
import type { PreparedChat } from "./prepare.ts";
import { type PromptPlan, planPrompt } from "./prompt-plan.ts";
import { Receipt } from "./sealed/receipts.ts";
import { thinkingPlan } from "./thinking.ts";

/** Maximum number of tokens that a second request adds to the prompt, where the first answer missed its format. */
const COMPLAINT_TOKENS = 3_000;
/** Used if the context length is unknown: large enough never to be a limit. */
const UNKNOWN_CONTEXT = 1_000_000_000;

/**
 * Checks a chat request (model, options, messages, capabilities) and returns its admission. Reaches no upstream.
 *
 * @throws {ApiError} the errors of docs/chat.md
 */
export function admitChat(input: ChatInput, call: Call, deps: ChatDeps, form: AnswerForm): Admission {
	return new ChatAdmission(checkChat(input, call, deps, form), call, deps, form);
}

/** A checked chat request on its way through the pipeline: first its hold, then its work. */
class ChatAdmission implements Admission {
	readonly model: string;
	readonly rate: AdmissionRate;
	readonly #checked: CheckedChat;
	readonly #call: Call;
	readonly #deps: ChatDeps;
	readonly #form: AnswerForm;
	/** The price of results that the upstream's own search may find; undefined if it does not search. */
	readonly #sources: SourcePrice | undefined;
	readonly #modelMaxTokens: number;
	#plan: PromptPlan;
	#prepared: PreparedChat | null = null;
	#receipt: Receipt | null = null;
	#ceiling: CeilingResult | undefined;

	constructor(checked: CheckedChat, call: Call, deps: ChatDeps, form: AnswerForm) {
		const { input, model, options, contents, config } = checked;
		this.#checked = checked;
		this.#call = call;
		this.#deps = deps;
		this.#form = form;
		this.#plan = planPrompt(checked, input, contents);
		const { size } = this.#plan;
		requireInContext(model, size.atLeast);
		this.#sources = options.enable_x_search ? xResultPrice(config.web) : undefined;
		this.#modelMaxTokens = model.maxCompletionTokens ?? config.limits.maxCompletionTokens;
		this.model = model.id;
		this.rate = chatRate(checked, call, size.atMost);
	}

	async hold(context: HoldContext): Promise<Hold> {
		const { caller } = this.#call;
		if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
		const { input, model } = this.#checked;
		// The receipt hashes the body as received: reading its files overwrites it.
		if (this.#form.takesSealed === true && model.capabilities.supportsTeeAttestation)
			this.#receipt = await Receipt.of(this.#deps.receipts, caller.account.id, model, input);
		await this.#prepare(caller, context);
		const request = await this.#ceilingRequest();
		this.#ceiling = await this.#deps.budgets.holdCeiling(caller, context, request);
		return this.#ceiling.hold;
	}

	async work(settlement: Settlement): Promise<MeteredAnswer> {
		const { input, sealed, config } = this.#checked;
		const sealedForward = sealed === null ? undefined : await sealed.forward(this.#deps.attestations, this.#call.signal);
		const maxTokens = this.#maxTokens(settlement);
		const meter = this.#newMeter(settlement, maxTokens);
		const chat = this.#admittedChat(meter, maxTokens, this.#forward(meter, sealedForward));
		if (input.body.stream !== true) return answerWhole(chat, this.#deps.upstreams, this.#form);
		return answerStreamed(chat, this.#deps.upstreams, settlement, config.stream, this.#form);
	}

	/**
	 * Reads files and pages and searches the web where the request needs it, then plans the prompt again with the
	 * results.
	 */
	async #prepare(caller: Caller, context: HoldContext): Promise<void> {
		const { input, model, contents, options, config } = this.#checked;
		const settings = preparationSettings(contents, options);
		if (settings === null) return;
		const { prepareChat } = await import("./prepare.ts");
		const { members, size } = this.#plan;
		const prices = config.web;
		this.#prepared = await prepareChat({
			input,
			members,
			size,
			settings,
			model,
			prices,
			caller,
			context,
			call: this.#call,
			deps: this.#deps,
		});
		this.#plan = planPrompt(this.#checked, this.#prepared.input, { ...contents, files: [], fileDataBytes: 0 });
	}

	/**
	 * Returns the worst case to hold.
	 * @throws {ApiError} TOO_MANY_TOKENS if the counted prompt exceeds the context
	 */
	async #ceilingRequest(): Promise<CeilingRequest> {
		const { input, model, sealed, format } = this.#checked;
		const { size, overheadTokens, text } = this.#plan;
		const count = once(() => text().tokens((counted) => this.#countTokens(counted)));
		// A sealed prompt cannot be counted here.
		if (sealed === null) await requireCountInContext(model, size, count);
		const again = format === null ? 0 : this.#modelMaxTokens + COMPLAINT_TOKENS;
		const rates = highestRates(model.prices, size.atMost + again);
		const fixedNano = this.#fixedNano();
		return {
			promptTokensBound: size.atMost + (format === null ? 0 : COMPLAINT_TOKENS),
			promptTokensAtLeast: size.atLeast,
			countPromptTokens: async () => (await count()) + overheadTokens,
			callerMaxTokens: callerMaxTokens(input.body),
			modelMaxTokens: this.#modelMaxTokens,
			contextTokens: model.contextTokens ?? UNKNOWN_CONTEXT,
			choices: input.body.n ?? 1,
			...(format === null ? { inputPrice: rates.input, outputPrice: rates.output } : ratesOfTwo(rates)),
			...(fixedNano === undefined ? {} : { fixedNano }),
		};
	}

	/** Returns what is held beside the tokens, in nano-USD; undefined for plain chat. */
	#fixedNano(): ReturnType<typeof linesNano> | undefined {
		const sources = this.#sources;
		if (this.#prepared === null && sources === undefined) return undefined;
		return linesNano([
			...(this.#prepared?.costs ?? []),
			...(sources === undefined ? [] : [{ ...sources, units: sources.atMost }]),
		]);
	}

	/**
	 * Returns the maximum of output tokens of a choice: the ceiling's where tokens are priced, else what caller and model
	 * allow.
	 */
	#maxTokens({ heldNano }: Settlement): number | null {
		const { input, model } = this.#checked;
		const isPriced = heldNano > (this.#fixedNano() ?? 0);
		if (isPriced && this.#ceiling !== undefined) return this.#ceiling.maxTokens;
		return callerMaxTokens(input.body) ?? model.maxCompletionTokens;
	}

	#newMeter(settlement: Settlement, maxTokens: number | null): ChatMeter {
		const { input, model } = this.#checked;
		return new ChatMeter({
			model,
			settlement,
			choices: input.body.n ?? 1,
			maxTokens,
			countTokens: (counted) => this.#countTokens(counted),
			promptText: this.#plan.text,
			promptOverheadTokens: this.#plan.overheadTokens,
			earlierWork: this.#prepared?.earlierWork,
			sources: this.#sources,
		});
	}

	#admittedChat(meter: ChatMeter, maxTokens: number | null, forward: ChatForward): AdmittedChat {
		const { input, model, options, sealed, format, disableThinking } = this.#checked;
		const web = this.#prepared?.web ?? null;
		const strip = options.strip_thinking_response || options.disable_thinking;
		return {
			call: this.#call,
			model,
			meter,
			forward,
			echo: serviceParametersEcho(options, web?.sources),
			thinking: sealed === null ? thinkingPlan(model, { strip, disabled: disableThinking }) : null,
			format,
			checkSchema: this.#deps.checkSchema,
			includeUsage: input.body.stream_options?.include_usage === true,
			receipt: this.#receipt,
			streamEcho: streamEcho(options, web),
			web: web === null ? null : { sources: web.sources, asDocuments: options.return_search_results_as_documents },
			choices: input.body.n ?? 1,
			maxTokens,
		};
	}

	#forward(meter: ChatMeter, sealed: ChatForward["sealed"]): ChatForward {
		const { model, options, format, systemTexts, disableThinking, imagesFrom } = this.#checked;
		const { input, members } = this.#plan;
		const { supportsReasoningEffort, defaultReasoningEffort } = model.capabilities;
		const { requestId, tenant, signal } = this.#call;
		const choices = this.#checked.input.body.n ?? 1;
		return {
			requestId,
			model,
			raw: input.raw,
			long: input.long,
			members,
			edits: bodyEdits({
				body: input.body,
				raw: input.raw,
				members,
				systemTexts,
				spliceMaxTokens: this.#ceiling?.spliceMaxTokens ?? null,
				disableThinking,
				imagesFrom,
				dropFormat: format !== null,
				searchesX: options.enable_x_search,
				defaultEffort: supportsReasoningEffort === false ? undefined : defaultReasoningEffort,
			}),
			stream: this.#checked.input.body.stream === true,
			choices,
			...(this.#form.isText === true ? { isText: true } : {}),
			sealed,
			tenant,
			signal,
			onSent: (upstream) => {
				meter.sentTo = upstream;
			},
		};
	}

	#countTokens(text: string): Promise<number> {
		return this.#deps.countTokens(text, this.#call.tenant);
	}
}

/** Returns a function that runs the work at the first call, and returns its result at each. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
	let result: Promise<T> | undefined;
	return () => {
		result ??= work();
		return result;
	};
}

/**
 * Returns rates that cover a request and its repetition, whose prompt is the first prompt and answer together. Each
 * prompt token is read twice; each output token is written twice and read once.
 */
function ratesOfTwo({ input, output }: ReturnType<typeof highestRates>): Pick<CeilingRequest, "inputPrice" | "outputPrice"> {
	type Price = CeilingRequest["inputPrice"];
	return { inputPrice: (2 * input) as Price, outputPrice: (2 * output + input) as Price };
}
