import type { UpstreamConfig } from "./schema.ts";

const HOSTS: readonly [host: string, dialect: UpstreamConfig["dialect"]][] = [
	["api.openai.com", "openai"],
	["openrouter.ai", "openrouter"],
];
const PORTS: readonly [port: string, dialect: UpstreamConfig["dialect"]][] = [
	["11434", "ollama"],
	["1234", "lmstudio"],
];

/** Returns the dialect that an address implies: a well-known host, or the standard port of a local server. */
export function dialectOf(url: string): UpstreamConfig["dialect"] {
	if (!URL.canParse(url)) return "generic";
	const { hostname, port } = new URL(url);
	const byHost = HOSTS.find(([host]) => hostname === host || hostname.endsWith(`.${host}`));
	const byPort = PORTS.find(([known]) => port === known);
	return byHost?.[1] ?? byPort?.[1] ?? "generic";
}
