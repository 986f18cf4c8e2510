/**
 * Preloaded into a server under test (BUN_OPTIONS): measures how long one turn of its event loop takes, in processor time
 * of that thread, so that neither other processes nor the speed of a disk count. Told on a port of its own.
 */
const port = Number(process.env.LOOP_WATCH_PORT);

if (Bun.isMainThread && process.argv.includes("serve") && port > 0) {
	let longestUs = 0;
	let beganUs = spentUs();
	const look = () => {
		const nowUs = spentUs();
		longestUs = Math.max(longestUs, nowUs - beganUs);
		beganUs = nowUs;
		setTimeout(look, 1);
	};
	look();
	Bun.serve({
		port,
		hostname: "127.0.0.1",
		fetch() {
			const nowUs = spentUs();
			const told = { longestTurnMs: Math.max(longestUs, nowUs - beganUs) / 1_000, rssBytes: process.memoryUsage.rss() };
			longestUs = 0;
			beganUs = nowUs;
			return Response.json(told);
		},
	}).unref();
}

function spentUs(): number {
	const { user, system } = process.threadCpuUsage();
	return user + system;
}
