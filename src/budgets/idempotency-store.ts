import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Journal, StoredAnswerPart } from "../journal/records.ts";
import { orApiError } from "../store/api-refusal.ts";
import type { ClaimRequest, StoredClaim } from "../store/idempotency.ts";
import type { StorePort } from "../store/port.ts";
import { RETAINED_MS } from "../store/rpc-records.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { type AnswerFiles, isWhole } from "./answer-files.ts";
import { IdempotencyBatcher } from "./idempotency-batcher.ts";
import type { Caller } from "./port.ts";
import type { IdempotencyClaim, IdempotencyStore, IdempotencyTicket, PreparedAnswer, StoredAnswer } from "./rpc-port.ts";

export interface IdempotencyOptions {
	readonly store: Pick<StorePort, "idempotency" | "shared" | "node">;
	readonly journal: Journal;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
	readonly files: AnswerFiles;
	/** Told of each file that a post names, with the sequence of the post. */
	readonly posted: (file: string, bytes: number, seq: number) => void;
	/** Keys of an account within 24 hours; default 100,000. */
	readonly maxKeys?: number;
	/** Bodies up to this stand in the journal, larger ones in files; default 256 KiB. */
	readonly inlineBytes?: number;
}

const MAX_KEYS = 100_000;
const INLINE_BYTES = 256 << 10;
/** Larger answers are not kept. */
const MAX_BYTES = 8 << 20;
const MAX_NOTE_CHARACTERS = 16 << 10;

/** A request of this node that has a key, or asks for one. */
interface Running {
	readonly fingerprint: string;
	/** Resolves when it is known whether it runs; null once it does. */
	asking: Promise<void> | null;
}

interface Claimed extends ClaimRequest {
	/** Where it stands among those that run. */
	readonly id: string;
}

/**
 * Answers under idempotency keys. What runs on this node is known in memory; what was answered, and what runs on other
 * nodes, is in the store, whose answer to a claim holds every post made before it.
 */
export class NodeIdempotencyStore implements IdempotencyStore {
	readonly #options: IdempotencyOptions;
	readonly #batcher: IdempotencyBatcher;
	readonly #running = new Map<string, Running>();
	/** Tells the claims of this process from those of others. */
	readonly #process = randomBytes(8).toString("hex");
	#lastClaim = 0;

	constructor(options: IdempotencyOptions) {
		const { store, clock, timers, maxKeys = MAX_KEYS } = options;
		this.#options = options;
		this.#batcher = new IdempotencyBatcher({ store, clock, timers, maxKeys });
	}

	/** Requests with a key that are under way on this node. */
	get running(): number {
		return this.#running.size;
	}

	async claim(caller: Caller, key: string, fingerprint: string): Promise<IdempotencyClaim> {
		const accountId = caller.account.id;
		const id = `${accountId} ${key}`;
		for (let other = this.#running.get(id); other !== undefined; other = this.#running.get(id)) {
			if (other.asking === null) return { kind: other.fingerprint === fingerprint ? "running" : "reused" };
			await other.asking;
		}
		const claim = `${this.#process}${(++this.#lastClaim).toString(36)}`;
		const { promise, resolve } = Promise.withResolvers<void>();
		const running: Running = { fingerprint, asking: promise };
		this.#running.set(id, running);
		let runs = false;
		try {
			const result = await this.#look({ id, accountId, key, fingerprint, claim });
			runs = result.kind === "fresh" || result.kind === "unknown";
			return result;
		} finally {
			if (runs) running.asking = null;
			else this.#running.delete(id);
			resolve();
		}
	}

	close(): void {
		this.#batcher.close();
	}

	async #look(claimed: Claimed): Promise<IdempotencyClaim> {
		const { accountId, key, fingerprint, claim } = claimed;
		const ask = () => orApiError(this.#batcher.claim({ accountId, key, fingerprint, claim }));
		let stored = await ask();
		if (stored.kind === "kept") {
			const answer = await this.#answerOf(stored);
			if (answer !== null) return { kind: "replay", answer };
			this.#options.log.error({ accountId, file: stored.file }, "a kept answer is damaged or gone: its request runs again");
			this.#batcher.drop({ accountId, key });
			stored = await ask();
		}
		switch (stored.kind) {
			case "kept":
				throw new Error("a damaged answer could not be dropped");
			case "fresh":
				return { kind: "fresh", ticket: this.#ticket(claimed, false) };
			case "unknown":
				return { kind: "unknown", note: stored.note, ticket: this.#ticket(claimed, true) };
			default:
				return { kind: stored.kind };
		}
	}

	async #answerOf(stored: StoredClaim & { kind: "kept" }): Promise<StoredAnswer | null> {
		const body = stored.body ?? (stored.file === null ? null : await this.#options.files.read(stored.file));
		if (body === null || !isWhole(body, stored)) return null;
		return { status: stored.status, body, note: stored.note };
	}

	#ticket(claimed: Claimed, unknownBefore: boolean): IdempotencyTicket {
		return new Ticket(claimed, unknownBefore, this.#options, {
			kept: () => this.#running.delete(claimed.id),
			released: () => {
				this.#running.delete(claimed.id);
				const { accountId, key, claim } = claimed;
				this.#batcher.release({ accountId, key, claim });
			},
		});
	}
}

