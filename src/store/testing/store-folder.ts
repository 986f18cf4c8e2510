/** The books of one test: a data folder, and a PostgreSQL database where the store is not in the folder. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AuditReport, audit } from "../../ledger/audit.ts";
import { type AdminStore, createAccount, openAdmin } from "../admin.ts";

export class StoreFolder {
	readonly dir = mkdtempSync(join(tmpdir(), "turnpike-books-"));
	/** Address of the PostgreSQL database; undefined: SQLite in the folder. */
	readonly postgres: string | undefined;
	readonly #open: AdminStore[] = [];
	#auditor: AdminStore | null = null;

	constructor(postgres?: string) {
		this.postgres = postgres;
	}

	/** The place with which the operator opens the store. */
	get place(): string {
		return this.postgres ?? this.dir;
	}

	/** The operator's side of the store; closed with the folder. */
	admin(now?: () => number): AdminStore {
		const admin = openAdmin(this.place, now);
		this.#open.push(admin);
		return admin;
	}

	async account(usd = "100"): Promise<string> {
		const account = await createAccount(this.admin(), { name: "test", startingCreditUsd: usd });
		return account.id;
	}

	audit(): Promise<AuditReport> {
		this.#auditor ??= this.admin();
		return audit(this.#auditor.db);
	}

	async closeAdmins(): Promise<void> {
		this.#auditor = null;
		for (const admin of this.#open.splice(0)) await admin.close();
	}

	async remove(): Promise<void> {
		await this.closeAdmins();
		rmSync(this.dir, { recursive: true, force: true });
	}
}
