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
async function heldStream(fixture: ChatGateway) {
	const gate = Promise.withResolvers<void>();
	fixture.upstream.next({ beforeSecondChunk: gate.promise });
	const answer = await fixture.gate.chat({ ...HELLO, stream: true });
	expect(answer.status).toBe(200);
	return { answer, go: gate.resolve };
}

/** One request fits. */
async function withSmallGateway(use: (fixture: ChatGateway) => Promise<void>): Promise<void> {
	const fixture = await startChatGateway({ config: { server: { maxRunning: 1 } } });
	try {
		await use(fixture);
	} finally {
		await fixture.stop();
	}
}

test("past its bound a gateway refuses at once, and takes requests again when one has ended", () =>
	withSmallGateway(async (fixture) => {
		const { answer, go } = await heldStream(fixture);
		const refused = await fixture.gate.chat(HELLO);
		expect(refused.status).toBe(503);
		expect(refused.headers.get("retry-after")).toBe("1");
		expect(refused.headers.get("x-request-id")).toMatch(/^[0-9A-Za-z]{32}$/);
		expect(((await refused.json()) as ErrorAnswer).code).toBe("SERVICE_UNAVAILABLE");
		expect(fixture.upstream.requests).toHaveLength(1);
		go();
		expect(await answer.text()).toEndWith("data: [DONE]\n\n");
		await until(() => fixture.gate.listening.running === 0, "the stream's end");
		expect(await verdict(fixture.gate.chat(HELLO))).toBe("200");
	}));

test("a caller that leaves its stream makes room", () =>
	withSmallGateway(async (fixture) => {
		const leave = new AbortController();
		fixture.upstream.next({ hang: "after-first-chunk" });
		const answer = await fixture.gate.chat({ ...HELLO, stream: true }, { signal: leave.signal });
		await answer.body?.getReader().read();
		expect(await verdict(fixture.gate.chat(HELLO))).toBe("503 SERVICE_UNAVAILABLE");
		leave.abort();
		await until(async () => (await verdict(fixture.gate.chat(HELLO))) === "200", "room");
	}));

test("a full gateway is alive all the same", () =>
	withSmallGateway(async (fixture) => {
		const { answer, go } = await heldStream(fixture);
		const probe = await fetch(`${fixture.gate.url}/healthz`);
		go();
		await answer.text();
		expect(probe.status).toBe(200);
	}));

test("a gateway that stops finishes what runs, and takes nothing more, on no connection", async () => {
	const fixture = await startChatGateway();
	const idle = await RawConnection.open(fixture.gate.listening.port);
	const busy = await RawConnection.open(fixture.gate.listening.port);
	await idle.send(requestOf(fixture.gate.key));
	expect((await idle.answer())?.status).toBe(200);
	const pause = Promise.withResolvers<void>();
	fixture.upstream.next({ beforeSecondChunk: pause.promise });
	await busy.send(requestOf(fixture.gate.key, STREAM));
	await until(() => fixture.upstream.requests.length === 2, "the request at the upstream");
	const { answer, go } = await heldStream(fixture);
	const drained = fixture.gate.listening.drain();
	try {
		await idle.closed();
		expect(await fetch(`${fixture.gate.url}/healthz`).catch(() => "refused")).toBe("refused");
		pause.resolve();
		expect((await busy.answer())?.status).toBe(200);
		await busy.send(requestOf(fixture.gate.key));
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
	expect(fixture.gate.gateway.budgets.holdsOpen).toBe(0);
	expect(await fixture.gate.posts()).toHaveLength(3);
	await fixture.stop();
});

test("what has not ended at the end of the drain time is cut, and its holds are void", async () => {
	const fixture = await startChatGateway({ config: { server: { drainMs: 100 } } });
	fixture.upstream.next({ hang: true });
	const running = fixture.gate.chat(HELLO);
	running.catch(() => {});
	await until(() => fixture.upstream.requests.length === 1, "the request at the upstream");
	await fixture.gate.listening.drain();
	await expect(running).rejects.toThrow();
	await until(() => fixture.gate.gateway.budgets.holdsOpen === 0, "the end of the hold");
	await until(() => fixture.lastSent().isAborted, "the upstream's abort");
	await fixture.stop();
});
