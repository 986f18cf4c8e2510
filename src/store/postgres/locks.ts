/** Advisory locks of the store, by number: "turnpike" and what it is for. */

/** Writers that are not nodes' batches: the operator's commands and the routes that change keys and accounts. */
export const WRITERS_LOCK = 7_487_001;
/** Migrations: nodes that start together go one after the other. */
export const MIGRATIONS_LOCK = 7_487_002;
