import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../test/support/until.ts";
import { AssetStore, parseManifest } from "../../assets/index.ts";
import { silentLog } from "../../telemetry/log.ts";
import { EMBEDDED_SPEECH_ASSETS, EmbeddedSpeech } from "./embedded-speech.ts";

const closers: (() => unknown)[] = [];
afterAll(async () => {
	for (const close of closers) await close();
});

/** A server that sends a part of each file and then waits. */
function slowSource(bytes: number): string {
	const fetch = () => {
		const start = (controller: ReadableStreamDefaultController<Uint8Array>) => controller.enqueue(new Uint8Array(bytes));
		return new Response(new ReadableStream<Uint8Array>({ start }));
	};
	const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch });
	closers.push(() => server.stop(true));
	return server.url.href;
}

function engineWith(url: string): EmbeddedSpeech {
	const dir = mkdtempSync(join(tmpdir(), "turnpike-offline-speech-"));
	const manifest = Object.values(EMBEDDED_SPEECH_ASSETS).map((name) => ({
		name,
		description: "x",
		licence: "x",
		bytes: 5_000_000,
		sha256: "0".repeat(64),
		sources: [{ kind: "url", url }],
	}));
	const assets = new AssetStore({
		dir,
		manifest: parseManifest({ assets: manifest }),
		log: silentLog,
		tries: 1,
		retryDelayMs: 1,
	});
	const config = { enabled: true, threads: 1, queue: 1, maxMemoryMb: 512, idleStopMs: 60_000 };
	const engine = new EmbeddedSpeech({ config, assets, log: silentLog });
	closers.push(
		() => engine.stop(),
		() => rmSync(dir, { recursive: true, force: true }),
	);
	return engine;
}

async function refusal(engine: EmbeddedSpeech): Promise<unknown> {
	const pieces = engine.synthesize({
		text: "Hello.",
		voice: "af_sky",
		speed: 1,
		tenant: "test",
		signal: new AbortController().signal,
	});
	return pieces.next().then(
		() => null,
		(thrown: unknown) => thrown,
	);
}

/** Waits for a part of the text that tells how far the download is, and returns the text. */
async function eventually(engine: EmbeddedSpeech, part: string): Promise<string> {
	let text = "";
	await until(async () => {
		text = (await engine.state()).text;
		return text.includes(part);
	}, part);
	return text;
}

describe("before its files are there, the embedded voice", () => {
	test("answers MODEL_OFFLINE, begins the download and tells how far it is", async () => {
		const engine = engineWith(slowSource(2_000_000));
		expect(await engine.state()).toEqual({ state: "offline", text: "The embedded voice is not downloaded yet: 0 of 10 MB" });
		expect(await refusal(engine)).toMatchObject({ code: "MODEL_OFFLINE", status: 503 });
		expect(await eventually(engine, "2 of 10 MB")).toBe("The embedded voice is being downloaded: 2 of 10 MB");
		await engine.stop();
	});

	test("says what the operator can do where no source gives them", async () => {
		const engine = engineWith("http://127.0.0.1:1/none");
		engine.prefetch();
		expect(await eventually(engine, "could not")).toContain("turnpike models pull tts-kokoro");
		expect(await refusal(engine)).toMatchObject({ code: "MODEL_OFFLINE" });
	});
});
