import { type RawBuilder, sql } from "kysely";

/**
 * Returns a condition that is true where one of the columns contains this text, in any case of its ASCII letters.
 * Wildcard characters of the text match only themselves.
 */
export function contains(columns: readonly string[], text: string): RawBuilder<boolean> {
	const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
	const parts = columns.map((column) => sql`lower(${sql.ref(column)}) LIKE ${pattern} ESCAPE '\\'`);
	return sql<boolean>`(${sql.join(parts, sql` OR `)})`;
}
