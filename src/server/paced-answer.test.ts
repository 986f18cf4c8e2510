import { expect, test } from "bun:test";
import { pacedAnswer } from "./paced-answer.ts";

const LARGE = new Uint8Array(9_000_000).map((_, index) => index % 251);
const LIMITS = { silenceMs: 600_000, totalMs: 600_000 };

/** Serves one answer, and tells when it has ended. */
function serving(bytes: Uint8Array, limits = LIMITS) {
	const { promise: ended, resolve } = Promise.withResolvers<boolean>();
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch(request) {
			const paced = pacedAnswer(bytes, request.signal, limits);
			void paced?.ended.then(() => resolve(true));
			return new Response(paced?.body ?? "small");
		},
	});
	return { url: `http://127.0.0.1:${server.port}/`, ended, stop: () => server.stop(true) };
}

test("a large answer comes whole, and has ended when it was read; a small one is left alone", async () => {
	const large = serving(LARGE);
	expect(await (await fetch(large.url)).bytes()).toEqual(LARGE);
	expect(await large.ended).toBe(true);
	await large.stop();
	expect(pacedAnswer(new Uint8Array(1_000), new AbortController().signal, LIMITS)).toBeNull();
});

test("an answer that nobody reads is cut off, and one whose caller leaves has ended", async () => {
	for (const limits of [
		{ silenceMs: 50, totalMs: 600_000 },
		{ silenceMs: 600_000, totalMs: 50 },
	]) {
		const silent = serving(LARGE, limits);
		const response = await fetch(silent.url);
		expect(await silent.ended).toBe(true);
		await response.body?.cancel().catch(() => {});
		await silent.stop();
	}
	const leaving = serving(LARGE);
	const leave = new AbortController();
	const response = await fetch(leaving.url, { signal: leave.signal });
	expect(response.status).toBe(200);
	leave.abort();
	expect(await leaving.ended).toBe(true);
	await leaving.stop();
});
