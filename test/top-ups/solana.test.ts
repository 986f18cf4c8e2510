/** Payments on Solana, with the programs that run there: whatever goes wrong, the receiver has what the books credited. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { checkTopUps } from "../../src/payments/create-top-ups.ts";
import type { TopUpOutcome } from "../../src/payments/port.ts";
import { reconcile } from "../../src/payments/reconcile.ts";
import { runOperation } from "../../src/store/admin/operations.ts";
import type { AdminStore } from "../../src/store/admin.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";
import { systemClock, systemTimers } from "../../src/telemetry/clock.ts";
import { SOLANA, SolanaCluster } from "../support/solana-cluster.ts";
import { SolanaFacilitator } from "../support/solana-facilitator.ts";
import { loadSolanaPackages, type SolanaPackages, solanaFolder } from "../support/solana-packages.ts";
import {
	type SolanaSigning,
	type SolanaTopUpOptions,
	SolanaTopUpService,
	solanaPayment,
} from "../support/solana-top-up-service.ts";
import { topUpRows } from "../support/test-top-up-service.ts";
import { base64 } from "../support/usdc-chain.ts";
import { type TestSolanaWallet, testSolanaWallet } from "../support/wallets.ts";

const folder = solanaFolder();
/** More blocks than any of them takes what named one before. */
const TOO_LATE = 200;

const brief = (outcome: TopUpOutcome) =>
	outcome.kind === "refused" || outcome.kind === "ended"
		? `${outcome.kind} ${outcome.reason}`
		: outcome.kind === "credited"
			? `credited ${outcome.payment.amount / 1e9}${outcome.first ? "" : " before"}`
			: outcome.kind;
const transactionOf = (outcome: TopUpOutcome) => (outcome.kind === "pending" ? outcome.transaction : undefined);
/** Two minutes later: what was begun now may have ended. */
const LATER = { wallMs: () => systemClock.wallMs() + 120_000, monotonicMs: () => systemClock.monotonicMs() };

