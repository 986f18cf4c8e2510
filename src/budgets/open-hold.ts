import type { Journal, PostRecord } from "../journal/records.ts";
import { type Nano, nano, ZERO } from "../ledger/nano.ts";
import { takeInOrder } from "../store/core/owed.ts";
import type { UsableMoney } from "../store/port.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { CachedKey } from "./cached-key.ts";
import type { LeaseBalance } from "./lease-balance.ts";
import type { Hold, HoldContext, Posted, PostInput } from "./port.ts";
import type { SpendingWindow } from "./spending-window.ts";
import { owedPart, type Split, splitPost, withinCaps } from "./split.ts";

/** The state and dependencies that the holds of a node share. */
export interface HoldDeps {
	readonly journal: Journal;
	readonly clock: Clock;
	/** Number of open holds of more than 0. */
	holdsOpen: number;
	/** Called when a hold of an account has ended. */
	onEnded(key: CachedKey): void;
}

const NOTHING_MORE = { usd: ZERO, diem: ZERO };
const ANY_AMOUNT = { usd: Number.POSITIVE_INFINITY, diem: Number.POSITIVE_INFINITY };

/** Money secured for one request, source by source. The first call of `post` or `void` ends it. */
export class OpenHold implements Hold {
	readonly amount: Nano;
	/**
	 * UTC day of the admission: it fixes the diem epoch and the key's window, even where the post comes after midnight.
	 */
	readonly day: number;
	readonly #deps: HoldDeps;
	readonly #key: CachedKey;
	readonly #context: HoldContext;
	readonly #own: Split;
	readonly #diem: LeaseBalance;
	/** null: the key has no caps. undefined: it has caps, but a change of period left its window unknown. */
	#window: SpendingWindow | null | undefined;
	#settled = false;

	/**
	 * Takes `own`, whose sum is `amount`, from the balances and the window: call it in the turn that found the money
	 * free.
	 */
	constructor(
		deps: HoldDeps,
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
		this.#deps = deps;
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
		if (amount > 0) deps.holdsOpen++;
	}

	/** Moves the hold to the key's new window objects after the key was read again. */
	moveTo(window: SpendingWindow | null | undefined): void {
		this.#window = window;
		if (window) this.#countIn(window, 1);
	}

	/**
	 * Splits the real price in the order diem, bundled, usd over the own hold plus free money. The own hold is usable
	 * in any case, more only within the caps. The rest is owed within the caps: the store takes it from free money when
	 * it applies the post. What remains is overrun.
	 */
	post(input: PostInput): Posted | null {
		if (this.#settled) return null;
		const split = splitPost(input.lines, this.#payable());
		const most = split.overrun > 0 ? this.#owableMoney(split) : NOTHING_MORE;
		const { lines, owed } = split.overrun > 0 ? owedPart(split, most) : { lines: split.lines, owed: ZERO };
		const { journal } = this.#deps;
		// Code that can throw comes first: where the record is refused, the hold is still open and can be voided.
		const owingTerms = owed > 0 ? { owing: { kept: this.#leasedAfter(split), most } } : {};
		const durable = journal.append({ ...this.#record(input, lines, split.price), ...owingTerms });
		input.storedAnswer?.posted();
		const expired = this.#end();
		const { money } = this.#key.cached;
		money.spend(this.#diem, split.diem, expired.diem);
		money.spend(money.bundled, split.bundled, expired.bundled);
		money.spend(money.usd, split.usd, expired.usd);
		const usd = split.bundled + split.usd;
		// An owed amount counts against both caps until the store reports its split, so that nothing passes them
		// meanwhile.
		const owedAtMost = { usd: Math.min(owed, most.usd), diem: Math.min(owed, most.diem) };
		this.#key.posted(this.#window, this.day, { usd, diem: split.diem }, owedAtMost, journal.writtenSeq);
		if (owed > 0) this.#owe(owed, most);
		this.#release(split.price < this.amount);
		const overrun = nano(split.overrun - owed);
		const expected = owed > 0 ? this.#expected(owed, most) : NOTHING_MORE;
		return { priceNano: split.price, usd: nano(usd), diem: nano(split.diem), owed, expected, overrun, durable };
	}

	void(): void {
		if (this.#settled) return;
		this.#end();
		this.#release(this.amount > 0);
	}

	/** Returns what a post may take on this node: see `post`. */
	#payable(): Split {
		const own = this.#own;
		const window = this.#window;
		if (window === undefined) return own;
		const { money } = this.#key.cached;
		const free: Split = {
			diem: this.#diem.free + own.diem,
			bundled: money.bundled.free + own.bundled,
			usd: money.usd.free + own.usd,
		};
		return window === null ? free : withinCaps(free, own.diem + window.headroomDiem, own.bundled + own.usd + window.headroomUsd);
	}

	/** Returns what the caps let the store take beyond what is paid on this node; a shared store checks them again. */
	#owableMoney(split: Split): UsableMoney {
		const own = this.#own;
		const most = this.#window === null ? ANY_AMOUNT : (this.#window?.unspent ?? NOTHING_MORE);
		const remaining = (caps: number, paid: number): number => Math.min(Math.max(0, caps - paid), Number.MAX_SAFE_INTEGER);
		return {
			diem: remaining(own.diem + most.diem, split.diem),
			usd: remaining(own.bundled + own.usd + most.usd, split.bundled + split.usd),
		};
	}

	#leasedAfter(split: Split): Split {
		const own = this.#own;
		const { money } = this.#key.cached;
		return {
			diem: this.#diem.leasedAfter(own.diem, split.diem),
			bundled: money.bundled.leasedAfter(own.bundled, split.bundled),
			usd: money.usd.leasedAfter(own.usd, split.usd),
		};
	}

	/** Returns the part of `owed` that the account's money outside this node's leases should pay. */
	#expected(owed: Nano, most: UsableMoney): { usd: Nano; diem: Nano } {
		const anywhere = this.#key.cached.money.freeAnywhere(this.day);
		const sources = (["diem", "bundled", "usd"] as const).map((source) => ({ source, free: anywhere[source] }));
		const [diem = 0, bundled = 0, usd = 0] = takeInOrder(owed, sources, most).taken;
		return { usd: nano(bundled + usd), diem: nano(diem) };
	}

	/** Marks totals and windows for a new read, since only the store knows how the owed amount was paid. */
	#owe(owed: Nano, most: UsableMoney): void {
		const { cached } = this.#key;
		cached.money.recordOwed(owed, most, this.day);
		cached.freshness.changed();
		if (this.#window !== null) this.#key.freshness.changed();
	}

	/** Frees the own hold. Returns the part of it whose lease has ended. */
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

	#release(isFree: boolean): void {
		const key = this.#key;
		key.openHolds.delete(this);
		key.cached.holds--;
		if (this.amount > 0) this.#deps.holdsOpen--;
		if (isFree) key.cached.leases.onReleased();
		this.#deps.onEnded(key);
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
			...(this.#context.callerId === undefined ? {} : { callerId: this.#context.callerId }),
			keyId: this.#key.recordedId,
			day: this.day,
			admittedAtMs: this.#context.admittedAtMs,
			doneAtMs: this.#deps.clock.wallMs(),
			route: this.#context.route,
			model: this.#context.model,
			upstream: input.upstream,
			status: input.status,
			holdNano: this.amount,
			priceNano: price,
			lines,
			...(this.#window?.leases ? { capped: true } : {}),
			usage: input.usage,
			...(input.storedAnswer ? { kept: input.storedAnswer.part } : {}),
		};
	}
}
