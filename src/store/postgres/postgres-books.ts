/** The shared books on PostgreSQL, and how a node hears of them. */
import type { SQL } from "bun";
import { BatchApplier } from "./batch-applier.ts";
import { beat, endBoot, knownBoot, latestBoot, reap, startBoot } from "./boots.ts";
import { readAccount, readKey } from "./caller-reader.ts";
import { ChangeFeed } from "./change-feed.ts";
import { connect } from "./connect.ts";
import { LeaseBook } from "./lease-book.ts";
import type { BooksEar, Recall, SharedBooks } from "./shared-books.ts";

const CHANGES = "turnpike_changes";
const RECALLS = "turnpike_recalls";

export const postgresBooks: SharedBooks<SQL> = {
	latestBoot,
	knownBoot,
	startBoot,
	endBoot,
	beat,
	reap,
	readKey,
	readAccount,
	applier: (node) => new BatchApplier(node),
	leases: (node) => new LeaseBook(node),
	changes: (sql) => ChangeFeed.begin(sql),
	askBack: async (sql, nodeId, accountId) => {
		await sql.unsafe("SELECT pg_notify($1, $2)", [RECALLS, `${nodeId} ${accountId}`]);
	},
};

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
