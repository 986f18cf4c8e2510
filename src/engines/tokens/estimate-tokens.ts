/** Estimates the tokens of UTF-8 text by its bytes, for use when no count is available. */
export function tokensOfBytes(bytes: number): number {
	return Math.ceil(bytes / 3);
}

/** Estimates the tokens of a text. */
export function estimateTokens(text: string): number {
	return tokensOfBytes(Buffer.byteLength(text));
}
