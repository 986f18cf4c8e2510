/** What becomes of a payment when the chain, the token or the server does not go on: it is credited once, or never. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { TopUpOutcome } from "../../src/payments/port.ts";
import { reconcile } from "../../src/payments/reconcile.ts";
import { runOperation } from "../../src/store/admin/operations.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";
import { systemTimers } from "../../src/telemetry/clock.ts";
import { testConfig } from "../support/running-gateway.ts";
import { TestDesk, type TopUpDeskOptions, topUpRows } from "../support/top-up-desk.ts";
import { until } from "../support/until.ts";
import { BASE, headerOf, randomNonce, startUsdcChain, type UsdcChain } from "../support/usdc-chain.ts";

const OTHER = "0x000000000000000000000000000000000000bEEF";
/** Anvil calls the block 32 below the newest one safe. */
const UNTIL_SAFE = 40;

let chain: UsdcChain;
let books: StoreFolder;
let desks: TestDesk[];

beforeEach(async () => {
	chain = await startUsdcChain();
	books = new StoreFolder();
	desks = [];
});

afterEach(async () => {
	for (const desk of desks) await desk.stop();
	try {
		for (const desk of desks) expect(await desk.credited()).toBe(await chain.balance(desk.payTo));
		expect((await books.audit()).ok).toBe(true);
	} finally {
		await chain.stop();
		await books.remove();
	}
});

async function open(options: Partial<TopUpDeskOptions> = {}): Promise<TestDesk> {
	const desk = await TestDesk.open({ chain, books, ...options });
	desks.push(desk);
	return desk;
}

const brief = (outcome: TopUpOutcome) =>
	outcome.kind === "credited"
		? `credited${outcome.first ? "" : " before"}`
		: outcome.kind === "ended" || outcome.kind === "refused"
			? `${outcome.kind} ${outcome.reason}`
			: outcome.kind;

const transactionOf = (outcome: TopUpOutcome) => (outcome.kind === "pending" ? outcome.transaction : null);

/** All open payments are looked at now, whenever it is their time. */
async function sweep(desk: TestDesk): Promise<void> {
	await desk.admin.db.updateTable("top_ups").set({ look_at: 0 }).where("state", "in", ["settling", "unknown"]).execute();
	await desk.topUps.sweep();
}

const states = async (desk: TestDesk) =>
	(await runOperation(desk.admin, "listTopUps", { after: "", limit: 100 })).map(({ state }) => state);

test("a payment that waits for its block is pending, is not sent twice, and is credited when it has one", async () => {
	const desk = await open({ facilitatorMs: 1_500 });
	const payer = await chain.payer();
	const [first, second] = [headerOf(await chain.sign(payer, desk.payTo)), headerOf(await chain.sign(payer, desk.payTo))];
	await chain.autoMine(false);
	const transaction = transactionOf(await desk.topUp(first));
	expect(transaction).toMatch(/^0x[0-9a-f]{64}$/);
	expect(transactionOf(await desk.topUp(first))).toBe(transaction);
	expect(desk.settled).toBe(1);
	expect(brief(await desk.topUp(second))).toBe("pending");
	await chain.mine();
	expect(brief(await desk.topUp(first))).toBe("credited before");
	await sweep(desk);
	expect(await states(desk)).toEqual(["credited", "credited"]);
	expect(brief(await desk.topUp(second))).toBe("credited before");
	expect(desk.settled).toBe(2);
});

