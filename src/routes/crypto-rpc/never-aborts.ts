/** The signal of work that goes on when its caller leaves. */
export const NEVER_ABORTS: AbortSignal = new AbortController().signal;
