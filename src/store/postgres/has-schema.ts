import { connect } from "./connect.ts";
import { schemaNumber } from "./migrate.ts";

/** True where the PostgreSQL database at `url` has the schema of a store. Throws what the connection throws. */
export async function hasSchema(url: string): Promise<boolean> {
	const sql = connect(url, { max: 1, name: "turnpike admin" });
	try {
		return (await schemaNumber(sql)) > 0;
	} finally {
		await sql.close();
	}
}
