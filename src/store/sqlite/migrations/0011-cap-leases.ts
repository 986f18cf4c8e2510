import type { Migration } from "../../core/migration.ts";

/** PostgreSQL alone has a table of leases on keys' limits: the one node of SQLite knows all that a key spends. */
export const capLeases: Migration = { number: 11, name: "cap-leases", sql: "SELECT 1" };
