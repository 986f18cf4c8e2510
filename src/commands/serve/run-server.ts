import { join } from "node:path";
import { AssetStore, loadManifest, showProgress } from "../../assets/index.ts";
import { type Catalog, EMBEDDED, loadCatalogData, type Model } from "../../catalog/index.ts";
import { loadRpcCatalog } from "../../catalog/rpc/index.ts";
import {
	type Config,
	ConfigError,
	type ConfigFlags,
	LOG_LEVELS,
	type LoadedConfig,
	loadConfig,
	type SettingPlaces,
} from "../../config/index.ts";
import { FfmpegEncoder } from "../../engines/audio/index.ts";
import { EMBEDDED_CHAT_ASSET, EmbeddedChat, nativeChatEngine } from "../../engines/chat/index.ts";
import { DocumentPool } from "../../engines/documents/index.ts";
import { EmbeddedEmbeddings, nativeEmbeddingEngine } from "../../engines/embeddings/index.ts";
import { EmbeddedImages } from "../../engines/images/index.ts";
import { EmbeddedSpeech, nativeSpeechEngine } from "../../engines/speech/index.ts";
import { TokenCounter } from "../../engines/tokens/index.ts";
import { builtConsole, ConsolePages, Gateway, RetentionJob } from "../../gateway/index.ts";
import { openMode } from "../../journal/owner-only.ts";
import { ListenError } from "../../server/index.ts";
import { makeDataFolder, openStore, shownAddress } from "../../store/index.ts";
import { systemClock, systemTimers } from "../../telemetry/clock.ts";
import { createLog, type Log } from "../../telemetry/log.ts";
import { configFaultText } from "../config-fault.ts";
import { CATALOG_DIR } from "../paths.ts";
import { printError } from "../print.ts";
import { configOrExit, EXIT_CONFIG } from "../store-args.ts";
import { storeFaultText } from "../store-fault.ts";
import { banner, chatCurl } from "./banner.ts";
import { EarlySignals } from "./early-signals.ts";
import { firstAccount } from "./first-account.ts";
import { recordServer, removeServerRecord } from "./running-server.ts";
import { SecretFileWatcher } from "./secret-file-watcher.ts";
import { requireStakingChain } from "./staking-chain.ts";
import { StartupServer } from "./startup-server.ts";
import { requireTopUpChains } from "./top-ups-chain.ts";