test("payments of one wallet that its tokens do not cover together are not sent together", async () => {
	const desk = await open({ facilitatorMs: 1_500 });
	const payer = await chain.payer(9);
	const headers = await Promise.all(Array.from({ length: 6 }, async () => headerOf(await chain.sign(payer, desk.payTo))));
	await chain.autoMine(false);
	const outcomes = await Promise.all(headers.map((header) => desk.topUp(header)));
	expect(outcomes.map(brief).toSorted()).toEqual(["pending", ...Array(5).fill("unavailable")]);
	expect(desk.settled).toBe(1);
	await chain.mine();
	// What was not sent is refused once the one that was is through, and leaves nothing behind.
	const again = await Promise.all(headers.map((header) => desk.topUp(header)));
	const poor = "refused invalid_exact_evm_insufficient_balance";
	expect(again.map(brief).toSorted()).toEqual(["credited before", ...Array(5).fill(poor)]);
	expect(desk.settled).toBe(1);
	expect(await states(desk)).toEqual(["credited"]);
});

test("a transaction that was dropped is sent again with the same header, and keeps no other payer back", async () => {
	const desk = await open({ facilitatorMs: 1_500 });
	const header = headerOf(await chain.sign(await chain.payer(), desk.payTo));
	const other = headerOf(await chain.sign(await chain.payer(), desk.payTo));
	await chain.autoMine(false);
	const transaction = transactionOf(await desk.topUp(header));
	await chain.anvil.rpc("anvil_dropTransaction", [transaction]);
	await chain.autoMine(true);
	expect(brief(await desk.topUp(other))).toBe("credited");
	expect(brief(await desk.topUp(header))).toBe("credited before");
	expect(brief(await desk.topUp(header))).toBe("credited before");
	expect(desk.settled).toBe(3);
});

test("a payment that was dropped and has expired fails by the chain's time, once no block can take it", async () => {
	const desk = await open({ facilitatorMs: 1_500 });
	const validBefore = Math.floor(Date.now() / 1_000) + 30;
	const header = headerOf(await chain.sign(await chain.payer(), desk.payTo, { validBefore }));
	await chain.autoMine(false);
	await chain.anvil.rpc("anvil_dropTransaction", [transactionOf(await desk.topUp(header))]);
	desk.fault = "before-broadcast";
	await chain.anvil.rpc("evm_increaseTime", [400]);
	await chain.mine();
	// The newest block is past it, the safe one is not.
	expect(brief(await desk.topUp(header))).toBe("pending");
	await chain.mine(UNTIL_SAFE);
	expect(brief(await desk.topUp(header))).toBe("ended authorization_expired");
	desk.fault = null;
	expect(brief(await desk.topUp(header))).toBe("ended authorization_expired");
	expect(await states(desk)).toEqual(["failed"]);
});

test("a nonce that is cancelled or spent elsewhere under way fails when the block of it is safe", async () => {
	const desk = await open();
	const payer = await chain.payer();
	const nonces = [randomNonce(), randomNonce()] as const;
	const headers = await Promise.all(nonces.map(async (nonce) => headerOf(await chain.sign(payer, desk.payTo, { nonce }))));
	desk.fault = "before-broadcast";
	for (const header of headers) expect(brief(await desk.topUp(header))).toBe("pending");
	desk.fault = null;
	await chain.cancel(payer, nonces[0]);
	await chain.execute(await chain.sign(payer, OTHER, { nonce: nonces[1] }));
	for (const header of headers) expect(brief(await desk.topUp(header))).toBe("pending");
	await chain.mine(UNTIL_SAFE);
	await sweep(desk);
	expect(await states(desk)).toEqual(["failed", "failed"]);
	for (const header of headers) expect(brief(await desk.topUp(header))).toBe("ended authorization_used_elsewhere");
	expect(desk.settled).toBe(2);
});

test.each([
	"nonce_already_used",
	"invalid_exact_evm_insufficient_balance",
	"invalid_exact_evm_transaction_simulation_failed",
	"invalid_exact_evm_payload_authorization_valid_before",
	"execution_reverted",
	"gas_estimation_failed",
])(
	"a facilitator that knows of a use (%s) before our node does leaves the payment open, until a block proves either",
	async (reason) => {
		const desk = await open();
		const payer = await chain.payer();
		const until = () => Math.floor(Date.now() / 1_000) + 60;
		const [used, never] = [await chain.sign(payer, desk.payTo), await chain.sign(payer, desk.payTo, { validBefore: until() })];
		desk.refusal = reason;
		for (const signed of [used, never, used]) expect(brief(await desk.topUp(headerOf(signed)))).toBe("pending");
		await chain.execute(used);
		expect(brief(await desk.topUp(headerOf(used)))).toBe("credited before");
		await chain.anvil.rpc("evm_increaseTime", [400]);
		await chain.mine(UNTIL_SAFE);
		await sweep(desk);
		expect(brief(await desk.topUp(headerOf(never)))).toBe("ended authorization_expired");
	},
);

