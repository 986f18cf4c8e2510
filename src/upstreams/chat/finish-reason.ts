/** Returns true for a real finish reason: some servers write an empty one into every chunk. */
export function isFinishReason(reason: unknown): reason is string {
	return typeof reason === "string" && reason !== "";
}
