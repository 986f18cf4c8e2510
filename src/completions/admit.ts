import type { CeilingRequest, CeilingResult, HoldContext } from "../budgets/port.ts";
import { mergeServiceParameters, serviceParametersEcho, textRateLimit, withinFeatures } from "../catalog/index.ts";
import { ApiError, markUnsupported } from "../errors/index.ts";
import type { Call } from "../server/call.ts";
import type { Admission, Input, Settlement } from "../server/endpoint.ts";
import { topLevelMembers } from "../wire/index.ts";
import type { AnswerForm } from "./answer-form.ts";
import { bodyEdits, callerMaxTokens } from "./body-edits.ts";
import { dearestRates } from "./charge.ts";
import { checkCapabilities, checkMessages } from "./check-messages.ts";
import { formatInstruction, formatToKeep } from "./kept-format.ts";
import { imagesKeptFrom } from "./kept-images.ts";
import { ChatMeter } from "./meter.ts";
import type { ChatParts } from "./parts.ts";
import { promptOverheadTokens, promptSize, promptText } from "./prompt-size.ts";
import type { ChatBody } from "./schema.ts";
import type { ChatSession } from "./session.ts";
import { answerStream } from "./stream.ts";
import { thinkingPlan } from "./thinking.ts";
import { answerUnary } from "./unary.ts";

/** What asking a second time adds to the prompt: fewer, whatever the faults. */
const COMPLAINT_TOKENS = 3_000;
/** A context that nobody has told us of: large enough never to bound anything. */
const UNKNOWN_CONTEXT = 1_000_000_000;

/** A chat request as the route has it: in OpenAI's chat form, parsed and as bytes. */
export type ChatInput = Pick<Input<ChatBody, unknown>, "body" | "raw" | "long">;

/**
 * A chat request's checks (model, options, messages, capabilities) and what follows them. Throws the errors of
 * docs/chat.md; reaches no upstream.
 */
export function admitChat(input: ChatInput, call: Call, parts: ChatParts, form: AnswerForm): Admission {
	const { body, raw } = input;
	const config = parts.config();
	const catalog = parts.catalog();
	const resolved = catalog.resolve(body.model, "text", call.admittedAtMs);
	const { model } = resolved;
	const merged = mergeServiceParameters(body.service_parameters, resolved.suffix);
	const options = markUnsupported(model.id, () =>
		withinFeatures(merged, { webSearch: false, webScraping: false, xSearch: false }),
	);
	const character = options.character_slug === undefined ? null : parts.characters().get(options.character_slug);
	const imagesFrom = imagesKeptFrom(body.messages, model);
	const facts = markUnsupported(model.id, () => {
		const found = checkMessages(body, model, input.long, imagesFrom);
		checkCapabilities(body, model);
		return found;
	});
	Object.assign(call.headers, catalog.deprecationHeaders(model, call.admittedAtMs, resolved.remappedFrom));
	call.headers["x-service-model-id"] = headerText(model.id);
	call.headers["x-service-model-name"] = headerText(model.name);

	const keptFormat = markUnsupported(model.id, () => formatToKeep(body, model));
	const systemTexts: string[] = [];
	if (options.include_service_system_prompt && config.chat.systemPrompt !== "") systemTexts.push(config.chat.systemPrompt);
	if (character !== null) systemTexts.push(character.prompt);
	if (keptFormat !== null) systemTexts.push(formatInstruction(keptFormat));
	const added = systemTexts.join("\n");
	const members = topLevelMembers(raw);
	const size = promptSize(body, members, facts, Buffer.byteLength(added));
	const disableThinking = options.disable_thinking || body.reasoning?.enabled === false;
	const overhead = promptOverheadTokens(body, facts);
	const text = () => promptText(body, added, input.long);

	let ceiling: CeilingResult | undefined;
	const modelMaxTokens = model.maxCompletionTokens ?? config.limits.maxCompletionTokens;
	const again = keptFormat === null ? 0 : modelMaxTokens + COMPLAINT_TOKENS;
	const rates = dearestRates(model.prices, size.atMost + again);
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
			ceiling = await parts.budgets.holdCeiling(caller, context, {
				promptTokensBound: size.atMost + (keptFormat === null ? 0 : COMPLAINT_TOKENS),
				promptTokensAtLeast: size.atLeast,
				countPromptTokens: async () => (await parts.countTokens(text())) + overhead,
				callerMaxTokens: callerMaxTokens(body),
				modelMaxTokens,
				contextTokens: model.contextTokens ?? UNKNOWN_CONTEXT,
				choices: body.n ?? 1,
				...(keptFormat === null ? { inputPrice: rates.input, outputPrice: rates.output } : ratesOfTwo(rates)),
			});
			return ceiling.hold;
		},
		work(settlement: Settlement) {
			const priced = settlement.heldNano > 0;
			const meter = new ChatMeter({
				model,
				settlement,
				choices: body.n ?? 1,
				countTokens: parts.countTokens,
				promptText: text,
				promptOverheadTokens: overhead,
			});
			const session: ChatSession = {
				call,
				model,
				meter,
				echo: serviceParametersEcho(options),
				thinking: thinkingPlan(model, {
					strip: options.strip_thinking_response || options.disable_thinking,
					disabled: disableThinking,
				}),
				format: keptFormat,
				checkSchema: parts.checkSchema,
				includeUsage: body.stream_options?.include_usage === true,
				echoInStream: options.include_search_results_in_stream,
				choices: body.n ?? 1,
				maxTokens: priced && ceiling !== undefined ? ceiling.maxTokens : (callerMaxTokens(body) ?? model.maxCompletionTokens),
				forward: {
					requestId: call.requestId,
					model,
					raw,
					members,
					edits: bodyEdits({
						body,
						raw,
						members,
						systemTexts,
						spliceMaxTokens: ceiling?.spliceMaxTokens ?? null,
						disableThinking,
						imagesFrom,
						dropFormat: keptFormat !== null,
						defaultEffort:
							model.capabilities.supportsReasoningEffort === false ? undefined : model.capabilities.defaultReasoningEffort,
					}),
					stream: body.stream === true,
					signal: call.signal,
					onSent: (upstream) => {
						meter.sentTo = upstream;
					},
				},
			};
			if (body.stream !== true) return answerUnary(session, parts.upstreams, form);
			return answerStream(session, parts.upstreams, settlement, config.stream, form);
		},
	};
}

/**
 * Rates that cover a call and a second one, whose prompt is the first's with the first's answer behind it: each
 * token of the prompt is read twice, each of the output is made twice and read once.
 */
function ratesOfTwo({ input, output }: ReturnType<typeof dearestRates>): Pick<CeilingRequest, "inputPrice" | "outputPrice"> {
	type Price = CeilingRequest["inputPrice"];
	return { inputPrice: (2 * input) as Price, outputPrice: (2 * output + input) as Price };
}

/** Header values are Latin-1: anything else becomes a question mark. */
function headerText(text: string): string {
	return text.replace(/[^\x20-\x7e]/g, "?");
}
