import { ApiError } from "../../errors/index.ts";
import { partyOf } from "../../fairness/index.ts";
import type { SpeechDone, SpeechWork } from "./child-messages.ts";

export type PieceWork = Omit<SpeechWork, "id">;

/** The request to which a piece belongs. */
export interface PieceOwner {
	readonly tenant: string;
	/** Grows with each request: among one tenant's requests the oldest is served first. */
	readonly ticket: number;
}

interface Waiting extends PieceOwner {
	readonly work: PieceWork;
	readonly signal: AbortSignal;
	resolve(samples: Int16Array): void;
	reject(fault: unknown): void;
}

/** The number of accounts (and the group of callers without one) whose last turn is remembered. */
const MAX_TENANTS = 1_000;

/**
 * Gives waiting pieces to the engine one at a time. Tenants take turns. Among one tenant's requests the oldest waiting one is
 * served first, so the first of many is done soon, and a slow reader delays nobody.
 */
export class PieceQueue {
	readonly #waiting: Waiting[] = [];
	/** Sends a piece to the engine; rejects if there is none. */
	readonly #send: (work: SpeechWork) => Promise<void>;
	/** Tenant -> the id of its last piece; the longest since its last turn comes first. */
	readonly #lastTurns = new Map<string, number>();
	#running: { readonly id: number; readonly piece: Waiting } | null = null;
	#nextId = 1;

	constructor(send: (work: SpeechWork) => Promise<void>) {
		this.#send = send;
	}

	/**
	 * Speaks a piece when it is its turn.
	 * @returns the piece's samples; none if it has no sound
	 * @throws {ApiError} INFERENCE_FAILED; errors of `send` and `lost`; the signal's reason, at once: the current piece is then
	 * computed to its end and discarded
	 */
	speak({ tenant, ticket }: PieceOwner, work: PieceWork, signal: AbortSignal): Promise<Int16Array> {
		const { promise, resolve, reject } = Promise.withResolvers<Int16Array>();
		if (signal.aborted) return Promise.reject(signal.reason);
		const piece: Waiting = { tenant, ticket, work, signal, resolve, reject };
		const leave = () => {
			const at = this.#waiting.indexOf(piece);
			if (at >= 0) this.#waiting.splice(at, 1);
			reject(signal.reason);
		};
		signal.addEventListener("abort", leave, { once: true });
		this.#waiting.push(piece);
		this.#next();
		return promise.finally(() => signal.removeEventListener("abort", leave));
	}

	/** Handles an answer of the engine. */
	done(done: SpeechDone): void {
		if (this.#running?.id !== done.id) return;
		const { piece } = this.#running;
		this.#running = null;
		if (done.ok) piece.resolve(new Int16Array(done.samples.slice().buffer));
		else piece.reject(failureError(new Error(done.fault)));
		// Delayed, because its request may ask for its next piece, which comes before those of younger requests.
		setImmediate(() => this.#next());
	}

	/** Handles the end of the engine's process: its current piece is lost, waiting ones are not. */
	lost(fault: Error = failureError(new Error("the speech engine ended in the middle of a piece"))): void {
		if (this.#running === null) return;
		const { piece } = this.#running;
		this.#running = null;
		piece.reject(fault);
		this.#next();
	}

	#next(): void {
		if (this.#running !== null || this.#waiting.length === 0) return;
		const piece = this.#waiting.reduce((first, each) => (this.#isBefore(each, first) ? each : first));
		this.#waiting.splice(this.#waiting.indexOf(piece), 1);
		const id = this.#nextId;
		this.#nextId += 1;
		this.#hadTurn(partyOf(piece.tenant), id);
		this.#running = { id, piece };
		this.#send({ ...piece.work, id }).catch((fault: unknown) => {
			if (this.#running?.id !== id) return;
			this.#running = null;
			piece.reject(fault);
			this.#next();
		});
	}

	#isBefore(one: Waiting, other: Waiting): boolean {
		const turns = (this.#lastTurns.get(partyOf(one.tenant)) ?? 0) - (this.#lastTurns.get(partyOf(other.tenant)) ?? 0);
		return turns === 0 ? one.ticket < other.ticket : turns < 0;
	}

	#hadTurn(party: string, id: number): void {
		this.#lastTurns.delete(party);
		this.#lastTurns.set(party, id);
		const [longestAgo] = this.#lastTurns.keys();
		if (this.#lastTurns.size > MAX_TENANTS && longestAgo !== undefined) this.#lastTurns.delete(longestAgo);
	}
}

function failureError(cause: Error): ApiError {
	return new ApiError("INFERENCE_FAILED", { message: "The speech engine failed in the middle; try again", cause });
}
