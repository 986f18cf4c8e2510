import { join } from "node:path";
import { AssetStore, loadManifest } from "../../assets/index.ts";
import { loadCatalogData } from "../../catalog/index.ts";
import { loadRpcCatalog } from "../../catalog/rpc/index.ts";
import type { ConfigFlags, LoadedConfig } from "../../config/index.ts";
import { builtConsole, ConsolePages, Gateway, RetentionJob } from "../../gateway/index.ts";
import type { Listening } from "../../server/index.ts";
import { systemClock, systemTimers } from "../../telemetry/clock.ts";
import { createLog, type Log } from "../../telemetry/log.ts";
import { CATALOG_DIR } from "../paths.ts";
import { withStoreFaults } from "../store-fault.ts";
import { announce } from "./announce.ts";
import { ConfigReloader } from "./config-reloader.ts";
import type { EarlySignals } from "./early-signals.ts";
import { Engines } from "./engines.ts";
import { firstAccount } from "./first-account.ts";
import { endFormerWorkers, nodeFolder, openDataFolder, openNodeStore } from "./open-store.ts";
import { recordServer, removeServerRecord } from "./running-server.ts";
import { requireStakingChain } from "./staking-chain.ts";
import { exitOnConfigFault, logUncaughtErrors } from "./startup-errors.ts";
import { StartupServer } from "./startup-server.ts";
import { requireTopUpChains } from "./top-ups-chain.ts";
import type { WorkerLink } from "./workers/worker-link.ts";

export interface ServerOptions {
	readonly flags: ConfigFlags;
	readonly loaded: LoadedConfig;
	readonly signals: EarlySignals;
	/** The way to the supervisor of several workers; null for a server of one process. */
	readonly worker: WorkerLink | null;
}

/**
 * Serves until a signal ends it. Exit codes: 0 after a drain, 1 for an unusable port, folder or store, 78 for an invalid
 * configuration.
 */
export async function runServer({ flags, loaded, signals, worker }: ServerOptions): Promise<void> {
	const { config, places } = loaded;
	const isFirst = worker === null || worker.number === 0;
	const log = createLog(config.log.level, worker === null ? null : { worker: worker.number });
	logUncaughtErrors(log);
	const data = exitOnConfigFault(places, () => loadCatalogData(CATALOG_DIR));
	const rpcCatalog = exitOnConfigFault(places, () => loadRpcCatalog(join(CATALOG_DIR, "rpc")));
	await openDataFolder(config, log);
	await requireStakingChain(loaded, log);
	await requireTopUpChains(loaded, log);
	const startup = new StartupServer(config, worker !== null, log);
	let opened: Listening | null = null;
	const open = (): Listening => {
		opened ??= exitOnConfigFault(places, () => startup.open());
		return opened;
	};
	if (worker?.joins !== true) open();
	const { store, journal } = await openNodeStore(config, worker, log);
	const manifest = loadManifest(join(CATALOG_DIR, "assets.json"));
	const assets = new AssetStore({ dir: join(config.data, "assets"), manifest, log });
	const engines = new Engines(config, assets, log);
	const gateway = exitOnConfigFault(
		places,
		() =>
			new Gateway({
				config,
				data,
				rpcCatalog,
				store,
				journal,
				nodeFolder: nodeFolder(config, worker),
				clock: systemClock,
				log,
				...(worker === null ? {} : { peers: worker }),
				...engines.gatewayDeps,
				url: () => config.server.publicUrl ?? open().url,
				port: () => open().port,
				assets,
				consolePages: consolePages(config.data, log),
			}),
	);
	// The first key is created only when the start can no longer fail, because it is shown once.
	const firstKey = isFirst ? await withStoreFaults(config, () => firstAccount(loaded, log)) : null;
	const retention = isFirst
		? new RetentionJob({ store, clock: systemClock, timers: systemTimers, log, config: () => gateway.config })
		: null;
	startup.serve(gateway.app);
	const listening = open();
	if (worker === null) recordServer(config.data, listening.url);
	else worker.serving(listening.url);
	const reloader = new ConfigReloader(flags, gateway, log, loaded.secretFiles);
	reloader.listen(store, signals);
	stopAtSignal(async (signal) => {
		log.info({ signal, running: listening.running }, "stopping: no new requests are accepted, running ones finish");
		await listening.drain();
		reloader.stop();
		retention?.stop();
		await gateway.stop();
		await engines.stop();
		await store.close();
		if (worker === null) removeServerRecord(config.data);
	});
	if (isFirst) void endFormerWorkers(config, log);
	if (isFirst) await announce({ loaded, gateway, assets, url: listening.url, firstKey, log });
}

function consolePages(dataDir: string, log: Log): ConsolePages {
	return new ConsolePages({ build: () => builtConsole({ dataDir, log }), log, monotonicMs: () => systemClock.monotonicMs() });
}

/** Stops the server once, at SIGTERM or SIGINT, and exits with 0. */
function stopAtSignal(stop: (signal: NodeJS.Signals) => Promise<void>): void {
	let stopping = false;
	const onSignal = async (signal: NodeJS.Signals) => {
		if (stopping) return;
		stopping = true;
		await stop(signal);
		process.exit(0);
	};
	process.on("SIGTERM", (signal) => void onSignal(signal));
	process.on("SIGINT", (signal) => void onSignal(signal));
}
