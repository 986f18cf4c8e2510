import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateSecretKey, keyHash } from "../../src/access/index.ts";
import { AssetStore, loadManifest } from "../../src/assets/index.ts";
import { loadCatalogData } from "../../src/catalog/index.ts";
import { loadRpcCatalog } from "../../src/catalog/rpc/index.ts";
import { type Config, loadConfig } from "../../src/config/index.ts";
import { FfmpegEncoder } from "../../src/engines/audio/index.ts";
import { DocumentPool } from "../../src/engines/documents/index.ts";
import type { DocumentReader } from "../../src/engines/documents/port.ts";
import type { EmbeddingEngine } from "../../src/engines/embeddings/port.ts";
import type { ImageEngine } from "../../src/engines/images/port.ts";
import { ApiError } from "../../src/errors/index.ts";
import { type AudioEngines, Gateway } from "../../src/gateway/index.ts";
import { type AuditReport, audit } from "../../src/ledger/index.ts";
import { type Listening, listen } from "../../src/server/index.ts";
import {
	type AccountChanges,
	type AdminStore,
	createAccount,
	createKey,
	type NewKey,
	openAdmin,
	setAccount,
	showAccount,
} from "../../src/store/admin.ts";
import { type OpenedStore, openStore } from "../../src/store/index.ts";
import { type Clock, systemClock } from "../../src/telemetry/clock.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import type { PublicFetch } from "../../src/upstreams/public-fetch/port.ts";
import { until } from "./until.ts";

const CATALOG_DIR = join(import.meta.dir, "../../catalog");

export interface GatewayOptions {
	/** What differs from the default configuration, as in turnpike.yaml. */
	readonly config?: object;
	readonly clock?: Clock;
	readonly creditUsd?: string;
	readonly embedded?: { endpoint(): Promise<{ url: string; key: string }> };
	/** What speaks and encodes; default: no voices, and ffmpeg where a request needs it. */
	readonly audio?: Partial<AudioEngines>;
	readonly countTokens?: (text: string) => Promise<number>;
	/** What makes vectors here; default: nothing. */
	readonly embeddings?: EmbeddingEngine;
	/** What works on pictures; default: nothing. */
	readonly images?: ImageEngine;
	/** Reads addresses that callers name; default: public ones. */
	readonly fetchPublic?: PublicFetch;
	/** What reads files; default: the real reader, with the configuration's limits. */
	readonly documents?: DocumentReader;
}

export interface TestKey {
	readonly id: string;
	readonly secret: string;
	readonly accountId: string;
}

/** A whole gateway on a real socket, with a real store in a folder of its own. */
export interface RunningGateway {
	/** `http://127.0.0.1:PORT` */
	readonly url: string;
	/** ADMIN key of the operator's account. */
	readonly key: string;
	readonly accountId: string;
	readonly gateway: Gateway;
	readonly openedStore: OpenedStore;
	readonly admin: AdminStore;
	readonly listening: Listening;
	/** A request below /api/v1 with the admin key, or another; an object becomes a JSON body. */
	call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
	chat(body: object, options?: { key?: string; signal?: AbortSignal; headers?: Record<string, string> }): Promise<Response>;
	newKey(options?: { account?: string; creditUsd?: string; changes?: AccountChanges; key?: Partial<NewKey> }): Promise<TestKey>;
	/** USD balance in the store after everything posted is applied, in nano. */
	balance(accountId?: string): Promise<number>;
	/** Post records in the store. */
	posts(): Promise<PostRow[]>;
	audit(): Promise<AuditReport>;
	stop(): Promise<void>;
}

export interface PostRow {
	readonly request_id: string;
	readonly account_id: string;
	readonly status: number;
	readonly price: number;
	readonly prompt_tokens: number | null;
	readonly completion_tokens: number | null;
	readonly tokens_counted: number | null;
	readonly model: string | null;
	readonly upstream: string | null;
}

/** The default configuration with a part of it replaced, section by section. */
export function testConfig(part: object, dataDir: string): Config {
	const { config } = loadConfig({ data: dataDir, port: "0" }, {}, dataDir);
	return merge(config, part) as Config;
}

function merge(base: unknown, part: unknown): unknown {
	if (!isPlain(base) || !isPlain(part)) return part;
	const merged: Record<string, unknown> = { ...base };
	for (const [key, value] of Object.entries(part)) merged[key] = key in merged ? merge(merged[key], value) : value;
	return merged;
}

