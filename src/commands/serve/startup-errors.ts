import type { Config, SettingPlaces } from "../../config/index.ts";
import { ListenError } from "../../server/index.ts";
import { shownAddress } from "../../store/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { configFaultText } from "../config-fault.ts";
import { printError } from "../print.ts";
import { EXIT_CONFIG } from "../store-args.ts";

/** A start that waits longer for the store logs it. */
const STORE_SILENCE_MS = 2_000;

/**
 * Runs a step of the start. An error that the operator can fix ends the process with its text: 78 for the configuration, 1 for
 * address and port. `places` maps each setting to its place in the file.
 */
export function exitOnConfigFault<T>(places: SettingPlaces, step: () => T): T {
	try {
		return step();
	} catch (error) {
		const text = configFaultText(error, places);
		if (text === null && !(error instanceof ListenError)) throw error;
		printError(text ?? (error as ListenError).message);
		process.exit(text === null ? 1 : EXIT_CONFIG);
	}
}

/** Warns once if PostgreSQL is slow; otherwise such a start prints nothing until it fails. */
export function warnIfStoreIsSlow({ store }: Config, log: Log): NodeJS.Timeout | undefined {
	if (store === undefined) return undefined;
	const text = "waiting for the store: it cannot be reached yet (the start gives up after 30 s), or its schema is being migrated";
	return setTimeout(() => log.warn({ store: shownAddress(store) }, text), STORE_SILENCE_MS);
}

/** Logs uncaught errors; the server goes on. */
export function logUncaughtErrors(log: Log): void {
	const report = (kind: string) => (error: unknown) =>
		log.error(
			{ kind, cause: error instanceof Error ? (error.stack ?? error.message) : String(error) },
			"uncaught error; the server continues",
		);
	process.on("unhandledRejection", report("unhandledRejection"));
	process.on("uncaughtException", report("uncaughtException"));
}
