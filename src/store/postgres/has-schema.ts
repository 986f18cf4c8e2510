import { connect } from "./connect.ts";
import { schemaNumber } from "./migrate.ts";

/** Returns true where the PostgreSQL database at `url` has the schema of a store. Throws errors of the connection. */
export async function hasSchema(url: string): Promise<boolean> {
	const sql = connect(url, { max: 1, name: "turnpike admin" });
	try {
		return (await schemaNumber(sql)) > 0;
	} finally {
		await sql.close();
	}
}
