/**
 * The store: accounts, keys, budgets and the books, on SQLite in the data folder or on a PostgreSQL that several
 * nodes share.
 *
 * Guarantees: every answer of `StorePort` includes exactly the posts written before the call. A journal group is
 * applied once. Movements and posts never change, and leave only into an archive. A balance never goes below zero
 * (the schema enforces it). No money is leased to two nodes. A second server on the folder is refused. A command line
 * may change the store while a server runs, and the server learns of it within a second.
 *
 * The store never does database work on the event loop, keeps the backlog in memory, resets anything at midnight, or
 * lets one bad record hold up the others.
 */

export { DataFolderError, hasDatabase, journalFolder, makeDataFolder, workerFolder, workerNumbers } from "./data-folder.ts";
export { type OpenedStore, type OpenStoreOptions, openStore } from "./open-store.ts";
export type * from "./port.ts";
export { hasSchema } from "./postgres/has-schema.ts";
export { isPostgres, shownAddress } from "./postgres/place.ts";
export { type PostgresServer, readPostgresServer } from "./postgres/read-server.ts";
export { asStoreFault, DatabaseDamagedError } from "./sqlite/damage.ts";
export { DataFolderInUseError, type DataLock, lockDataFolder } from "./sqlite/data-lock.ts";
export { hasAccounts } from "./sqlite/has-accounts.ts";
export type { StoreChannel } from "./store-channel.ts";
export { StoreThreadError, StoreUnavailableError } from "./store-errors.ts";
export { refuseLostStore, StoreLostError } from "./store-lost.ts";
export type { StoreDb, Tables } from "./tables.ts";
