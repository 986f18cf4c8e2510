/** The text that `serve` prints at its start. */

export interface BannerOptions {
	readonly url: string;
	/** The new ADMIN key: shown once, because only its hash is stored. null on later starts. */
	readonly newKey: string | null;
	/** True if TURNPIKE_ADMIN_KEY supplied the key. */
	readonly keyFromEnvironment: boolean;
	readonly creditUsd: string;
	/** A model that can answer a chat now; null if there is none yet. */
	readonly chatModel: string | null;
	/** Why chat is not ready; null if it is. */
	readonly chatNote: string | null;
	/** A chain network with an upstream; null if there is none. */
	readonly network: string | null;
}

/** Returns the text at the start: the API's address, the first key, a request to paste. */
export function banner(options: BannerOptions): string {
	const lines = [
		"",
		`Turnpike is listening on ${options.url}`,
		`  API   ${options.url}/api/v1`,
		`  Docs  ${options.url}/docs`,
		"",
	];
	if (options.newKey !== null) {
		lines.push(`The first account was created, with a credit of ${options.creditUsd} USD.`);
		if (options.keyFromEnvironment) lines.push("Its ADMIN key is the one in TURNPIKE_ADMIN_KEY.");
		else lines.push("Its ADMIN key, shown only once and stored only as a hash:", "", `  ${options.newKey}`);
		lines.push("");
	}
	const key =
		options.newKey !== null && !options.keyFromEnvironment
			? options.newKey
			: options.keyFromEnvironment
				? "$TURNPIKE_ADMIN_KEY"
				: "$TURNPIKE_KEY";
	if (options.chatNote !== null) lines.push(options.chatNote);
	lines.push(key === "$TURNPIKE_KEY" ? "Try it (with one of your keys in TURNPIKE_KEY):" : "Try it:", "");
	lines.push(
		`  ${options.chatModel === null ? modelsCurl(options.url, key) : chatCurl(options.url, key, options.chatModel)}`,
		"",
	);
	if (options.network !== null) lines.push(`  ${chainCurl(options.url, key, options.network)}`, "");
	return `${lines.join("\n")}\n`;
}

/** Returns a chat request for the shell. */
export function chatCurl(url: string, key: string, model: string): string {
	const body = JSON.stringify({ model, messages: [{ role: "user", content: "Say hello in one sentence." }] }).replaceAll(
		"'",
		"\\u0027",
	);
	return `curl ${url}/api/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`;
}

/** Returns a shell request for the newest block of a chain. */
function chainCurl(url: string, key: string, network: string): string {
	const method = network.startsWith("starknet-") ? "starknet_blockNumber" : "eth_blockNumber";
	const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method });
	return `curl ${url}/api/v1/crypto/rpc/${network} -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`;
}

function modelsCurl(url: string, key: string): string {
	return `curl ${url}/api/v1/models -H "Authorization: Bearer ${key}"`;
}
