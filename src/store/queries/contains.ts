import { type RawBuilder, sql } from "kysely";

/** True where a part of one of the columns is this text, in any case of its ASCII letters. Its own signs stand for themselves. */
export function contains(columns: readonly string[], text: string): RawBuilder<boolean> {
	const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
	const parts = columns.map((column) => sql`lower(${sql.ref(column)}) LIKE ${pattern} ESCAPE '\\'`);
	return sql<boolean>`(${sql.join(parts, sql` OR `)})`;
}
