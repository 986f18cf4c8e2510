/** About how many tokens a text has, from its bytes of UTF-8: used wherever no count is to be had. */
export function estimateTokens(text: string): number {
	return Math.ceil(Buffer.byteLength(text) / 3);
}
