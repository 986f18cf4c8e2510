import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Finding, fault, notice, ok } from "../telemetry/finding.ts";
import type { PackageSource, Source } from "./manifest.ts";
import { clientName, findClient } from "./package-client.ts";
import type { AssetStore } from "./store.ts";

async function clientsOnThisMachine(kinds: readonly PackageSource["kind"][]): Promise<Set<PackageSource["kind"]>> {
	const workDir = await mkdtemp(join(tmpdir(), "turnpike-check-"));
	const signal = new AbortController().signal;
	try {
		const clients = await Promise.all(kinds.map(async (kind) => ((await findClient(kind, workDir, signal)) ? [kind] : [])));
		return new Set(clients.flat());
	} finally {
		await rm(workDir, { recursive: true, force: true });
	}
}

/** Returns the registry clients that a source needs; none for an address. */
function clientKinds(source: Source): PackageSource["kind"][] {
	if (source.kind === "url") return [];
	return source.kind === "parts" ? source.parts.map(({ kind }) => kind) : [source.kind];
}

/** Checks that each asset is present and intact, or can be fetched. Reads every present asset once. */
export async function checkAssets(store: AssetStore): Promise<Finding[]> {
	const assets = store.names().map((name) => store.describe(name));
	const clients = await clientsOnThisMachine([...new Set(assets.flatMap((asset) => asset.sources.flatMap(clientKinds)))]);
	return Promise.all(
		assets.map(async ({ name, sources }): Promise<Finding> => {
			const pull = `npx --no turnpike models pull ${name}`;
			const status = await store.status(name);
			if (status.state === "ready") {
				if (await store.verify(name)) return ok(name, "there, hash checked");
				return fault(name, "damaged", `rm ${store.path(name)} && ${pull}`);
			}
			if (status.state === "fetching") return ok(name, "being downloaded");
			const usable = sources.some((source) => clientKinds(source).every((kind) => clients.has(kind)));
			if (usable) return notice(name, "absent; it is fetched at first use", pull);
			const needed = [...new Set(sources.flatMap(clientKinds).map(clientName))].join(" or ");
			return notice(name, `absent, and ${needed} would fetch it`, `install ${needed}, or: ${pull} --from FILE`);
		}),
	);
}
