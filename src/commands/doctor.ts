import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { defineCommand } from "citty";
import { checkStaking } from "../access/index.ts";
import { AssetStore, checkAssets, loadManifest } from "../assets/index.ts";
import { discoverModels } from "../catalog/index.ts";
import type { Config, UpstreamConfig } from "../config/index.ts";
import { checkAudioEncoder, FfmpegEncoder } from "../engines/audio/index.ts";
import { cgroupVersion } from "../engines/cgroup.ts";
import { checkChatEngine, EmbeddedChat, nativeChatEngine } from "../engines/chat/index.ts";
import { checkDocuments, DocumentPool } from "../engines/documents/index.ts";
import { checkEmbeddingEngine, EmbeddedEmbeddings, nativeEmbeddingEngine } from "../engines/embeddings/index.ts";
import { checkImages, EmbeddedImages } from "../engines/images/index.ts";
import { checkSpeechEngine, EmbeddedSpeech, nativeSpeechEngine } from "../engines/speech/index.ts";
import { checkTokenCounter, TokenCounter } from "../engines/tokens/index.ts";
import { checkPages, PagePool } from "../engines/web/index.ts";
import { openMode } from "../journal/owner-only.ts";
import { audit } from "../ledger/index.ts";
import { checkTopUps } from "../payments/index.ts";
import { openAdmin } from "../store/admin.ts";
import { hasDatabase, hasSchema, refuseLostBooks } from "../store/index.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import { checkChains } from "./doctor-chains.ts";
import { CATALOG_DIR } from "./paths.ts";
import { print, printJson } from "./print.ts";
import { notedServer } from "./serve/running-server.ts";
import { configOrExit, jsonArg, storeArgs } from "./store-args.ts";
import { storeFaultText } from "./store-fault.ts";

interface Check {
	readonly name: string;
	readonly ok: boolean;
	/** What is so, and what to do where it is not well. */
	readonly text: string;
}

export const doctor = defineCommand({
	meta: { name: "doctor", description: "Say what works, what is missing, and how to get it; exit 1 where something is missing" },
	args: { ...jsonArg, ...storeArgs },
	async run({ args }) {
		const { config, file } = configOrExit(args);
		const checks: Check[] = [
			{ name: "configuration", ok: true, text: file ?? "no file; defaults and environment" },
			{ name: "runtime", ok: true, text: `Bun ${Bun.version} on ${process.platform}-${process.arch}` },
			dataFolder(config.data),
			memoryLimits(),
			await server(config),
			await books(config),
			...(await upstreams(config)),
			...(await checkChains(config)),
			...(await staking(config)),
			...(await topUps(config)),
			...(await engines(config)),
		];
		if (checks.some((check) => !check.ok)) process.exitCode = 1;
		if (args.json) return printJson(checks);
		for (const check of checks) print(`${check.ok ? "ok     " : "MISSING"}  ${check.name}: ${check.text}`);
	},
});

function memoryLimits(): Check {
	const version = cgroupVersion();
	const text = version === null ? "measured ten times a second" : `measured, and held by the kernel (cgroup v${version})`;
	return { name: "memory of child processes", ok: true, text };
}

function dataFolder(dir: string): Check {
	const name = "data folder";
	if (!existsSync(dir)) return { name, ok: true, text: `${dir} is made at the first start` };
	try {
		accessSync(dir, constants.R_OK | constants.W_OK);
	} catch {
		return { name, ok: false, text: `${dir} cannot be written by this user` };
	}
	const { bavail, bsize } = statfsSync(dir);
	const mode = openMode(dir);
	const open = mode === null ? "" : `; others can look into it (mode ${mode}): chmod 700 ${dir}`;
	return { name, ok: true, text: `${dir}, ${Math.round((bavail * bsize) / 1e6)} MB free${open}` };
}

async function server(config: Config): Promise<Check> {
	const name = "server";
	const noted = notedServer(config.data);
	if (noted === null) return { name, ok: true, text: "not running on this folder (npm start)" };
	const { pid, url } = noted;
	if (!noted.alive) return { name, ok: true, text: `not running: process ${pid} was killed (npm start)` };
	try {
		const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
		return { name, ok: response.ok, text: `process ${pid} at ${url}: ${(await response.text()).trim()}` };
	} catch {
		return { name, ok: false, text: `process ${pid} runs, but nothing answers at ${url}` };
	}
}

async function books(config: Config): Promise<Check> {
	const name = "books";
	try {
		if (config.store === undefined) refuseLostBooks(config.data);
		if (config.store === undefined && !hasDatabase(config.data)) return { name, ok: true, text: "no store yet" };
		if (config.store !== undefined && !(await hasSchema(config.store))) return { name, ok: true, text: "no store yet" };
		return { name, ...(await auditOf(config.store ?? config.data)) };
	} catch (error) {
		const text = storeFaultText(config, error);
		if (text === null) throw error;
		return { name, ok: false, text };
	}
}

