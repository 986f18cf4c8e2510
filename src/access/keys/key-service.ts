import type { KeyWithUsage } from "../../store/admin/key-usage.ts";
import { orApiError } from "../../store/api-refusal.ts";
import type { ApiKey, KeyType, StorePort } from "../../store/port.ts";
import { generateKey } from "./generate-key.ts";
import type { ReadKeyFields } from "./key-fields.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The keys of an account, as their owner reads and changes them. A change applies to the key's next request on this node when
 * its promise resolves.
 * @throws 400, 404 (also for a key of another account) and 503
 */
export class KeyService {
	readonly #store: Pick<StorePort, "admin">;

	constructor(store: Pick<StorePort, "admin">) {
		this.#store = store;
	}

	/** Creates a key; its secret is in this answer only. */
	async create(accountId: string, type: KeyType, fields: ReadKeyFields, nowMs: number): Promise<{ key: ApiKey; secret: string }> {
		const { secret, key } = generateKey(type, fields, nowMs);
		return { key: await orApiError(this.#store.admin("createKey", { ...key, accountId })), secret };
	}

	/** Lists active keys, newest first. */
	list(
		accountId: string,
		nowMs: number,
		page?: { offset: number; limit: number },
	): Promise<{ readonly keys: readonly KeyWithUsage[]; readonly total: number }> {
		return orApiError(this.#store.admin("listKeys", { accountId, nowMs, ...(page ? { page } : {}) }));
	}

	get(accountId: string, keyId: string, nowMs: number): Promise<KeyWithUsage> {
		return orApiError(this.#store.admin("getKey", { accountId, keyId: idOrEmpty(keyId), nowMs }));
	}

	update(accountId: string, keyId: string, changes: ReadKeyFields): Promise<ApiKey> {
		return orApiError(this.#store.admin("updateKey", { accountId, keyId: idOrEmpty(keyId), changes }));
	}

	revoke(accountId: string, keyId: string): Promise<void> {
		return orApiError(this.#store.admin("revokeKey", { accountId, keyId: idOrEmpty(keyId) }));
	}
}

/** Returns "" for an id that no key can have, so the store never sees text of arbitrary length or content. */
function idOrEmpty(keyId: string): string {
	return UUID.test(keyId) ? keyId : "";
}
