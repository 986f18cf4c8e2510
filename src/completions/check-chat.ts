import {
	type EffectiveServiceParameters,
	mergeServiceParameters,
	type TextModel,
	textRateLimit,
	withinFeatures,
} from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import { markUnsupported } from "../errors/index.ts";
import type { Call } from "../server/call.ts";
import { recordModel } from "../server/call-headers.ts";
import type { AdmissionRate } from "../server/endpoint.ts";
import type { AnswerForm } from "./answer-form.ts";
import type { ChatDeps } from "./chat-deps.ts";
import type { ChatInput } from "./chat-input.ts";
import { checkCapabilities, checkMessages, type MessageContents } from "./check-messages.ts";
import { type EnforcedFormat, formatInstruction, formatToEnforce } from "./enforced-format.ts";
import { firstMessageWithImages } from "./image-messages.ts";
import { hostedOptions } from "./preparation.ts";
import { SealedRequest } from "./sealed/sealed-request.ts";

/** A chat request whose model, options, messages and capabilities are checked. */
export interface CheckedChat {
	readonly input: ChatInput;
	/** The configuration at the time of the check: a reload does not change a running request. */
	readonly config: Config;
	readonly model: TextModel;
	readonly options: EffectiveServiceParameters;
	/** null: the conversation is not sealed. */
	readonly sealed: SealedRequest | null;
	readonly contents: MessageContents;
	/** Index of the first message whose images are sent; images of earlier messages are removed. */
	readonly imagesFrom: ReturnType<typeof firstMessageWithImages>;
	/** The response format that the gateway itself enforces; null: none, or the upstream does. */
	readonly format: EnforcedFormat | null;
	/** System prompts that are added in front of the caller's messages, in order. */
	readonly systemTexts: readonly string[];
	readonly disableThinking: boolean;
}

/**
 * Checks a chat request without reaching any upstream, and records its model for the answer's headers.
 *
 * @throws {ApiError} the errors of docs/chat.md
 */
export function checkChat(input: ChatInput, call: Call, deps: ChatDeps, form: AnswerForm): CheckedChat {
	const { body } = input;
	const config = deps.config();
	const catalog = deps.catalog();
	const resolved = catalog.resolve(body.model, "text", call.admittedAtMs);
	const { model } = resolved;
	const { supportsWebSearch, supportsXSearch } = model.capabilities;
	const requested = mergeServiceParameters(body.service_parameters, { ...hostedOptions(body.tools, model), ...resolved.suffix });
	const { headers } = call.request;
	const sealed = markUnsupported(model.id, () => SealedRequest.of({ input, headers, model, options: requested, form }));
	const options = markUnsupported(model.id, () =>
		withinFeatures(sealed === null ? requested : SealedRequest.options(requested), {
			webSearch: supportsWebSearch,
			webScraping: true,
			xSearch: supportsXSearch,
		}),
	);
	const character = options.character_slug === undefined ? null : deps.characters().get(options.character_slug);
	const imagesFrom = firstMessageWithImages(body.messages, model);
	const contents = markUnsupported(model.id, () => {
		const checked = checkMessages(body, model, input.long, imagesFrom);
		checkCapabilities(body, model);
		return checked;
	});
	recordModel(call, model, catalog.deprecationHeaders(model, call.admittedAtMs, resolved.remappedFrom));
	const format = markUnsupported(model.id, () => formatToEnforce(body, model));
	const systemTexts: string[] = [];
	if (options.include_service_system_prompt && config.chat.systemPrompt !== "") systemTexts.push(config.chat.systemPrompt);
	if (character !== null) systemTexts.push(character.prompt);
	if (format !== null) systemTexts.push(formatInstruction(format));
	const disableThinking = options.disable_thinking || body.reasoning?.enabled === false;
	return { input, config, model, options, sealed, contents, imagesFrom, format, systemTexts, disableThinking };
}

/**
 * Returns what a chat request consumes of its model's minute window; a token is estimated as four bytes of the prompt.
 */
export function chatRate({ model, config }: CheckedChat, call: Call, promptTokensAtMost: number): AdmissionRate {
	return {
		subject: model.id,
		limit: textRateLimit(model, call.caller?.account.tier ?? "paid", config.limits),
		promptTokens: Math.ceil(promptTokensAtMost / 4),
	};
}
