/** Runs the operations of `admin/operations.ts` in the store thread: on a connection of its own, one at a time. */
import { sql } from "kysely";
import { type AdminStore, openAdmin } from "./admin/open-admin.ts";
import { type AdminAnswer, type AdminInput, type AdminOperation, runOperation } from "./admin/operations.ts";

export class AdminExecutor {
	readonly #admin: AdminStore;

	private constructor(admin: AdminStore) {
		this.#admin = admin;
	}

	static async open(dataDir: string): Promise<AdminExecutor> {
		const admin = openAdmin(dataDir);
		// The thread itself schedules checkpoints, so that a commit never waits for one.
		await sql`PRAGMA wal_autocheckpoint = 0`.execute(admin.db);
		return new AdminExecutor(admin);
	}

	/** Runs an operation. Throws `AdminError` and errors of SQLite; nothing was changed then. */
	run<Name extends AdminOperation>(name: Name, input: AdminInput<Name>): Promise<AdminAnswer<Name>> {
		return runOperation(this.#admin, name, input);
	}

	close(): Promise<void> {
		return this.#admin.close();
	}
}
