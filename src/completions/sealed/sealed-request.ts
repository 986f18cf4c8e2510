import type { EffectiveServiceParameters, TextModel } from "../../catalog/index.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Attestations } from "../../upstreams/attestation/port.ts";
import type { SealedForward } from "../../upstreams/chat/port.ts";
import { isSealedPacket, sealedPlainBytes } from "../../wire/sealed-packet.ts";
import type { AnswerForm } from "../answer-form.ts";
import type { ChatInput } from "../chat-input.ts";
import type { MessageContents } from "../check-messages.ts";
import type { ChatBody, ChatMessage } from "../schema.ts";
import { hasSealedHeaders, type SealedKeys, sealedKeys } from "./sealed-headers.ts";

/** Bytes of an average token of unreadable text, rounded down. */
const BYTES_PER_TOKEN = 3;

export interface SealedRequestDeps {
	readonly input: ChatInput;
	readonly headers: Headers;
	readonly model: TextModel;
	readonly options: EffectiveServiceParameters;
	readonly form: AnswerForm;
}

/** A conversation whose messages are sealed for the model's server, with what is known of it without reading it. */
export class SealedRequest {
	/** The body without its sealed texts, for counting the rest. */
	readonly readable: ChatBody;
	readonly #model: TextModel;
	readonly #keys: SealedKeys;
	readonly #hexDigits: number;
	readonly #plainBytes: number;

	private constructor(model: TextModel, keys: SealedKeys, { body, long }: ChatInput) {
		const lengths = body.messages.filter(isSealed).map(({ content }) => long.bytesOf(String(content)));
		this.#model = model;
		this.#keys = keys;
		this.readable = { ...body, messages: body.messages.filter((message) => !isSealed(message)) };
		this.#hexDigits = lengths.reduce((sum, length) => sum + length, 0);
		this.#plainBytes = lengths.reduce((sum, length) => sum + sealedPlainBytes(length), 0);
	}

	/**
	 * Returns the sealed conversation of a request; null if it is not sealed.
	 * @throws ApiError INVALID_REQUEST, as docs/sealed-chat.md lists it
	 */
	static of({ input, headers, model, options, form }: SealedRequestDeps): SealedRequest | null {
		if (!hasSealedHeaders(headers)) return null;
		if (!model.capabilities.supportsE2EE)
			throw new ApiError("INVALID_REQUEST", { message: `${model.id} takes no sealed conversations`, param: "model" });
		if (!options.enable_e2ee) return null;
		if (form.takesSealed !== true)
			throw new ApiError("INVALID_REQUEST", { message: "This route takes no sealed conversations; use /chat/completions" });
		const keys = sealedKeys(headers);
		refuseWhatNeedsText(input, model, options);
		refuseWhatIsNotSealed(input);
		return new SealedRequest(model, keys, input);
	}

	/** Returns the options without those that need the text. */
	static options(options: EffectiveServiceParameters): EffectiveServiceParameters {
		return {
			...options,
			enable_web_search: "off",
			enable_web_scraping: false,
			enable_web_citations: false,
			enable_x_search: false,
			include_service_system_prompt: false,
			strip_thinking_response: false,
		};
	}

	/** Bytes of the plaintext, beyond those in the body. */
	get addedBytes(): number {
		return this.#plainBytes;
	}

	/** Estimated tokens of the plaintext. */
	get tokens(): number {
		return Math.ceil(this.#plainBytes / BYTES_PER_TOKEN);
	}

	/** Returns the sizes of the messages, without counting the packets as text. */
	sized(contents: MessageContents): MessageContents {
		return { ...contents, mediaBytes: contents.mediaBytes + this.#hexDigits };
	}

	/**
	 * Returns where the request goes.
	 * @throws ApiError INVALID_REQUEST if no server has the key
	 */
	async forward(attestations: Attestations, signal: AbortSignal): Promise<SealedForward> {
		const holder = await attestations.holderOf(this.#model, this.#keys.modelKey, signal);
		if (holder === null)
			throw new ApiError("INVALID_REQUEST", {
				message: `No server of ${this.#model.id} has the key that this conversation is sealed for; ask for its attestation anew`,
			});
		return { ...this.#keys, holder };
	}
}

function refuseWhatNeedsText({ body }: ChatInput, model: TextModel, options: EffectiveServiceParameters): void {
	const cannot = (path: string[], feature: string) => {
		throw invalidField(path, `${feature} in a sealed conversation`, "unsupported");
	};
	if (body.stream !== true) throw invalidField(["stream"], "must be true in a sealed conversation");
	if ((body.tools ?? []).length > 0) cannot(["tools"], "no tools are called");
	if (options.character_slug !== undefined) cannot(["service_parameters", "character_slug"], "no character speaks");
	if (body.logprobs === true) cannot(["logprobs"], "no tokens are told");
	const format = body.response_format?.type;
	if (model.repairsFormat === true && format !== undefined && format !== "text")
		cannot(["response_format"], `the answers of ${model.id} cannot be checked`);
}

function refuseWhatIsNotSealed({ body, long }: ChatInput): void {
	for (const [index, { role, content }] of body.messages.entries()) {
		if (role !== "user" && role !== "system") continue;
		const contentPath = ["messages", index, "content"];
		if (typeof content !== "string") throw invalidField(contentPath, "must be one text in a sealed conversation");
		// A very long text is cut here; its server sees the rest.
		if (!isSealedPacket(content) || long.bytesOf(content) % 2 !== 0)
			throw invalidField(contentPath, "must be sealed for the model: hex of key, nonce, ciphertext and tag");
	}
}

function isSealed({ role, content }: ChatMessage): boolean {
	if (typeof content !== "string" || role === "assistant" || role === "tool") return false;
	return isSealedPacket(content);
}
