/** Requests that no client library would send, over raw sockets: sizes, slow and broken uploads, odd framing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { type ChatGateway, HELLO, MODEL, PRICED_MODEL, startChatGateway } from "./chat-gateway.ts";
import { chatHead, RawConnection, rawExchange } from "./raw-connection.ts";

const MAX_BODY = 72 * 1_048_576;

let fixture: ChatGateway;
/** Its limits of slow uploads and silent connections are short; all else goes to the other, whose are those of the product. */
let impatient: ChatGateway;
let port: number;
let key: string;

beforeAll(async () => {
	fixture = await startChatGateway();
	impatient = await startChatGateway({
		config: { server: { uploadSilenceMs: 400, uploadTotalMs: 1_200, idleTimeoutSeconds: 8 } },
	});
	port = fixture.gate.listening.port;
	key = fixture.gate.key;
});
afterAll(() => Promise.all([fixture.stop(), impatient.stop()]));

const GOOD = JSON.stringify(HELLO);
const JSON_TYPE = "Content-Type: application/json";
const head = (...lines: readonly string[]) => chatHead(key, [JSON_TYPE, ...lines]);
const codeOf = (body: string | undefined) => (JSON.parse(body ?? "{}") as { code?: string }).code;

/** The server still answers, and nothing of the last test is left in it. */
async function expectSound(): Promise<void> {
	expect((await rawExchange(port, head(`Content-Length: ${GOOD.length}`), GOOD))?.status).toBe(200);
	await until(() => fixture.gate.gateway.budgets.holdsOpen === 0 && fixture.gate.listening.running === 0, "rest");
}

test("a body that comes in pieces, declared or chunked, is taken whole", async () => {
	const half = GOOD.length >> 1;
	const declared = await rawExchange(port, head(`Content-Length: ${GOOD.length}`), GOOD.slice(0, half), GOOD.slice(half));
	expect(declared?.status).toBe(200);
	const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
	const chunked = [chunk(GOOD.slice(0, half)), chunk(GOOD.slice(half)), "0\r\n\r\n"];
	expect((await rawExchange(port, head("Transfer-Encoding: chunked"), ...chunked))?.status).toBe(200);
	expect(fixture.lastSent().body.messages).toEqual(HELLO.messages);
});

test("a declared body one byte over the limit is refused before it is sent", async () => {
	const answer = await rawExchange(port, head(`Content-Length: ${MAX_BODY + 1}`));
	expect(answer?.status).toBe(413);
	expect(codeOf(answer?.body)).toBe("PAYLOAD_TOO_LARGE");
	expect(answer?.body).toContain(String(MAX_BODY));
	expect(answer?.headers.get("connection")).toBe("close");
	expect(answer?.headers.get("x-request-id")).toMatch(/^[0-9A-Za-z]{32}$/);
	await expectSound();
});

test("a declared length past all numbers is refused, not read", async () => {
	for (const length of ["99999999999999999999999", "-1", "1e3", "0x10", "12 13"]) {
		const answer = await rawExchange(port, head(`Content-Length: ${length}`), GOOD);
		expect(`${length}: ${answer?.status}`).toMatch(/: (400|413)$/);
	}
	await expectSound();
});

test("a chunked body is refused when it passes the limit by a byte", async () => {
	const connection = await RawConnection.open(port);
	await connection.send(head("Transfer-Encoding: chunked"));
	const megabyte = Buffer.alloc(1_048_576, 0x20);
	const sending = (async () => {
		for (let count = 0; count < 72; count++) {
			await connection.send("100000\r\n");
			await connection.send(megabyte);
			await connection.send("\r\n");
		}
		await connection.send("1\r\n \r\n0\r\n\r\n");
	})();
	const answer = await connection.answer();
	expect(answer?.status).toBe(413);
	expect(codeOf(answer?.body)).toBe("PAYLOAD_TOO_LARGE");
	await sending;
	connection.destroy();
	await expectSound();
});

