const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop that no other caller of this function gets. Concurrent work takes turns, and
 * between any two steps the loop serves everything else.
 */
export function nextTurn(): Promise<void> {
	return new Promise((resolve) => {
		if (waiting.push(resolve) === 1) setImmediate(release);
	});
}

function release(): void {
	waiting.shift()?.();
	if (waiting.length > 0) setImmediate(release);
}

/** Runs work in steps to its end. */
export function atOnce<T>(steps: Generator<undefined, T>): T {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

/** Runs work in steps, with a turn of the event loop for each step. */
export async function inTurns<T>(steps: Generator<undefined, T>): Promise<T> {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
		await nextTurn();
	}
}
