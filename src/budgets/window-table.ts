/** A window of 60 s for one (account, subject). */
export interface TimedWindow {
	readonly accountId: string;
	readonly subject: string;
	/** Monotonic instant of its end. */
	readonly endsAt: number;
}

/**
 * Open windows by account and subject. Bounded: past `maxWindows` the oldest is forgotten. Windows whose end is moved
 * forward keep their position, and are forgotten a little later.
 */
export class WindowTable<Window extends TimedWindow> {
	readonly #maxWindows: number;
	/** Windows by account, then subject: both are long-lived strings, so that a look-up neither joins nor hashes text. */
	readonly #accounts = new Map<string, Map<string, Window>>();
	/** All windows in the order in which they were opened. */
	readonly #order = new Set<Window>();

	constructor(maxWindows: number) {
		this.#maxWindows = maxWindows;
	}

	/** Returns the window that is open at `now`; undefined if there is none. */
	find(accountId: string, subject: string, now: number): Window | undefined {
		const existingWindow = this.#accounts.get(accountId)?.get(subject);
		return existingWindow !== undefined && existingWindow.endsAt > now ? existingWindow : undefined;
	}

	/** Replaces the ended window of the same account and subject. */
	add(window: Window, now: number): void {
		for (const oldest of this.#order) {
			if (oldest.endsAt > now && this.#order.size < this.#maxWindows) break;
			this.#forget(oldest);
		}
		const subjects = this.#accounts.get(window.accountId) ?? new Map<string, Window>();
		const before = subjects.get(window.subject);
		if (before !== undefined) this.#order.delete(before);
		this.#accounts.set(window.accountId, subjects);
		subjects.set(window.subject, window);
		this.#order.add(window);
	}

	get size(): number {
		return this.#order.size;
	}

	#forget(window: Window): void {
		this.#order.delete(window);
		const subjects = this.#accounts.get(window.accountId);
		if (subjects?.get(window.subject) === window) subjects.delete(window.subject);
		if (subjects?.size === 0) this.#accounts.delete(window.accountId);
	}
}
