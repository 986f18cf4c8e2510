/** What the runtime cannot answer on a connection is never executed and never charged (docs/api.md, HTTP). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { type ChatGateway, HELLO, PRICED_MODEL, startChatGateway } from "./chat-gateway.ts";
import { chatHead, RawConnection, rawExchange } from "./raw-connection.ts";

let fixture: ChatGateway;
let port: number;
let key: string;

beforeAll(async () => {
	fixture = await startChatGateway();
	port = fixture.gate.listening.port;
	key = fixture.gate.key;
});
afterAll(() => fixture.stop());

const CHAT = JSON.stringify({ ...HELLO, model: PRICED_MODEL });
const JSON_TYPE = "Content-Type: application/json";
const chat = (body = CHAT) => chatHead(key, [JSON_TYPE, `Content-Length: ${body.length}`]) + body;
const chunked = (rest: string, ...lines: string[]) =>
	`${chatHead(key, [JSON_TYPE, "Transfer-Encoding: chunked", ...lines])}${CHAT.length.toString(16)}\r\n${CHAT}\r\n${rest}`;

/** Sends bytes in one write and waits for the connection's end; what came back, and what was executed and charged. */
async function outcome(bytes: string): Promise<{ received: string; executed: number; charged: number }> {
	const [requests, posts] = [fixture.upstream.requests.length, (await fixture.gate.posts()).length];
	const connection = await RawConnection.open(port);
	await connection.send(bytes);
	await connection.closed();
	connection.destroy();
	await until(() => fixture.gate.gateway.budgets.holdsOpen === 0 && fixture.gate.listening.running === 0, "rest");
	return {
		received: connection.received(),
		executed: fixture.upstream.requests.length - requests,
		charged: (await fixture.gate.posts()).length - posts,
	};
}

test("of several requests in one write none is executed or charged where none can be answered", async () => {
	const stream = chat(CHAT.replace("{", '{"stream":true,'));
	const list = `GET /api/v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
	for (const bytes of [
		chat() + chat(),
		stream + stream,
		chat().repeat(10),
		chat() + list,
		chunked("0\r\n\r\n") + chat(),
		`${chat()}\r\n`,
	])
		expect(await outcome(bytes)).toMatchObject({ executed: 0, charged: 0 });
});

test("of several changes in one write none is made", async () => {
	const body = JSON.stringify({ apiKeyType: "INFERENCE", description: "pipelined" });
	const lines = ["POST /api/v1/api_keys HTTP/1.1", "Host: localhost", `Authorization: Bearer ${key}`, JSON_TYPE];
	await outcome(`${lines.join("\r\n")}\r\nContent-Length: ${body.length}\r\n\r\n${body}`.repeat(3));
	expect(await (await fixture.gate.call("GET", "/api_keys")).text()).not.toContain("pipelined");
});

test("requests behind one that is refused at once are answered in their order", async () => {
	const connection = await RawConnection.open(port);
	const unknown = "GET /api/v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";
	await connection.send(unknown + unknown + chat());
	expect((await connection.answer())?.status).toBe(404);
	expect((await connection.answer())?.status).toBe(404);
	expect((await connection.answer())?.status).toBe(200);
	connection.destroy();
});

test("a request that comes while the one before it runs is never executed: the caller of both has left", async () => {
	fixture.upstream.next({ hang: true });
	const [requests, posts] = [fixture.upstream.requests.length, (await fixture.gate.posts()).length];
	const connection = await RawConnection.open(port);
	await connection.send(chat());
	await until(() => fixture.upstream.requests.length > requests, "the first request at the upstream");
	await connection.send(chat());
	await connection.closed();
	connection.destroy();
	await until(() => fixture.gate.gateway.budgets.holdsOpen === 0 && fixture.gate.listening.running === 0, "rest");
	expect(fixture.upstream.requests.length - requests).toBe(1);
	expect((await fixture.gate.posts()).slice(posts).map((post) => post.status)).toEqual([499]);
});

test("what stands behind a request that ends its connection is not read", async () => {
	const last = chatHead(key, [JSON_TYPE, "Connection: close", `Content-Length: ${CHAT.length}`]) + CHAT;
	const { received, executed, charged } = await outcome(last + chat());
	expect(received).toStartWith("HTTP/1.1 200 OK\r\n");
	expect([executed, charged]).toEqual([1, 1]);
});

test("a Content-Length that comes twice is a 400 that says so, equal or not", async () => {
	for (const lengths of [
		[CHAT.length, CHAT.length],
		[CHAT.length, CHAT.length, CHAT.length],
		[0, 0],
	]) {
		const lines = [JSON_TYPE, ...lengths.map((length) => `Content-Length: ${length}`)];
		const answer = await rawExchange(port, chatHead(key, lines), CHAT);
		expect(answer?.status).toBe(400);
		expect(answer?.body).toContain("Content-Length is sent twice");
		expect(answer?.headers.get("connection")).toBe("close");
	}
});

test("trailers are refused before anything is charged", async () => {
	const announced = await rawExchange(port, chunked("0\r\nX-Sum: 1\r\n\r\n", "Trailer: X-Sum"));
	expect(announced?.status).toBe(400);
	expect(announced?.body).toContain("Trailers are not read");
	const { received, executed, charged } = await outcome(chunked("0\r\nX-Sum: 1\r\n\r\n"));
	expect(received).toStartWith("HTTP/1.1 400 Bad Request\r\n");
	expect([executed, charged]).toEqual([0, 0]);
});

test("a body that breaks off behind its last chunk is not charged", async () => {
	for (const rest of ["0\r\nX: \0\r\n\r\n", "0\r\n\r\nGET", "0\r\n\r\n\0\0\0"]) {
		const connection = await RawConnection.open(port);
		const [requests, posts] = [fixture.upstream.requests.length, (await fixture.gate.posts()).length];
		await connection.send(chunked(rest));
		const answer = await connection.answer();
		connection.destroy();
		await until(() => fixture.gate.gateway.budgets.holdsOpen === 0 && fixture.gate.listening.running === 0, "rest");
		const done = answer?.status === 200 ? 1 : 0;
		expect([fixture.upstream.requests.length - requests, (await fixture.gate.posts()).length - posts]).toEqual([done, done]);
	}
});

test("methods that no route has are a 405, and one that the runtime does not know does nothing", async () => {
	const ask = (method: string) =>
		outcome(
			`${method} /api/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
		);
	for (const method of ["TRACE", "CONNECT", "PROPFIND", "PURGE", "M-SEARCH", "QUERY", "LINK", "ACL", "REPORT"]) {
		const { received } = await ask(method);
		expect(`${method}: ${received.split("\r\n")[0]}`).toBe(`${method}: HTTP/1.1 405 Method Not Allowed`);
		expect(received).toContain("Allow: POST, OPTIONS");
	}
	for (const method of ["FOO", "post", "Post", "POSTT", "PRI", "_"])
		expect(await ask(method)).toMatchObject({ executed: 0, charged: 0 });
});
