/** The place of a store: the path of a data folder (SQLite), or the address of a PostgreSQL database. */
import { withoutPassword } from "../../config/store-address.ts";

const ADDRESS = /^postgres(ql)?:\/\//;

/** Returns true for `postgres://...` and `postgresql://...`. */
export function isPostgres(place: string): boolean {
	return ADDRESS.test(place);
}

/** Returns an address without its password, for texts. */
export function shownAddress(place: string): string {
	return isPostgres(place) ? (withoutPassword(place) ?? "the PostgreSQL database") : place;
}