/** Serves until a signal ends it. Exit codes: 0 after a drain, 1 for a port, folder or store that cannot be used, 78 for a wrong configuration. */
export async function runServer(flags: ConfigFlags): Promise<void> {
	const signals = new EarlySignals();
	const loaded = configOrExit(flags);
	const { config, places } = loaded;
	const orExit = <T>(step: () => T): T => stepOrExit(step, places);
	const log = createLog(config.log.level);
	catchStrayErrors(log);
	const data = orExit(() => loadCatalogData(CATALOG_DIR));
	const rpcCatalog = orExit(() => loadRpcCatalog(join(CATALOG_DIR, "rpc")));
	await ofStore(config, () => makeDataFolder(config.data));
	const mode = openMode(config.data);
	if (mode !== null) log.warn({ folder: config.data, mode }, OPEN_FOLDER);
	await requireStakingChain(loaded, log);
	await requireTopUpChains(loaded, log);
	const front = new StartupServer(config, log);
	const listening = orExit(() => front.open());
	const waiting = sayWhereStoreIsAwaited(config, log);
	const { store, journal, replayedGroups, lostTail } = await ofStore(config, () =>
		openStore({
			dataDir: config.data,
			postgres: config.store,
			termMs: config.node.termMs,
			journal: {
				...(config.journal.durability === undefined ? {} : { durability: config.journal.durability }),
				segmentBytes: config.journal.segmentMb * 1_048_576,
				minFreeDiskBytes: config.journal.minFreeDiskMb * 1_048_576,
				maxBacklogBytes: config.journal.maxBacklogMb * 1_048_576,
			},
		}),
	);
	clearTimeout(waiting);
	if (replayedGroups > 0) log.info({ groups: replayedGroups }, "the journal of an earlier run was applied");
	if (lostTail !== null) log.error({ ...lostTail }, "a power cut took the unsynced end of the journal");

	const assets = new AssetStore({
		dir: join(config.data, "assets"),
		manifest: loadManifest(join(CATALOG_DIR, "assets.json")),
		log,
	});
	const embedded = new EmbeddedChat({ config: config.chat.embedded, assets, log });
	const speaks = config.speech.embedded.enabled && nativeSpeechEngine().ok;
	const speech = speaks ? new EmbeddedSpeech({ config: config.speech.embedded, assets, log }) : null;
	const encoder = new FfmpegEncoder({ assets, log });
	const counter = new TokenCounter({ log });
	const embeds = config.embeddings.embedded.enabled && nativeEmbeddingEngine().ok;
	const embeddings = embeds ? new EmbeddedEmbeddings({ config: config.embeddings.embedded, assets, log }) : null;
	const { processes, fileMs: limitMs, maxMemoryMb } = config.documents;
	const documents = new DocumentPool({ log, processes, limitMs, maxMemoryMb });
	const images = new EmbeddedImages({
		assets,
		log,
		processes: config.images.processes,
		maxWaiting: config.images.queue,
		limitMs: config.images.pictureMs,
		maxMemoryMb: config.images.maxMemoryMb,
	});
	const gateway = orExit(
		() =>
			new Gateway({
				config,
				data,
				rpcCatalog,
				store,
				journal,
				clock: systemClock,
				log,
				embedded,
				embeddedAvailable: nativeChatEngine().ok,
				audio: { speech, encoder },
				countTokens: (text, tenant) => counter.countTokens(text, tenant),
				embeddings,
				images,
				documents,
				url: () => config.server.publicUrl ?? listening.url,
				port: () => listening.port,
				assets,
				consolePages: new ConsolePages({
					build: () => builtConsole({ dataDir: config.data, log }),
					log,
					now: () => systemClock.monotonicMs(),
				}),
			}),
	);
	// Behind everything that can refuse the configuration: the key is told once, and by a start that goes on.
	const firstKey = await ofStore(config, () => firstAccount(loaded, log));
	const housekeeper = new RetentionJob({ store, clock: systemClock, timers: systemTimers, log, config: () => gateway.config });
	front.serve(gateway.app);
	recordServer(config.data, listening.url);

	const secrets = new SecretFileWatcher(systemTimers, () => {
		log.info({}, "a file with a secret has changed");
		reload();
	});
	secrets.watch(loaded.secretFiles);
	const reload = () => {
		const files = reloadFrom(flags, gateway, log);
		if (files !== null) secrets.watch(files);
	};
	store.onChange((change) => {
		if (change.kind === "reload") reload();
		if (change.kind === "log-level") setLevel(change.level, log);
	});
	signals.answerWith({
		SIGHUP: reload,
		SIGUSR2: () => setLevel(log.level === "debug" ? gateway.config.log.level : "debug", log),
	});
	let stopping = false;
	const stop = async (signal: string) => {
		if (stopping) return;
		stopping = true;
		log.info({ signal, running: listening.running }, "stopping: no new requests, running ones finish");
		await listening.drain();
		secrets.stop();
		housekeeper.stop();
		await gateway.stop();
		await Promise.all([
			embedded.stop(),
			speech?.stop(),
			embeddings?.stop(),
			encoder.stop(),
			counter.stop(),
			documents.stop(),
			images.stop(),
		]);
		await store.close();
		removeServerRecord(config.data);
		process.exit(0);
	};
	process.on("SIGTERM", () => void stop("SIGTERM"));
	process.on("SIGINT", () => void stop("SIGINT"));

	const upstreamed = Object.keys(config.upstreams).length > 0;
	const status = await assets.status(EMBEDDED_CHAT_ASSET);
	const wanted = !upstreamed && config.chat.embedded.enabled;
	const embeddedReady = status.state === "ready";
	await Promise.race([gateway.discovered(), Bun.sleep(DISCOVERY_PATIENCE_MS)]);
	const chatModel = readyChatModel(gateway.catalog, embeddedReady);
	process.stdout.write(
		banner({
			url: listening.url,
			newKey: firstKey,
			keyFromEnvironment: loaded.adminKey !== null,
			creditUsd: config.accounts.startingCreditUsd,
			chatModel,
			chatNote: wanted && !embeddedReady ? "The built-in chat model is being downloaded; until it is here this works:" : null,
			network:
				Object.entries(config.rpc.networks).find(
					([, { enabled, upstreams }]) => enabled !== false && upstreams.length > 0,
				)?.[0] ?? null,
		}),
	);
	if (wanted && !embeddedReady) void fetchModel(assets, listening.url, firstKey, loaded.adminKey !== null, log);
}

/** Its files are the owner's alone all the same: what others see is their names, sizes and times. */
const OPEN_FOLDER = "others can look into the data folder: chmod 700 it";

