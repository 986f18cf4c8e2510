/** The answers given to `turnpike init`, each checked by the configuration's rules. */
import { PROVIDER_NAMES, type ProviderName } from "../../config/index.ts";

export interface ChatUpstream {
	readonly name: string;
	/** A base address, or a provider with its own protocol. */
	readonly target: { readonly url: string } | { readonly provider: ProviderName };
	/** The environment variable that holds its key; null if it needs none. */
	readonly keyVariable: string | null;
}

export interface ChainUpstream {
	/** The network's name in `GET /crypto/rpc/networks`. */
	readonly network: string;
	readonly url: string;
}

export interface Answers {
	readonly host: string;
	readonly port: number;
	readonly publicUrl: string | null;
	/** A PostgreSQL address without its password; null: SQLite in the data folder. */
	readonly store: string | null;
	readonly upstreams: readonly ChatUpstream[];
	readonly chains: readonly ChainUpstream[];
	/** The receiver of wallet payments on Base; null: wallets cannot pay. */
	readonly payTo: string | null;
}

/** An invalid answer; the message says what is expected. */
export class WrongAnswer extends Error {
	override readonly name = "WrongAnswer";
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,40}$/;
const NETWORK = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const VARIABLE = /^[A-Z_][A-Z0-9_]*$/;

export function readHost(text: string): string {
	if (!/^[0-9A-Za-z.:_-]+$/.test(text)) throw new WrongAnswer("expected an address of this machine, like 127.0.0.1 or 0.0.0.0");
	return text;
}

export function readPort(text: string): number {
	const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536;
	if (port > 65_535) throw new WrongAnswer("expected a number from 0 to 65535");
	return port;
}

export function readPublicUrl(text: string): string | null {
	return text === "" ? null : httpAddress(text);
}

/** Reads `sqlite` or a PostgreSQL address; removes its password, because PGPASSWORD provides it. */
export function readStore(text: string): string | null {
	if (text === "" || text === "sqlite") return null;
	if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text))
		throw new WrongAnswer("expected sqlite, or an address like postgres://turnpike@db.internal/turnpike");
	const url = new URL(text);
	const user = url.username === "" ? "turnpike" : url.username;
	return `${url.protocol}//${user}@${url.host}${url.pathname === "" || url.pathname === "/" ? "/turnpike" : url.pathname}${url.search}`;
}

/** Reads a comma-separated list of `name=address` or provider names; a suffix `:VARIABLE` names the variable of the key. */
export function readUpstreams(text: string): ChatUpstream[] {
	const upstreams = itemsOf(text).map(readUpstream);
	refuseTwice(upstreams.map(({ name }) => name));
	return upstreams;
}

function readUpstream(item: string): ChatUpstream {
	const [, name = "", address = ""] = /^([^=]*)=(.*)$/.exec(item) ?? [];
	const marked = /^(.*):([A-Z_][A-Z0-9_]*)$/.exec(name === "" ? item : address);
	const place = marked?.[1] ?? (name === "" ? item : address);
	const provider = PROVIDER_NAMES.find((known) => known === place);
	const upstreamName = name === "" && provider !== undefined ? provider : name;
	if (!NAME.test(upstreamName))
		throw new WrongAnswer(`expected NAME=ADDRESS, or one of ${PROVIDER_NAMES.join(", ")}; not ${item}`);
	const keyVariable =
		marked?.[2] ?? (provider === undefined ? null : `${upstreamName.toUpperCase().replaceAll("-", "_")}_API_KEY`);
	if (keyVariable !== null && !VARIABLE.test(keyVariable))
		throw new WrongAnswer(`expected the name of a variable, not ${keyVariable}`);
	return { name: upstreamName, target: provider === undefined ? { url: httpAddress(place) } : { provider }, keyVariable };
}

/** Reads a comma-separated list of `network=address`. */
export function readChains(text: string): ChainUpstream[] {
	const chains = itemsOf(text).map((item) => {
		const [network = "", url = ""] = splitOnce(item, "=");
		if (!NETWORK.test(network))
			throw new WrongAnswer(`expected NETWORK=ADDRESS, like ethereum-mainnet=http://localhost:8545; not ${item}`);
		return { network, url: httpAddress(url) };
	});
	refuseTwice(chains.map(({ network }) => network));
	return chains;
}

export function readPayTo(text: string): string | null {
	if (text === "") return null;
	if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new WrongAnswer("expected an address: 0x and 40 hex digits");
	return text;
}

function itemsOf(text: string): string[] {
	return text
		.split(",")
		.map((item) => item.trim())
		.filter((item) => item !== "");
}

function splitOnce(text: string, mark: string): [string, string] {
	const at = text.indexOf(mark);
	return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}

function httpAddress(text: string): string {
	if (!/^https?:\/\//.test(text) || !URL.canParse(text))
		throw new WrongAnswer(`expected an address that begins with http:// or https://, not ${text || "nothing"}`);
	return text;
}

function refuseTwice(names: readonly string[]): void {
	const twice = names.find((name, index) => names.indexOf(name) !== index);
	if (twice !== undefined) throw new WrongAnswer(`${twice} is given twice`);
}
