/** Advisory locks of the store, by number: "turnpike" and its purpose. */

/**
 * Serialises writers other than the batches of nodes: the operator's commands and the routes that change keys and
 * accounts.
 */
export const WRITERS_LOCK = 7_487_001;
/** Serialises migrations of nodes that start together. */
export const MIGRATIONS_LOCK = 7_487_002;
