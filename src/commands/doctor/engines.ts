import { join } from "node:path";
import { AssetStore, checkAssets, loadManifest } from "../../assets/index.ts";
import type { Config } from "../../config/index.ts";
import { checkAudioEncoder, FfmpegEncoder } from "../../engines/audio/index.ts";
import { checkChatEngine, EmbeddedChat, nativeChatEngine } from "../../engines/chat/index.ts";
import { checkDocuments, DocumentPool } from "../../engines/documents/index.ts";
import { checkEmbeddingEngine, EmbeddedEmbeddings, nativeEmbeddingEngine } from "../../engines/embeddings/index.ts";
import { checkImages, EmbeddedImages } from "../../engines/images/index.ts";
import { checkSpeechEngine, EmbeddedSpeech, nativeSpeechEngine } from "../../engines/speech/index.ts";
import { checkTokenCounter, TokenCounter } from "../../engines/tokens/index.ts";
import { checkPages, PagePool } from "../../engines/web/index.ts";
import { type Finding, fault } from "../../telemetry/finding.ts";
import { createLog } from "../../telemetry/log.ts";
import { CATALOG_DIR } from "../paths.ts";

/** Starts each engine whose files are installed, and gives it a small task. */
export async function checkEngines(config: Config): Promise<Finding[]> {
	const log = createLog("silent");
	const assets = new AssetStore({
		dir: join(config.data, "assets"),
		manifest: loadManifest(join(CATALOG_DIR, "assets.json")),
		log,
	});
	const findings: Finding[] = [];
	const run = async <Engine extends { stop(): Promise<void> }>(engine: Engine, check: (engine: Engine) => Promise<Finding>) => {
		findings.push(await check(engine));
		await engine.stop();
	};
	const runNative = async <Engine extends { stop(): Promise<void> }>(
		{ name, enabled, native }: NativeEngine,
		engine: () => Engine,
		check: (engine: Engine) => Promise<Finding>,
	) => {
		if (!enabled) return;
		if (native.ok) await run(engine(), check);
		else findings.push(fault(`${name} engine`, native.reason, `npm install, or ${name}: {embedded: {enabled: false}}`));
	};
	const { chat, speech, embeddings, documents, web } = config;
	await run(new TokenCounter({ log }), checkTokenCounter);
	const { fileMs: limitMs, maxMemoryMb } = documents;
	await run(new DocumentPool({ log, processes: 1, limitMs, maxMemoryMb }), checkDocuments);
	await run(new EmbeddedImages({ assets, log, processes: 1 }), checkImages);
	await run(new PagePool({ log, processes: 1, maxMemoryMb: web.maxMemoryMb }), (pages) => checkPages(pages, web.chromium));
	if (chat.embedded.enabled || speech.embedded.enabled) findings.push(...(await checkAssets(assets)));
	await runNative(
		{ name: "chat", enabled: chat.embedded.enabled, native: nativeChatEngine() },
		() => new EmbeddedChat({ config: chat.embedded, assets, log }),
		checkChatEngine,
	);
	await runNative(
		{ name: "speech", enabled: speech.embedded.enabled, native: nativeSpeechEngine() },
		() => new EmbeddedSpeech({ config: speech.embedded, assets, log }),
		checkSpeechEngine,
	);
	await runNative(
		{ name: "embeddings", enabled: embeddings.embedded.enabled, native: nativeEmbeddingEngine() },
		() => new EmbeddedEmbeddings({ config: embeddings.embedded, assets, log }),
		checkEmbeddingEngine,
	);
	await run(new FfmpegEncoder({ assets, log }), checkAudioEncoder);
	return findings;
}

interface NativeEngine {
	/** The engine's section of the configuration. */
	readonly name: "chat" | "speech" | "embeddings";
	readonly enabled: boolean;
	readonly native: { readonly ok: true } | { readonly ok: false; readonly reason: string };
}
