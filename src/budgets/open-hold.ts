import type { Journal, PostRecord } from "../journal/records.ts";
import { type Nano, nano } from "../ledger/nano.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { CachedKey } from "./cached-key.ts";
import type { Hold, HoldContext, Posted, PostInput } from "./port.ts";
import type { Purse } from "./purse.ts";
import type { SpendingWindow } from "./spending-window.ts";
import { type Split, splitPost, withinCaps } from "./split.ts";

/** What the holds of a node share. */
export interface HoldRoom {
	readonly journal: Journal;
	readonly clock: Clock;
	/** Open holds of more than 0. */
	holdsOpen: number;
	/** Called when a hold of an account has ended. */
	ended(key: CachedKey): void;
}

/** Money secured for one request, source by source; the first of `post` and `void` ends it. */
export class OpenHold implements Hold {
	readonly amount: Nano;
	/** UTC day of the admission: fixes the diem epoch and the key's window, also where the post comes after midnight. */
	readonly day: number;
	readonly #room: HoldRoom;
	readonly #key: CachedKey;
	readonly #context: HoldContext;
	readonly #own: Split;
	readonly #diem: Purse;
	/** null: the key has no caps. undefined: it has, and a change of period left the room in its window unknown. */
	#window: SpendingWindow | null | undefined;
	#settled = false;

	/** Takes `own`, whose sum is `amount`, from the purses and the window: in the turn that found it free. */
	constructor(
		room: HoldRoom,
		key: CachedKey,
		context: HoldContext,
		day: number,
		window: SpendingWindow | null,
		amount: Nano,
		own: Split,
	) {
		const { money } = key.cached;
		this.amount = amount;
		this.day = day;
		this.#room = room;
		this.#key = key;
		this.#context = context;
		this.#own = own;
		this.#window = window;
		this.#diem = money.diem(day);
		this.#diem.hold(own.diem);
		money.bundled.hold(own.bundled);
		money.usd.hold(own.usd);
		if (window !== null) this.#countIn(window, 1);
		key.openHolds.add(this);
		key.cached.holds++;
		if (amount > 0) room.holdsOpen++;
	}

	/** The key was read again: its windows are new objects. */
	moveTo(window: SpendingWindow | null | undefined): void {
		this.#window = window;
		if (window) this.#countIn(window, 1);
	}

	/**
	 * Splits the real price in the order diem, bundled, usd over the own hold plus what is free now; the own
	 * hold is usable in any case, more only as far as the caps go. What is left is overrun.
	 */
	post(input: PostInput): Posted | null {
		if (this.#settled) return null;
		const split = splitPost(input.lines, this.#payable());
		const { journal } = this.#room;
		// What can throw comes first: where the record is not taken, the hold is still open and can be voided.
		const durable = journal.append(this.#record(input, split.lines, split.price));
		input.kept?.posted();
		const lapsed = this.#end();
		const { money } = this.#key.cached;
		money.spend(this.#diem, split.diem, lapsed.diem);
		money.spend(money.bundled, split.bundled, lapsed.bundled);
		money.spend(money.usd, split.usd, lapsed.usd);
		const usd = split.bundled + split.usd;
		this.#key.posted(this.#window, this.day, usd, split.diem, journal.writtenSeq);
		this.#leave(split.price < this.amount);
		return { priceNano: split.price, usd: nano(usd), diem: nano(split.diem), overrun: split.overrun, durable };
	}

	void(): void {
		if (this.#settled) return;
		this.#end();
		this.#leave(this.amount > 0);
	}

	/** What a post may take: see `post`. */
	#payable(): Split {
		const own = this.#own;
		const { money } = this.#key.cached;
		const window = this.#window;
		if (window === undefined) return own;
		const free: Split = {
			diem: this.#diem.free + own.diem,
			bundled: money.bundled.free + own.bundled,
			usd: money.usd.free + own.usd,
		};
		if (window === null) return free;
		const ownUsd = own.bundled + own.usd;
		const roomDiem = Math.max(0, window.limitDiem - window.spentDiem - (window.heldDiem - own.diem));
		const roomUsd = Math.max(0, window.limitUsd - window.spentUsd - (window.heldUsd - ownUsd));
		return withinCaps(free, Math.max(own.diem, roomDiem), Math.max(ownUsd, roomUsd));
	}

	/** Frees the own hold. Returns what of it is no lease any more. */
	#end(): Split {
		const own = this.#own;
		const { money } = this.#key.cached;
		this.#settled = true;
		if (this.#window) this.#countIn(this.#window, -1);
		return {
			diem: this.#diem.release(own.diem),
			bundled: money.bundled.release(own.bundled),
			usd: money.usd.release(own.usd),
		};
	}

	#leave(freed: boolean): void {
		const key = this.#key;
		key.openHolds.delete(this);
		key.cached.holds--;
		if (this.amount > 0) this.#room.holdsOpen--;
		if (freed) key.cached.leases.freed();
		this.#room.ended(key);
	}

	#countIn(window: SpendingWindow, sign: 1 | -1): void {
		window.heldDiem += sign * this.#own.diem;
		window.heldUsd += sign * (this.#own.bundled + this.#own.usd);
	}

	#record(input: PostInput, lines: PostRecord["lines"], price: Nano): PostRecord {
		return {
			t: "post",
			id: this.#context.requestId,
			accountId: this.#key.key.accountId,
			keyId: this.#key.key.id,
			day: this.day,
			admittedAtMs: this.#context.admittedAtMs,
			doneAtMs: this.#room.clock.now(),
			route: this.#context.route,
			model: this.#context.model,
			upstream: input.upstream,
			status: input.status,
			holdNano: this.amount,
			priceNano: price,
			lines,
			usage: input.usage,
			...(input.kept ? { kept: input.kept.part } : {}),
		};
	}
}
