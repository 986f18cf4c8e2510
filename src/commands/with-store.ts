import type { Config, ConfigFlags } from "../config/index.ts";
import { type AdminStore, openAdmin } from "../store/admin.ts";
import { hasDatabase, hasSchema, refuseLostStore, shownAddress } from "../store/index.ts";
import { printError } from "./print.ts";
import { configOrExit } from "./store-args.ts";
import { withStoreFaults } from "./store-fault.ts";

/**
 * Runs a command on the store of the configured data folder, also while a server runs on it. A wrong request or an unusable
 * store ends the process with 1 and a sentence.
 */
export function withStore<T>(flags: ConfigFlags, work: (admin: AdminStore) => Promise<T>): Promise<T> {
	const { config } = configOrExit(flags);
	return withDataFolder(config, async () => {
		const admin = openAdmin(config.store ?? config.data);
		try {
			return await work(admin);
		} finally {
			await admin.close();
		}
	});
}

/** Runs work on a configured store that already exists; ends the process like `withStore`. */
export function withDataFolder<T>(config: StorePlace, work: () => Promise<T>): Promise<T> {
	const { store, data } = config;
	return withStoreFaults(config, async () => {
		if (store === undefined) refuseLostStore(data);
		if (store === undefined && !hasDatabase(data)) {
			printError(`There is no store in ${data}: start the server once (npm start), or name another folder with --data`);
			process.exit(1);
		}
		// A misspelt database name would create a new schema, whose accounts balance.
		if (store !== undefined && !(await hasSchema(store))) {
			printError(`There is no store in ${shownAddress(store)}: start a server on it once (npm start), or name another database`);
			process.exit(1);
		}
		return work();
	});
}

type StorePlace = Pick<Config, "store" | "data">;
