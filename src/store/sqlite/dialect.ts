/** Kysely over bun:sqlite: one connection, one user at a time, so that a transaction is never mixed with another call. */
import { type Database, SQLiteError, type SQLQueryBindings } from "bun:sqlite";
import {
	CompiledQuery,
	type DatabaseConnection,
	type DatabaseIntrospector,
	type Dialect,
	type DialectAdapter,
	type Driver,
	type Kysely,
	type QueryCompiler,
	type QueryResult,
	SqliteAdapter,
	SqliteIntrospector,
	SqliteQueryCompiler,
	type TransactionSettings,
} from "kysely";

/** How long a writer waits for another one. */
const LOCK_WAIT_MS = 5_000;
const LOCK_RETRY_MS = 5;

export class BunSqliteDialect implements Dialect {
	readonly #db: Database;

	/** Takes over the database: Kysely's `destroy` closes it. */
	constructor(db: Database) {
		this.#db = db;
	}

	createDriver(): Driver {
		return new BunSqliteDriver(this.#db);
	}

	createQueryCompiler(): QueryCompiler {
		return new SqliteQueryCompiler();
	}

	createAdapter(): DialectAdapter {
		return new SqliteAdapter();
	}

	createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
		return new SqliteIntrospector(db);
	}
}

class BunSqliteDriver implements Driver {
	readonly #db: Database;
	readonly #connection: BunSqliteConnection;
	#tail: Promise<void> = Promise.resolve();
	#release: () => void = () => {};

	constructor(db: Database) {
		this.#db = db;
		this.#connection = new BunSqliteConnection(db);
	}

	async init(): Promise<void> {}

	async acquireConnection(): Promise<DatabaseConnection> {
		const before = this.#tail;
		let release = () => {};
		this.#tail = new Promise((resolve) => {
			release = resolve;
		});
		await before;
		this.#release = release;
		return this.#connection;
	}

	async releaseConnection(): Promise<void> {
		this.#release();
	}

	/**
	 * Begins a transaction. A writing one takes the write lock at once, since one that only reads first could not get
	 * it later. It waits for the lock without blocking the thread: the holder may be another connection of this thread.
	 */
	async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
		if (settings.accessMode === "read only") {
			await connection.executeQuery(CompiledQuery.raw("BEGIN"));
			return;
		}
		const deadline = performance.now() + LOCK_WAIT_MS;
		while (!this.#tryBegin(performance.now() >= deadline)) await Bun.sleep(LOCK_RETRY_MS);
	}

	/** Tries to begin; returns false where another writer has the lock. The last try throws. */
	#tryBegin(isLastTry: boolean): boolean {
		const waits = this.#db.query<{ timeout: bigint }, []>("PRAGMA busy_timeout").get()?.timeout ?? 0n;
		this.#db.run("PRAGMA busy_timeout = 0");
		try {
			this.#db.run("BEGIN IMMEDIATE");
			return true;
		} catch (error) {
			const busy = error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY");
			if (isLastTry || !busy) throw error;
			return false;
		} finally {
			this.#db.run(`PRAGMA busy_timeout = ${waits}`);
		}
	}

	async commitTransaction(connection: DatabaseConnection): Promise<void> {
		await connection.executeQuery(CompiledQuery.raw("COMMIT"));
	}

	async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
		if (this.#db.inTransaction) await connection.executeQuery(CompiledQuery.raw("ROLLBACK"));
	}

	async destroy(): Promise<void> {
		this.#db.close();
	}
}

class BunSqliteConnection implements DatabaseConnection {
	readonly #db: Database;

	constructor(db: Database) {
		this.#db = db;
	}

	async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
		const statement = this.#db.query<R, SQLQueryBindings[]>(query.sql);
		const parameters = query.parameters as SQLQueryBindings[];
		if (statement.columnNames.length > 0) return { rows: statement.all(...parameters) };
		const { changes, lastInsertRowid } = statement.run(...parameters);
		return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
	}

	async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
		const statement = this.#db.prepare<R, SQLQueryBindings[]>(query.sql);
		try {
			for (const row of statement.iterate(...(query.parameters as SQLQueryBindings[]))) yield { rows: [row] };
		} finally {
			statement.finalize();
		}
	}
}
