/** About how many tokens so many bytes of UTF-8 have: used wherever no count is to be had. */
export function tokensOfBytes(bytes: number): number {
	return Math.ceil(bytes / 3);
}

/** The same of a text. */
export function estimateTokens(text: string): number {
	return tokensOfBytes(Buffer.byteLength(text));
}
