/** The fields of the text that a wallet signs (https://eips.ethereum.org/EIPS/eip-4361), in their order. */
export interface SignInMessage {
	readonly domain: string;
	readonly account: string;
	readonly address: string;
	/** null if there is none; the second field counts the empty lines in its place. */
	readonly statement: string | null;
	readonly emptyLines: 1 | 2;
	readonly uri: string;
	readonly version: string;
	readonly chainId: string;
	readonly nonce: string;
	readonly issuedAt: string;
	readonly expirationTime: string | null;
	readonly notBefore: string | null;
	readonly requestId: string | null;
	readonly resources: readonly string[] | null;
}

const FIRST_LINE = /^(\S+) wants you to sign in with your (Ethereum|Solana) account:$/;
const CONTROL = /(?!\n)\p{Cc}/u;

/** Formats a message as every client does. */
export function writeMessage(message: SignInMessage): string {
	const { statement, expirationTime, notBefore, requestId, resources } = message;
	return [
		`${message.domain} wants you to sign in with your ${message.account} account:`,
		message.address,
		"",
		...(statement === null ? (message.emptyLines === 2 ? [""] : []) : [statement, ""]),
		`URI: ${message.uri}`,
		`Version: ${message.version}`,
		`Chain ID: ${message.chainId}`,
		`Nonce: ${message.nonce}`,
		`Issued At: ${message.issuedAt}`,
		...(expirationTime === null ? [] : [`Expiration Time: ${expirationTime}`]),
		...(notBefore === null ? [] : [`Not Before: ${notBefore}`]),
		...(requestId === null ? [] : [`Request ID: ${requestId}`]),
		...(resources === null ? [] : ["Resources:", ...resources.map((resource) => `- ${resource}`)]),
	].join("\n");
}

/**
 * Parses a message; null if it is malformed. Nothing is skipped, repeated or reordered: `writeMessage` of the result gives
 * exactly this text.
 */
export function readMessage(text: string): SignInMessage | null {
	if (CONTROL.test(text) || !text.isWellFormed()) return null;
	const lines = new Lines(text.split("\n"));
	const [, domain, account] = FIRST_LINE.exec(lines.next() ?? "") ?? [];
	const address = lines.next();
	if (domain === undefined || account === undefined || address === undefined || lines.next() !== "") return null;
	const { statement, emptyLines } = readStatement(lines);
	const required = ["URI", "Version", "Chain ID", "Nonce", "Issued At"].map((name) => lines.field(name));
	const [uri, version, chainId, nonce, issuedAt] = required;
	if (uri == null || version == null || chainId == null || nonce == null || issuedAt == null) return null;
	const message: SignInMessage = {
		...{ domain, account, address, statement, emptyLines, uri, version, chainId, nonce, issuedAt },
		expirationTime: lines.field("Expiration Time"),
		notBefore: lines.field("Not Before"),
		requestId: lines.field("Request ID"),
		resources: readResources(lines),
	};
	return writeMessage(message) === text ? message : null;
}

/** An empty line follows a statement; the address of a message without one never has it. */
function readStatement(lines: Lines): Pick<SignInMessage, "statement" | "emptyLines"> {
	if (lines.peek() === "") {
		lines.next();
		return { statement: null, emptyLines: 2 };
	}
	if (lines.peek(1) !== "") return { statement: null, emptyLines: 1 };
	const statement = lines.next() ?? null;
	lines.next();
	return { statement, emptyLines: 1 };
}

function readResources(lines: Lines): string[] | null {
	if (lines.peek() !== "Resources:") return null;
	lines.next();
	const resources: string[] = [];
	while (lines.peek()?.startsWith("- ")) resources.push((lines.next() ?? "").slice(2));
	return resources;
}

class Lines {
	readonly #lines: readonly string[];
	#position = 0;

	constructor(lines: readonly string[]) {
		this.#lines = lines;
	}

	peek(further = 0): string | undefined {
		return this.#lines[this.#position + further];
	}

	next(): string | undefined {
		return this.#lines[this.#position++];
	}

	/** Returns the value behind the name; null if the line has another name. */
	field(name: string): string | null {
		const line = this.peek();
		if (line === undefined || !line.startsWith(`${name}: `)) return null;
		this.#position++;
		return line.slice(name.length + 2);
	}
}
