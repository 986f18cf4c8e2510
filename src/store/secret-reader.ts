import type { SecretName } from "./admin/store-secret.ts";
import { orApiError } from "./api-refusal.ts";
import type { StorePort } from "./port.ts";

/** A secret of the store, the same on all nodes and after a restart; read once, at first use. */
export class SecretReader {
	readonly #store: Pick<StorePort, "admin">;
	readonly #name: SecretName;
	#secret: Promise<string> | null = null;

	constructor(store: Pick<StorePort, "admin">, name: SecretName) {
		this.#store = store;
		this.#name = name;
	}

	/** Returns 32 bytes as lower-case hex. Throws 503 where the store cannot answer now. */
	async read(): Promise<string> {
		this.#secret ??= this.#store.admin("sharedSecret", { name: this.#name });
		try {
			return await orApiError(this.#secret);
		} catch (error) {
			this.#secret = null;
			throw error;
		}
	}
}
