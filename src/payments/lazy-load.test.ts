import { expect, test } from "bun:test";
import { join } from "node:path";

test("nothing of the payment libraries is loaded before the first payment", async () => {
	const program = `
		const { createTopUps } = await import(${JSON.stringify(join(import.meta.dir, "index.ts"))});
		const x402 = { payTo: "0x000000000000000000000000000000000000bEEF", networks: { base: {} }, solana: { network: "solana", facilitator: {} }, rpcUrl: "http://127.0.0.1:9",
			facilitator: { key: "ab".repeat(32) }, minimumTopUpUsd: 5, suggestedTopUpUsd: 10, maximumTopUpUsd: 100, payOnRoutes: true,
			confirmations: 0, finalBlock: "safe", eip6492Factories: [], sweepEveryMs: 1000, rpcTimeoutMs: 1000 };
		createTopUps({ config: { x402, timeouts: { facilitatorMs: 1000 } }, store: {}, clock: {}, timers: {}, log: {} });
		const loaded = Object.keys(require.cache).filter((file) => /node_modules.(viem|@x402)/.test(file));
		console.log(JSON.stringify(loaded));`;
	const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
	expect(JSON.parse(await new Response(child.stdout).text())).toEqual([]);
});
