import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../test/support/until.ts";
import { AssetStore, parseManifest } from "../../assets/index.ts";
import { ApiError } from "../../errors/index.ts";
import { silentLog } from "../../telemetry/log.ts";
import { EMBEDDED_CHAT_ASSET, EmbeddedChat } from "./embedded-chat.ts";

const config = { enabled: true, threads: 1, contextTokens: 512, parallel: 1, queue: 0, maxMemoryMb: 2048, idleStopMs: 600_000 };
const BYTES = 10_000_000;
const closers: (() => unknown)[] = [];
afterAll(async () => {
	for (const close of closers) await close();
});

/** A server that sends a part of the weights and then waits. */
function slowSource(bytes: number): string {
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		idleTimeout: 0,
		fetch: () => {
			const body = new ReadableStream({
				async start(controller) {
					controller.enqueue(new Uint8Array(bytes));
				},
			});
			return new Response(body);
		},
	});
	closers.push(() => server.stop(true));
	return server.url.href;
}

function engineWith(url: string): EmbeddedChat {
	const dir = mkdtempSync(join(tmpdir(), "turnpike-offline-"));
	const asset = {
		name: EMBEDDED_CHAT_ASSET,
		description: "x",
		licence: "x",
		bytes: BYTES,
		sha256: "0".repeat(64),
		sources: [{ kind: "url", url }],
	};
	const assets = new AssetStore({ dir, manifest: parseManifest({ assets: [asset] }), log: silentLog, tries: 1, retryDelayMs: 1 });
	const engine = new EmbeddedChat({ config, assets, log: silentLog });
	closers.push(
		() => engine.stop(),
		() => rmSync(dir, { recursive: true, force: true }),
	);
	return engine;
}

async function refusal(engine: EmbeddedChat): Promise<ApiError> {
	const fault = await engine.endpoint().then(
		() => null,
		(thrown: unknown) => thrown,
	);
	if (fault instanceof ApiError) return fault;
	throw new Error(`not an ApiError: ${fault}`);
}

/** Waits for a part of the text that tells how far the download is, and returns the text. */
async function eventually(engine: EmbeddedChat, part: string): Promise<string> {
	let text = "";
	await until(async () => {
		text = (await engine.state()).text;
		return text.includes(part);
	}, part);
	return text;
}

describe("before its weights are there, the embedded model", () => {
	test("answers 503 MODEL_OFFLINE, begins the download and tells how far it is", async () => {
		const engine = engineWith(slowSource(4_000_000));
		expect(await engine.state()).toMatchObject({ state: "offline" });
		const first = await refusal(engine);
		expect(first.status).toBe(503);
		expect(first.code).toBe("MODEL_OFFLINE");
		expect(first.options.retryAfterSeconds).toBeGreaterThan(0);
		expect(await eventually(engine, "4 of 10 MB")).toBe("The embedded model is being downloaded: 4 of 10 MB");
		expect((await refusal(engine)).message).toMatch(
			/^The embedded model is being downloaded: 4 of 10 MB\. .*GET \/api\/v1\/models; models\.traits\.text\.default in turnpike\.yaml/,
		);
		await engine.stop();
		expect((await engine.state()).state).toBe("offline");
	});

	test("says what the operator can do where no source gives them, and does not ask again and again", async () => {
		const engine = engineWith("http://127.0.0.1:1/none");
		engine.prefetch();
		expect(await eventually(engine, "could not")).toContain(`turnpike models pull ${EMBEDDED_CHAT_ASSET}`);
		const again = await refusal(engine);
		expect(again.message).toContain("could not be downloaded");
		expect((await engine.state()).text).toContain("could not be downloaded");
	});
});
