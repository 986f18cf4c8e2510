/** Errors in answers of status 200: told as what they are, whole, in a stream and in its odd forms, and never charged. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HELLO } from "../support/chat-bodies.ts";
import { type PricedGateway, startPricedGateway } from "../support/priced-gateway.ts";
import { chargedFor } from "../support/running-gateway.ts";

const EVENTS = "text/event-stream";
const JSON_TYPE = "application/json";

describe.each([
	[{ error: "temperature must be at most 2" }, 400, "temperature must be at most 2"],
	[{ error: { message: "top_k is no number", code: "invalid_parameter" } }, 400, "top_k is no number"],
	[{ success: false, message: "messages are required" }, 400, "messages are required"],
	[{ success: false, errors: [{ code: 7003, message: "Invalid input: n" }] }, 400, "Invalid input: n"],
	[{ base_resp: { status_code: 2013, status_msg: "invalid params, n" } }, 400, "invalid params, n"],
	[{ base_resp: { status_code: 1004, status_msg: "login fail" } }, 503, "the operator has been notified"],
	[{ choices: null, base_resp: { status_code: 1002, status_msg: "rate limit" } }, 429, ""],
] as const)("an error of status 200 that says %j", (error, status, words) => {
	let fixture: PricedGateway;
	beforeAll(async () => {
		fixture = await startPricedGateway();
	});
	afterAll(() => fixture.stop());
	const body = JSON.stringify(error);
	test.each([
		["the whole answer", false, body],
		["the whole answer to a stream request", true, body],
		["a line, to a stream request", true, `${body}\n`],
		["a stream's first event", true, `data: ${body}\n\n`],
		["a stream's first event, called an error", true, `event: error\ndata: ${body}\n\ndata: [DONE]\n\n`],
	])("is told as what it is and not charged: %s", async (_name, stream, raw) => {
		fixture.upstream.next({ raw, headers: { "content-type": stream ? EVENTS : JSON_TYPE } });
		const { price } = await chargedFor(fixture.gate, async () => {
			const answer = await fixture.gate.chat({ model: "priced", messages: HELLO, stream });
			expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(words)]);
		});
		expect(price).toBe(0);
	});
});
