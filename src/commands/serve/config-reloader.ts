import { ConfigError, type ConfigFlags, LOG_LEVELS, type LoadedConfig, loadConfig } from "../../config/index.ts";
import type { Gateway } from "../../gateway/index.ts";
import type { StorePort } from "../../store/port.ts";
import { systemTimers } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import { configFaultText } from "../config-fault.ts";
import type { EarlySignals } from "./early-signals.ts";
import { SecretFileWatcher } from "./secret-file-watcher.ts";

/**
 * Reloads the configuration at SIGHUP, at `turnpike reload` and when a file with a secret changes, and changes the log level.
 * An invalid configuration leaves the previous one in force.
 */
export class ConfigReloader {
	readonly #flags: ConfigFlags;
	readonly #gateway: Gateway;
	readonly #log: Log;
	readonly #secrets: SecretFileWatcher;

	constructor(flags: ConfigFlags, gateway: Gateway, log: Log, secretFiles: LoadedConfig["secretFiles"]) {
		this.#flags = flags;
		this.#gateway = gateway;
		this.#log = log;
		this.#secrets = new SecretFileWatcher(systemTimers, () => {
			log.info({}, "a secret file has changed");
			this.#reload();
		});
		this.#secrets.watch(secretFiles);
	}

	/** Subscribes to the store's changes and to signals. */
	listen(store: Pick<StorePort, "onChange">, signals: EarlySignals): void {
		store.onChange((change) => {
			if (change.kind === "reload") this.#reload();
			if (change.kind === "log-level") this.#setLevel(change.level);
		});
		signals.answerWith({
			SIGHUP: () => this.#reload(),
			SIGUSR2: () => this.#setLevel(this.#log.level === "debug" ? this.#gateway.config.log.level : "debug"),
		});
	}

	stop(): void {
		this.#secrets.stop();
	}

	#reload(): void {
		const log = this.#log;
		let loaded: LoadedConfig | null = null;
		try {
			loaded = loadConfig(this.#flags, process.env);
			const needRestart = this.#gateway.reload(loaded.config);
			if (needRestart.length > 0) log.warn({ settings: needRestart }, "reloaded, but these settings need a restart");
			else log.info({}, "reloaded");
			this.#secrets.watch(loaded.secretFiles);
		} catch (error) {
			const cause = faultText(error, loaded);
			if (cause !== null) log.error({ cause }, "the new configuration is invalid; the previous one stays in force");
			else log.error({ cause: (error as Error).stack }, "the reload failed; the previous configuration stays in force");
		}
	}

	/** Sets the log level until the next reload. An unknown level is ignored, because a newer version may have sent it. */
	#setLevel(level: string): void {
		if (!LOG_LEVELS.some((known) => known === level)) return;
		this.#log.level = "info";
		this.#log.info({ newLevel: level }, "the log level has changed");
		this.#log.level = level;
	}
}

/**
 * Returns the configuration error; null if the error is of another kind. `loaded` is null if the configuration cannot be read.
 */
function faultText(error: unknown, loaded: LoadedConfig | null): string | null {
	if (loaded !== null) return configFaultText(error, loaded.places);
	return error instanceof ConfigError ? error.message : null;
}
