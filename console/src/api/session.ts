import type { Session } from "../../../src/routes/console/types.ts";

/** Who is signed in: `undefined` until the server was asked, `null` for nobody. Kept in memory only. */
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
	/** It has run out, its key is gone, or the reader signed out. */
	ended: (): void => set(null),
};
