/** What becomes of a payment when the chain, the token or the server does not go on: it is credited once, or never. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { TopUpOutcome } from "../../src/payments/port.ts";
import { reconcile } from "../../src/payments/reconcile.ts";
import { runOperation } from "../../src/store/admin/operations.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";
import { systemTimers } from "../../src/telemetry/clock.ts";
import { testConfig } from "../support/running-gateway.ts";
import { type TestTopUpOptions, TestTopUpService, topUpRows } from "../support/test-top-up-service.ts";
import { until } from "../support/until.ts";
import { BASE, headerOf, randomNonce, startUsdcChain, type UsdcChain } from "../support/usdc-chain.ts";

const OTHER = "0x000000000000000000000000000000000000bEEF";
/** Anvil calls the block 32 below the newest one safe. */
const UNTIL_SAFE = 40;

let chain: UsdcChain;
let books: StoreFolder;
let services: TestTopUpService[];

beforeEach(async () => {
	chain = await startUsdcChain();
	books = new StoreFolder();
	services = [];
});

afterEach(async () => {
	for (const service of services) await service.stop();
	try {
		for (const service of services) expect(await service.credited()).toBe(await chain.balance(service.payTo));
		expect((await books.audit()).ok).toBe(true);
	} finally {
		await chain.stop();
		await books.remove();
	}
});

async function open(options: Partial<TestTopUpOptions> = {}): Promise<TestTopUpService> {
	const service = await TestTopUpService.open({ chain, books, ...options });
	services.push(service);
	return service;
}

const brief = (outcome: TopUpOutcome) =>
	outcome.kind === "credited"
		? `credited${outcome.first ? "" : " before"}`
		: outcome.kind === "ended" || outcome.kind === "refused"
			? `${outcome.kind} ${outcome.reason}`
			: outcome.kind;

const transactionOf = (outcome: TopUpOutcome) => (outcome.kind === "pending" ? outcome.transaction : null);

/** All open payments are looked at now, whenever it is their time. */
async function sweep(service: TestTopUpService): Promise<void> {
	await service.admin.db.updateTable("top_ups").set({ look_at: 0 }).where("state", "in", ["settling", "unknown"]).execute();
	await service.topUps.sweep();
}

const states = async (service: TestTopUpService) =>
	(await runOperation(service.admin, "listTopUps", { after: "", limit: 100 })).map(({ state }) => state);

test("a payment that waits for its block is pending, is not sent twice, and is credited when it has one", async () => {
	const service = await open({ facilitatorMs: 1_500 });
	const payer = await chain.payer();
	const [first, second] = [headerOf(await chain.sign(payer, service.payTo)), headerOf(await chain.sign(payer, service.payTo))];
	await chain.autoMine(false);
	const transaction = transactionOf(await service.topUp(first));
	expect(transaction).toMatch(/^0x[0-9a-f]{64}$/);
	expect(transactionOf(await service.topUp(first))).toBe(transaction);
	expect(service.settled).toBe(1);
	expect(brief(await service.topUp(second))).toBe("pending");
	await chain.mine();
	expect(brief(await service.topUp(first))).toBe("credited before");
	await sweep(service);
	expect(await states(service)).toEqual(["credited", "credited"]);
	expect(brief(await service.topUp(second))).toBe("credited before");
	expect(service.settled).toBe(2);
});

test("payments of one wallet that its tokens do not cover together are not sent together", async () => {
	const service = await open({ facilitatorMs: 1_500 });
	const payer = await chain.payer(9);
	const headers = await Promise.all(Array.from({ length: 6 }, async () => headerOf(await chain.sign(payer, service.payTo))));
	await chain.autoMine(false);
	const outcomes = await Promise.all(headers.map((header) => service.topUp(header)));
	expect(outcomes.map(brief).toSorted()).toEqual(["pending", ...Array(5).fill("unavailable")]);
	expect(service.settled).toBe(1);
	await chain.mine();
	// What was not sent is refused once the one that was is through, and leaves nothing behind.
	const again = await Promise.all(headers.map((header) => service.topUp(header)));
	const poor = "refused invalid_exact_evm_insufficient_balance";
	expect(again.map(brief).toSorted()).toEqual(["credited before", ...Array(5).fill(poor)]);
	expect(service.settled).toBe(1);
	expect(await states(service)).toEqual(["credited"]);
});

test("a transaction that was dropped is sent again with the same header, and keeps no other payer back", async () => {
	const service = await open({ facilitatorMs: 1_500 });
	const header = headerOf(await chain.sign(await chain.payer(), service.payTo));
	const other = headerOf(await chain.sign(await chain.payer(), service.payTo));
	await chain.autoMine(false);
	const transaction = transactionOf(await service.topUp(header));
	await chain.anvil.rpc("anvil_dropTransaction", [transaction]);
	await chain.autoMine(true);
	expect(brief(await service.topUp(other))).toBe("credited");
	expect(brief(await service.topUp(header))).toBe("credited before");
	expect(brief(await service.topUp(header))).toBe("credited before");
	expect(service.settled).toBe(3);
});

