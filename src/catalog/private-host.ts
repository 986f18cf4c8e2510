const PRIVATE_ADDRESS = /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]$|\[f[cd])/;

/** Returns true for an address on this machine or on a private network, where data stays with the operator. */
export function isPrivateAddress(url: string): boolean {
	if (!URL.canParse(url)) return false;
	const host = new URL(url).hostname;
	const named = /^[a-z]/.test(host) && (!host.includes(".") || /\.(local|internal|lan|localhost)$/.test(host));
	return named || PRIVATE_ADDRESS.test(host);
}
