/** Debits, refunds and the ledger on the command line, beside a server that has the account's money leased. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HELLO } from "../support/chat-bodies.ts";
import { taken } from "../support/keys-gateway.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { ADMIN_KEY, type Served, serve, turnpike } from "../support/served.ts";

let upstream: ScriptedUpstream;
let server: Served;
let id: string;
let requestId: string;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	upstream.always({ usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 } });
	const price = { input: 0, output: 1_000 };
	const fixed = { type: "text", price, contextTokens: 4_096, upstreams: [{ upstream: "scripted" }] };
	server = await serve({ config: { upstreams: { scripted: upstreamEntry(upstream.url) }, models: { entries: { fixed } } } });
	const answer = await server.chat({ model: "fixed", messages: HELLO, max_tokens: 10 }, { key: ADMIN_KEY });
	requestId = answer.headers.get("x-request-id") ?? "";
	await taken(answer);
	[id] = (await run("list")).map((account: { id: string }) => account.id);
});

afterAll(async () => {
	server?.remove();
	await upstream?.stop();
});

const command = (...args: string[]) => turnpike(["accounts", ...args, "--data", server.dataDir]);

async function run(...args: string[]) {
	const { code, stdout, stderr } = await command(...args, "--json");
	expect([code, stderr]).toEqual([0, ""]);
	return JSON.parse(stdout);
}

test("a debit takes back what the server has leased, once for its reference", async () => {
	const first = await run("debit", id, "4", "--ref", "back");
	expect(first).toMatchObject({ accountId: id, reference: "back", amount: "4.0000", balance: "5.9900", replayed: false });
	expect(await run("debit", id, "4.0", "--ref", "back")).toEqual({ ...first, replayed: true });
});

test("a request is given back in parts, and shown with what is left of it", async () => {
	expect(await run("refund", requestId, "0.004", "--ref", "part")).toMatchObject({
		requestId,
		amountUsd: "0.0040",
		parts: [{ currency: "USD", amount: "0.0040", balance: "5.9940" }],
		replayed: false,
	});
	expect((await command("refund", requestId)).stdout).toContain("0.0060 USD refunded");
	const again = await command("refund", requestId);
	expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("already refunded")]);
	const shown = await turnpike(["requests", "show", requestId, "--data", server.dataDir]);
	expect(shown.stdout).toMatch(/refunded +0\.0100 USD/);
});

test("the ledger has all of it, newest first", async () => {
	const ledger = (await run("ledger", id)) as { kind: string; reference: string }[];
	expect(ledger.map(({ kind, reference }) => [kind, reference])).toEqual([
		["refund", `refund:${requestId}`],
		["refund", "part"],
		["debit", "back"],
		["credit", `starting-credit:${id}`],
	]);
	expect(await run("ledger", id, "--limit", "1")).toEqual(ledger.slice(0, 1));
});

test.each([
	[["debit", "ID", "1000"], 1, "only 6 can be taken back"],
	[["debit", "ID", "1e3"], 1, "not an amount"],
	[["debit", "ID", "-1"], 64, "A negative number is not allowed here: -1"],
	[["debit", "ID", "1", "--ref", "a b"], 1, "a reference has"],
	[["debit", "ID", "2", "--ref", "back"], 1, "was used before"],
	[["debit", "acc_none", "1"], 1, "there is no account"],
	[["refund", "nothing"], 1, "there is no booked request"],
	[["refund", "REQUEST", "1"], 1, "nothing of this request is left"],
	[["ledger", "acc_none"], 1, "there is no account"],
	[["ledger", "ID", "--limit", "0"], 1, "expected a whole number"],
	[["set", "ID"], 1, "Nothing to change"],
	[["set", "ID", "--name", " "], 1, "a name has"],
	[["credit", "ID", "1", "2"], 64, "Unexpected argument: 2"],
] as const)("accounts %j ends with %i and a sentence", async (args, code, text) => {
	const ended = await command(...args.map((arg) => arg.replace("ID", id).replace("REQUEST", requestId)));
	expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(text)]);
});

test("the books are right after all that", async () => {
	const { code, stdout } = await turnpike(["audit", "--data", server.dataDir]);
	expect([code, stdout]).toEqual([0, expect.stringContaining("The books balance")]);
});

test("a key ends at an instant in UTC that exists, in any time zone of the machine", async () => {
	const create = (expires: string) => turnpike(["keys", "create", id, "--json", "--expires", expires, "--data", server.dataDir]);
	for (const text of ["2027-02-29", "2030-01-31T12:00", "2030-01-31T12:00:00+01:00", "31 Jan 2030", "2999", "2020-01-01"]) {
		const refused = await create(text);
		expect([text, refused.code, refused.stdout]).toEqual([text, 1, ""]);
		expect(refused.stderr).toContain("--expires: expected a day or an instant in the future");
	}
	expect(await create("")).toMatchObject({ code: 64, stdout: "" });
	expect(JSON.parse((await create("2028-02-29")).stdout).expiresAt).toBe("2028-02-29T00:00:00.000Z");
});
