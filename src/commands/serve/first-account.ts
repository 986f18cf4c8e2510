import { generateSecretKey, keyHash } from "../../access/index.ts";
import type { LoadedConfig } from "../../config/index.ts";
import { hasAccounts } from "../../store/index.ts";
import type { Log } from "../../telemetry/log.ts";

/**
 * On an empty store, creates the operator's account with its credit and an ADMIN key (TURNPIKE_ADMIN_KEY, or a new one) and
 * returns the key, only this once. On any other store, returns null and warns if TURNPIKE_ADMIN_KEY is not a key of it.
 */
export async function firstAccount({ config, adminKey }: LoadedConfig, log: Log): Promise<string | null> {
	if (config.store === undefined && hasAccounts(config.data) && adminKey === null) return null;
	const { createFirstAccount, findKeyByHash, isEmpty, openAdmin } = await import("../../store/admin.ts");
	const admin = openAdmin(config.store ?? config.data);
	try {
		if (await isEmpty(admin)) {
			const key = adminKey ?? generateSecretKey("ADMIN");
			const account = await createFirstAccount(admin, {
				name: "operator",
				startingCreditUsd: config.accounts.startingCreditUsd,
				firstKey: { type: "ADMIN", hash: keyHash(key), last6: key.slice(-6), description: "first key" },
			});
			// Another node may have created the account first.
			if (account !== null) return key;
		}
		if (adminKey !== null && (await findKeyByHash(admin, keyHash(adminKey))) === null)
			log.warn(
				{},
				"TURNPIKE_ADMIN_KEY is not a key of this store and is ignored; create one with: npx --no turnpike keys create",
			);
		return null;
	} finally {
		await admin.close();
	}
}
