/** A data folder for one test, with accounts in it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AuditReport, audit } from "../../ledger/audit.ts";
import { type AdminStore, createAccount, openAdmin } from "../admin.ts";

export class BooksFolder {
	readonly dir = mkdtempSync(join(tmpdir(), "turnpike-books-"));
	readonly #open: AdminStore[] = [];

	/** The operator's side of the folder's store; closed with the folder. */
	admin(now?: () => number): AdminStore {
		const admin = openAdmin(this.dir, now);
		this.#open.push(admin);
		return admin;
	}

	async account(usd = "100"): Promise<string> {
		const account = await createAccount(this.admin(), { name: "test", startingCreditUsd: usd });
		return account.id;
	}

	audit(): Promise<AuditReport> {
		return audit(this.admin().db);
	}

	async closeAdmins(): Promise<void> {
		for (const admin of this.#open.splice(0)) await admin.close();
	}

	async remove(): Promise<void> {
		await this.closeAdmins();
		rmSync(this.dir, { recursive: true, force: true });
	}
}
