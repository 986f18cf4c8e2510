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
import type { WorkerPeers } from "../telemetry/worker-peers.ts";
import type { PublicFetch } from "../upstreams/public-fetch/index.ts";
import type { AudioEngines } from "./audio.ts";
import type { ConsolePages } from "./console-pages.ts";

/** The dependencies from which a gateway is assembled. */
export interface GatewayDeps {
	readonly config: Config;
	readonly data: CatalogData;
	readonly rpcCatalog: RpcCatalog;
	readonly store: StorePort;
	readonly journal: Journal;
	/** Folder for stored answers that are too large for the journal. */
	readonly nodeFolder: string;
	readonly clock: Clock;
	readonly log: Log;
	/**
	 * The built-in chat engine. It starts at first use, and throws MODEL_OFFLINE with the progress while its weights are
	 * downloading.
	 */
	readonly embedded: { endpoint(): Promise<{ readonly url: string; readonly key: string }> };
	/** True if the built-in chat engine can run on this machine. */
	readonly embeddedAvailable: boolean;
	/** The built-in speech engine and the audio encoder. */
	readonly audio: AudioEngines;
	/** The built-in embedding model; null if it cannot run on this machine. */
	readonly embeddings: EmbeddingEngine | null;
	readonly countTokens: (text: string, tenant: string) => Promise<number>;
	/** Classifies, edits and generates images; null if it cannot run on this machine. */
	readonly images: ImageEngine | null;
	/** Fetches addresses that callers name. Default: public addresses and those of `web.allowPrivateHosts`. */
	readonly fetchPublic?: PublicFetch;
	/** Extracts the text of files. */
	readonly documents: DocumentReader;
	/** The workers of this server; left out where it is one process. */
	readonly peers?: WorkerPeers;
	/** Returns the address that documents show. */
	readonly url: () => string;
	/** Returns the port that the server listens on. */
	readonly port: () => number;
	/** Weights and programs as the console shows them; without it the console shows none. */
	readonly assets?: AssetStore;
	/** The console's pages; without them the console has only its API. */
	readonly consolePages?: ConsolePages;
}
