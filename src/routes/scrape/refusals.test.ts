import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LocalSite, startLocalSite } from "../../../test/support/local-site.ts";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";

let site: LocalSite;
let gate: RunningGateway;
beforeAll(async () => {
	site = startLocalSite();
	site.paths["/a"] = () => new Response("words");
	gate = await startGateway({ config: { limits: { failedRequests: 0, augmentRequestsPerMinute: 2 } }, fetchPublic: site.fetch });
});
afterAll(() => Promise.all([gate.stop(), site.stop()]));

const PAGE = { url: "http://site.example/a" };
const codeOf = async (answer: Response) => ((await answer.json()) as { code: string }).code;
const as = (key: string) => ({ authorization: `Bearer ${key}` });

test("401 without a key", async () => {
	expect((await gate.call("POST", "/augment/scrape", PAGE, as("not-a-key"))).status).toBe(401);
});

test("402 for an account without funds, before the page is read", async () => {
	const poor = await gate.newKey({ creditUsd: "0.009" });
	site.requests = [];
	const answer = await gate.call("POST", "/augment/scrape", PAGE, as(poor.secret));
	expect(answer.status).toBe(402);
	expect(await codeOf(answer)).toBe("INSUFFICIENT_BALANCE");
	expect(site.requests).toEqual([]);
});

test("413 for a body over 64 KiB", async () => {
	const answer = await gate.call("POST", "/augment/scrape", { url: `http://site.example/${"a".repeat(70_000)}` });
	expect(answer.status).toBe(413);
	expect(await codeOf(answer)).toBe("PAYLOAD_TOO_LARGE");
});

test("415 for a body that is not declared as JSON", async () => {
	const answer = await gate.call("POST", "/augment/scrape", JSON.stringify(PAGE), { "content-type": "text/plain" });
	expect(answer.status).toBe(415);
	expect(await codeOf(answer)).toBe("INVALID_CONTENT_TYPE");
});

test("429 past the minute's pages of the account", async () => {
	const rich = await gate.newKey({ creditUsd: "1" });
	for (let page = 0; page < 2; page += 1)
		expect((await gate.call("POST", "/augment/scrape", PAGE, as(rich.secret))).status).toBe(200);
	const answer = await gate.call("POST", "/augment/scrape", PAGE, as(rich.secret));
	expect(answer.status).toBe(429);
	expect(answer.headers.get("retry-after")).not.toBeNull();
	expect(await gate.balance(rich.accountId)).toBe(980_000_000);
});
