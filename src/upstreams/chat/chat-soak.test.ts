import { afterAll, expect, test } from "bun:test";
import { chatForward, HELLO, textModel } from "../../../test/support/chat-forward.ts";
import { countingClock } from "../../../test/support/counting-clock.ts";
import { type Behaviour, startScriptedUpstream } from "../../../test/support/scripted-upstream.ts";
import { until } from "../../../test/support/until.ts";
import type { UpstreamConfig } from "../../config/schema.ts";
import { silentLog } from "../../telemetry/log.ts";
import { createChatUpstreams } from "./chat-upstreams.ts";

const servers = [startScriptedUpstream(), startScriptedUpstream()] as const;
afterAll(() => Promise.all(servers.map((server) => server.stop())));

function seeded(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

const config = (url: string): UpstreamConfig => ({
	url,
	dialect: "generic",
	discover: true,
	health: { failures: 1_000, probeEveryMs: 60_000 },
});

test("100 streams at once, left at random moments or broken upstream, leave nothing open: no call, no place, no timer", async () => {
	const random = seeded(20_260_101);
	const behaviours: readonly Behaviour[] = [
		{ chunkDelayMs: 2 },
		{ chunkDelayMs: 1, byteByByte: true },
		{ hang: true },
		{ hang: "after-headers" },
		{ hang: "after-first-chunk" },
		{ dieAfterChunks: 0 },
		{ dieAfterChunks: 2 },
		{ status: 500 },
		{ status: 429 },
		{ errorEventAt: 0 },
		{ errorEventAt: 3 },
		{ thinkMs: 20 },
	];
	for (const server of servers) server.always(() => behaviours[Math.floor(random() * behaviours.length)] ?? {});
	const clock = countingClock();
	const upstreams = createChatUpstreams({
		upstreams: { main: config(servers[0].url), spare: config(servers[1].url) },
		timeouts: { chatFirstByteMs: 400, chatIdleMs: 400, chatUnaryMs: 400, chatStreamTriesMs: 600 },
		log: silentLog,
		clock,
	});
	const model = textModel([{}, { upstream: "spare" }]);
	let outcomes = 0;
	const one = async (): Promise<void> => {
		const caller = new AbortController();
		const call = chatForward({ ...HELLO, stream: true }, { model, signal: caller.signal });
		const stream = upstreams.stream(call);
		const leaves = random();
		const timer = leaves < 0.7 ? setTimeout(() => (leaves < 0.35 ? caller.abort() : stream.cancel()), random() * 120) : undefined;
		try {
			await stream.each(() => null);
		} catch {
			// Each way to end is a good one here: what counts is what is left behind.
		} finally {
			clearTimeout(timer);
			stream.cancel();
			outcomes++;
		}
	};
	const worker = async (): Promise<void> => {
		for (let i = 0; i < 5; i++) await one();
	};
	await Promise.all(Array.from({ length: 100 }, worker));
	expect(outcomes).toBe(500);
	const quiet = () => servers.every((server) => server.open === 0);
	await until(quiet);
	expect(servers.map((server) => server.open)).toEqual([0, 0]);
	expect(upstreams.snapshot().map((status) => status.running)).toEqual([0, 0]);
	upstreams.close();
	// What drains a body after its [DONE] may still wait for the last byte of it.
	await until(() => clock.pending === 0);
});
