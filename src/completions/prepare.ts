import { createHmac, randomBytes } from "node:crypto";
import type { Caller, ChargeLine, HoldContext, TokenUsage } from "../budgets/port.ts";
import { linesNano, type TextModel } from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import type { Call } from "../server/call.ts";
import { CLIENT_LEFT } from "../server/client-left.ts";
import type { JsonMember } from "../upstreams/chat/port.ts";
import { sliceBySlice } from "../wire/index.ts";
import { chatLines, highestRates } from "./charge.ts";
import type { ChatDeps } from "./chat-deps.ts";
import type { ChatInput } from "./chat-input.ts";
import { type FileText, readFiles } from "./files/read-files.ts";
import type { EarlierWork } from "./meter.ts";
import type { PreparationSettings } from "./preparation.ts";
import type { PromptSize } from "./prompt-size.ts";
import { type ChangedText, changedText, RewrittenInput } from "./rewritten-input.ts";
import {
	type DecisionRequest,
	decideSearch,
	decisionRequest,
	gatherWebResults,
	MAX_PAGES,
	NO_WEB_RESULTS,
	pagesLine,
	plainTextInTurns,
	questionUsage,
	searchLine,
	untrustedTexts,
	urlsIn,
	type WebSource,
} from "./web/index.ts";

export interface PrepareOptions {
	readonly input: ChatInput;
	readonly members: readonly JsonMember[];
	/** Size of the prompt before files and pages are read. */
	readonly size: PromptSize;
	readonly settings: PreparationSettings;
	readonly model: TextModel;
	readonly prices: Config["web"];
	readonly caller: Caller;
	readonly context: HoldContext;
	readonly call: Call;
	readonly deps: Pick<ChatDeps, "budgets" | "upstreams" | "countTokens" | "web">;
}

/** A request that includes the texts of files, pages and search results. */
export interface PreparedChat {
	readonly input: ChatInput;
	readonly earlierWork: EarlierWork;
	/** The charge for the work done, where the request succeeds. */
	readonly costs: readonly ChargeLine[];
	/** null if no page was read and no search gave an answer. */
	readonly web: { readonly sources: readonly WebSource[] } | null;
}

/** Maximum length of a text that is searched for addresses. */
const MAX_URL_TEXT = 100_000;

/**
 * Reads the files, reads or searches the web, and inserts the results into the request (docs/chat.md). Meanwhile the
 * request's minimum cost and the cost of this work are held, so nothing is read for a caller without money. A caller
 * that leaves stops it, and pays for a question already sent to the model; a failure costs nothing.
 * @throws ApiError 402; what is wrong with a file; the abort reason of the call's signal
 */
export async function prepareChat(inputs: PrepareOptions): Promise<PreparedChat> {
	const { call, caller, context, deps } = inputs;
	const run = new PreparationRun(inputs);
	const hold = await deps.budgets.hold(caller, context, run.worstNano);
	call.suspendIdleTimeout();
	try {
		const prepared = await run.prepare();
		call.signal.throwIfAborted();
		return prepared;
	} catch (fault) {
		const { usage, lines, sentTo } = call.signal.aborted ? await run.untilNow() : NOT_ASKED;
		if (usage !== null) await hold.post({ lines, usage, status: CLIENT_LEFT, upstream: sentTo })?.durable;
		throw fault;
	} finally {
		call.resumeIdleTimeout();
		hold.void();
	}
}

const NOT_ASKED = { usage: null, lines: [], sentTo: null } as const;

class PreparationRun {
	readonly worstNano: ReturnType<typeof linesNano>;
	readonly #inputs: PrepareOptions;
	/** Index of the user's latest message; -1: none. */
	readonly #latest: number;
	readonly #userText: string;
	readonly #urls: readonly string[];
	readonly #question: DecisionRequest | null;
	#sentTo: string | null = null;
	#usage: TokenUsage | null = null;
	#lines: readonly ChargeLine[] = [];