test("what has expired by the newest block is called expired once a safe block says so, not before", async () => {
	const desk = await open();
	const validBefore = Math.floor(Date.now() / 1_000) + 2;
	const header = headerOf(await chain.sign(await chain.payer(), desk.payTo, { validBefore }));
	await until(() => Date.now() / 1_000 > validBefore + 1, "the end of the payment");
	await chain.mine(1);
	expect(brief(await desk.topUp(header))).toBe("pending");
	await chain.mine(UNTIL_SAFE);
	expect(brief(await desk.topUp(header))).toBe("refused expired");
	expect(await states(desk)).toEqual([]);
});

test("a facilitator that could not look at a payment refuses nothing, and what the chain shows is credited", async () => {
	const desk = await open();
	const signed = await chain.sign(await chain.payer(), desk.payTo);
	for (const reason of ["unexpected_verify_error", "rpc_error", "timeout", ""]) {
		desk.refusal = reason;
		expect(`${reason}: ${brief(await desk.topUp(headerOf(signed)))}`).toBe(`${reason}: unavailable`);
	}
	expect(await states(desk)).toEqual([]);
	await chain.execute(signed);
	expect(brief(await desk.topUp(headerOf(signed)))).toBe("credited before");
});

test("a facilitator that finds fault with what is written in a payment refuses it", async () => {
	const desk = await open();
	const signed = await chain.sign(await chain.payer(), desk.payTo);
	for (const reason of ["invalid_exact_evm_signature", "invalid_payload", "unsupported_scheme", "blocked_address"]) {
		desk.refusal = reason;
		expect(brief(await desk.topUp(headerOf(signed)))).toBe(`refused ${reason}`);
	}
	expect(await states(desk)).toEqual([]);
});

test("a facilitator that finds too few tokens, as our node does, refuses", async () => {
	const desk = await open();
	const signed = await chain.sign(await chain.payer(0), desk.payTo);
	desk.refusal = "insufficient_funds";
	expect(brief(await desk.topUp(headerOf(signed)))).toBe("refused insufficient_funds");
	expect(await states(desk)).toEqual([]);
});

test("a settlement that a reorganisation takes back is sent again, and credited once", async () => {
	const desk = await open({ facilitatorMs: 1_500, x402: { confirmations: 3 } });
	const header = headerOf(await chain.sign(await chain.payer(), desk.payTo));
	expect(brief(await desk.topUp(header))).toBe("pending");
	await chain.anvil.rpc("anvil_rollback", [1]);
	expect(await chain.balance(desk.payTo)).toBe(0);
	expect(brief(await desk.topUp(header))).toBe("pending");
	expect(desk.settled).toBe(2);
	await chain.mine(3);
	await sweep(desk);
	expect(brief(await desk.topUp(header))).toBe("credited before");
});

test("a transfer that is taken back after its credit is sent again, until its block is safe", async () => {
	const desk = await open();
	const header = headerOf(await chain.sign(await chain.payer(), desk.payTo));
	expect(brief(await desk.topUp(header))).toBe("credited");
	await chain.anvil.rpc("anvil_rollback", [1]);
	expect(await chain.balance(desk.payTo)).toBe(0);
	await desk.topUps.credits.check(true);
	expect(await chain.balance(desk.payTo)).toBe(5_000_000);
	await desk.topUps.credits.check(true);
	await chain.mine(UNTIL_SAFE);
	await desk.topUps.credits.check(true);
	expect(desk.settled).toBe(2);
	expect(brief(await desk.topUp(header))).toBe("credited before");
	const x402 = testConfig({ x402: { payTo: desk.payTo, rpcUrl: chain.url } }, books.dir).x402;
	expect((await reconcile(x402, topUpRows(desk.admin), systemTimers)).discrepancies).toEqual([]);
});