interface TicketEnds {
	/** Its answer, or that none is known, is in the journal. */
	kept(): void;
	released(): void;
}

class Ticket implements IdempotencyTicket {
	readonly #claimed: Claimed;
	readonly #options: IdempotencyOptions;
	readonly #ends: TicketEnds;
	/** Of answers that were prepared and not posted yet. */
	readonly #written = new Set<string>();
	/** What an earlier try left stays where this one fails: its outcome is no better known. */
	readonly #unknownBefore: boolean;
	#foreseen = false;
	#ended = false;

	constructor(claimed: Claimed, unknownBefore: boolean, options: IdempotencyOptions, ends: TicketEnds) {
		this.#claimed = claimed;
		this.#unknownBefore = unknownBefore;
		this.#options = options;
		this.#ends = ends;
	}

	prepare(answer: StoredAnswer): PreparedAnswer | null | Promise<PreparedAnswer | null> {
		const { body } = answer;
		if (this.#ended || body.length > MAX_BYTES) return null;
		if (body.length > (this.#options.inlineBytes ?? INLINE_BYTES)) return this.#inFile(answer);
		return this.#prepared(answer, Buffer.from(body.buffer, body.byteOffset, body.length).toString("base64"), null);
	}

	async foresee(note: string): Promise<void> {
		if (this.#ended) return;
		const durable = this.#appendUnknown(note, false);
		this.#foreseen = true;
		await durable;
	}

	async keepUnknown(note: string): Promise<void> {
		if (this.#ended) return;
		const durable = this.#appendUnknown(note, true);
		this.#end(null);
		await durable;
	}

	release(): void {
		if (this.#ended) return;
		this.#ended = true;
		this.#removeWritten(null);
		if (this.#foreseen && !this.#unknownBefore) void this.#forget();
		this.#ends.released();
	}

	#appendUnknown(note: string, ends: boolean): Promise<void> {
		const { accountId, key, fingerprint, claim } = this.#claimed;
		const expiresAtMs = this.#options.clock.wallMs() + RETAINED_MS;
		const record = { accountId, key, fingerprint, claim, ends, expiresAtMs, note: checked(note) };
		return this.#options.journal.append({ t: "unknown-outcome", ...record });
	}

	/** A journal that is closed or fails leaves the note: the next request asks the chain in vain. */
	async #forget(): Promise<void> {
		const { accountId, key, fingerprint } = this.#claimed;
		try {
			await this.#options.journal.append({ t: "outcome-known", accountId, key, fingerprint });
		} catch {}
	}

	/** An answer that cannot be written is an answer all the same: it is sent, and not kept. */
	async #inFile(answer: StoredAnswer): Promise<PreparedAnswer | null> {
		const { store, log, files } = this.#options;
		let file: string;
		try {
			file = await files.write(store.node.epoch, answer.body);
		} catch (error) {
			log.error({ accountId: this.#claimed.accountId, cause: String(error) }, "an answer could not be written to be kept");
			return null;
		}
		if (this.#ended) {
			await files.remove(file);
			return null;
		}
		this.#written.add(file);
		return this.#prepared(answer, null, file);
	}

	#prepared({ status, body, note }: StoredAnswer, base64: string | null, file: string | null): PreparedAnswer {
		const { accountId, key, fingerprint, claim } = this.#claimed;
		const part: StoredAnswerPart = {
			// A wallet's request may be paid by the account that it is linked to: the key is the wallet's all the same.
			accountId,
			key,
			fingerprint,
			claim,
			expiresAtMs: this.#options.clock.wallMs() + RETAINED_MS,
			status,
			note: checked(note),
			bytes: body.length,
			crc32: crc32(body),
			body: base64,
			file,
		};
		return {
			part,
			posted: () => {
				if (file !== null && !this.#ended) this.#options.posted(file, body.length, this.#options.journal.writtenSeq);
				this.#end(file);
			},
		};
	}

	#end(answerFile: string | null): void {
		if (this.#ended) return;
		this.#ended = true;
		this.#removeWritten(answerFile);
		this.#ends.kept();
	}

	#removeWritten(except: string | null): void {
		for (const file of this.#written) if (file !== except) void this.#options.files.remove(file);
		this.#written.clear();
	}
}

/** Throws `RangeError`: what a route leaves is bounded, so that it fits in a record. PostgreSQL keeps no NUL in a text. */
function checked(note: string): string {
	if (note.length > MAX_NOTE_CHARACTERS) throw new RangeError(`a note of ${note.length} characters`);
	return note.replaceAll("\0", "");
}
