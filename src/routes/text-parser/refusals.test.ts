import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";
import { sendFile } from "./testing/parser.ts";

let gate: RunningGateway;
beforeAll(async () => {
	gate = await startGateway({
		config: { limits: { failedRequests: 0, augmentRequestsPerMinute: 3 }, documents: { processes: 1 } },
	});
});
afterAll(() => gate.stop());

const FILE = { name: "a.txt", bytes: "text" };
const codeOf = async (answer: Response) => ((await answer.json()) as { code: string }).code;

test("401 without a key", async () => {
	const answer = await sendFile(gate, FILE, {}, "not-a-key");
	expect(answer.status).toBe(401);
});

test("402 for an account without funds, before the file is read", async () => {
	const poor = await gate.newKey({ creditUsd: "0.009" });
	const answer = await sendFile(gate, FILE, {}, poor.secret);
	expect(answer.status).toBe(402);
	expect(await codeOf(answer)).toBe("INSUFFICIENT_BALANCE");
});

test("413 for a file over 25 MiB", async () => {
	const answer = await sendFile(gate, { name: "a.txt", bytes: "a".repeat(26_214_401) });
	expect(answer.status).toBe(413);
	expect(await codeOf(answer)).toBe("PAYLOAD_TOO_LARGE");
});

test("415 for a body that is no form", async () => {
	const answer = await gate.call("POST", "/augment/text-parser", { file: "text" });
	expect(answer.status).toBe(415);
	expect(await codeOf(answer)).toBe("INVALID_CONTENT_TYPE");
});

test("429 past the minute's files of the account", async () => {
	const rich = await gate.newKey({ creditUsd: "1" });
	for (let file = 0; file < 3; file += 1) expect((await sendFile(gate, FILE, {}, rich.secret)).status).toBe(200);
	const answer = await sendFile(gate, FILE, {}, rich.secret);
	expect(answer.status).toBe(429);
	expect(answer.headers.get("retry-after")).not.toBeNull();
	expect(await gate.balance(rich.accountId)).toBe(970_000_000);
});