test("what was mined while the server was dead is credited when it starts again", async () => {
	const { key } = await chain.feePayer();
	const payer = await chain.payer();
	const { payTo } = await open({ key });
	const [swept, repeated] = [headerOf(await chain.sign(payer, payTo)), headerOf(await chain.sign(payer, payTo))];
	for (const header of [swept, repeated]) {
		const program = join(import.meta.dir, "killed-desk.ts");
		const child = Bun.spawn([process.execPath, program, JSON.stringify({ url: chain.url, dir: books.dir, payTo, key, header })], {
			stdout: "inherit",
			stderr: "inherit",
		});
		await child.exited;
		expect(child.signalCode).toBe("SIGKILL");
	}
	expect(await chain.balance(payTo)).toBe(10_000_000);
	const [dead] = desks;
	expect(await dead?.credited()).toBe(0);
	const desk = await open({ key, payTo });
	expect(brief(await desk.topUp(repeated))).toBe("credited before");
	await desk.topUps.sweep(true);
	expect(await states(desk)).toEqual(["credited", "credited"]);
	expect(desk.settled).toBe(0);
	// Another node would wait until the term of the dead one has ended.
	expect(brief(await desk.topUp(swept))).toBe("credited before");
});

test("while the chain is away, or another one, offers are made and payments wait", async () => {
	const desk = await open();
	const header = headerOf(await chain.sign(await chain.payer(), desk.payTo));
	const wrong = await TestDesk.open({ chain, books, payTo: desk.payTo, x402: { networks: { "base-sepolia": {} } } });
	const sepolia = { network: "eip155:84532", asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" };
	expect(brief(await wrong.topUp(headerOf(await chain.sign(await chain.payer(), desk.payTo), sepolia)))).toBe("unavailable");
	await wrong.stop();
	const away = await TestDesk.open({ chain, books, payTo: desk.payTo, x402: { rpcUrl: "http://127.0.0.1:9" } });
	expect(brief(await away.topUp(header))).toBe("unavailable");
	const resource = { url: "https://api.example.test/x", description: "x", mimeType: "application/json" };
	expect(away.topUps.offers.v2({ resource }).accepts).toHaveLength(1);
	await away.stop();
	expect(brief(await desk.topUp(header))).toBe("credited");
});

test("the books are held against the chain, payment by payment", async () => {
	const desk = await open();
	const x402 = testConfig({ x402: { payTo: desk.payTo, rpcUrl: chain.url } }, books.dir).x402;
	const look = () => reconcile(x402, topUpRows(desk.admin), systemTimers);
	const payer = await chain.payer();
	expect(brief(await desk.topUp(headerOf(await chain.sign(payer, desk.payTo))))).toBe("credited");
	desk.fault = "before-broadcast";
	const pending = await chain.sign(payer, desk.payTo);
	expect(brief(await desk.topUp(headerOf(pending)))).toBe("pending");
	const well = await look();
	expect(well).toMatchObject({ checked: { credited: 1, unknown: 1, failed: 0 }, credited: { [BASE.id]: 5_000_000 } });
	expect(well.discrepancies).toEqual([]);
	await chain.anvil.rpc("anvil_rollback", [1]);
	await chain.execute(pending);
	const report = await look();
	expect(report.discrepancies.map(({ state, finding }) => [state, finding.replace(/ \(.*|: 0x.*/, "")]).sort()).toEqual([
		["credited", "the chain shows no transfer for it"],
		["unknown", "the chain shows a transfer that is not credited"],
	]);
});