test("a body of exactly the limit is taken", async () => {
	const frame = JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "" }] });
	const body = frame.replace('""', `"${"a ".repeat(MAX_BODY >> 1).slice(0, MAX_BODY - frame.length)}"`);
	expect(body.length).toBe(MAX_BODY);
	const answer = await fixture.gate.call("POST", "/chat/completions", body);
	expect(answer.status).toBe(200);
	await answer.body?.cancel();
	expect(fixture.lastSent().bytes.length).toBeGreaterThan(MAX_BODY - 100);
	expect(fixture.lastSent().complaints).toEqual([]);
});

test("an upload that falls silent is a 408", async () => {
	const connection = await RawConnection.open(impatient.gate.listening.port);
	await connection.send(chatHead(impatient.gate.key, [JSON_TYPE, `Content-Length: ${GOOD.length}`]));
	await connection.send(GOOD.slice(0, 10));
	const answer = await connection.answer();
	expect(answer?.status).toBe(408);
	expect(codeOf(answer?.body)).toBe("REQUEST_TIMEOUT");
	expect(answer?.body).toContain("within 1.2 s and without pauses over 0.4 s");
	connection.destroy();
	expect(impatient.gate.listening.running).toBe(0);
});

test("an upload that is never silent yet never done is a 408 in the end", async () => {
	const connection = await RawConnection.open(impatient.gate.listening.port);
	await connection.send(chatHead(impatient.gate.key, [JSON_TYPE, "Transfer-Encoding: chunked"]));
	let over = false;
	const drip = (async () => {
		while (!over) {
			await connection.send("1\r\n \r\n");
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	})();
	const answer = await connection.answer();
	over = true;
	await drip;
	expect(answer?.status).toBe(408);
	connection.destroy();
	expect(impatient.gate.listening.running).toBe(0);
});

test("a caller that hangs up inside its upload leaves nothing behind", async () => {
	const before = fixture.upstream.requests.length;
	for (const end of ["halfClose", "destroy"] as const) {
		const connection = await RawConnection.open(port);
		await connection.send(head(`Content-Length: ${GOOD.length}`));
		await connection.send(GOOD.slice(0, 20));
		await until(() => fixture.gate.listening.running === 1, "the upload's start");
		connection[end]();
		await until(() => fixture.gate.listening.running === 0, "the upload's end");
		connection.destroy();
	}
	expect(fixture.upstream.requests).toHaveLength(before);
	await expectSound();
});

test("a caller that closes its half while the model thinks has left: the upstream is stopped, the prompt is paid, once", async () => {
	const body = JSON.stringify({ ...HELLO, model: PRICED_MODEL });
	for (const stream of [false, true]) {
		fixture.upstream.next({ hang: true });
		const posted = (await fixture.gate.posts()).length;
		const connection = await RawConnection.open(port);
		const text = stream ? body.replace("{", '{"stream":true,') : body;
		const received = fixture.upstream.requests.length;
		await connection.send(head(`Content-Length: ${text.length}`) + text);
		await until(() => fixture.upstream.requests.length > received, "the request at the upstream");
		connection.halfClose();
		await until(() => fixture.lastSent().isAborted, "the upstream's abort");
		connection.destroy();
		await expectSound();
		const posts = (await fixture.gate.posts()).slice(posted);
		expect(posts.map((post) => post.model).sort()).toEqual([MODEL, PRICED_MODEL].sort());
		const left = posts.find((post) => post.model === PRICED_MODEL);
		expect(left?.status).toBe(499);
		expect(left?.price).toBeGreaterThan(0);
	}
	expect((await fixture.gate.audit()).findings).toEqual([]);
});

test("headers of a megabyte are a 431", async () => {
	const answer = await rawExchange(port, head(`X-Long: ${"a".repeat(1_048_576)}`, `Content-Length: ${GOOD.length}`), GOOD);
	expect(answer?.status).toBe(431);
	await expectSound();
});

const AMBIGUOUS: readonly (readonly [name: string, lines: readonly string[]])[] = [
	["two lengths that differ", [`Content-Length: ${GOOD.length}`, "Content-Length: 5"]],
	["a length and chunks", [`Content-Length: ${GOOD.length}`, "Transfer-Encoding: chunked"]],
	["a space before the colon", [`Content-Length : ${GOOD.length}`]],
	["an encoding that nobody knows", ["Transfer-Encoding: rot13"]],
	["a header without a name", [": x", `Content-Length: ${GOOD.length}`]],
];

test("framing that two readers could read differently is a 400, and reaches no upstream", async () => {
	const before = fixture.upstream.requests.length;
	for (const [name, lines] of AMBIGUOUS) {
		const answer = await rawExchange(port, head(...lines), GOOD);
		expect(`${name}: ${answer?.status}`).toBe(`${name}: 400`);
	}
	expect(fixture.upstream.requests).toHaveLength(before);
	await expectSound();
});

test("what is no HTTP ends its connection only", async () => {
	for (const bytes of [
		"\r\n\r\n\r\n\r\n",
		"hello\r\n\r\n",
		"GET / SMTP/1.0\r\n\r\n",
		Uint8Array.of(0x16, 0x03, 0x01, 0, 0xff, 1, 0, 0),
	]) {
		const connection = await RawConnection.open(port);
		await connection.send(bytes);
		connection.halfClose();
		await connection.closed();
		connection.destroy();
	}
	await expectSound();
});

test("one connection carries many requests, good ones after bad ones", async () => {
	const connection = await RawConnection.open(port);
	for (const [body, status] of [
		[GOOD, 200],
		["{", 400],
		[GOOD, 200],
		["", 400],
		[GOOD, 200],
	] as const) {
		await connection.send(head(`Content-Length: ${body.length}`) + body);
		expect((await connection.answer())?.status).toBe(status);
	}
	connection.destroy();
});

test("a caller that waits for 100 Continue gets it", async () => {
	const connection = await RawConnection.open(port);
	await connection.send(head("Expect: 100-continue", `Content-Length: ${GOOD.length}`));
	expect((await connection.answer())?.status).toBe(100);
	await connection.send(GOOD);
	expect((await connection.answer())?.status).toBe(200);
	connection.destroy();
});

test("the query of a chat request, an absolute target and HTTP/1.0 change nothing", async () => {
	const post = (target: string, version = "1.1") => {
		const lines = [`POST ${target} HTTP/${version}`, "Host: localhost", `Authorization: Bearer ${key}`, JSON_TYPE];
		return rawExchange(port, `${lines.join("\r\n")}\r\nContent-Length: ${GOOD.length}\r\n\r\n${GOOD}`);
	};
	expect((await post("/api/v1/chat/completions?api-version=1"))?.status).toBe(200);
	expect((await post("http://localhost/api/v1/chat/completions"))?.status).toBe(200);
	expect((await post("/api/v1/chat/completions", "1.0"))?.status).toBe(200);
});

test("Connection: close is kept to", async () => {
	const connection = await RawConnection.open(port);
	await connection.send(head("Connection: close", `Content-Length: ${GOOD.length}`) + GOOD);
	expect((await connection.answer())?.status).toBe(200);
	await connection.closed();
	connection.destroy();
});

test("a silent connection is closed after the time that is configured, and answers until then", async () => {
	const connection = await RawConnection.open(impatient.gate.listening.port);
	for (let asked = 0; asked < 2; asked++) {
		await connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
		expect((await connection.answer())?.status).toBe(200);
	}
	await connection.closed();
	connection.destroy();
});

test("a Host header that is no host cannot move the path", async () => {
	for (const host of ["x/api", "x?y", "a@b", "x#y", "x\\y"]) {
		const answer = await rawExchange(port, `GET /api/v1/models HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
		expect(answer?.status).toBe(400);
	}
});
