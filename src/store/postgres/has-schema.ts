import { systemTimers } from "../../telemetry/clock.ts";
import { connect } from "./connect.ts";
import { schemaNumber } from "./migrate.ts";
import { PrimaryFinder } from "./primary.ts";

/**
 * Returns true where the PostgreSQL database at `place` has the schema of a store. Throws errors of the connection, and
 * of `PrimaryFinder.find`.
 */
export async function hasSchema(place: string): Promise<boolean> {
	const sql = connect(await new PrimaryFinder(place, systemTimers).find(), { max: 1, name: "turnpike admin" });
	try {
		return (await schemaNumber(sql)) > 0;
	} finally {
		await sql.close();
	}
}
