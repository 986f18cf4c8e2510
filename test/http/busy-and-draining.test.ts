/** A gateway that is full, and one that is stopping: who is refused, how, and who may finish. */
import { expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { type ChatGateway, type ErrorAnswer, HELLO, startChatGateway, verdict } from "./chat-gateway.ts";
import { chatHead, RawConnection } from "./raw-connection.ts";

const BODY = JSON.stringify(HELLO);
const STREAM = JSON.stringify({ ...HELLO, stream: true });
const requestOf = (key: string, body = BODY) =>
	chatHead(key, ["Content-Type: application/json", `Content-Length: ${body.length}`]) + body;

/** Starts a stream that stands still after its first chunk until `go`. */
async function heldStream(bed: ChatGateway) {
	const gate = Promise.withResolvers<void>();
	bed.upstream.next({ beforeSecondChunk: gate.promise });
	const answer = await bed.gate.chat({ ...HELLO, stream: true });
	expect(answer.status).toBe(200);
	return { answer, go: gate.resolve };
}

/** One request fits. */
async function withSmallGateway(use: (bed: ChatGateway) => Promise<void>): Promise<void> {
	const bed = await startChatGateway({ config: { server: { maxRunning: 1 } } });
	try {
		await use(bed);
	} finally {
		await bed.stop();
	}
}

test("past its bound a gateway refuses at once, and takes requests again when one has ended", () =>
	withSmallGateway(async (bed) => {
		const { answer, go } = await heldStream(bed);
		const refused = await bed.gate.chat(HELLO);
		expect(refused.status).toBe(503);
		expect(refused.headers.get("retry-after")).toBe("1");
		expect(refused.headers.get("x-request-id")).toMatch(/^[0-9A-Za-z]{32}$/);
		expect(((await refused.json()) as ErrorAnswer).code).toBe("SERVICE_UNAVAILABLE");
		expect(bed.upstream.requests).toHaveLength(1);
		go();
		expect(await answer.text()).toEndWith("data: [DONE]\n\n");
		await until(() => bed.gate.listening.running === 0, "the stream's end");
		expect(await verdict(bed.gate.chat(HELLO))).toBe("200");
	}));

test("a caller that leaves its stream makes room", () =>
	withSmallGateway(async (bed) => {
		const leave = new AbortController();
		bed.upstream.next({ hang: "after-first-chunk" });
		const answer = await bed.gate.chat({ ...HELLO, stream: true }, { signal: leave.signal });
		await answer.body?.getReader().read();
		expect(await verdict(bed.gate.chat(HELLO))).toBe("503 SERVICE_UNAVAILABLE");
		leave.abort();
		await until(async () => (await verdict(bed.gate.chat(HELLO))) === "200", "room");
	}));

test("a full gateway is alive all the same", () =>
	withSmallGateway(async (bed) => {
		const { answer, go } = await heldStream(bed);
		const probe = await fetch(`${bed.gate.url}/healthz`);
		go();
		await answer.text();
		expect(probe.status).toBe(200);
	}));

test("a gateway that stops finishes what runs, and takes nothing more, on no connection", async () => {
	const bed = await startChatGateway();
	const idle = await RawConnection.open(bed.gate.listening.port);
	const busy = await RawConnection.open(bed.gate.listening.port);
	await idle.send(requestOf(bed.gate.key));
	expect((await idle.answer())?.status).toBe(200);
	const pause = Promise.withResolvers<void>();
	bed.upstream.next({ beforeSecondChunk: pause.promise });
	await busy.send(requestOf(bed.gate.key, STREAM));
	await until(() => bed.upstream.requests.length === 2, "the request at the upstream");
	const { answer, go } = await heldStream(bed);
	const drained = bed.gate.listening.drain();
	try {
		await idle.closed();
		expect(await fetch(`${bed.gate.url}/healthz`).catch(() => "refused")).toBe("refused");
		pause.resolve();
		expect((await busy.answer())?.status).toBe(200);
		await busy.send(requestOf(bed.gate.key));
		const late = await busy.answer();
		expect(late === null || (late.status === 503 && late.headers.get("connection") === "close")).toBe(true);
	} finally {
		pause.resolve();
		go();
		expect(await answer.text()).toEndWith("data: [DONE]\n\n");
		await drained;
		idle.destroy();
		busy.destroy();
	}
	expect(bed.gate.gateway.budgets.holdsOpen).toBe(0);
	expect(await bed.gate.posts()).toHaveLength(3);
	await bed.stop();
});

test("what has not ended at the end of the drain time is cut, and its holds are void", async () => {
	const bed = await startChatGateway({ config: { server: { drainMs: 100 } } });
	bed.upstream.next({ hang: true });
	const running = bed.gate.chat(HELLO);
	running.catch(() => {});
	await until(() => bed.upstream.requests.length === 1, "the request at the upstream");
	await bed.gate.listening.drain();
	await expect(running).rejects.toThrow();
	await until(() => bed.gate.gateway.budgets.holdsOpen === 0, "the end of the hold");
	await until(() => bed.lastSent().isAborted, "the upstream's abort");
	await bed.stop();
});
