import { type AssetStore, showProgress } from "../../assets/index.ts";
import { type Catalog, EMBEDDED, type Model } from "../../catalog/index.ts";
import type { LoadedConfig } from "../../config/index.ts";
import { EMBEDDED_CHAT_ASSET } from "../../engines/chat/index.ts";
import type { Gateway } from "../../gateway/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { banner, chatCurl } from "./banner.ts";

/** The time that the banner waits for the models of upstreams. */
const DISCOVERY_MS = 1_500;

interface Announcement {
	readonly loaded: LoadedConfig;
	readonly gateway: Gateway;
	readonly assets: AssetStore;
	readonly url: string;
	/** The key that this start created for a new store; null on a store with accounts. */
	readonly firstKey: string | null;
	readonly log: Log;
}

/** Prints the banner, and downloads the built-in chat model if no other model can chat. */
export async function announce(announcement: Announcement): Promise<void> {
	const { loaded, gateway, assets, url, firstKey } = announcement;
	const { config, adminKey } = loaded;
	const { state } = await assets.status(EMBEDDED_CHAT_ASSET);
	const isReady = state === "ready";
	const needsModel = Object.keys(config.upstreams).length === 0 && config.chat.embedded.enabled && !isReady;
	await Promise.race([gateway.discovered(), Bun.sleep(DISCOVERY_MS)]);
	const networks = Object.entries(config.rpc.networks);
	process.stdout.write(
		banner({
			url,
			newKey: firstKey,
			keyFromEnvironment: adminKey !== null,
			creditUsd: config.accounts.startingCreditUsd,
			chatModel: readyChatModel(gateway.catalog, isReady),
			chatNote: needsModel ? "The built-in chat model is being downloaded; a line here says when it is ready." : null,
			network: networks.find(([, { enabled, upstreams }]) => enabled !== false && upstreams.length > 0)?.[0] ?? null,
		}),
	);
	if (needsModel) void fetchModel(announcement);
}

/** Returns a text model for the example: `default` if it can answer now, otherwise the first model that can. */
function readyChatModel(catalog: Catalog, isEmbeddedReady: boolean): string | null {
	const canAnswer = (model: Model | undefined) =>
		model !== undefined && !model.offline && (isEmbeddedReady || model.targets.some((target) => target.upstream !== EMBEDDED));
	const byDefault = catalog.traits("text").default;
	if (byDefault !== undefined && canAnswer(catalog.get(byDefault))) return "default";
	return catalog.list("text").find(canAnswer)?.id ?? null;
}

async function fetchModel({ assets, url, firstKey, loaded, log }: Announcement): Promise<void> {
	const display = showProgress(EMBEDDED_CHAT_ASSET);
	try {
		await assets.ensure(EMBEDDED_CHAT_ASSET, { onProgress: (status) => display.update(status) });
		display.end();
		const shown = firstKey === null ? "$TURNPIKE_KEY" : loaded.adminKey === null ? firstKey : "$TURNPIKE_ADMIN_KEY";
		process.stdout.write(`\nThe built-in chat model is ready. Try it:\n\n  ${chatCurl(url, shown, "default")}\n\n`);
	} catch (error) {
		display.end();
		log.warn(
			{ cause: (error as Error).message },
			"the built-in chat model could not be downloaded; the next chat request retries",
		);
	}
}
