import { afterAll, expect, test } from "bun:test";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { serve, temporaryFolder, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

const folder = temporaryFolder();
const mounted =
	process.platform === "linux" && Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", folder]).exitCode === 0;

afterAll(() => {
	if (mounted) Bun.spawnSync(["umount", "-l", folder]);
	rmSync(folder, { recursive: true, force: true });
});

/** Fills the file system until so many bytes are free. */
function fill(path: string, leaveBytes: number): void {
	const file = openSync(path, "w");
	const block = Buffer.alloc(65_536, 1);
	try {
		for (;;) {
			const { bavail, bsize } = statfsSync(folder);
			const room = bavail * bsize - leaveBytes;
			if (room <= 0) return;
			writeSync(file, block, 0, Math.min(room, block.length));
		}
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
	} finally {
		closeSync(file);
	}
}

test.skipIf(!mounted)(
	"a disk that fills up while requests run: those post, new ones get 503, nothing is lost, and it goes on when there is room",
	async () => {
		const upstream = startScriptedUpstream();
		const server = await serve({
			dataDir: folder,
			config: {
				upstreams: { scripted: upstreamEntry(upstream.url) },
				models: { entries: { priced: pricedModel(["scripted"]) } },
				journal: { segmentMb: 1, minFreeDiskMb: 16 },
			},
		});
		const chat = (stream = false) => server.chat({ model: "priced", messages: HELLO, stream });
		const acknowledged: string[] = [];
		for (let count = 0; count < 5; count++) acknowledged.push((await chat()).headers.get("x-request-id") ?? "");
		let release: () => void = () => {};
		const held = new Promise<void>((resolve) => (release = resolve));
		upstream.always({ beforeSecondChunk: held });
		const running = await Promise.all(Array.from({ length: 40 }, () => chat(true)));
		expect(running.map((answer) => answer.status)).toEqual(Array(40).fill(200));
		fill(join(folder, "ballast"), 0);
		await until(async () => (await chat()).status === 503, "refusal of new requests");
		const refused = await chat();
		expect(refused.status).toBe(503);
		expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
		expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
		expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
		release();
		for (const answer of running) {
			expect((await answer.text()).endsWith("data: [DONE]\n\n")).toBe(true);
			acknowledged.push(answer.headers.get("x-request-id") ?? "");
		}
		upstream.always({});
		rmSync(join(folder, "ballast"));
		await until(async () => (await chat()).status === 200, "new requests with room again");
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		const data = ["--data", folder];
		expect(JSON.parse((await turnpike(["audit", "--json", ...data])).stdout).findings).toEqual([]);
		for (const id of acknowledged) expect((await turnpike(["requests", "show", id, "--json", ...data])).code).toBe(0);
		await upstream.stop();
	},
);