test("a payment that was dropped and has expired fails by the chain's time, once no block can take it", async () => {
	const service = await open({ facilitatorMs: 1_500 });
	const validBefore = Math.floor(Date.now() / 1_000) + 30;
	const header = headerOf(await chain.sign(await chain.payer(), service.payTo, { validBefore }));
	await chain.autoMine(false);
	await chain.anvil.rpc("anvil_dropTransaction", [transactionOf(await service.topUp(header))]);
	service.fault = "before-broadcast";
	await chain.anvil.rpc("evm_increaseTime", [400]);
	await chain.mine();
	// The newest block is past it, the safe one is not.
	expect(brief(await service.topUp(header))).toBe("pending");
	await chain.mine(UNTIL_SAFE);
	expect(brief(await service.topUp(header))).toBe("ended authorization_expired");
	service.fault = null;
	expect(brief(await service.topUp(header))).toBe("ended authorization_expired");
	expect(await states(service)).toEqual(["failed"]);
});

test("a nonce that is cancelled or spent elsewhere under way fails when the block of it is safe", async () => {
	const service = await open();
	const payer = await chain.payer();
	const nonces = [randomNonce(), randomNonce()] as const;
	const headers = await Promise.all(nonces.map(async (nonce) => headerOf(await chain.sign(payer, service.payTo, { nonce }))));
	service.fault = "before-broadcast";
	for (const header of headers) expect(brief(await service.topUp(header))).toBe("pending");
	service.fault = null;
	await chain.cancel(payer, nonces[0]);
	await chain.execute(await chain.sign(payer, OTHER, { nonce: nonces[1] }));
	for (const header of headers) expect(brief(await service.topUp(header))).toBe("pending");
	await chain.mine(UNTIL_SAFE);
	await sweep(service);
	expect(await states(service)).toEqual(["failed", "failed"]);
	for (const header of headers) expect(brief(await service.topUp(header))).toBe("ended authorization_used_elsewhere");
	expect(service.settled).toBe(2);
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
		const service = await open();
		const payer = await chain.payer();
		const until = () => Math.floor(Date.now() / 1_000) + 60;
		const [used, never] = [
			await chain.sign(payer, service.payTo),
			await chain.sign(payer, service.payTo, { validBefore: until() }),
		];
		service.refusal = reason;
		for (const signed of [used, never, used]) expect(brief(await service.topUp(headerOf(signed)))).toBe("pending");
		await chain.execute(used);
		expect(brief(await service.topUp(headerOf(used)))).toBe("credited before");
		await chain.anvil.rpc("evm_increaseTime", [400]);
		await chain.mine(UNTIL_SAFE);
		await sweep(service);
		expect(brief(await service.topUp(headerOf(never)))).toBe("ended authorization_expired");
	},
);

test("what has expired by the newest block is called expired once a safe block says so, not before", async () => {
	const service = await open();
	const validBefore = Math.floor(Date.now() / 1_000) + 2;
	const header = headerOf(await chain.sign(await chain.payer(), service.payTo, { validBefore }));
	await until(() => Date.now() / 1_000 > validBefore + 1, "the end of the payment");
	await chain.mine(1);
	expect(brief(await service.topUp(header))).toBe("pending");
	await chain.mine(UNTIL_SAFE);
	expect(brief(await service.topUp(header))).toBe("refused expired");
	expect(await states(service)).toEqual([]);
});

test("a facilitator that could not look at a payment refuses nothing, and what the chain shows is credited", async () => {
	const service = await open();
	const signed = await chain.sign(await chain.payer(), service.payTo);
	for (const reason of ["unexpected_verify_error", "rpc_error", "timeout", ""]) {
		service.refusal = reason;
		expect(`${reason}: ${brief(await service.topUp(headerOf(signed)))}`).toBe(`${reason}: unavailable`);
	}
	expect(await states(service)).toEqual([]);
	await chain.execute(signed);
	expect(brief(await service.topUp(headerOf(signed)))).toBe("credited before");
});

test("a facilitator that finds fault with what is written in a payment refuses it", async () => {
	const service = await open();
	const signed = await chain.sign(await chain.payer(), service.payTo);
	for (const reason of ["invalid_exact_evm_signature", "invalid_payload", "unsupported_scheme", "blocked_address"]) {
		service.refusal = reason;
		expect(brief(await service.topUp(headerOf(signed)))).toBe(`refused ${reason}`);
	}
	expect(await states(service)).toEqual([]);
});

