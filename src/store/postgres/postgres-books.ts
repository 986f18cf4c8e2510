/** The shared books on PostgreSQL, and how a node hears of them. */
import type { SQL } from "bun";
import type { ReadGroup } from "../../journal/index.ts";
import { BatchApplier } from "./batch-applier.ts";
import { shipBodies } from "./body-parts.ts";
import { beat, endBoot, knownBoot, latestBoot, reap, startBoot } from "./boots.ts";
import { readAccount, readKey } from "./caller-reader.ts";
import { ChangeFeed } from "./change-feed.ts";
import { connect } from "./connect.ts";
import { LeaseBook } from "./lease-book.ts";
import { RpcBook } from "./rpc-book.ts";
import type { BooksApplier, BooksEar, Recall, SharedBooks } from "./shared-books.ts";

const CHANGES = "turnpike_changes";
const RECALLS = "turnpike_recalls";

/** The books of a node whose files stand in `dataDir`. */
export function postgresBooks(dataDir: string): SharedBooks<SQL> {
	return {
		latestBoot,
		knownBoot,
		startBoot,
		endBoot,
		beat,
		reap,
		readKey,
		readAccount,
		applier: (node) => new Shipping(dataDir, new BatchApplier(node)),
		leases: (node) => new LeaseBook(node),
		rpc: (node) => new RpcBook(node),
		changes: (sql) => ChangeFeed.begin(sql),
		askBack: async (sql, nodeId, accountIds) => {
			const accounts = sql.array([...accountIds], "TEXT");
			await sql.unsafe("SELECT pg_notify($1, $2 || ' ' || account_id) FROM unnest($3::text[]) AS account_id", [
				RECALLS,
				nodeId,
				accounts,
			]);
		},
	};
}

/** Large bodies first, then the batch whose posts name them. */
class Shipping implements BooksApplier<SQL> {
	readonly #dataDir: string;
	readonly #applier: BatchApplier;

	constructor(dataDir: string, applier: BatchApplier) {
		this.#dataDir = dataDir;
		this.#applier = applier;
	}

	async apply(sql: SQL, groups: readonly ReadGroup[]): Promise<number> {
		await shipBodies(sql, groups, this.#dataDir);
		return this.#applier.apply(sql, groups);
	}
}

/** Listens on a connection of its own, and comes back by itself where it is cut off. */
export class PostgresEar implements BooksEar {
	readonly #sql: SQL;

	constructor(url: string) {
		this.#sql = connect(url, { max: 1, name: "turnpike ear" });
	}

	async listen(changed: () => void, recalled: (recall: Recall) => void): Promise<void> {
		await this.#sql.listen(CHANGES, changed);
		await this.#sql.listen(RECALLS, (payload) => {
			const [nodeId = "", accountId = ""] = payload.split(" ");
			if (accountId !== "") recalled({ nodeId, accountId });
		});
	}

	async close(): Promise<void> {
		await this.#sql.close({ timeout: 0 });
	}
}
