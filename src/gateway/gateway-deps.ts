import type { AssetStore } from "../assets/index.ts";
import type { CatalogData } from "../catalog/index.ts";
import type { RpcCatalog } from "../catalog/rpc/index.ts";
import type { Config } from "../config/index.ts";
import type { DocumentReader } from "../engines/documents/port.ts";
import type { EmbeddingEngine } from "../engines/embeddings/port.ts";
import type { ImageEngine } from "../engines/images/port.ts";
import type { Journal } from "../journal/index.ts";
import type { StorePort } from "../store/port.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import type { PublicFetch } from "../upstreams/public-fetch/index.ts";
import type { AudioEngines } from "./audio.ts";
import type { ConsolePages } from "./console-pages.ts";

/** What a gateway is put together from. */
export interface GatewayDeps {
	readonly config: Config;
	readonly data: CatalogData;
	readonly rpcCatalog: RpcCatalog;
	readonly store: StorePort;
	readonly journal: Journal;
	readonly clock: Clock;
	readonly log: Log;
	/** The built-in chat engine: starts at first use; throws MODEL_OFFLINE with its progress while its weights come. */
	readonly embedded: { endpoint(): Promise<{ readonly url: string; readonly key: string }> };
	/** True where the built-in chat engine can run on this machine. */
	readonly embeddedAvailable: boolean;
	/** What speaks and encodes here. */
	readonly audio: AudioEngines;
	/** The built-in embedding model; null where it cannot run here. */
	readonly embeddings: EmbeddingEngine | null;
	readonly countTokens: (text: string, tenant: string) => Promise<number>;
	/** What reads, edits and writes pictures; null where it cannot run here. */
	readonly images: ImageEngine | null;
	/** Reads addresses that callers name; default: the public ones, and those of `web.allowPrivateHosts`. */
	readonly fetchPublic?: PublicFetch;
	/** Reads the text of files. */
	readonly documents: DocumentReader;
	/** The address that documents show. */
	readonly url: () => string;
	/** The port that is really listened on. */
	readonly port: () => number;
	/** What the console shows of weights and programs; left out: nothing. */
	readonly assets?: AssetStore;
	/** The console's pages; left out: it has its API alone. */
	readonly consolePages?: ConsolePages;
}
