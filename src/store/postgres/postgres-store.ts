/** The shared books on PostgreSQL, and how a node receives their changes. */
import type { SQL } from "bun";
import type { ReadGroup } from "../../journal/index.ts";
import { sleep, type Timers } from "../../telemetry/clock.ts";
import { BatchApplier } from "../core/batch-applier.ts";
import type { ChangeListener, Recall, SharedStore, StoreApplier } from "../core/store.ts";
import { batchRows } from "./batch-rows.ts";
import { shipBodies } from "./body-parts.ts";
import { readAccount, readKey } from "./caller-reader.ts";
import { ChangeFeed } from "./change-feed.ts";
import { endEpoch, heartbeat, isKnownEpoch, latestEpoch, reap, startEpoch } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";
import { RpcRepository } from "./rpc-repository.ts";
import { postgresConnection, type Servers, type StoreConnection } from "./store-connection.ts";

const CHANGES = "turnpike_changes";
const RECALLS = "turnpike_recalls";

/** Returns the books of a node whose files are in `dataDir`. */
export function postgresStore(dataDir: string): SharedStore<SQL> {
	return {
		latestEpoch,
		isKnownEpoch,
		startEpoch,
		endEpoch,
		heartbeat,
		reap,
		readKey,
		readAccount,
		applier: (node) => new Shipping(dataDir, new BatchApplier(batchRows(node))),
		leases: (node) => new LeaseRepository(node),
		rpc: (node) => new RpcRepository(node),
		changes: (sql) => ChangeFeed.begin(sql),
		recallLeases: async (sql, nodeId, accountIds) => {
			const accounts = sql.array([...accountIds], "TEXT");
			await sql.unsafe("SELECT pg_notify($1, $2 || ' ' || account_id) FROM unnest($3::text[]) AS account_id", [
				RECALLS,
				nodeId,
				accounts,
			]);
		},
	};
}

/** Ships large bodies first, then the batch whose posts name them. */
class Shipping implements StoreApplier<SQL> {
	readonly #dataDir: string;
	readonly #applier: BatchApplier<SQL>;

	constructor(dataDir: string, applier: BatchApplier<SQL>) {
		this.#dataDir = dataDir;
		this.#applier = applier;
	}

	async apply(sql: SQL, groups: readonly ReadGroup[]): Promise<number> {
		await shipBodies(sql, groups, this.#dataDir);
		return this.#applier.apply(sql, groups);
	}
}

const LISTEN_AGAIN_MS = 500;

/** Listens on a connection of its own, and reconnects by itself, to another server where the primary has moved. */
export class PostgresChangeListener implements ChangeListener {
	readonly #connection: StoreConnection<SQL>;
	readonly #servers: Servers;
	readonly #timers: Timers;
	#closed = false;

	constructor(servers: Servers, timers: Timers) {
		this.#connection = postgresConnection(servers, { max: 1, name: "turnpike ear" }, timers);
		this.#servers = servers;
		this.#timers = timers;
	}

	async listen(changed: () => void, recalled: (recall: Recall) => void): Promise<void> {
		await this.#begin(changed, recalled);
		this.#servers.onMoved(() => void this.#beginAgain(changed, recalled));
	}

	async close(): Promise<void> {
		this.#closed = true;
		await this.#connection.close();
	}

	async #begin(changed: () => void, recalled: (recall: Recall) => void): Promise<void> {
		const sql = await this.#connection.open();
		await sql.listen(CHANGES, changed);
		await sql.listen(RECALLS, (payload) => {
			const [nodeId = "", accountId = ""] = payload.split(" ");
			if (accountId !== "") recalled({ nodeId, accountId });
		});
	}

	async #beginAgain(changed: () => void, recalled: (recall: Recall) => void): Promise<void> {
		while (!this.#closed) {
			try {
				await this.#begin(changed, recalled);
				return;
			} catch {
				await sleep(this.#timers, LISTEN_AGAIN_MS);
			}
		}
	}
}