	readonly #countTokens = (text: string): Promise<number> => {
		const { deps, call } = this.#inputs;
		return deps.countTokens(text, call.tenant);
	};

	constructor(inputs: PrepareOptions) {
		this.#inputs = inputs;
		const { input, model, settings, prices, size, call } = inputs;
		this.#latest = input.body.messages.findLastIndex(({ role }) => role === "user");
		this.#userText = textOf(input, this.#latest);
		this.#urls = settings.scraping ? urlsIn(this.#userText.slice(0, MAX_URL_TEXT)) : [];
		const searches = this.#urls.length === 0 && settings.search !== "off" && this.#userText.trim() !== "";
		const asksModel = searches && settings.search === "auto";
		this.#question = asksModel ? decisionRequest(input.body, input.long, model, new Date(call.admittedAtMs)) : null;
		const { input: inputPrice, output } = highestRates(model.prices, size.atMost);
		this.worstNano = linesNano([
			{ units: size.atLeast, picoPrice: inputPrice },
			{ units: this.#question?.raw.length ?? 0, picoPrice: inputPrice },
			{ units: this.#question?.maxTokens ?? 0, picoPrice: output },
			pagesLine(prices, Math.min(MAX_PAGES, this.#urls.length)),
			{ ...searchLine(prices), units: searches ? 1 : 0 },
		]);
	}

	async prepare(): Promise<PreparedChat> {
		const { input, members, settings, model, deps, prices, call } = this.#inputs;
		// Positions are found before files are decoded over the body.
		const rewritten = new RewrittenInput(
			input,
			members,
			new Set([...settings.files.map(({ message }) => message), this.#latest]),
		);
		const texts = await readFiles(settings.files, input.long, deps.web, call);
		const query = await this.#query();
		const needsWeb = this.#urls.length > 0 || query !== null;
		const { contextTokens } = model;
		const results = needsWeb
			? await gatherWebResults({ urls: this.#urls, query, cites: settings.cites, contextTokens }, deps.web, prices, call)
			: NO_WEB_RESULTS;
		this.#lines = results.lines;
		const earlierWork = { lines: results.lines, usage: this.#usage };
		return {
			input: rewritten.with({
				texts: await textsByMessage(texts),
				before: results.text === null ? null : { message: this.#latest, text: results.text },
			}),
			earlierWork,
			costs: [...this.#questionLines(), ...results.lines],
			web: results.ran ? { sources: results.sources } : null,
		};
	}

	/** Returns the work done for a caller that has left. */
	async untilNow(): Promise<{ usage: TokenUsage | null; lines: readonly ChargeLine[]; sentTo: string | null }> {
		if (this.#question === null || this.#sentTo === null) return NOT_ASKED;
		this.#usage ??= await questionUsage(this.#question, { countTokens: this.#countTokens });
		return { usage: this.#usage, lines: [...this.#questionLines(), ...this.#lines], sentTo: this.#sentTo };
	}

	/** Returns the query: the user's text, or the model's version of it; null: no search. */
	async #query(): Promise<string | null> {
		const { settings, model, deps, context, call } = this.#inputs;
		if (this.#urls.length > 0 || settings.search === "off" || this.#userText.trim() === "") return null;
		if (this.#question === null) return this.#userText;
		const { query, usage } = await decideSearch(this.#question, model, {
			upstreams: deps.upstreams,
			countTokens: this.#countTokens,
			requestId: context.requestId,
			tenant: call.tenant,
			signal: call.signal,
			onSent: (upstream) => {
				this.#sentTo = upstream;
			},
		});
		this.#usage = usage;
		// A question that failed costs nothing, even where the caller leaves later.
		if (usage === null) this.#sentTo = null;
		return query;
	}

	#questionLines(): ChargeLine[] {
		return this.#usage === null ? [] : chatLines(this.#inputs.model, this.#usage);
	}
}

/** Returns the text of a user's message without its files and media; of a long text the beginning. */
function textOf({ body, long }: ChatInput, index: number): string {
	const message = body.messages[index];
	if (message?.role !== "user") return "";
	if (typeof message.content === "string") return long.startOf(message.content, MAX_URL_TEXT);
	return message.content.flatMap((part) => (part.type === "text" ? long.startOf(part.text, MAX_URL_TEXT) : [])).join("\n");
}

/** Secret for the marks of files, so that nobody outside can guess them. */
const SECRET = randomBytes(32);

/**
 * Returns a file's whole text as the model gets it. The same file always has the same mark, so that prompts can be
 * cached.
 */
async function markedText({ source, text }: FileText): Promise<string> {
	const hash = createHmac("sha256", SECRET).update(`${source}\0`);
	await sliceBySlice(text, (slice) => hash.update(slice));
	const mark = hash.digest("hex").slice(0, 32);
	const plain = await plainTextInTurns(text);
	return untrustedTexts([{ source, text: plain, isPlain: true }], { mark, maxChars: plain.length, maxTotalChars: plain.length });
}

async function textsByMessage(texts: readonly FileText[]): Promise<Map<number, Map<number, ChangedText>>> {
	const byMessage = new Map<number, Map<number, ChangedText>>();
	for (const fileText of texts) {
		const { message, part } = fileText.file;
		const parts = byMessage.get(message) ?? new Map<number, ChangedText>();
		byMessage.set(message, parts.set(part, await changedText(await markedText(fileText))));
	}
	return byMessage;
}
