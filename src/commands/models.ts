import { join } from "node:path";
import { defineCommand } from "citty";
import { AssetError, AssetStore, loadManifest, showProgress } from "../assets/index.ts";
import { buildCatalog, Discovery, loadCatalogData } from "../catalog/index.ts";
import { createLog } from "../telemetry/log.ts";
import { CATALOG_DIR } from "./paths.ts";
import { print, printError, printJson, printTable } from "./print.ts";
import { configOrExit, jsonArg, storeArgs } from "./store-args.ts";

const list = defineCommand({
	meta: {
		name: "list",
		description: "List models as the server does: from the catalog, the configuration, and the upstreams' lists",
	},
	args: { type: { type: "string", description: "A model type, or all", default: "all" }, ...jsonArg, ...storeArgs },
	async run({ args }) {
		const { config } = configOrExit(args);
		const discovery = new Discovery({ upstreams: config.upstreams, retryMs: config.models.discoverEveryMs });
		await discovery.start();
		const catalog = buildCatalog({
			data: loadCatalogData(CATALOG_DIR),
			config,
			discovered: discovery.lists(),
			embeddedAvailable: true,
		});
		await discovery.stop();
		const models = catalog.list("all").filter((model) => args.type === "all" || model.type === args.type);
		if (args.json) return printJson(models.map((model) => model.public));
		printTable([
			["ID", "TYPE", "STATE", "TRAITS", "UPSTREAMS"],
			...models.map((model) => [
				model.id,
				model.type,
				model.offline ? "offline" : "online",
				model.traits.join(",") || "-",
				model.targets.map((target) => target.upstream).join(",") || "-",
			]),
		]);
	},
});

const pull = defineCommand({
	meta: { name: "pull", description: "Download weights and helper programs; without a name, all of them" },
	args: {
		name: {
			type: "positional",
			description: "Name of an asset (turnpike doctor lists them) or of a group: tts-kokoro, ffmpeg",
			required: false,
		},
		from: { type: "string", description: "Import it from a file instead", valueHint: "FILE" },
		...storeArgs,
	},
	async run({ args }) {
		const { config } = configOrExit(args);
		const store = new AssetStore({
			dir: join(config.data, "assets"),
			manifest: loadManifest(join(CATALOG_DIR, "assets.json")),
			log: createLog("warn"),
		});
		try {
			if (args.from !== undefined && args.name === undefined)
				throw new AssetError("unknown-asset", `--from needs the asset's name: one of ${store.names().join(", ")}`);
			for (const name of args.name === undefined ? store.names() : store.namesFor(args.name)) {
				if (args.from !== undefined) print(`${name}: ${await store.importFile(name, args.from)}`);
				else await fetchOne(store, name);
			}
		} catch (error) {
			if (!(error instanceof AssetError)) throw error;
			printError(error.message);
			process.exitCode = 1;
		}
	},
});

async function fetchOne(store: AssetStore, name: string): Promise<void> {
	const display = showProgress(name);
	let path: string;
	try {
		path = await store.ensure(name, { onProgress: (status) => display.update(status) });
	} finally {
		display.end();
	}
	print(`${name}: ${path}`);
}

export const models = defineCommand({
	meta: { name: "models", description: "Models and their assets: list, pull" },
	subCommands: { list, pull },
});
