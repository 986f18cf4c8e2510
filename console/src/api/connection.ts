/**
 * Tracks whether the server answers. After one failed call it counts as unreachable and is polled every two seconds; listeners
 * are notified when it answers again.
 */
type Listener = () => void;

const AGAIN_MS = 2_000;
const listeners = new Set<Listener>();
let up = true;
let timer: ReturnType<typeof setTimeout> | undefined;

export const connection = {
	isUp: (): boolean => up,
	subscribe(listener: Listener): () => void {
		listeners.add(listener);
		return () => listeners.delete(listener);
	},
	/** Records that a call got no answer. */
	lost(): void {
		if (!up) return;
		set(false);
		timer = setTimeout(askAgain, AGAIN_MS);
	},
	/** Records that a call got an answer of any kind. */
	answered(): void {
		if (up) return;
		clearTimeout(timer);
		set(true);
	},
	/** Polls at once, because the reader does not want to wait. */
	askNow(): void {
		clearTimeout(timer);
		void askAgain();
	},
};

function set(value: boolean): void {
	up = value;
	for (const listener of listeners) listener();
}

async function askAgain(): Promise<void> {
	try {
		const answer = await fetch("/console/api/session", { signal: AbortSignal.timeout(5_000) });
		// A proxy answers 502 to 504 while the server is unreachable.
		if (answer.status < 502 || answer.status > 504) return connection.answered();
	} catch {
		// The server is still unreachable; the next poll is scheduled below.
	}
	if (!up) timer = setTimeout(askAgain, AGAIN_MS);
}
