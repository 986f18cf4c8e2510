const FORM = /^0x[0-9a-fA-F]{40}$/;

/**
 * Returns an address of the Ethereum family in lower case; null if the text is no address. Mixed case is a checksum
 * (ERC-55: https://eips.ethereum.org/EIPS/eip-55) and must be right.
 */
export async function readEvmAddress(text: string): Promise<string | null> {
	if (!FORM.test(text)) return null;
	const lower = text.toLowerCase();
	const digits = text.slice(2);
	if (text === lower || digits === digits.toUpperCase()) return lower;
	// The hash takes some megabytes, so it is loaded only to check a checksum.
	const { getAddress } = await import("viem/utils");
	return getAddress(lower) === text ? lower : null;
}

/**
 * Returns an address in its checksummed form (ERC-55).
 * @param lower a result of `readEvmAddress`
 */
export async function checksummedAddress(lower: string): Promise<string> {
	const { getAddress } = await import("viem/utils");
	return getAddress(lower);
}
