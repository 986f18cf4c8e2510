/** The place of a store: the path of a data folder (SQLite), or the address of a PostgreSQL database. */

const ADDRESS = /^postgres(ql)?:\/\//;

/** Returns true for `postgres://...` and `postgresql://...`. */
export function isPostgres(place: string): boolean {
	return ADDRESS.test(place);
}

/** Returns an address without its password, for texts. */
export function shownAddress(place: string): string {
	if (!isPostgres(place)) return place;
	if (!URL.canParse(place)) return "the PostgreSQL database";
	const url = new URL(place);
	return `${url.protocol}//${url.host}${url.pathname}`;
}
