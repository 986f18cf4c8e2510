/** One account, or an address without a key, floods the gateway: what it gets, and that another account is served meanwhile. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { DocumentPool } from "../../src/engines/documents/index.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import type { TestKey } from "../support/running-gateway.ts";
import { temporaryFolder } from "../support/served.ts";
import { until } from "../support/until.ts";
import { type ChatGateway, HELLO, PRICED_MODEL, startChatGateway, verdict } from "./chat-gateway.ts";
import { RawConnection } from "./raw-connection.ts";

/** Reads a file at once, unless its name says that it never ends. */
const READER = `
import { serveParent } from ${JSON.stringify(join(import.meta.dir, "../../src/engines/child-side.ts"))};
serveParent({
	start: async () => null,
	work: ({ id, name }) => (name === "endless.txt" ? new Promise(() => {}) : Promise.resolve({ id, text: "read" })),
});`;

const MAX_RUNNING = 40;
const FLOOD = 60;

let fixture: ChatGateway;
let documents: DocumentPool;
let folder: string;
let flooder: TestKey;
let broke: TestKey;
let other: TestKey;

beforeAll(async () => {
	folder = temporaryFolder();
	writeFileSync(join(folder, "reader.ts"), READER);
	const limits = { processes: 2, limitMs: 600_000, maxMemoryMb: 500 };
	documents = new DocumentPool({ log: silentLog, ...limits, entry: join(folder, "reader.ts") });
	fixture = await startChatGateway({
		documents,
		config: {
			server: { maxRunning: MAX_RUNNING, maxBodyBytesInFlight: 8 * 1_048_576, trustedProxies: ["127.0.0.1"] },
			limits: { failedRequests: 20, augmentRequestsPerMinute: 1_000 },
			chat: { embedded: { enabled: false } },
		},
	});
	flooder = await fixture.gate.newKey({ creditUsd: "5" });
	broke = await fixture.gate.newKey({ creditUsd: "0" });
	other = await fixture.gate.newKey({ creditUsd: "5" });
});
afterAll(async () => {
	await fixture.stop();
	await documents.stop();
	rmSync(folder, { recursive: true, force: true });
});

function sendFile(name: string, key: string, signal?: AbortSignal): Promise<Response> {
	const form = new FormData();
	form.set("file", new File(["a text"], name));
	const init = { method: "POST", body: form, headers: { authorization: `Bearer ${key}` }, ...(signal ? { signal } : {}) };
	return fetch(`${fixture.gate.url}/api/v1/augment/text-parser`, init);
}

/** What the other account gets on each kind of route. */
async function servedOther(): Promise<string[]> {
	const { secret } = other;
	const large = { ...HELLO, model: PRICED_MODEL, messages: [{ role: "user", content: "word ".repeat(4_000) }] };
	return Promise.all([
		verdict(fixture.gate.chat(HELLO, { key: secret })),
		verdict(fixture.gate.chat({ ...HELLO, stream: true }, { key: secret })),
		verdict(fixture.gate.chat(large, { key: secret })),
		verdict(sendFile("short.txt", secret)),
		verdict(fixture.gate.call("GET", "/models", undefined, { authorization: `Bearer ${secret}` })),
	]);
}
const SERVED = ["200", "200", "200", "200", "200"];

/** The head of a request whose body does not come. */
const headOf = (path: string, length: number, key: string | null, type = "application/json") =>
	[
		`POST /api/v1${path} HTTP/1.1`,
		"Host: localhost",
		...(key === null ? [] : [`Authorization: Bearer ${key}`]),
		`Content-Type: ${type}`,
		`Content-Length: ${length}`,
		"",
		"",
	].join("\r\n");

/** Begins uploads that never end, and waits until each has been taken or refused. */
async function slowUploads(
	count: number,
	head: string | ((index: number) => string),
	begun: string,
): Promise<{ refused: () => number; end(): Promise<void> }> {
	const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(fixture.gate.listening.port)));
	let refused = 0;
	const answers = connections.map(async (connection, index) => {
		await connection.send(typeof head === "string" ? head : head(index));
		await connection.send(begun);
		const answer = await connection.answer().catch(() => null);
		if (answer !== null) refused++;
	});
	await until(() => fixture.gate.listening.running + refused === count, "all uploads at the gateway");
	return {
		refused: () => refused,
		async end() {
			for (const connection of connections) connection.destroy();
			await Promise.all(answers);
			await until(() => fixture.gate.listening.running === 0, "the end of all uploads");
		},
	};
}

test("streams that stand still fill no more than their account's share of the places", async () => {
	const leave = new AbortController();
	const streams = Array.from({ length: FLOOD }, async () => {
		fixture.upstream.next({ hang: "after-first-chunk" });
		return fixture.gate.chat({ ...HELLO, stream: true }, { key: flooder.secret, signal: leave.signal });
	});
	const answers = await Promise.all(streams);
	const refused = answers.filter(({ status }) => status === 429);
	expect(answers.length - refused.length).toBe(MAX_RUNNING / 2);
	expect(refused[0]?.headers.get("retry-after")).toBe("1");
	expect(await refused[0]?.json()).toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
	fixture.upstream.reset();
	expect(await servedOther()).toEqual(SERVED);
	leave.abort();
	await until(() => fixture.gate.listening.running === 0, "the end of all streams");
	expect(await verdict(fixture.gate.chat(HELLO, { key: flooder.secret }))).toBe("200");
});

