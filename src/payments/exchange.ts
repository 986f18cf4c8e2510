/** What every request to a chain's node or to a facilitator has in common: both are servers of somebody else. */

/** No redirect is followed: what is sent (payments, tokens) is for the configured address alone. */
export const NOT_REDIRECTED = { redirect: "manual" } as const;

/** The body's text; null where it is longer than `maxBytes`, of which no more is read then. */
export async function limitedText(response: Response, maxBytes: number): Promise<string | null> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of response.body ?? []) {
		bytes += chunk.byteLength;
		if (bytes > maxBytes) return null;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString("utf8");
}
