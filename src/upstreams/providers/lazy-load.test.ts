import { expect, test } from "bun:test";
import { join } from "node:path";

test("nothing of the providers' packages is loaded before the first request to one", async () => {
	const program = `
		const { createChatUpstreams } = await import(${JSON.stringify(join(import.meta.dir, "../index.ts"))});
		const health = { failures: 3, probeEveryMs: 5000 };
		const claude = { provider: "anthropic", url: "http://127.0.0.1:9", key: "k", dialect: "generic", discover: false, health };
		createChatUpstreams({ upstreams: { claude }, timeouts: {}, log: {} });
		const loaded = Object.keys(require.cache).filter((file) => /node_modules.(@ai-sdk|zod)/.test(file));
		console.log(JSON.stringify(loaded));`;
	const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
	expect(JSON.parse(await new Response(child.stdout).text())).toEqual([]);
});
