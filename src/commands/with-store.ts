import type { ConfigFlags } from "../config/index.ts";
import { type AdminStore, openAdmin } from "../store/admin.ts";
import { hasDatabase, refuseLostBooks } from "../store/index.ts";
import { complain } from "./print.ts";
import { configOrExit } from "./store-args.ts";
import { storeFaultText } from "./store-fault.ts";

/**
 * Runs a command on the store of the configured data folder, beside a server that may be running on it. What
 * the operator asked wrongly, and a store that cannot be used, end the process with 1 and a sentence.
 */
export async function withStore<T>(flags: ConfigFlags, work: (admin: AdminStore) => Promise<T>): Promise<T> {
	const { config } = configOrExit(flags);
	try {
		if (config.store === undefined) refuseLostBooks(config.data);
		if (config.store === undefined && !hasDatabase(config.data)) {
			complain(`There is no store in ${config.data}: start the server once (npm start), or name another folder with --data`);
			process.exit(1);
		}
		const admin = openAdmin(config.store ?? config.data);
		try {
			return await work(admin);
		} finally {
			await admin.close();
		}
	} catch (error) {
		const text = storeFaultText(config, error);
		if (text === null) throw error;
		complain(text);
		process.exit(1);
	}
}
