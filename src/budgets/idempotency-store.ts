import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Journal, StoredAnswerPart } from "../journal/records.ts";
import { orApiError } from "../store/api-refusal.ts";
import { RETAINED_MS } from "../store/core/rpc-records.ts";
import type { ClaimRequest, StoredClaim } from "../store/idempotency.ts";
import type { StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { type AnswerFiles, isWhole } from "./answer-files.ts";
import type { Caller } from "./caller.ts";
import { IdempotencyBatcher } from "./idempotency-batcher.ts";
import type { IdempotencyClaim, IdempotencyStore, IdempotencyTicket, PreparedAnswer, StoredAnswer } from "./rpc-port.ts";

export interface IdempotencyOptions {
	readonly store: Pick<StorePort, "idempotency" | "shared" | "node">;
	readonly journal: Journal;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
	readonly files: AnswerFiles;
	/** Called for each file that a post names, with the sequence of the post. */
	readonly posted: (file: string, bytes: number, seq: number) => void;
	/** Keys of an account within 24 hours; default 100,000. */
	readonly maxKeys?: number;
	/** Bodies up to this size are in the journal, larger ones in files; default 256 KiB. */
	readonly inlineBytes?: number;
}

const MAX_KEYS = 100_000;
const INLINE_BYTES = 256 << 10;
/** Larger answers are not stored. */
const MAX_BYTES = 8 << 20;
const MAX_NOTE_CHARACTERS = 16 << 10;

/** A request of this node that holds a key, or is claiming one. */
interface Running {
	readonly fingerprint: string;
	/** Resolves when the claim is decided; null once the request runs. */
	claiming: Promise<void> | null;
}

interface Claimed extends ClaimRequest {
	/** Its id in the map of running requests. */
	readonly id: string;
}

/**
 * Answers under idempotency keys. Requests that run on this node are known in memory. Answers, and requests of other
 * nodes, are in the store, whose reply to a claim includes every post made before it.
 */
export class NodeIdempotencyStore implements IdempotencyStore {
	readonly #options: IdempotencyOptions;
	readonly #batcher: IdempotencyBatcher;
	readonly #running = new Map<string, Running>();
	/** Distinguishes the claims of this process from those of others. */
	readonly #process = randomBytes(8).toString("hex");
	#lastClaim = 0;

	constructor(options: IdempotencyOptions) {
		const { store, clock, timers, maxKeys = MAX_KEYS } = options;
		this.#options = options;
		this.#batcher = new IdempotencyBatcher({ store, clock, timers, maxKeys });
	}

	/** Number of running requests with a key on this node. */
	get running(): number {
		return this.#running.size;
	}

	async claim(caller: Caller, key: string, fingerprint: string): Promise<IdempotencyClaim> {
		const accountId = caller.account.id;
		const id = `${accountId} ${key}`;
		for (let otherRequest = this.#running.get(id); otherRequest !== undefined; otherRequest = this.#running.get(id)) {
			if (otherRequest.claiming === null) return { kind: otherRequest.fingerprint === fingerprint ? "running" : "reused" };
			await otherRequest.claiming;
		}
		const claim = `${this.#process}${(++this.#lastClaim).toString(36)}`;
		const { promise, resolve } = Promise.withResolvers<void>();
		const running: Running = { fingerprint, claiming: promise };
		this.#running.set(id, running);
		let runs = false;
		try {
			const result = await this.#claimInStore({ id, accountId, key, fingerprint, claim });
			runs = result.kind === "fresh" || result.kind === "unknown";
			return result;
		} finally {
			if (runs) running.claiming = null;
			else this.#running.delete(id);
			resolve();
		}
	}

	close(): void {
		this.#batcher.close();
	}

	async #claimInStore(claimed: Claimed): Promise<IdempotencyClaim> {
		const { accountId, key, fingerprint, claim } = claimed;
		const sendClaim = () => orApiError(this.#batcher.claim({ accountId, key, fingerprint, claim }));
		let stored = await sendClaim();
		if (stored.kind === "kept") {
			const answer = await this.#readAnswer(stored);
			if (answer !== null) return { kind: "replay", answer };
			this.#options.log.error({ accountId, file: stored.file }, "a kept answer is damaged or gone: its request runs again");
			this.#batcher.drop({ accountId, key });
			stored = await sendClaim();
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

	async #readAnswer(stored: StoredClaim & { kind: "kept" }): Promise<StoredAnswer | null> {
		const body = stored.body ?? (stored.file === null ? null : await this.#options.files.read(stored.file));
		if (body === null || !isWhole(body, stored)) return null;
		return { status: stored.status, body, note: stored.note };
	}

	#ticket(claimed: Claimed, unknownBefore: boolean): IdempotencyTicket {
		return new Ticket(claimed, unknownBefore, this.#options, {
			recorded: () => this.#running.delete(claimed.id),
			released: () => {
				this.#running.delete(claimed.id);
				const { accountId, key, claim } = claimed;
				this.#batcher.release({ accountId, key, claim });
			},
		});
	}
}

interface TicketCallbacks {
	/** Called when the answer, or its unknown outcome, is in the journal. */
	recorded(): void;
	released(): void;
}

class Ticket implements IdempotencyTicket {
	readonly #claimed: Claimed;
	readonly #options: IdempotencyOptions;
	readonly #callbacks: TicketCallbacks;
	/** Files of answers that were prepared and not yet posted. */
	readonly #unpostedFiles = new Set<string>();
	/** True if an earlier attempt left a note, which stays where this one fails: its outcome is no better known. */
	readonly #unknownBefore: boolean;
	#foreseen = false;
	#ended = false;

	constructor(claimed: Claimed, unknownBefore: boolean, options: IdempotencyOptions, ends: TicketCallbacks) {
		this.#claimed = claimed;
		this.#unknownBefore = unknownBefore;
		this.#options = options;
		this.#callbacks = ends;
	}

	prepare(answer: StoredAnswer): PreparedAnswer | null | Promise<PreparedAnswer | null> {
		const { body } = answer;
		if (this.#ended || body.length > MAX_BYTES) return null;
		if (body.length > (this.#options.inlineBytes ?? INLINE_BYTES)) return this.#prepareFile(answer);
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
		this.#callbacks.released();
	}

	#appendUnknown(note: string, ends: boolean): Promise<void> {
		const { accountId, key, fingerprint, claim } = this.#claimed;
		const expiresAtMs = this.#options.clock.wallMs() + RETAINED_MS;
		const record = { accountId, key, fingerprint, claim, ends, expiresAtMs, note: checkNote(note) };
		return this.#options.journal.append({ t: "unknown-outcome", ...record });
	}

	/**
	 * Removes the note. If the journal is closed or fails, the note stays: the next request queries the chain in
	 * vain.
	 */
	async #forget(): Promise<void> {
		const { accountId, key, fingerprint } = this.#claimed;
		try {
			await this.#options.journal.append({ t: "outcome-known", accountId, key, fingerprint });
		} catch {}
	}

	/** Writes the body to a file. An answer that cannot be written is still sent, but not stored. */
	async #prepareFile(answer: StoredAnswer): Promise<PreparedAnswer | null> {
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
		this.#unpostedFiles.add(file);
		return this.#prepared(answer, null, file);
	}

	#prepared({ status, body, note }: StoredAnswer, base64: string | null, file: string | null): PreparedAnswer {
		const { accountId, key, fingerprint, claim } = this.#claimed;
		const part: StoredAnswerPart = {
			// The account that a wallet is linked to may pay for its request; the idempotency key belongs to the wallet all
			// the same.
			accountId,
			key,
			fingerprint,
			claim,
			expiresAtMs: this.#options.clock.wallMs() + RETAINED_MS,
			status,
			note: checkNote(note),
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
		this.#callbacks.recorded();
	}

	#removeWritten(except: string | null): void {
		for (const file of this.#unpostedFiles) if (file !== except) void this.#options.files.remove(file);
		this.#unpostedFiles.clear();
	}
}

/** Throws `RangeError` where a note is too long for a record. PostgreSQL stores no NUL in a text. */
function checkNote(note: string): string {
	if (note.length > MAX_NOTE_CHARACTERS) throw new RangeError(`a note of ${note.length} characters`);
	return note.replaceAll("\0", "");
}
