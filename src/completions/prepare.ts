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
import type { EarlierAttempt } from "./meter.ts";
import type { PreparationSettings } from "./preparation.ts";
import type { PromptSize } from "./prompt-size.ts";
import { type ChangedText, changedText, RewrittenInput } from "./rewritten-input.ts";
import {
	type DecisionRequest,
	decideSearch,
	decisionRequest,
	gatherWebResults,
	MAX_PAGES,
	NOTHING_FOUND,
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
	/** Without what is read yet. */
	readonly size: PromptSize;
	readonly wanted: PreparationSettings;
	readonly model: TextModel;
	readonly prices: Config["web"];
	readonly caller: Caller;
	readonly context: HoldContext;
	readonly call: Call;
	readonly deps: Pick<ChatDeps, "budgets" | "upstreams" | "countTokens" | "web">;
}

/** A request with all that was read and found in it. */
export interface PreparedChat {
	readonly input: ChatInput;
	readonly ran: EarlierAttempt;
	/** What ran costs, where the request succeeds. */
	readonly costs: readonly ChargeLine[];
	/** null where nothing of the web was read, and no search gave an answer. */
	readonly web: { readonly sources: readonly WebSource[] } | null;
}

/** Of a text in which addresses are looked for. */
const MAX_URL_TEXT = 100_000;

/**
 * Reads the files, reads or searches the web, and puts what came into the request (docs/chat.md). The least that the
 * request costs, and what is going to run, is held while it does: a caller without money has nothing read. A caller that
 * leaves stops it, and pays for a question to the model that was on its way; a failure costs nothing.
 * @throws ApiError 402; what is wrong with a file; what the call's signal aborts with
 */
export async function prepareChat(inputs: PrepareOptions): Promise<PreparedChat> {
	const { call, caller, context, deps } = inputs;
	const run = new PreparationRun(inputs);
	const hold = await deps.budgets.hold(caller, context, run.worstNano);
	call.suspendIdleTimeout();
	try {
		const prepared = await run.prepared();
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
	/** The latest message of the user; -1: none. */
	readonly #latest: number;
	readonly #said: string;
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
		const { input, model, wanted, prices, size, call } = inputs;
		this.#latest = input.body.messages.findLastIndex(({ role }) => role === "user");
		this.#said = textOf(input, this.#latest);
		this.#urls = wanted.scraping ? urlsIn(this.#said.slice(0, MAX_URL_TEXT)) : [];
		const searches = this.#urls.length === 0 && wanted.search !== "off" && this.#said.trim() !== "";
		const asks = searches && wanted.search === "auto";
		this.#question = asks ? decisionRequest(input.body, input.long, model, new Date(call.admittedAtMs)) : null;
		const { input: inputPrice, output } = highestRates(model.prices, size.atMost);
		this.worstNano = linesNano([
			{ units: size.atLeast, picoPrice: inputPrice },
			{ units: this.#question?.raw.length ?? 0, picoPrice: inputPrice },
			{ units: this.#question?.maxTokens ?? 0, picoPrice: output },
			pagesLine(prices, Math.min(MAX_PAGES, this.#urls.length)),
			{ ...searchLine(prices), units: searches ? 1 : 0 },
		]);
	}

	async prepared(): Promise<PreparedChat> {
		const { input, members, wanted, model, deps, prices, call } = this.#inputs;
		// Where things stand is found before files are decoded over the body.
		const rewritten = new RewrittenInput(input, members, new Set([...wanted.files.map(({ message }) => message), this.#latest]));
		const texts = await readFiles(wanted.files, input.long, deps.web, call);
		const query = await this.#query();
		const isAsked = this.#urls.length > 0 || query !== null;
		const { contextTokens } = model;
		const found = isAsked
			? await gatherWebResults({ urls: this.#urls, query, cites: wanted.cites, contextTokens }, deps.web, prices, call)
			: NOTHING_FOUND;
		this.#lines = found.lines;
		const ran = { lines: found.lines, usage: this.#usage };
		return {
			input: rewritten.with({
				texts: await textsByMessage(texts),
				before: found.text === null ? null : { message: this.#latest, text: found.text },
			}),
			ran,
			costs: [...this.#askedLines(), ...found.lines],
			web: found.ran ? { sources: found.sources } : null,
		};
	}

	/** What was done for a caller that has left. */
	async untilNow(): Promise<{ usage: TokenUsage | null; lines: readonly ChargeLine[]; sentTo: string | null }> {
		if (this.#question === null || this.#sentTo === null) return NOT_ASKED;
		this.#usage ??= await questionUsage(this.#question, { countTokens: this.#countTokens });
		return { usage: this.#usage, lines: [...this.#askedLines(), ...this.#lines], sentTo: this.#sentTo };
	}

	/** What is searched for: what the user says, or what the model makes of it; null: nothing. */
	async #query(): Promise<string | null> {
		const { wanted, model, deps, context, call } = this.#inputs;
		if (this.#urls.length > 0 || wanted.search === "off" || this.#said.trim() === "") return null;
		if (this.#question === null) return this.#said;
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
		// A question that failed costs nothing, also where the caller leaves later.
		if (usage === null) this.#sentTo = null;
		return query;
	}

	#askedLines(): ChargeLine[] {
		return this.#usage === null ? [] : chatLines(this.#inputs.model, this.#usage);
	}
}

/** What a message of the user says, without its files and media; of a long text the beginning. */
function textOf({ body, long }: ChatInput, index: number): string {
	const message = body.messages[index];
	if (message?.role !== "user") return "";
	if (typeof message.content === "string") return long.startOf(message.content, MAX_URL_TEXT);
	return message.content.flatMap((part) => (part.type === "text" ? long.startOf(part.text, MAX_URL_TEXT) : [])).join("\n");
}

/** For marks of files: nobody outside knows it. */
const SECRET = randomBytes(32);

/** A file's text as the model gets it: whole. The same file has the same mark each time, so that prompts can be cached. */
async function markedText({ source, text }: FileText): Promise<string> {
	const hash = createHmac("sha256", SECRET).update(`${source}\0`);
	await sliceBySlice(text, (slice) => hash.update(slice));
	const mark = hash.digest("hex").slice(0, 32);
	const plain = await plainTextInTurns(text);
	return untrustedTexts([{ source, text: plain, isPlain: true }], { mark, maxChars: plain.length, maxTotalChars: plain.length });
}

async function textsByMessage(texts: readonly FileText[]): Promise<Map<number, Map<number, ChangedText>>> {
	const byMessage = new Map<number, Map<number, ChangedText>>();
	for (const found of texts) {
		const { message, part } = found.file;
		const parts = byMessage.get(message) ?? new Map<number, ChangedText>();
		byMessage.set(message, parts.set(part, await changedText(await markedText(found))));
	}
	return byMessage;
}
