import { isRecord } from "../schema/is-record.ts";
import { isSealedPacket, sealedPlainBytes } from "../wire/sealed-packet.ts";

const MAX_PIECES = 1_024;
/** Maximum number of characters held for counting; an endless answer must not fill the memory. */
const MAX_HELD_CHARS = 4_194_304;
const MAX_SOURCES = 100;

/**
 * The model's output so far: the text, for counting where the upstream reports no usage, and the two cheap estimates
 * for the stream's ceiling (content chunks, bytes / 8).
 */
export class ReceivedOutput {
	#pieces: string[] = [];
	/** Older pieces, joined. A piece may be a slice of a longer text, which it would keep in memory. */
	readonly #joined: string[] = [];
	#length = 0;
	#heldChars = 0;
	/** True: the output is sealed; its plaintext is measured, and nothing of it is held. */
	readonly #isSealed: boolean;
	/** Number of chunks with content. */
	chunks = 0;
	/** Addresses of sources that the model's server reports. */
	readonly #sources = new Set<string>();

	constructor({ isSealed = false } = {}) {
		this.#isSealed = isSealed;
	}

	get isEmpty(): boolean {
		return this.#length === 0;
	}

	/** A cheap estimate of output tokens: content chunks, or an eighth of the characters, whichever is more (docs/money.md). */
	get estimatedTokens(): number {
		return Math.max(this.chunks, Math.floor(this.#length / 8));
	}

	/** Number of different sources that the model's server has reported, up to a hundred. */
	get sources(): number {
		return this.#sources.size;
	}

	/** An estimate of the tokens whose text was discarded: bytes / 3. */
	get discardedTokens(): number {
		return Math.ceil((this.#length - this.#heldChars) / 3);
	}

	/** Number of characters; of sealed output, bytes. */
	get length(): number {
		return this.#length;
	}

	get text(): string {
		return this.#joined.join("") + this.#pieces.join("");
	}

	/** Adds one piece of a stream. */
	addPiece(message: string): void {
		if (message === "") return;
		this.#addText(message);
		this.chunks++;
	}

	/** Adds the choices of a chunk (`delta`) or of a whole answer (`message`). Returns true if they had content. */
	add(choices: unknown): boolean {
		if (!Array.isArray(choices)) return false;
		const before = this.#length;
		for (const choice of choices as unknown[]) {
			if (!isRecord(choice)) continue;
			const message = choice.delta ?? choice.message;
			if (isRecord(message)) this.#addPieces(message);
			else this.#addText(choice.text);
		}
		const grew = this.#length > before;
		if (grew) this.chunks++;
		return grew;
	}

	#addPieces(message: Record<string, unknown>): void {
		this.#addText(message.content);
		// Servers repeat the same thoughts in several of these members.
		this.#addText(message.reasoning_content ?? message.reasoning ?? message.thinking ?? message.reasoning_details);
		this.#addText(message.refusal);
		if (isRecord(message.audio)) this.#addText(message.audio.transcript);
		if (Array.isArray(message.annotations)) this.#addSources(message.annotations);
		this.#addCalled(message.function_call);
		const calls = message.tool_calls;
		if (!Array.isArray(calls)) return;
		for (const call of calls as unknown[]) if (isRecord(call)) this.#addCalled(call.function);
	}

	#addCalled(called: unknown): void {
		if (!isRecord(called)) return;
		this.#addText(called.name);
		this.#addText(called.arguments);
	}

	#addSources(annotations: readonly unknown[]): void {
		for (const annotation of annotations) {
			const cited = isRecord(annotation) ? annotation.url_citation : undefined;
			if (isRecord(cited) && typeof cited.url === "string" && this.#sources.size < MAX_SOURCES) this.#sources.add(cited.url);
		}
	}

	#addText(value: unknown): void {
		if (typeof value === "string") {
			if (value === "") return;
			if (this.#isSealed) {
				this.#length += isSealedPacket(value) ? sealedPlainBytes(value.length) : value.length;
				return;
			}
			this.#length += value.length;
			if (this.#heldChars + value.length > MAX_HELD_CHARS) return;
			this.#heldChars += value.length;
			if (this.#pieces.push(value) < MAX_PIECES) return;
			this.#joined.push(this.#pieces.join(""));
			this.#pieces = [];
		} else if (Array.isArray(value)) {
			for (const part of value as unknown[]) if (isRecord(part)) this.#addText(part.text);
		}
	}
}
