/** The signal of work that continues when its caller leaves. */
export const NEVER_ABORTS: AbortSignal = new AbortController().signal;
