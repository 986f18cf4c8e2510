/** Three servers on one PostgreSQL, with one key that pays the chain's fees. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { TopUpOutcome } from "../../src/payments/port.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { TestTopUpService } from "../support/test-top-up-service.ts";
import { headerOf, startUsdcChain, type UsdcChain } from "../support/usdc-chain.ts";

let cluster: PostgresCluster;
let chain: UsdcChain;

beforeAll(async () => {
	cluster = await startPostgres();
	chain = await startUsdcChain();
});
afterAll(async () => {
	await chain.stop();
	await cluster.stop();
});

const brief = (outcome: TopUpOutcome) =>
	outcome.kind === "credited" ? `credited${outcome.first ? "" : " before"}` : outcome.kind;

test("servers that share a key send one after the other, and a header that comes to all of them is one payment", async () => {
	const books = new StoreFolder(await cluster.newDatabase());
	const { key } = await chain.feePayer();
	const first = await TestTopUpService.open({ chain, books, key, node: "node_1", facilitatorMs: 60_000 });
	const { payTo } = first;
	const others = ["node_2", "node_3"].map((node) =>
		TestTopUpService.open({ chain, books, key, payTo, node, facilitatorMs: 60_000 }),
	);
	const services = [first, ...(await Promise.all(others))];
	try {
		// The schema is made by the first question.
		await first.credited();
		const payers = [];
		for (let number = 0; number < 9; number++) payers.push(await chain.payer());
		const headers = await Promise.all(payers.map(async (payer) => headerOf(await chain.sign(payer, payTo))));
		const apart = await Promise.all(headers.map((header, index) => services[index % 3]?.topUp(header)));
		expect(apart.map((outcome) => outcome && brief(outcome))).toEqual(Array.from({ length: 9 }, () => "credited"));
		const [payer] = payers;
		if (payer === undefined) throw new Error("no payer");
		const same = headerOf(await chain.sign(payer, payTo));
		const together = await Promise.all([...services, ...services].map((service) => service.topUp(same)));
		expect(together.map(brief).sort()).toEqual(["credited", ...Array.from({ length: 5 }, () => "credited before")]);
		expect(services.reduce((sum, service) => sum + service.settled, 0)).toBe(10);
		expect(await first.credited()).toBe(await chain.balance(payTo));
		expect((await books.audit()).ok).toBe(true);
	} finally {
		for (const service of services) await service.stop();
		await books.remove();
	}
});
