import type { CeilingRequest, CeilingResult, HoldContext } from "../budgets/port.ts";
import { linesNano, mergeServiceParameters, serviceParametersEcho, textRateLimit, withinFeatures } from "../catalog/index.ts";
import { ApiError, markUnsupported } from "../errors/index.ts";
import type { Call } from "../server/call.ts";
import type { Admission, Settlement } from "../server/endpoint.ts";
import { recordModel } from "../server/tell-model.ts";
import { topLevelMembers } from "../wire/index.ts";
import type { AnswerForm } from "./answer-form.ts";
import { answerStreamed } from "./answer-streamed.ts";
import { answerWhole } from "./answer-whole.ts";
import { bodyEdits, callerMaxTokens } from "./body-edits.ts";
import { highestRates } from "./charge.ts";
import type { ChatDeps } from "./chat-deps.ts";
import type { ChatInput } from "./chat-input.ts";
import { checkCapabilities, checkMessages, type MessageContents } from "./check-messages.ts";
import { requireCountedRoom, requireRoom } from "./context-limit.ts";
import { formatInstruction, formatToEnforce } from "./enforced-format.ts";
import { firstMessageWithImages } from "./image-messages.ts";
import { ChatMeter } from "./meter.ts";
import { hostedOptions, preparationSettings, streamEcho, xResultPrice } from "./preparation.ts";
import type { PreparedChat } from "./prepare.ts";
import { PromptText, promptOverheadTokens, promptSize } from "./prompt-size.ts";
import { Receipt } from "./sealed/receipts.ts";
import { SealedRequest } from "./sealed/sealed-request.ts";
import type { ChatSession } from "./session.ts";
import { thinkingPlan } from "./thinking.ts";

/** What asking a second time adds to the prompt: fewer, whatever the faults. */
const COMPLAINT_TOKENS = 3_000;
/** A context that nobody has told us of: large enough never to bound anything. */
const UNKNOWN_CONTEXT = 1_000_000_000;

/**
 * A chat request's checks (model, options, messages, capabilities) and what follows them. Throws the errors of
 * docs/chat.md; reaches no upstream.
 */
