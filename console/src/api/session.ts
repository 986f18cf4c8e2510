import type { Session } from "../../../src/routes/console/types.ts";

/** The session: `undefined` until it is fetched, `null` if nobody is signed in. Kept in memory only. */
type Current = Session | null | undefined;
type Listener = () => void;

const listeners = new Set<Listener>();
let current: Current;

function set(value: Current): void {
	current = value;
	for (const listener of listeners) listener();
}

export const session = {
	current: (): Current => current,
	csrfToken: (): string | undefined => current?.csrfToken,
	subscribe(listener: Listener): () => void {
		listeners.add(listener);
		return () => listeners.delete(listener);
	},
	began: (value: Session): void => set(value),
	/** The session expired, its key ended, or the reader signed out. */
	ended: (): void => set(null),
};
