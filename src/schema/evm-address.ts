const FORM = /^0x[0-9a-fA-F]{40}$/;

/**
 * An address of the Ethereum family in lower case; null where the text is none. Capital and small letters together are
 * a checksum (ERC-55: https://eips.ethereum.org/EIPS/eip-55) and must be the right one.
 */
export async function readEvmAddress(text: string): Promise<string | null> {
	if (!FORM.test(text)) return null;
	const lower = text.toLowerCase();
	const digits = text.slice(2);
	if (text === lower || digits === digits.toUpperCase()) return lower;
	// Hashing costs some megabytes: it is loaded where there is a checksum to check.
	const { getAddress } = await import("viem/utils");
	return getAddress(lower) === text ? lower : null;
}

/** An address in its checksummed form (ERC-55). `lower` is one of `readEvmAddress`. */
export async function checksummedAddress(lower: string): Promise<string> {
	const { getAddress } = await import("viem/utils");
	return getAddress(lower);
}