async function auditOf(place: string): Promise<Omit<Check, "name">> {
	const admin = openAdmin(place);
	try {
		const { ok, counted, findings } = await audit(admin.db);
		if (ok) return { ok, text: `balance; ${counted.posts} posts, ${counted.accounts} accounts` };
		return { ok, text: `${findings.length} faults: npx --no turnpike audit lists them` };
	} finally {
		await admin.close();
	}
}

function upstreams(config: Config): Promise<Check[]> {
	return Promise.all(
		Object.entries(config.upstreams).map(async ([upstream, settings]): Promise<Check> => {
			const name = `upstream ${upstream}`;
			if (settings.provider !== undefined) return { name, ...providerCheck(config, upstream, settings) };
			try {
				const models = await discoverModels(settings);
				return { name, ok: true, text: `${settings.url} lists ${models.length} models` };
			} catch (error) {
				return { name, ok: false, text: `${settings.url}: ${(error as Error).message}` };
			}
		}),
	);
}

/** A provider is not called: a call would cost money. What can be said is what stands in the configuration. */
function providerCheck(config: Config, upstream: string, { provider, url }: UpstreamConfig): Omit<Check, "name"> {
	const named = Object.entries(config.models.entries).filter(([, { upstreams }]) =>
		upstreams?.some((target) => target.upstream === upstream),
	);
	if (named.length > 0) return { ok: true, text: `${provider} at ${url}: ${named.length} models are sold from it` };
	return { ok: false, text: `${provider} at ${url}: no entry under models.entries names it` };
}

async function staking(config: Config): Promise<Check[]> {
	const check = await checkStaking(config.staking);
	return check === null ? [] : [{ name: "staking", ok: check.state === "well", text: check.text }];
}

async function topUps({ x402 }: Config): Promise<Check[]> {
	const name = "top-ups";
	if (x402.payTo === undefined && x402.solana.payTo === undefined)
		return [
			{
				name,
				ok: true,
				text: "off: wallets cannot pay (TURNPIKE_X402_PAY_TO, or TURNPIKE_X402_SOLANA_PAY_TO, names who receives)",
			},
		];
	return (await checkTopUps(x402)).map(({ state, text }) => ({ name, ok: state === "well", text }));
}

async function engines(config: Config): Promise<Check[]> {
	const log = createLog("silent");
	const assets = new AssetStore({
		dir: join(config.data, "assets"),
		manifest: loadManifest(join(CATALOG_DIR, "assets.json")),
		log,
	});
	const counter = new TokenCounter({ log });
	const checks: Check[] = [await checkTokenCounter(counter)];
	await counter.stop();
	const { fileMs: limitMs, maxMemoryMb } = config.documents;
	const documents = new DocumentPool({ log, processes: 1, limitMs, maxMemoryMb });
	checks.push(await checkDocuments(documents));
	await documents.stop();
	const images = new EmbeddedImages({ assets, log, processes: 1 });
	checks.push(await checkImages(images));
	await images.stop();
	const pages = new PagePool({ log, processes: 1, maxMemoryMb: config.web.maxMemoryMb });
	checks.push(await checkPages(pages, config.web.chromium));
	await pages.stop();
	if (config.chat.embedded.enabled || config.speech.embedded.enabled) checks.push(...(await checkAssets(assets)));
	if (config.chat.embedded.enabled) checks.push(await chatEngine(config, assets, log));
	if (config.speech.embedded.enabled) checks.push(await speechEngine(config, assets, log));
	if (config.embeddings.embedded.enabled) checks.push(await embeddingEngine(config, assets, log));
	const encoder = new FfmpegEncoder({ assets, log });
	checks.push(await checkAudioEncoder(encoder));
	await encoder.stop();
	return checks;
}

async function chatEngine(config: Config, assets: AssetStore, log: Log): Promise<Check> {
	const native = nativeChatEngine();
	if (!native.ok) return { name: "chat engine", ok: false, text: native.reason };
	const chat = new EmbeddedChat({ config: config.chat.embedded, assets, log });
	const check = await checkChatEngine(chat);
	await chat.stop();
	return check;
}

async function embeddingEngine(config: Config, assets: AssetStore, log: Log): Promise<Check> {
	const native = nativeEmbeddingEngine();
	if (!native.ok) return { name: "embedding engine", ok: false, text: native.reason };
	const embeddings = new EmbeddedEmbeddings({ config: config.embeddings.embedded, assets, log });
	const check = await checkEmbeddingEngine(embeddings);
	await embeddings.stop();
	return check;
}

async function speechEngine(config: Config, assets: AssetStore, log: Log): Promise<Check> {
	const native = nativeSpeechEngine();
	if (!native.ok) return { name: "speech engine", ok: false, text: native.reason };
	const speech = new EmbeddedSpeech({ config: config.speech.embedded, assets, log });
	const check = await checkSpeechEngine(speech);
	await speech.stop();
	return check;
}
