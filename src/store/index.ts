/**
 * The store: accounts, keys, budgets and the books, on SQLite in the data folder, or on a PostgreSQL that several nodes
 * share.
 *
 * Promises: every answer of `StorePort` holds exactly the posts written before the call; a journal group is booked
 * once; movements and posts are never changed, and leave only into an archive; a balance never goes below zero (the
 * schema holds it); no money is leased to two nodes; a second server on the folder is refused; a command line may work
 * on the store while a server runs, and the server hears of it within a second.
 *
 * Never: does work of the database on the event loop, keeps the backlog in memory, resets anything at midnight, or
 * lets one bad record hold up the others.
 */

export { DataFolderError, hasDatabase, journalFolder, makeDataFolder } from "./data-folder.ts";
export { DataFolderInUseError, type DataLock, lockDataFolder } from "./data-lock.ts";
export { type OpenedStore, type OpenStoreOptions, openStore } from "./open-store.ts";
export type * from "./port.ts";
export { hasSchema } from "./postgres/has-schema.ts";
export { isPostgres, shownAddress } from "./postgres/place.ts";
export { type PostgresServer, readPostgresServer } from "./postgres/read-server.ts";
export { asStoreFault, DatabaseDamagedError } from "./sqlite/damage.ts";
export { hasAccounts } from "./sqlite/has-accounts.ts";
export { StoreThreadError, StoreUnavailableError } from "./store-errors.ts";
export { refuseLostStore, StoreLostError } from "./store-lost.ts";
export type { StoreDb, Tables } from "./tables.ts";
