import { setImmediate as nextTurn } from "node:timers/promises";

/** Runs work that is cut into steps to its end. */
export function atOnce<T>(steps: Generator<undefined, T>): T {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

/** The same with a turn of the event loop for each step, so that others have theirs in between. */
export async function inTurns<T>(steps: Generator<undefined, T>): Promise<T> {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
		await nextTurn();
	}
}