test("a facilitator that finds too few tokens, as our node does, refuses", async () => {
	const service = await open();
	const signed = await chain.sign(await chain.payer(0), service.payTo);
	service.refusal = "insufficient_funds";
	expect(brief(await service.topUp(headerOf(signed)))).toBe("refused insufficient_funds");
	expect(await states(service)).toEqual([]);
});

test("a settlement that a reorganisation takes back is sent again, and credited once", async () => {
	const service = await open({ facilitatorMs: 1_500, x402: { confirmations: 3 } });
	const header = headerOf(await chain.sign(await chain.payer(), service.payTo));
	expect(brief(await service.topUp(header))).toBe("pending");
	await chain.anvil.rpc("anvil_rollback", [1]);
	expect(await chain.balance(service.payTo)).toBe(0);
	expect(brief(await service.topUp(header))).toBe("pending");
	expect(service.settled).toBe(2);
	await chain.mine(3);
	await sweep(service);
	expect(brief(await service.topUp(header))).toBe("credited before");
});

test("a transfer that is taken back after its credit is sent again, until its block is safe", async () => {
	const service = await open();
	const header = headerOf(await chain.sign(await chain.payer(), service.payTo));
	expect(brief(await service.topUp(header))).toBe("credited");
	await chain.anvil.rpc("anvil_rollback", [1]);
	expect(await chain.balance(service.payTo)).toBe(0);
	await service.topUps.credits.check(true);
	expect(await chain.balance(service.payTo)).toBe(5_000_000);
	await service.topUps.credits.check(true);
	await chain.mine(UNTIL_SAFE);
	await service.topUps.credits.check(true);
	expect(service.settled).toBe(2);
	expect(brief(await service.topUp(header))).toBe("credited before");
	const x402 = testConfig({ x402: { payTo: service.payTo, rpcUrl: chain.url } }, books.dir).x402;
	expect((await reconcile(x402, topUpRows(service.admin), systemTimers)).discrepancies).toEqual([]);
});

test("what was mined while the server was dead is credited when it starts again", async () => {
	const { key } = await chain.feePayer();
	const payer = await chain.payer();
	const { payTo } = await open({ key });
	const [swept, repeated] = [headerOf(await chain.sign(payer, payTo)), headerOf(await chain.sign(payer, payTo))];
	for (const header of [swept, repeated]) {
		const program = join(import.meta.dir, "killed-top-up.ts");
		const child = Bun.spawn([process.execPath, program, JSON.stringify({ url: chain.url, dir: books.dir, payTo, key, header })], {
			stdout: "inherit",
			stderr: "inherit",
		});
		await child.exited;
		expect(child.signalCode).toBe("SIGKILL");
	}
	expect(await chain.balance(payTo)).toBe(10_000_000);
	const [dead] = services;
	expect(await dead?.credited()).toBe(0);
	const service = await open({ key, payTo });
	expect(brief(await service.topUp(repeated))).toBe("credited before");
	await service.topUps.sweep(true);
	expect(await states(service)).toEqual(["credited", "credited"]);
	expect(service.settled).toBe(0);
	// Another node would wait until the term of the dead one has ended.
	expect(brief(await service.topUp(swept))).toBe("credited before");
});

test("while the chain is away, or another one, offers are made and payments wait", async () => {
	const service = await open();
	const header = headerOf(await chain.sign(await chain.payer(), service.payTo));
	const wrong = await TestTopUpService.open({ chain, books, payTo: service.payTo, x402: { networks: { "base-sepolia": {} } } });
	const sepolia = { network: "eip155:84532", asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" };
	expect(brief(await wrong.topUp(headerOf(await chain.sign(await chain.payer(), service.payTo), sepolia)))).toBe("unavailable");
	await wrong.stop();
	const away = await TestTopUpService.open({ chain, books, payTo: service.payTo, x402: { rpcUrl: "http://127.0.0.1:9" } });
	expect(brief(await away.topUp(header))).toBe("unavailable");
	const resource = { url: "https://api.example.test/x", description: "x", mimeType: "application/json" };
	expect(away.topUps.offers.v2({ resource }).accepts).toHaveLength(1);
	await away.stop();
	expect(brief(await service.topUp(header))).toBe("credited");
});

test("the books are held against the chain, payment by payment", async () => {
	const service = await open();
	const x402 = testConfig({ x402: { payTo: service.payTo, rpcUrl: chain.url } }, books.dir).x402;
	const look = () => reconcile(x402, topUpRows(service.admin), systemTimers);
	const payer = await chain.payer();
	expect(brief(await service.topUp(headerOf(await chain.sign(payer, service.payTo))))).toBe("credited");
	service.fault = "before-broadcast";
	const pending = await chain.sign(payer, service.payTo);
	expect(brief(await service.topUp(headerOf(pending)))).toBe("pending");
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