export function admitChat(input: ChatInput, call: Call, parts: ChatDeps, form: AnswerForm): Admission {
	const { body } = input;
	const config = parts.config();
	const catalog = parts.catalog();
	const resolved = catalog.resolve(body.model, "text", call.admittedAtMs);
	const { model } = resolved;
	const { supportsWebSearch, supportsXSearch } = model.capabilities;
	const hosted = hostedOptions(body.tools, model);
	const given = mergeServiceParameters(body.service_parameters, { ...hosted, ...resolved.suffix });
	const { headers } = call.request;
	const sealed = markUnsupported(model.id, () => SealedRequest.of({ input, headers, model, options: given, form }));
	const merged = sealed === null ? given : SealedRequest.options(given);
	const options = markUnsupported(model.id, () =>
		withinFeatures(merged, { webSearch: supportsWebSearch, webScraping: true, xSearch: supportsXSearch }),
	);
	const character = options.character_slug === undefined ? null : parts.characters().get(options.character_slug);
	const imagesFrom = firstMessageWithImages(body.messages, model);
	const facts = markUnsupported(model.id, () => {
		const found = checkMessages(body, model, input.long, imagesFrom);
		checkCapabilities(body, model);
		return found;
	});
	recordModel(call, model, catalog.deprecationHeaders(model, call.admittedAtMs, resolved.remappedFrom));

	const keptFormat = markUnsupported(model.id, () => formatToEnforce(body, model));
	const systemTexts: string[] = [];
	if (options.include_service_system_prompt && config.chat.systemPrompt !== "") systemTexts.push(config.chat.systemPrompt);
	if (character !== null) systemTexts.push(character.prompt);
	if (keptFormat !== null) systemTexts.push(formatInstruction(keptFormat));
	const added = systemTexts.join("\n");
	const disableThinking = options.disable_thinking || body.reasoning?.enabled === false;
	const planOf = (asked: ChatInput, found: MessageContents) => {
		const members = topLevelMembers(asked.raw);
		return {
			asked,
			members,
			size:
				sealed === null
					? promptSize(asked, members, found, Buffer.byteLength(added))
					: promptSize(asked, members, sealed.sized(found), sealed.addedBytes),
			overhead: promptOverheadTokens(asked.body, found) + (sealed?.tokens ?? 0),
			text: () => new PromptText(sealed?.readable ?? asked.body, added, asked.long),
		};
	};
	let plan = planOf(input, facts);
	const { size } = plan;
	requireRoom(model, size.atLeast);
	const wanted = preparationSettings(facts, options);
	let receipt: Receipt | null = null;
	const sources = options.enable_x_search ? xResultPrice(config.web) : undefined;
	/** What is held beside the tokens; undefined for plain chat. */
	const besideNano = () =>
		prepared === null && sources === undefined
			? undefined
			: linesNano([...(prepared?.costs ?? []), ...(sources === undefined ? [] : [{ ...sources, units: sources.atMost }])]);
	let prepared: PreparedChat | null = null;

	let ceiling: CeilingResult | undefined;
	const modelMaxTokens = model.maxCompletionTokens ?? config.limits.maxCompletionTokens;
	const again = keptFormat === null ? 0 : modelMaxTokens + COMPLAINT_TOKENS;
	return {
		model: model.id,
		rate: {
			subject: model.id,
			limit: textRateLimit(model, call.caller?.account.tier ?? "paid", config.limits),
			promptTokens: Math.ceil(size.atMost / 4),
		},
		async hold(context: HoldContext) {
			const { caller } = call;
			if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
			// Of the body as it came: reading its files writes over it.
			if (form.takesSealed === true && model.capabilities.supportsTeeAttestation)
				receipt = await Receipt.of(parts.receipts, caller.account.id, model, input);
			if (wanted !== null) {
				const { prepareChat } = await import("./prepare.ts");
				const { members } = plan;
				prepared = await prepareChat({ input, members, size, wanted, model, prices: config.web, caller, context, call, parts });
				plan = planOf(prepared.input, { ...facts, files: [], fileDataBytes: 0 });
			}
			const { size: real, overhead, text } = plan;
			const count = lazily(() => text().tokens((counted) => parts.countTokens(counted, call.tenant)));
			// What is sealed cannot be counted here.
			if (sealed === null) await requireCountedRoom(model, real, count);
			const rates = highestRates(model.prices, real.atMost + again);
			const beside = besideNano();
			ceiling = await parts.budgets.holdCeiling(caller, context, {
				promptTokensBound: real.atMost + (keptFormat === null ? 0 : COMPLAINT_TOKENS),
				promptTokensAtLeast: real.atLeast,
				countPromptTokens: async () => (await count()) + overhead,
				callerMaxTokens: callerMaxTokens(body),
				modelMaxTokens,
				contextTokens: model.contextTokens ?? UNKNOWN_CONTEXT,
				choices: body.n ?? 1,
				...(keptFormat === null ? { inputPrice: rates.input, outputPrice: rates.output } : ratesOfTwo(rates)),
				...(beside === undefined ? {} : { fixedNano: beside }),
			});
			return ceiling.hold;
		},
		async work(settlement: Settlement) {
			const sealedForward = sealed === null ? undefined : await sealed.forward(parts.attestations, call.signal);
			const isPriced = settlement.heldNano > (besideNano() ?? 0);
			const { asked, members, overhead, text } = plan;
			const maxTokens =
				isPriced && ceiling !== undefined ? ceiling.maxTokens : (callerMaxTokens(body) ?? model.maxCompletionTokens);
			const meter = new ChatMeter({
				model,
				settlement,
				choices: body.n ?? 1,
				maxTokens,
				countTokens: (counted) => parts.countTokens(counted, call.tenant),
				promptText: text,
				promptOverheadTokens: overhead,
				ranBefore: prepared?.ran,
				sources,
			});
			const web = prepared?.web ?? null;
			const session: ChatSession = {
				call,
				model,
				meter,
				echo: serviceParametersEcho(options, web?.sources),
				thinking:
					sealed !== null
						? null
						: thinkingPlan(model, {
								strip: options.strip_thinking_response || options.disable_thinking,
								disabled: disableThinking,
							}),
				format: keptFormat,
				checkSchema: parts.checkSchema,
				includeUsage: body.stream_options?.include_usage === true,
				receipt,
				streamEcho: streamEcho(options, web),
				web: web === null ? null : { sources: web.sources, asDocuments: options.return_search_results_as_documents },
				choices: body.n ?? 1,
				maxTokens,
				forward: {
					requestId: call.requestId,
					model,
					raw: asked.raw,
					long: asked.long,
					members,
					edits: bodyEdits({
						body: asked.body,
						raw: asked.raw,
						members,
						systemTexts,
						spliceMaxTokens: ceiling?.spliceMaxTokens ?? null,
						disableThinking,
						imagesFrom,
						dropFormat: keptFormat !== null,
						searchesX: options.enable_x_search,
						defaultEffort:
							model.capabilities.supportsReasoningEffort === false ? undefined : model.capabilities.defaultReasoningEffort,
					}),
					stream: body.stream === true,
					choices: body.n ?? 1,
					...(form.isText === true ? { isText: true } : {}),
					sealed: sealedForward,
					tenant: call.tenant,
					signal: call.signal,
					onSent: (upstream) => {
						meter.sentTo = upstream;
					},
				},
			};
			if (body.stream !== true) return answerWhole(session, parts.upstreams, form);
			return answerStreamed(session, parts.upstreams, settlement, config.stream, form);
		},
	};
}

/** Does the work at the first call, and gives its result at each. */
function lazily<T>(work: () => Promise<T>): () => Promise<T> {
	let result: Promise<T> | undefined;
	return () => {
		result ??= work();
		return result;
	};
}

/**
 * Rates that cover a call and a second one, whose prompt is the first's with the first's answer behind it: each
 * token of the prompt is read twice, each of the output is made twice and read once.
 */
function ratesOfTwo({ input, output }: ReturnType<typeof highestRates>): Pick<CeilingRequest, "inputPrice" | "outputPrice"> {
	type Price = CeilingRequest["inputPrice"];
	return { inputPrice: (2 * input) as Price, outputPrice: (2 * output + input) as Price };
}
