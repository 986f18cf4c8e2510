/** `upstreams.*.maxConcurrent`: one account floods an upstream, and another is served meanwhile. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { TestKey } from "../support/running-gateway.ts";
import { until } from "../support/until.ts";
import { type ChatGateway, HELLO, startChatGateway, verdict } from "./chat-gateway.ts";

const PLACES = 4;

let fixture: ChatGateway;
let flooder: TestKey;
let other: TestKey;

beforeAll(async () => {
	fixture = await startChatGateway({
		upstream: { maxConcurrent: PLACES },
		config: { chat: { embedded: { enabled: false } } },
	});
	flooder = await fixture.gate.newKey({ creditUsd: "5" });
	other = await fixture.gate.newKey({ creditUsd: "5" });
});
afterAll(() => fixture.stop());

test("streams that stand still leave a place at the upstream for another account, and hold nobody else up", async () => {
	const leave = new AbortController();
	fixture.upstream.always({ hang: "after-first-chunk" });
	const flood = Array.from({ length: 12 }, () =>
		fixture.gate.chat({ ...HELLO, stream: true }, { key: flooder.secret, signal: leave.signal }).catch(() => null),
	);
	await until(() => fixture.upstream.open === PLACES - 1, "as many streams as one account may have there");
	fixture.upstream.always({});
	for (let round = 0; round < 3; round++) {
		expect(await verdict(fixture.gate.chat(HELLO, { key: other.secret }))).toBe("200");
		expect(await verdict(fixture.gate.chat({ ...HELLO, stream: true }, { key: other.secret }))).toBe("200");
	}
	expect(fixture.upstream.open).toBe(PLACES - 1);
	leave.abort();
	await Promise.all(flood);
	await until(() => fixture.gate.listening.running === 0, "the end of all streams");
	expect(await verdict(fixture.gate.chat(HELLO, { key: flooder.secret }))).toBe("200");
});

test("calls that wait for a place take turns between accounts", async () => {
	const held: (() => void)[] = [];
	fixture.upstream.always(() => {
		const { promise, resolve } = Promise.withResolvers<void>();
		held.push(resolve);
		return { after: promise };
	});
	const ended: string[] = [];
	const ask = (name: string, key: TestKey) =>
		verdict(fixture.gate.chat(HELLO, { key: key.secret })).then((said) => ended.push(`${name} ${said}`));
	const flood = Array.from({ length: 6 }, () => ask("flooder", flooder));
	const first = ask("other", other);
	await until(() => held.length === PLACES, "all places taken");
	const second = ask("other", other);
	await until(() => fixture.gate.listening.running === 8, "all calls at the gateway");
	for (let done = 1; done <= 8; done++) {
		await until(() => held.length >= done, "a call at the upstream");
		held[done - 1]?.();
		await until(() => ended.length === done, "an answer");
	}
	await Promise.all([...flood, first, second]);
	expect(ended.every((said) => said.endsWith("200"))).toBe(true);
	// Four of the flooder's and one of the other's were there first; of those that wait the other's is not the last.
	expect(ended.lastIndexOf("other 200")).toBeLessThan(ended.lastIndexOf("flooder 200"));
	fixture.upstream.reset();
});
