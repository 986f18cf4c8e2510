import type { ConfigFlags } from "../config/index.ts";
import { AdminError, type AdminStore, openAdmin } from "../store/admin.ts";
import { hasDatabase } from "../store/index.ts";
import { complain } from "./print.ts";
import { configOrExit } from "./store-args.ts";

/**
 * Runs a command on the store of the configured data folder, beside a server that may be running on it. What
 * the operator asked wrongly ends the process with 1 and a sentence.
 */
export async function withStore<T>(flags: ConfigFlags, work: (admin: AdminStore) => Promise<T>): Promise<T> {
	const { config } = configOrExit(flags);
	if (config.store === undefined && !hasDatabase(config.data)) {
		complain(`There is no store in ${config.data}: start the server once (npm start), or name another folder with --data`);
		process.exit(1);
	}
	const admin = openAdmin(config.store ?? config.data);
	try {
		return await work(admin);
	} catch (error) {
		if (!(error instanceof AdminError)) throw error;
		complain(error.message);
		process.exit(1);
	} finally {
		await admin.close();
	}
}
