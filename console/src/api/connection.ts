/**
 * Whether the server answers. One failed call is enough to say that it does not; from then on it is asked every
 * two seconds, and when it answers again, whoever listens hears of it.
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
	/** A call got no answer. */
	lost(): void {
		if (!up) return;
		set(false);
		timer = setTimeout(askAgain, AGAIN_MS);
	},
	/** A call got an answer, whatever it said. */
	found(): void {
		if (up) return;
		clearTimeout(timer);
		set(true);
	},
	/** The reader does not want to wait. */
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
		// A proxy in front says 502 to 504 while the server is away.
		if (answer.status < 502 || answer.status > 504) return connection.found();
	} catch {
		// Still away: asked again below.
	}
	if (!up) timer = setTimeout(askAgain, AGAIN_MS);
}
