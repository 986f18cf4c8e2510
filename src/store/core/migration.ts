/**
 * Steps of the schema. A step is written once, as SQLite reads it, and translated for PostgreSQL by a map of types;
 * what one database alone has, or says in another way, stands beside it.
 */
export type Dialect = "sqlite" | "postgres";

/** Statements of both databases, as SQLite reads them; or those of each, where they differ. */
export type SchemaStep = string | { readonly [Name in Dialect]?: string };

export interface Migration {
	readonly number: number;
	readonly name: string;
	readonly steps: readonly SchemaStep[];
}

/** What PostgreSQL reads instead. */
const ON_POSTGRES: readonly (readonly [RegExp, string])[] = [
	[/INTEGER PRIMARY KEY( AUTOINCREMENT)?/g, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"],
	[/\bINTEGER\b/g, "BIGINT"],
	[/\bBLOB\b/g, "BYTEA"],
	[/\blength\(body\)/g, "octet_length(body)"],
	[/\bjson_valid\((\w+)\)/g, "$1::jsonb IS NOT NULL"],
	[/GLOB '\[0-9\]\[0-9\]\[0-9\]\[0-9\]-\[0-9\]\[0-9\]'/g, "~ '^\\d{4}-\\d{2}$$'"],
	[/\) STRICT(, WITHOUT ROWID)?;/g, ");"],
];

/** Translates statements that SQLite reads. */
export function onPostgres(sql: string): string {
	return ON_POSTGRES.reduce((text, [sqlite, postgres]) => text.replace(sqlite, postgres), sql);
}

/** Returns a migration's statements for one database. */
export function statementsOf({ steps }: Migration, dialect: Dialect): string {
	return steps
		.map((step) => {
			if (typeof step !== "string") return step[dialect] ?? "";
			return dialect === "sqlite" ? step : onPostgres(step);
		})
		.join("\n");
}

/** Returns the triggers of tables whose rows are never changed or deleted. */
export function neverChanged(...tables: readonly string[]): SchemaStep {
	const triggers = (of: (table: string) => readonly string[]): string => tables.flatMap(of).join("\n");
	return {
		sqlite: triggers((table) => [
			`CREATE TRIGGER ${table}_stay BEFORE UPDATE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} are never changed'); END;`,
			`CREATE TRIGGER ${table}_remain BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} are never deleted'); END;`,
		]),
		postgres: triggers((table) => [
			`CREATE TRIGGER ${table}_stay BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse_change();`,
			`CREATE TRIGGER ${table}_remain BEFORE TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();`,
		]),
	};
}

/** Thrown where a newer version of this program wrote the folder. */
export class StoreTooNewError extends Error {
	override readonly name = "StoreTooNewError";
	readonly code = "STORE_TOO_NEW";

	constructor(schema: number, known: number) {
		super(`the store has schema ${schema}, this program knows ${known}; start the version that wrote it`);
	}
}
