/** The store's database as the ledger reads it. This is only a type: the ledger never opens a database. */
export type { StoreDb as BooksDb } from "../store/tables.ts";