describe.skipIf(folder === null)("payments on Solana", () => {
	let packages: SolanaPackages;
	let cluster: SolanaCluster;
	let facilitator: SolanaFacilitator;
	let books: StoreFolder;
	let admin: AdminStore;
	let payTo: string;
	let payer: TestSolanaWallet;

	// The facilitator's library tells its faults there, and they are what is tested.
	const silenced = spyOn(console, "error").mockImplementation(() => {});
	afterAll(() => silenced.mockRestore());
	beforeAll(async () => {
		packages = await loadSolanaPackages(folder ?? "");
	});
	beforeEach(async () => {
		cluster = await SolanaCluster.start(packages);
		facilitator = await SolanaFacilitator.start(packages, cluster);
		books = new StoreFolder();
		admin = books.admin();
		payTo = await cluster.receiver();
		payer = await cluster.payer();
	});
	afterEach(async () => {
		try {
			expect(await open().credited()).toBe(await cluster.balance(payTo));
			expect((await books.audit()).ok).toBe(true);
		} finally {
			await Promise.all([cluster.stop(), facilitator.stop()]);
			await books.remove();
		}
	});

	const open = (options: Partial<SolanaTopUpOptions> = {}) =>
		new SolanaTopUpService({ dir: books.dir, admin, cluster, facilitator, payTo, ...options });
	const sign = async (signing: SolanaSigning = {}, from = payer) =>
		(await solanaPayment(packages, cluster, { payer: from, payTo, feePayer: facilitator.feePayer }, signing)).header;

	/** What is sent waits, and the facilitator does not. */
	const waitForBlocks = () => {
		cluster.automatic = false;
		facilitator.fault = "sent";
	};

	test("what is signed is credited to the payer, and a repeat gets the first answer", async () => {
		const service = open();
		const header = await sign({ usd: 12.34 });
		const first = await service.topUp(header);
		if (first.kind !== "credited") throw new Error(JSON.stringify(first));
		expect(first.payment).toMatchObject({
			walletAddress: payer.address,
			identity: payer.identity,
			amount: 12_340_000_000 as never,
			newBalance: 12_340_000_000 as never,
		});
		expect(first.response).toMatchObject({ success: true, network: SOLANA.id, payer: payer.address });
		expect(brief(await service.topUp(await sign({ usd: 6 })))).toBe("credited 6");
		expect(await service.topUp(header)).toEqual({ ...first, first: false } as never);
		expect(facilitator.settled).toBe(2);
	});

	test("all dialects are read, and a payment as the chain shows it is the same one", async () => {
		const service = open();
		const { transaction } = await solanaPayment(packages, cluster, { payer, payTo, feePayer: facilitator.feePayer });
		const payload = { transaction };
		expect(brief(await service.topUp(base64({ x402Version: 1, scheme: "exact", network: "solana", payload })))).toBe(
			"credited 5",
		);
		const shown = Buffer.from(transaction, "base64").fill(7, 1, 65).toString("base64");
		for (const network of ["solana", SOLANA.id]) {
			const header = base64({ x402Version: 2, scheme: "exact", network, payload: { transaction: shown } });
			expect(brief(await service.topUp(header))).toBe("credited 5 before");
		}
	});

	test("the same header ten times at once, and eight payers at once", async () => {
		const service = open();
		const header = await sign();
		const same = await Promise.all(Array.from({ length: 10 }, () => service.topUp(header)));
		expect(same.map(brief).toSorted()).toEqual(["credited 5", ...Array(9).fill("credited 5 before")]);
		const payers = await Promise.all(Array.from({ length: 8 }, () => cluster.payer()));
		const others = await Promise.all(payers.map(async (other) => service.topUp(await sign({}, other))));
		expect(others.map(brief)).toEqual(Array(8).fill("credited 5"));
		expect(facilitator.settled).toBe(9);
	});

	test("what is not offered is refused, and nothing is sent", async () => {
		const service = open();
		const other = await cluster.receiver();
		const coin = testSolanaWallet().address;
		cluster.makeMint(coin);
		await cluster.give(payer.address, 100, coin);
		await cluster.give(payTo, 0, coin);
		await cluster.give(other, 100);
		const refused: [SolanaSigning, string][] = [
			[{ signed: { asset: coin } }, "refused asset_mismatch"],
			[{ accepted: { asset: coin } }, "refused asset_mismatch"],
			[{ signed: { payTo: other } }, "refused recipient_mismatch"],
			[{ accepted: { payTo: other } }, "refused recipient_mismatch"],
			[{ accepted: { network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" } }, "refused network_mismatch"],
			[{ accepted: { scheme: "upto" } }, "refused unsupported_scheme"],
			[{ accepted: { amount: "6000000" } }, "refused amount_mismatch"],
			[{ usd: 4.99 }, "refused amount_below_minimum"],
			[{ usd: 10_000.01 }, "refused amount_above_maximum"],
			[{ usd: 2_000 }, "refused invalid_exact_svm_transaction_simulation_failed"],
			[{ signed: { extra: { feePayer: other } } }, "refused invalid_exact_svm_fee_payer_not_managed_by_facilitator"],
			[{ signed: { extra: { feePayer: payer.address } } }, "refused malformed_header"],
		];
		for (const [signing, expected] of refused)
			expect([signing, brief(await service.topUp(await sign(signing)))]).toEqual([signing, expected]);
		const { transaction } = await solanaPayment(packages, cluster, { payer, payTo, feePayer: facilitator.feePayer });
		const forged = Buffer.from(transaction, "base64").fill(7, 65, 129).toString("base64");
		const header = base64({ x402Version: 1, scheme: "exact", network: "solana", payload: { transaction: forged } });
		expect(brief(await service.topUp(header))).toBe("refused invalid_exact_svm_signature");
		for (const broken of ["", "AA==", transaction.slice(0, 200), Buffer.alloc(1_300).toString("base64")]) {
			const payload = { transaction: broken };
			expect(brief(await service.topUp(base64({ x402Version: 1, scheme: "exact", network: "solana", payload })))).toBe(
				"refused malformed_header",
			);
		}
		expect([facilitator.settled, await service.states()]).toEqual([0, []]);
	});

	test("a forged copy of a payment that is known reads nothing of it", async () => {
		const service = open();
		const { header, transaction } = await solanaPayment(packages, cluster, { payer, payTo, feePayer: facilitator.feePayer });
		expect(brief(await service.topUp(header))).toBe("credited 5");
		const forged = Buffer.from(transaction, "base64").fill(7, 65, 129).toString("base64");
		const copy = base64({ x402Version: 1, scheme: "exact", network: "solana", payload: { transaction: forged } });
		expect(brief(await service.topUp(copy))).toBe("refused signature_mismatch");
	});

	test("a facilitator that is away takes nothing: the same header is credited later", async () => {
		const service = open();
		const header = await sign();
		facilitator.fault = "down";
		expect(brief(await service.topUp(header))).toBe("unavailable");
		facilitator.fault = null;
		expect(brief(await service.topUp(header))).toBe("credited 5");
	});

	test("what the facilitator sent without telling is found on the chain, among other payments", async () => {
		const service = open();
		facilitator.fault = "after-settle";
		const headers = [await sign({ usd: 5 }), await sign({ usd: 6 }), await sign({ usd: 7 })];
		const outcomes = [];
		for (const header of headers) outcomes.push(brief(await service.topUp(header)));
		expect(outcomes).toEqual(["credited 5", "credited 6", "credited 7"]);
		expect(facilitator.settled).toBe(3);
	});

	test("what was not sent is sent with the same header again", async () => {
		const service = open();
		const header = await sign();
		facilitator.fault = "before-settle";
		expect(brief(await service.topUp(header))).toBe("pending");
		facilitator.fault = null;
		expect(brief(await service.topUp(header))).toBe("credited 5 before");
	});

	test("what is confirmed is pending until it is final, and is not sent twice", async () => {
		const service = open({ facilitatorMs: 4_000 });
		cluster.final = false;
		const header = await sign();
		const transaction = transactionOf(await service.topUp(header));
		expect(transaction).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
		expect(transactionOf(await service.topUp(header))).toBe(transaction);
		cluster.finalize();
		await service.sweep();
		expect(await service.states()).toEqual(["credited"]);
		expect(brief(await service.topUp(header))).toBe("credited 5 before");
		expect(facilitator.settled).toBe(1);
	});

	test("with commitment confirmed it is credited at once, and watched until it is final", async () => {
		const service = open({ solana: { commitment: "confirmed" } });
		cluster.final = false;
		expect(brief(await service.topUp(await sign()))).toBe("credited 5");
		await service.topUps.credits.check(true);
		cluster.finalize();
		await service.topUps.credits.check(true);
		expect(facilitator.settled).toBe(1);
	});

	test("a transaction that was dropped ends when no block takes it any more, not before", async () => {
		const service = open({ clock: LATER });
		waitForBlocks();
		const header = await sign();
		expect(brief(await service.topUp(header))).toBe("pending");
		cluster.drop();
		await service.sweep();
		expect(await service.states()).toEqual(["unknown"]);
		cluster.advance(TOO_LATE);
		await service.sweep();
		expect(await service.states()).toEqual(["failed"]);
		expect(brief(await service.topUp(header))).toBe("ended transaction_expired");
		cluster.automatic = true;
		facilitator.fault = null;
		expect(brief(await service.topUp(await sign()))).toBe("credited 5");
	});

	test("a payment does not end while the node lists a transaction that it does not tell", async () => {
		const service = open({ clock: LATER });
		waitForBlocks();
		const header = await sign();
		expect(brief(await service.topUp(header))).toBe("pending");
		cluster.land();
		cluster.forgetful = true;
		cluster.advance(TOO_LATE);
		await service.sweep();
		expect(await service.states()).toEqual(["unknown"]);
		cluster.forgetful = false;
		await service.sweep();
		expect(await service.states()).toEqual(["credited"]);
	});

	test("a transaction that lands late is credited by the sweep of a server that starts again", async () => {
		waitForBlocks();
		const header = await sign();
		expect(brief(await open().topUp(header))).toBe("pending");
		cluster.land();
		const next = open();
		await next.topUps.sweep(true);
		expect(await next.states()).toEqual(["credited"]);
		expect(brief(await next.topUp(header))).toBe("credited 5 before");
		expect(facilitator.settled).toBe(1);
	});

	test("a transaction that lands and fails ends the payment", async () => {
		const service = open();
		waitForBlocks();
		const header = await sign({ usd: 800 });
		expect(brief(await service.topUp(header))).toBe("pending");
		await cluster.give(payer.address, 1);
		cluster.land();
		await service.sweep();
		expect(brief(await service.topUp(header))).toBe("ended transaction_failed");
	});

	test("payments of one wallet that its tokens do not cover together are not sent together", async () => {
		const service = open();
		const poor = await cluster.payer(9);
		waitForBlocks();
		const headers = [await sign({}, poor), await sign({}, poor), await sign({}, poor)];
		const outcomes = await Promise.all(headers.map((header) => service.topUp(header)));
		expect(outcomes.map(brief).toSorted()).toEqual(["pending", "unavailable", "unavailable"]);
		cluster.land();
		await service.sweep();
		const again = await Promise.all(headers.map((header) => service.topUp(header)));
		expect(again.map(brief).toSorted()).toEqual([
			"credited 5 before",
			...Array(2).fill("refused invalid_exact_svm_transaction_simulation_failed"),
		]);
	});

	test("what came to the chain by itself is credited when its header comes, too late as well", async () => {
		const service = open();
		const [header, late, never] = [await sign(), await sign({ usd: 6 }), await sign({ usd: 7 })];
		const elsewhere = new SolanaTopUpService({ dir: books.dir, admin: books.admin(), cluster, facilitator, payTo });
		const other = new StoreFolder();
		const stranger = new SolanaTopUpService({ dir: other.dir, admin: other.admin(), cluster, facilitator, payTo });
		for (const sent of [header, late]) expect(brief(await stranger.topUp(sent))).toStartWith("credited");
		await other.remove();
		expect(brief(await elsewhere.topUp(header))).toBe("credited 5 before");
		cluster.advance(TOO_LATE);
		expect(brief(await service.topUp(late))).toBe("credited 6 before");
		expect(brief(await service.topUp(never))).toBe("refused expired");
		expect(facilitator.settled).toBe(2);
	});

	test("what somebody else sent is not called expired while it is not final, or while the node does not tell it", async () => {
		const service = open();
		const other = new StoreFolder();
		const stranger = new SolanaTopUpService({
			dir: other.dir,
			admin: other.admin(),
			cluster,
			facilitator,
			payTo,
			facilitatorMs: 1_000,
		});
		cluster.final = false;
		const [late, never] = [await sign({ usd: 6 }), await sign({ usd: 7 })];
		expect(brief(await stranger.topUp(late))).toBe("pending");
		await other.remove();
		cluster.advance(TOO_LATE);
		for (const header of [late, never]) expect(brief(await service.topUp(header))).toBe("pending");
		cluster.forgetful = true;
		cluster.finalize();
		expect(brief(await service.topUp(late))).toBe("pending");
		cluster.forgetful = false;
		expect(brief(await service.topUp(late))).toBe("credited 6 before");
		expect(brief(await service.topUp(never))).toBe("refused expired");
	});

	test("while the node is away, or one of another cluster, offers are made and payments wait", async () => {
		const service = open();
		const resource = { url: "https://api.example.test/x", description: "x", mimeType: "application/json" };
		const feePayers = (of: SolanaTopUpService) => of.topUps.offers.v2({ resource }).accepts.map(({ extra }) => extra.feePayer);
		const header = await sign();
		cluster.away = true;
		expect(brief(await service.topUp(header))).toBe("unavailable");
		cluster.away = false;
		expect(brief(await open({ solana: { network: "solana-devnet" } }).topUp(header))).toBe("refused network_mismatch");
		const devnet = open({ solana: { network: "solana-devnet", payTo } });
		const accepted = {
			network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
			asset: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
		};
		cluster.makeMint(accepted.asset);
		await cluster.give(payer.address, 100, accepted.asset);
		expect(brief(await devnet.topUp(await sign({ signed: { asset: accepted.asset }, accepted })))).toBe("unavailable");
		devnet.topUps.start();
		// Who pays the fees is heard once, and stands while the facilitator is away.
		service.topUps.start();
		while (feePayers(service)[0] === undefined) await Bun.sleep(5);
		facilitator.fault = "down";
		expect(feePayers(service)).toEqual([facilitator.feePayer]);
		expect(feePayers(open())).toEqual([undefined]);
		expect(feePayers(open({ solana: { feePayer: facilitator.feePayer } }))).toEqual([facilitator.feePayer]);
		facilitator.fault = null;
		await Promise.all([service.topUps.stop(), devnet.topUps.stop()]);
		expect(brief(await service.topUp(header))).toBe("credited 5");
	});

	test("the books are held against the chain, payment by payment", async () => {
		const service = open();
		const look = () => reconcile(service.config, topUpRows(admin), systemTimers);
		expect(brief(await service.topUp(await sign()))).toBe("credited 5");
		waitForBlocks();
		expect(brief(await service.topUp(await sign()))).toBe("pending");
		expect(await look()).toMatchObject({
			checked: { credited: 1, unknown: 1 },
			credited: { [SOLANA.id]: 5_000_000 },
			discrepancies: [],
		});
		cluster.land();
		expect((await look()).discrepancies.map(({ state, finding }) => [state, finding.replace(/: .*/, "")])).toEqual([
			["unknown", "the chain shows a transfer that is not credited"],
		]);
		await service.sweep();
		expect((await look()).discrepancies).toEqual([]);
	});

	test("what is amiss with the configuration is told", async () => {
		const check = async (solana: object = {}) =>
			(await checkTopUps(open({ solana }).config)).map(({ state, text }) => [state, text]);
		expect(await check()).toEqual([["well", expect.stringContaining(`${payTo} receives USDC on solana`)]]);
		const poor = testSolanaWallet().address;
		expect(await check({ payTo: poor })).toEqual([["incomplete", expect.stringContaining("has no account for USDC yet")]]);
		expect(await check({ network: "solana-devnet" })).toEqual([["other-chain", expect.stringContaining("another cluster")]]);
		expect(await check({ rpcUrl: undefined })).toEqual([["incomplete", expect.stringContaining("no node of solana")]]);
		expect(await check({ facilitator: {} })).toEqual([["incomplete", expect.stringContaining("facilitator.url: is not set")]]);
		expect(await check({ payTo: "1".repeat(32) })).toEqual([["wrong", expect.stringContaining("the key of")]]);
		cluster.away = true;
		expect(await check()).toEqual([["not-now", expect.stringContaining("node")]]);
	});

	test("what a server books while the books are read is no difference", async () => {
		const service = open();
		const rows = topUpRows(admin);
		waitForBlocks();
		expect(brief(await service.topUp(await sign()))).toBe("pending");
		const booked = await reconcile(
			service.config,
			{
				...rows,
				async list(page) {
					const read = await rows.list(page);
					cluster.land();
					await service.sweep();
					return read;
				},
			},
			systemTimers,
		);
		expect(booked).toMatchObject({ checked: { credited: 1, unknown: 0 }, discrepancies: [] });
		// A server that is at it is waited for.
		expect(brief(await service.topUp(await sign()))).toBe("pending");
		cluster.land();
		const waiting = (await rows.list({ after: "", limit: 10 })).find(({ state }) => state === "unknown");
		await runOperation(admin, "takeTopUp", { id: waiting?.id ?? "", settler: "node_a", termMs: 60_000 });
		let looks = 0;
		const waited = await reconcile(
			service.config,
			{
				...rows,
				async find(key) {
					if (++looks === 2) await service.sweep();
					return rows.find(key);
				},
			},
			systemTimers,
		);
		expect(waited).toMatchObject({ checked: { credited: 2, settling: 0 }, discrepancies: [] });
	});

	test("what was taken while the server was killed is credited when it starts again", async () => {
		const { header } = await solanaPayment(packages, cluster, { payer, payTo, feePayer: facilitator.feePayer });
		const program = join(import.meta.dir, "killed-solana-top-up.ts");
		const given = { dir: books.dir, payTo, header, cluster: { url: cluster.url }, facilitator: { url: facilitator.url } };
		cluster.automatic = false;
		const child = Bun.spawn([process.execPath, program, JSON.stringify(given)], { stdout: "inherit", stderr: "inherit" });
		while (cluster.waiting === 0) await Bun.sleep(5);
		child.kill("SIGKILL");
		await child.exited;
		cluster.land();
		expect(await cluster.balance(payTo)).toBe(5_000_000);
		const service = open();
		expect(await service.credited()).toBe(0);
		await service.topUps.sweep(true);
		expect(await service.states()).toEqual(["credited"]);
		expect(brief(await service.topUp(header))).toBe("credited 5 before");
	});
});
