import { isIP } from "node:net";
import { PublicFetchFault } from "./port.ts";
import { isPublicAddress } from "./public-address.ts";

const MAX_URL_LENGTH = 8_192;
const FIRST_FREE_PORT = 1_024;
/** Ports from 1024 on of other protocols, by the Fetch standard (section 2.9, port blocking). */
const OTHER_PROTOCOLS = new Set([
	1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);
/** Names that are never hosts of the internet (RFC 6761, 6762, 8375, and the root zone's own reservation). */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|onion|test|invalid)$/;

/** The parsed target of a URL. */
export interface Target {
	readonly url: URL;
	/** A name without a trailing dot, or an address without brackets. */
	readonly host: string;
	readonly port: number;
	/** True if the host is an address, not a name. */
	readonly isAddress: boolean;
	/** True if the operator allows this host although it is private. */
	readonly trusted: boolean;
}

/**
 * Parses a caller's URL. The URL standard's parser converts decimal, octal and hexadecimal addresses to one form.
 * @param trustedHosts private hosts that are allowed, as `host` or `host:port`
 * @throws PublicFetchFault
 */
export function publicTarget(text: string, trustedHosts: ReadonlySet<string>): Target {
	if (text.length > MAX_URL_LENGTH) throw new PublicFetchFault("url", `The URL has more than ${MAX_URL_LENGTH} characters`);
	const url = URL.parse(text);
	if (url === null || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "")
		throw new PublicFetchFault("url", "The URL must be an absolute http or https URL");
	if (url.username !== "" || url.password !== "")
		throw new PublicFetchFault("url", "The URL may not carry a user name or a password");
	const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
	const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
	const isAddress = isIP(host) !== 0;
	const trusted = trustedHosts.has(host) || trustedHosts.has(`${host}:${port}`);
	if (!trusted) {
		if (isAddress ? !isPublicAddress(host) : !host.includes(".") || LOCAL_NAME.test(host)) throw privateHost(host);
		if (port !== 80 && port !== 443 && (port < FIRST_FREE_PORT || OTHER_PROTOCOLS.has(port)))
			throw new PublicFetchFault("url", `Port ${port} is not one of the web`);
	}
	return { url, host, port, isAddress, trusted };
}

export function privateHost(host: string): PublicFetchFault {
	return new PublicFetchFault("private", `${host} is not a host of the public internet`);
}
