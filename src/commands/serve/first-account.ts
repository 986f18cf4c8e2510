import { keyHash, newApiKey } from "../../access/index.ts";
import type { LoadedConfig } from "../../config/index.ts";
import { hasAccounts } from "../../store/index.ts";
import type { Log } from "../../telemetry/log.ts";

/**
 * On an empty store: the operator's account with its credit and an ADMIN key (TURNPIKE_ADMIN_KEY, or a new one),
 * which is returned, this once. On any other: null, with a warning where TURNPIKE_ADMIN_KEY is no key of it.
 */
export async function firstAccount({ config, adminKey }: LoadedConfig, log: Log): Promise<string | null> {
	const empty = !hasAccounts(config.data);
	if (!empty && adminKey === null) return null;
	const { createAccount, findKeyByHash, openAdmin } = await import("../../store/admin.ts");
	const admin = openAdmin(config.data);
	try {
		if (empty) {
			const key = adminKey ?? newApiKey("ADMIN");
			await createAccount(admin, {
				name: "operator",
				startingCreditUsd: config.accounts.startingCreditUsd,
				firstKey: { type: "ADMIN", hash: keyHash(key), last6: key.slice(-6), description: "first key" },
			});
			return key;
		}
		if (adminKey !== null && (await findKeyByHash(admin, keyHash(adminKey))) === null)
			log.warn({}, "TURNPIKE_ADMIN_KEY is not a key of this store and is ignored; make one with: npx --no turnpike keys create");
		return null;
	} finally {
		await admin.close();
	}
}
