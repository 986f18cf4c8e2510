import { SQL } from "bun";
import { type Config, hostAddresses } from "../../config/index.ts";
import { audit } from "../../ledger/index.ts";
import { openAdmin } from "../../store/admin.ts";
import { hasDatabase, readPostgresServer, refuseLostStore, shownAddress } from "../../store/index.ts";
import { type Finding, fault, ok } from "../../telemetry/finding.ts";
import { storeFaultText } from "../store-fault.ts";

const NAME = "books";

/** Checks that the store is usable and its accounts balance. */
export async function checkBooks(config: Config): Promise<Finding> {
	try {
		return config.store === undefined ? await ofFolder(config.data) : await ofPostgres(config.store);
	} catch (error) {
		const text = storeFaultText(config, error);
		if (text === null) throw error;
		return fault(NAME, text, config.store === undefined ? mendOfFolder(config.data, error) : mendOfPostgres(config.store, error));
	}
}

async function ofFolder(data: string): Promise<Finding> {
	refuseLostStore(data);
	return hasDatabase(data) ? auditOf(data) : ok(NAME, "no store yet");
}

async function ofPostgres(url: string): Promise<Finding> {
	const { version, isTooOld, mayCreate, isReadOnly, schema, user, schemaName } = await readPostgresServer(url);
	const where = shownAddress(url);
	if (isTooOld)
		return fault(
			NAME,
			`${where} is PostgreSQL ${version}, and the store needs 14 or newer`,
			"pg_upgradecluster, or name another server",
		);
	if (isReadOnly)
		return fault(
			NAME,
			`${where} is read-only: it is a replica, or set to read-only`,
			"name the primary in store (TURNPIKE_STORE)",
		);
	if (schema > 0) return auditOf(url);
	if (!mayCreate)
		return fault(NAME, `${where}: the role ${user} may not create tables`, `GRANT ALL ON SCHEMA ${schemaName} TO ${user};`);
	return ok(NAME, `${where}, PostgreSQL ${version}: no store yet`);
}

async function auditOf(place: string): Promise<Finding> {
	const admin = openAdmin(place);
	try {
		const { ok: balance, counted, findings } = await audit(admin.db);
		if (balance) return ok(NAME, `balance; ${counted.posts} posts, ${counted.accounts} accounts`);
		return fault(NAME, `${findings.length} faults`, "npx --no turnpike audit");
	} finally {
		await admin.close();
	}
}

function mendOfFolder(data: string, error: unknown): string {
	const code = (error as NodeJS.ErrnoException | null)?.code;
	if (code === "STORE_TOO_NEW") return "start the newer version of Turnpike that created it";
	return `stop the server, then: rm -f ${data}/turnpike.db-*; cp BACKUP.db ${data}/turnpike.db`;
}

/** Returns the remedy by SQLSTATE; an error without one did not reach the server. */
function mendOfPostgres(url: string, error: unknown): string {
	const [first = url] = hostAddresses(url);
	const { hostname, port, username, pathname } = new URL(first);
	if (error instanceof Error && error.name === "StoreSilentError")
		return "start the primary there, or promote a standby: SELECT pg_promote();";
	const at = `-h ${hostname} -p ${port === "" ? "5432" : port}`;
	if (!(error instanceof SQL.PostgresError) || error.errno === undefined) return `pg_isready ${at}, then start PostgreSQL there`;
	switch (error.errno) {
		case "28000":
		case "28P01":
			return `set the password in store (TURNPIKE_STORE), or: ALTER ROLE ${username} LOGIN PASSWORD '...';`;
		case "3D000":
			return `createdb ${at} -U ${username} ${pathname.slice(1)}`;
		case "53300":
			return "ALTER SYSTEM SET max_connections = 200; then restart PostgreSQL";
		default:
			return `psql ${at} -U ${username} ${pathname.slice(1)}`;
	}
}
