/** The store's database as the ledger reads it; type only: the ledger never opens one. */
export type { StoreDb as BooksDb } from "../store/tables.ts";
