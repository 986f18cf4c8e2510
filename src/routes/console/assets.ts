import type { AssetStore } from "../../assets/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import type { Assets } from "./types.ts";

/** GET /assets */
export async function assets({ assets: store }: ConsoleApiDeps, status = 200): Promise<Answer> {
	const names = store?.names() ?? [];
	const rows = await Promise.all(names.map((name) => rowOf(name, store as AssetStore)));
	return answer<Assets>({ assets: rows }, status);
}

/** POST /assets/{name}/pull: starts the download, or joins a running one. */
export function pullAsset(name: string, deps: ConsoleApiDeps): Promise<Answer> {
	const { assets: store, log } = deps;
	if (store === null || !store.names().includes(name)) throw new ApiError("NOT_FOUND", { message: "There is no such asset" });
	// The list and the log report its failure.
	store.ensure(name).catch((error: unknown) => log.warn({ asset: name, cause: String(error) }, "an asset could not be fetched"));
	return assets(deps, 202);
}

async function rowOf(name: string, store: AssetStore): Promise<Assets["assets"][number]> {
	const { group = null, licence } = store.describe(name);
	const { state, receivedBytes, totalBytes, error } = await store.status(name);
	return { name, group, licence, state, receivedBytes, totalBytes, error: error?.message ?? null };
}
