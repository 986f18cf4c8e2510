import type { Migration } from "../migrate.ts";

/** Leases of keys' limits are a table of PostgreSQL only: the one node of SQLite knows all that a key spends. */
export const capLeases: Migration = { number: 11, name: "cap-leases", sql: "SELECT 1" };
