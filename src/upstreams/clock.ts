/** Time as this room uses it; tests hand in another. */
export interface Clock {
	/** Milliseconds that never go back. */
	nowMs(): number;
	/** Runs `action` once after `delayMs`; the returned function takes it back. */
	after(delayMs: number, action: () => void): () => void;
}

export const systemClock: Clock = {
	nowMs: () => performance.now(),
	after(delayMs, action) {
		const timer = setTimeout(action, delayMs);
		return () => clearTimeout(timer);
	},
};
