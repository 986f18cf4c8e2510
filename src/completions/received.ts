import { isRecord } from "../schema/is-record.ts";
import { isSealedPacket, sealedPlainBytes } from "../wire/sealed-packet.ts";

const MAX_PIECES = 1_024;
/** Characters that are kept for counting; an endless answer must not fill the memory. */
const MAX_KEPT = 4_194_304;
const MAX_SOURCES = 100;

/**
 * What a model has said so far: the text for counting where the upstream gives no usage, and the two cheap
 * measures of the stream's ceiling (content chunks, bytes / 8).
 */
export class ReceivedOutput {
	#pieces: string[] = [];
	/** Older pieces, joined: a piece may be a part of a longer text, which it would keep in memory. */
	readonly #joined: string[] = [];
	#length = 0;
	#kept = 0;
	/** True: what is said is sealed; its plaintext is measured, and nothing of it kept. */
	readonly #isSealed: boolean;
	/** Chunks that carried content. */
	chunks = 0;
	/** Addresses of sources that the model's server tells. */
	readonly #sources = new Set<string>();

	constructor({ isSealed = false } = {}) {
		this.#isSealed = isSealed;
	}

	get isEmpty(): boolean {
		return this.#length === 0;
	}

	/** A cheap lower measure of output tokens: content chunks or bytes / 8, whichever is more (docs/money.md). */
	get tokensAtLeast(): number {
		return Math.max(this.chunks, Math.floor(this.#length / 8));
	}

	/** Sources that the model's server has told, each once, up to a hundred. */
	get sources(): number {
		return this.#sources.size;
	}

	/** An estimate of the tokens whose text was not kept: bytes / 3. */
	get discardedTokens(): number {
		return Math.ceil((this.#length - this.#kept) / 3);
	}

	/** Characters; of what is sealed, bytes. */
	get length(): number {
		return this.#length;
	}

	get text(): string {
		return this.#joined.join("") + this.#pieces.join("");
	}

	/** Takes in one piece of a stream. */
	addPiece(said: string): void {
		if (said === "") return;
		this.#addText(said);
		this.chunks++;
	}

	/** Takes in the choices of a chunk (`delta`) or of a whole answer (`message`). True where they had content. */
	add(choices: unknown): boolean {
		if (!Array.isArray(choices)) return false;
		const before = this.#length;
		for (const choice of choices as unknown[]) {
			if (!isRecord(choice)) continue;
			const said = choice.delta ?? choice.message;
			if (isRecord(said)) this.#addPieces(said);
			else this.#addText(choice.text);
		}
		const grew = this.#length > before;
		if (grew) this.chunks++;
		return grew;
	}

	#addPieces(said: Record<string, unknown>): void {
		this.#addText(said.content);
		// The same thoughts stand in more than one of them.
		this.#addText(said.reasoning_content ?? said.reasoning ?? said.thinking ?? said.reasoning_details);
		this.#addText(said.refusal);
		if (isRecord(said.audio)) this.#addText(said.audio.transcript);
		if (Array.isArray(said.annotations)) this.#addSources(said.annotations);
		this.#addCalled(said.function_call);
		const calls = said.tool_calls;
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
			if (this.#kept + value.length > MAX_KEPT) return;
			this.#kept += value.length;
			if (this.#pieces.push(value) < MAX_PIECES) return;
			this.#joined.push(this.#pieces.join(""));
			this.#pieces = [];
		} else if (Array.isArray(value)) {
			for (const part of value as unknown[]) if (isRecord(part)) this.#addText(part.text);
		}
	}
}