/** How long a start waits for the store before it says so. */
const STORE_SILENCE_MS = 2_000;

/** How long the banner waits for the models of upstreams. */
const DISCOVERY_PATIENCE_MS = 1_500;

/** A text model for the example: the `default` one where it can answer now, else the first that can. */
function readyChatModel(catalog: Catalog, embeddedReady: boolean): string | null {
	const canAnswer = (model: Model | undefined) =>
		model !== undefined && !model.offline && (embeddedReady || model.targets.some((target) => target.upstream !== EMBEDDED));
	const byDefault = catalog.traits("text").default;
	if (byDefault !== undefined && canAnswer(catalog.get(byDefault))) return "default";
	return catalog.list("text").find(canAnswer)?.id ?? null;
}

async function fetchModel(
	assets: AssetStore,
	url: string,
	key: string | null,
	fromEnvironment: boolean,
	log: Log,
): Promise<void> {
	const display = showProgress(EMBEDDED_CHAT_ASSET);
	try {
		await assets.ensure(EMBEDDED_CHAT_ASSET, { onProgress: (status) => display.update(status) });
		display.end();
		const shown = key === null ? "$TURNPIKE_KEY" : fromEnvironment ? "$TURNPIKE_ADMIN_KEY" : key;
		process.stdout.write(`\nThe built-in chat model is here. Try it:\n\n  ${chatCurl(url, shown, "default")}\n\n`);
	} catch (error) {
		display.end();
		log.warn(
			{ cause: (error as Error).message },
			"the built-in chat model could not be downloaded; it is tried again at the next chat request",
		);
	}
}

/** Until the next reload. A level that is none changes nothing: it may come from a newer version. */
function setLevel(level: string, log: Log): void {
	if (!LOG_LEVELS.some((known) => known === level)) return;
	log.level = "info";
	log.info({ newLevel: level }, "the log has another level now");
	log.level = level;
}

/** Returns the files that secrets were read from; null where the configuration before stays in force. */
function reloadFrom(flags: ConfigFlags, gateway: Gateway, log: Log): LoadedConfig["secretFiles"] | null {
	let loaded: LoadedConfig | null = null;
	try {
		loaded = loadConfig(flags, process.env);
		const { config, secretFiles } = loaded;
		const needRestart = gateway.reload(config);
		if (needRestart.length > 0) log.warn({ settings: needRestart }, "reloaded, but these settings need a restart");
		else log.info({}, "reloaded");
		return secretFiles;
	} catch (error) {
		const cause = loaded === null ? (error instanceof ConfigError ? error.message : null) : configFaultText(error, loaded.places);
		if (cause !== null) log.error({ cause }, "the new configuration is wrong; the one before stays in force");
		else log.error({ cause: (error as Error).stack }, "the reload failed; the configuration before stays in force");
		return null;
	}
}

/** A start that waits for PostgreSQL is otherwise silent until it gives up. */
function sayWhereStoreIsAwaited({ store }: Config, log: Log): NodeJS.Timeout | undefined {
	if (store === undefined) return undefined;
	const text = "waiting for the store: it cannot be reached yet (a start gives up after 30 s), or its schema is brought forward";
	return setTimeout(() => log.warn({ store: shownAddress(store) }, text), STORE_SILENCE_MS);
}

/** Runs a step of the start that needs the store; a fault of it ends the start with 1 and a sentence. */
async function ofStore<T>(config: Config, step: () => T | Promise<T>): Promise<T> {
	try {
		return await step();
	} catch (error) {
		const text = storeFaultText(config, error);
		if (text === null) throw error;
		printError(text);
		process.exit(1);
	}
}

/** Runs a step of the start; what the operator can mend ends it with a text: 78 for the configuration, 1 for address and port. */
function stepOrExit<T>(step: () => T, places: SettingPlaces): T {
	try {
		return step();
	} catch (error) {
		const text = configFaultText(error, places);
		if (text === null && !(error instanceof ListenError)) throw error;
		printError(text ?? (error as ListenError).message);
		process.exit(text === null ? 1 : EXIT_CONFIG);
	}
}

function catchStrayErrors(log: Log): void {
	const report = (kind: string) => (error: unknown) =>
		log.error(
			{ kind, cause: error instanceof Error ? (error.stack ?? error.message) : String(error) },
			"an error that nothing caught; the server goes on",
		);
	process.on("unhandledRejection", report("unhandledRejection"));
	process.on("uncaughtException", report("uncaughtException"));
}
