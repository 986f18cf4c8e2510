/** Seconds without traffic after which a connection is closed; the runtime's grain is 4 s, its most 255. */
export const IDLE_TIMEOUT_SECONDS = 120;
