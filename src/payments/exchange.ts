/** The rules for every request to a chain's node or a facilitator: both are servers of others. */

/** No redirect is followed, because payments and tokens are meant for the configured address alone. */
export const NOT_REDIRECTED = { redirect: "manual" } as const;

/** Reads the body's text; null if it is longer than `maxBytes`: no more is read then. */
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
