/** Bounds a wait that hangs. It says nothing about speed: a slow machine needs seconds where an idle one needs milliseconds. */
export const WAIT_LIMIT_MS = 300_000;

const POLL_MS = 5;

/**
 * Waits until a condition holds, and looks again every 5 ms.
 *
 * @throws where the condition does not hold within 5 minutes; `what` says what was waited for
 */
export async function until(condition: () => boolean | Promise<boolean>, what = String(condition)): Promise<void> {
	const deadline = performance.now() + WAIT_LIMIT_MS;
	while (!(await condition())) {
		if (performance.now() > deadline) throw new Error(`this did not come true within ${WAIT_LIMIT_MS / 60_000} minutes: ${what}`);
		await Bun.sleep(POLL_MS);
	}
}