function isPlain(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An upstream entry of the configuration. */
export function upstreamEntry(url: string, part: object = {}): object {
	return { url, dialect: "generic", discover: true, health: { failures: 3, probeEveryMs: 5_000 }, ...part };
}

export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
	const dataDir = mkdtempSync(join(tmpdir(), "turnpike-test-"));
	const config = testConfig(options.config ?? {}, dataDir);
	const openedStore = await openStore({ dataDir, journal: { segmentBytes: 1_048_576, minFreeDiskBytes: 0 } });
	const admin = openAdmin(dataDir);
	const key = generateSecretKey("ADMIN");
	const account = await createAccount(admin, { name: "operator", startingCreditUsd: options.creditUsd ?? "10" });
	await createKey(admin, { accountId: account.id, type: "ADMIN", hash: keyHash(key), last6: key.slice(-6) });
	const offline = () => Promise.reject(new ApiError("MODEL_OFFLINE", { message: "The embedded model is not part of this test" }));
	const { processes, fileMs: limitMs, maxMemoryMb } = config.documents;
	const documents = new DocumentPool({ log: silentLog, processes, limitMs, maxMemoryMb });
	let listening: Listening | null = null;
	const gateway = new Gateway({
		config,
		data: loadCatalogData(CATALOG_DIR),
		rpcCatalog: loadRpcCatalog(join(CATALOG_DIR, "rpc")),
		store: openedStore.store,
		journal: openedStore.journal,
		nodeFolder: dataDir,
		clock: options.clock ?? systemClock,
		log: silentLog,
		embedded: options.embedded ?? { endpoint: offline },
		embeddedAvailable: true,
		audio: { speech: null, encoder: options.audio?.encoder ?? lazyEncoder(dataDir), ...options.audio },
		embeddings: options.embeddings ?? null,
		countTokens: options.countTokens ?? ((text) => Promise.resolve(Math.ceil(text.length / 4))),
		images: options.images ?? null,
		...(options.fetchPublic ? { fetchPublic: options.fetchPublic } : {}),
		documents: options.documents ?? documents,
		url: () => "http://127.0.0.1",
		port: () => listening?.port ?? 0,
	});
	await gateway.discovered();
	const open = listen(gateway.app, { ...config.server, sharesPort: false }, () => config.server, silentLog);
	listening = open;
	const url = `http://127.0.0.1:${open.port}`;
	const call: RunningGateway["call"] = (method, path, body, headers = {}) =>
		fetch(`${url}/api/v1${path}`, {
			method,
			headers: {
				authorization: `Bearer ${key}`,
				...(body === undefined ? {} : { "content-type": "application/json" }),
				...headers,
			},
			...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
		});
	let stopped = false;
	return {
		url,
		key,
		accountId: account.id,
		gateway,
		openedStore,
		admin,
		listening: open,
		call,
		chat: (body, chatOptions = {}) =>
			fetch(`${url}/api/v1/chat/completions`, {
				method: "POST",
				headers: {
					authorization: `Bearer ${chatOptions.key ?? key}`,
					"content-type": "application/json",
					...chatOptions.headers,
				},
				body: JSON.stringify(body),
				...(chatOptions.signal ? { signal: chatOptions.signal } : {}),
			}),
		async newKey(keyOptions = {}) {
			const accountId =
				keyOptions.account ?? (await createAccount(admin, { name: "test", startingCreditUsd: keyOptions.creditUsd ?? "0" })).id;
			if (keyOptions.changes) await setAccount(admin, accountId, keyOptions.changes);
			const secret = generateSecretKey(keyOptions.key?.type ?? "INFERENCE");
			const hash = keyHash(secret);
			const heard = new Promise<void>((resolve) => {
				const stop = openedStore.store.onChange((change) => {
					if (change.kind !== "key" || change.hash !== hash) return;
					stop();
					resolve();
				});
			});
			const created = await createKey(admin, {
				accountId,
				type: "INFERENCE",
				hash,
				last6: secret.slice(-6),
				...keyOptions.key,
			});
			// A notice that comes in the middle of a request gives the account's idle lease back: tests begin after it.
			await heard;
			return { id: created.id, secret, accountId };
		},
		async balance(accountId = account.id) {
			await openedStore.store.settled();
			return (await showAccount(admin, accountId)).balances.usd;
		},
		async posts() {
			await openedStore.store.settled();
			const rows = await admin.db.selectFrom("posts").selectAll().orderBy("id").execute();
			return rows.map((row) =>
				Object.fromEntries(Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value])),
			) as unknown as PostRow[];
		},
		async audit() {
			await openedStore.store.settled();
			return audit(admin.db);
		},
		async stop() {
			if (stopped) return;
			stopped = true;
			await open.drain();
			await gateway.stop();
			await documents.stop();
			await openedStore.store.close();
			await admin.close();
			rmSync(dataDir, { recursive: true, force: true });
		},
	};
}

/** Looks for its program only when it is used. */
function lazyEncoder(dataDir: string): FfmpegEncoder {
	const assets = new AssetStore({
		dir: join(dataDir, "assets"),
		manifest: loadManifest(join(CATALOG_DIR, "assets.json")),
		log: silentLog,
	});
	return new FfmpegEncoder({ assets, log: silentLog });
}

/** What one request costs the operator's account by the books, in nano-USD, its last post, and how many posts it made. */
export async function chargedFor(gate: RunningGateway, run: () => Promise<unknown>) {
	const [before, count] = [await gate.balance(), (await gate.posts()).length];
	await run();
	await until(() => gate.gateway.budgets.holdsOpen === 0, "the end of the hold");
	const posts = await gate.posts();
	return { price: before - (await gate.balance()), post: posts.at(-1), posts: posts.length - count };
}
