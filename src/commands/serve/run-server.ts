import { join } from "node:path";
import { AssetStore, loadManifest } from "../../assets/index.ts";
import { loadCatalogData } from "../../catalog/index.ts";
import { loadRpcCatalog } from "../../catalog/rpc/index.ts";
import type { ConfigFlags } from "../../config/index.ts";
import { builtConsole, ConsolePages, Gateway, RetentionJob } from "../../gateway/index.ts";
import { systemClock, systemTimers } from "../../telemetry/clock.ts";
import { createLog, type Log } from "../../telemetry/log.ts";
import { CATALOG_DIR } from "../paths.ts";
import { configOrExit } from "../store-args.ts";
import { withStoreFaults } from "../store-fault.ts";
import { announce } from "./announce.ts";
import { ConfigReloader } from "./config-reloader.ts";
import { EarlySignals } from "./early-signals.ts";
import { Engines } from "./engines.ts";
import { firstAccount } from "./first-account.ts";
import { openDataFolder, openNodeStore } from "./open-store.ts";
import { recordServer, removeServerRecord } from "./running-server.ts";
import { requireStakingChain } from "./staking-chain.ts";
import { exitOnConfigFault, logUncaughtErrors } from "./startup-errors.ts";
import { StartupServer } from "./startup-server.ts";
import { requireTopUpChains } from "./top-ups-chain.ts";

/**
 * Serves until a signal ends it. Exit codes: 0 after a drain, 1 for an unusable port, folder or store, 78 for an invalid
 * configuration.
 */
export async function runServer(flags: ConfigFlags): Promise<void> {
	const signals = new EarlySignals();
	const loaded = configOrExit(flags);
	const { config, places } = loaded;
	const log = createLog(config.log.level);
	logUncaughtErrors(log);
	const data = exitOnConfigFault(places, () => loadCatalogData(CATALOG_DIR));
	const rpcCatalog = exitOnConfigFault(places, () => loadRpcCatalog(join(CATALOG_DIR, "rpc")));
	await openDataFolder(config, log);
	await requireStakingChain(loaded, log);
	await requireTopUpChains(loaded, log);
	const startup = new StartupServer(config, log);
	const listening = exitOnConfigFault(places, () => startup.open());
	const { store, journal } = await openNodeStore(config, log);
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
				clock: systemClock,
				log,
				...engines.gatewayDeps,
				url: () => config.server.publicUrl ?? listening.url,
				port: () => listening.port,
				assets,
				consolePages: consolePages(config.data, log),
			}),
	);
	// The first key is created only when the start can no longer fail, because it is shown once.
	const firstKey = await withStoreFaults(config, () => firstAccount(loaded, log));
	const retention = new RetentionJob({ store, clock: systemClock, timers: systemTimers, log, config: () => gateway.config });
	startup.serve(gateway.app);
	recordServer(config.data, listening.url);
	const reloader = new ConfigReloader(flags, gateway, log, loaded.secretFiles);
	reloader.listen(store, signals);
	stopAtSignal(async (signal) => {
		log.info({ signal, running: listening.running }, "stopping: no new requests are accepted, running ones finish");
		await listening.drain();
		reloader.stop();
		retention.stop();
		await gateway.stop();
		await engines.stop();
		await store.close();
		removeServerRecord(config.data);
	});
	await announce({ loaded, gateway, assets, url: listening.url, firstKey, log });
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
