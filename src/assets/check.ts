import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PackageSource, Source } from "./manifest.ts";
import { clientName, findClient } from "./package-client.ts";
import type { AssetStore } from "./store.ts";

/** One line of `turnpike doctor`. */
export interface AssetCheck {
	readonly name: string;
	readonly ok: boolean;
	/** What is so, and what to do where it is not well. */
	readonly text: string;
}

async function clientsOnThisMachine(kinds: readonly PackageSource["kind"][]): Promise<Set<PackageSource["kind"]>> {
	const workDir = await mkdtemp(join(tmpdir(), "turnpike-check-"));
	const signal = new AbortController().signal;
	try {
		const found = await Promise.all(kinds.map(async (kind) => ((await findClient(kind, workDir, signal)) ? [kind] : [])));
		return new Set(found.flat());
	} finally {
		await rm(workDir, { recursive: true, force: true });
	}
}

/** The registries' clients that a source needs; none for an address. */
function clientKinds(source: Source): PackageSource["kind"][] {
	if (source.kind === "url") return [];
	return source.kind === "parts" ? source.parts.map(({ kind }) => kind) : [source.kind];
}

/** Each asset: there and whole, or how it can come. Reads every asset that is there once. */
export async function checkAssets(store: AssetStore): Promise<AssetCheck[]> {
	const assets = store.names().map((name) => store.describe(name));
	const clients = await clientsOnThisMachine([...new Set(assets.flatMap((asset) => asset.sources.flatMap(clientKinds)))]);
	return Promise.all(
		assets.map(async (asset): Promise<AssetCheck> => {
			const manual = `or: turnpike models pull ${asset.name} --from FILE`;
			const status = await store.status(asset.name);
			if (status.state === "ready") {
				const ok = await store.verify(asset.name);
				return {
					name: asset.name,
					ok,
					text: ok ? "there, hash checked" : `damaged: delete ${store.path(asset.name)}, ${manual}`,
				};
			}
			if (status.state === "fetching") return { name: asset.name, ok: true, text: "being downloaded" };
			const usable = asset.sources.some((source) => clientKinds(source).every((kind) => clients.has(kind)));
			if (usable)
				return { name: asset.name, ok: true, text: `absent; fetched at first use, or now: turnpike models pull ${asset.name}` };
			const needed = asset.sources.flatMap(clientKinds).map(clientName);
			return { name: asset.name, ok: false, text: `absent: install ${[...new Set(needed)].join(" or ")}, ${manual}` };
		}),
	);
}