test("uploads that do not go on count as well, with a key and without one", async () => {
	for (const [path, key] of [
		["/chat/completions", flooder.secret],
		["/chat/completions", broke.secret],
	] as const) {
		const uploads = await slowUploads(FLOOD, headOf(path, 16_000, key), '{"model":');
		expect(uploads.refused(), path).toBe(FLOOD - MAX_RUNNING / 2);
		expect(await servedOther(), path).toEqual(SERVED);
		await uploads.end();
	}
});

test("callers without an account have half of the places together, however many networks they come from", async () => {
	const head = headOf("/api_keys/generate_web3_key", 16_000, null);
	const one = await slowUploads(FLOOD, head, "{");
	expect(one.refused()).toBe(FLOOD - MAX_RUNNING / 4);
	expect(await servedOther()).toEqual(SERVED);
	await one.end();
	const many = (index: number) => head.replace("\r\n", `\r\nX-Forwarded-For: 2001:db8:0:${index.toString(16)}::1\r\n`);
	const crowd = await slowUploads(FLOOD, many, "{");
	expect(crowd.refused()).toBe(FLOOD - MAX_RUNNING / 2);
	expect(await servedOther()).toEqual(SERVED);
	const unseen = await fixture.gate.newKey({ creditUsd: "5" });
	expect(await verdict(fixture.gate.chat(HELLO, { key: unseen.secret }))).toBe("200");
	await crowd.end();
});

test("large bodies under way hold no more than their account's share of the memory", async () => {
	const begun = `{"model":"${PRICED_MODEL}","messages":[{"role":"user","content":"${"a".repeat(1_048_576)}`;
	const uploads = await slowUploads(16, headOf("/chat/completions", 60 * 1_048_576, flooder.secret), begun);
	await until(() => uploads.refused() >= 12, "the refusals");
	const { bodyMemory } = fixture.gate.gateway.pipeline;
	expect(bodyMemory.used).toBeLessThanOrEqual(bodyMemory.limit / 2);
	const large = { ...HELLO, messages: [{ role: "user", content: "word ".repeat(400_000) }] };
	expect(await verdict(fixture.gate.chat(large, { key: other.secret }))).toBe("200");
	expect(await servedOther()).toEqual(SERVED);
	await uploads.end();
	expect(bodyMemory.used).toBe(0);
});

test("a caller that cannot pay anything is refused before its body comes, where nothing is free", async () => {
	const paths = [
		["/augment/text-parser", "multipart/form-data; boundary=x"],
		["/augment/scrape", "application/json"],
		["/crypto/rpc/ethereum-mainnet", "application/json"],
		["/audio/speech", "application/json"],
	] as const;
	for (const [path, type] of paths) {
		for (const length of [100, 1_000_000]) {
			const connection = await RawConnection.open(fixture.gate.listening.port);
			await connection.send(headOf(path, length, broke.secret, type));
			expect((await connection.answer())?.status, `${path} ${length}`).toBe(402);
			connection.destroy();
		}
	}
	expect(await verdict(fixture.gate.chat(HELLO, { key: broke.secret }))).toBe("200");
	const credited = await fixture.gate.newKey({ creditUsd: "0" });
	expect(await verdict(sendFile("short.txt", credited.secret))).toBe("402 INSUFFICIENT_BALANCE");
});

test("an answer that is not read keeps its place until it is, and is then gone", async () => {
	const content = "word ".repeat(5_000_000);
	const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
	const usage = { prompt_tokens: 5, completion_tokens: 1_000, total_tokens: 1_005 };
	fixture.upstream.next({ raw: JSON.stringify({ id: "a", object: "chat.completion", created: 1, model: "m", choices, usage }) });
	const posts = (await fixture.gate.posts()).length;
	const body = JSON.stringify(HELLO);
	const socket = connect({ port: fixture.gate.listening.port, host: "127.0.0.1" });
	socket.pause();
	socket.write(`${headOf("/chat/completions", body.length, flooder.secret).trimEnd()}\r\nConnection: close\r\n\r\n${body}`);
	await until(async () => (await fixture.gate.posts()).length > posts, "the end of the work");
	expect(await servedOther()).toEqual(SERVED);
	expect(fixture.gate.listening.running).toBe(1);
	let bytes = 0;
	socket.on("data", (data: Buffer) => {
		bytes += data.length;
	});
	socket.resume();
	await until(() => fixture.gate.listening.running === 0 && bytes > content.length, "the whole answer");
	socket.destroy();
});

test("documents of one account that fill every process do not hold up those of another", async () => {
	const leave = new AbortController();
	const ended = Promise.allSettled(
		Array.from({ length: 20 }, () => sendFile("endless.txt", flooder.secret, leave.signal).then((answer) => answer.status)),
	);
	await until(() => fixture.gate.listening.running === 20, "all documents at the gateway");
	for (let round = 0; round < 3; round++) expect(await servedOther()).toEqual(SERVED);
	leave.abort();
	await ended;
	await until(() => fixture.gate.listening.running === 0, "the end of all documents");
	expect(fixture.gate.gateway.budgets.holdsOpen).toBe(0);
});

test("a caller that sends wrong bodies is told to wait, and nobody else", async () => {
	const wrong = { model: HELLO.model, messages: "none" };
	const verdicts = await Promise.all(
		Array.from({ length: FLOOD }, () => verdict(fixture.gate.chat(wrong, { key: flooder.secret }))),
	);
	expect(verdicts).toContain("400 INVALID_REQUEST");
	expect(await verdict(fixture.gate.chat(HELLO, { key: flooder.secret }))).toBe("429 RATE_LIMIT_EXCEEDED");
	expect(await servedOther()).toEqual(SERVED);
});
