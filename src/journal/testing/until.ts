/** Waits for a condition, looking again each few milliseconds; fails the test where it does not come true in time. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
	const deadline = performance.now() + withinMs;
	while (!(await condition())) {
		if (performance.now() > deadline) throw new Error(`did not come true within ${withinMs} ms: ${condition}`);
		await Bun.sleep(5);
	}
}
