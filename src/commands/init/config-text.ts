/** The two files that `turnpike init` writes. They contain no secrets: those come from the environment. */
import { dialectOf } from "../../config/index.ts";
import type { Answers, ChainUpstream, ChatUpstream } from "./answers.ts";

/** Returns `turnpike.yaml` with a comment on each part; unset parts are commented out. */
export function configText(answers: Answers): string {
	return [
		"# Turnpike. docs/configuration.md lists every setting and its default.",
		"# ${NAME} stands for an environment variable; the server does not start if it is not set.",
		"",
		...serverLines(answers),
		"",
		...storeLines(answers.store),
		"",
		...upstreamLines(answers.upstreams),
		"",
		...chainLines(answers.chains),
		"",
		...paymentLines(answers.payTo),
		"",
	].join("\n");
}

function serverLines({ host, port, publicUrl }: Answers): string[] {
	return [
		"server:",
		`  host: ${quoted(host)} # 0.0.0.0 means every address of this machine`,
		`  port: ${port}`,
		publicUrl === null
			? "  # publicUrl: https://api.example.com # the address that callers use"
			: `  publicUrl: ${quoted(publicUrl)} # the address that callers use`,
		"  # trustedProxies: [127.0.0.1] # proxies whose X-Forwarded-For is trusted (clientAddressHeader: another header)",
	];
}

function storeLines(store: string | null): string[] {
	const lines = ["# The books. SQLite in the data folder, or PostgreSQL that several nodes share.", "data: ./turnpike-data"];
	if (store === null) return [...lines, "# store: postgres://turnpike:${PGPASSWORD}@localhost/turnpike"];
	return [...lines, `store: ${quoted(store.replace("@", ":${PGPASSWORD}@"))}`];
}

function upstreamLines(upstreams: readonly ChatUpstream[]): string[] {
	if (upstreams.length === 0)
		return [
			"# Model servers. Without one, the built-in models are used.",
			"# upstreams:",
			"#   gpu-a: { url: http://10.0.0.5:8000/v1, dialect: vllm }",
		];
	const priced = upstreams.find(({ keyVariable }) => keyVariable !== null) ?? upstreams[0];
	return [
		"# Model servers. A listed model without a price is free to every account. So upstreams that cost money are not",
		"# listed (discover: false), and their models are sold by entries under models.",
		"upstreams:",
		...upstreams.flatMap(upstreamEntry),
		"",
		"# Models with their prices and upstreams:",
		"# models:",
		"#   entries:",
		"#     text-large:",
		"#       type: text",
		"#       price: { input: 0.5, output: 1.5 } # USD per million tokens",
		"#       contextTokens: 131072",
		"#       maxCompletionTokens: 16384",
		"#       traits: [default]",
		"#       upstreams:",
		`#         - { upstream: ${priced?.name ?? "gpu-a"}, model: its-name-there }`,
	];
}

function upstreamEntry({ name, target, keyVariable }: ChatUpstream): string[] {
	const place =
		"provider" in target
			? [`    provider: ${target.provider}`]
			: [
					`    url: ${quoted(target.url)}`,
					`    dialect: ${dialectOf(target.url)} # or vllm, llama.cpp, ollama, lmstudio, openai, openrouter`,
				];
	const key = keyVariable === null ? [] : [`    key: \${${keyVariable}}`];
	return [`  ${name}:`, ...place, ...key, `    discover: ${keyVariable === null}`];
}

function chainLines(chains: readonly ChainUpstream[]): string[] {
	if (chains.length === 0)
		return [
			"# Nodes of chains, for /crypto/rpc/{network}.",
			"# rpc:",
			"#   networks:",
			"#     base-mainnet: { upstreams: [{ url: http://localhost:8545 }] }",
		];
	return [
		"# Nodes of chains, for /crypto/rpc/{network}. The first is used first; a second one takes over if it fails.",
		"rpc:",
		"  networks:",
		...chains.flatMap(({ network, url }) => [`    ${network}:`, "      upstreams:", `        - url: ${quoted(url)}`]),
	];
}

function paymentLines(payTo: string | null): string[] {
	if (payTo === null)
		return ["# Wallets pay in USDC on Base (docs/wallets.md).", "# x402:", '#   payTo: "0x..."', "#   rpcUrl: ${BASE_RPC}"];
	return [
		"# Wallets pay in USDC on Base (docs/wallets.md). Only payments that the node proves are credited. The key is that of the",
		"# address that pays gas.",
		"x402:",
		`  payTo: ${quoted(payTo)}`,
		"  rpcUrl: ${BASE_RPC}",
		'  facilitator: { key: "${FACILITATOR_KEY}" }',
	];
}

/** Returns the variables that the configuration names, each with a description. */
export function variablesOf({ store, upstreams, payTo }: Answers): { readonly name: string; readonly about: string }[] {
	const keys = upstreams.flatMap(({ name, keyVariable }) =>
		keyVariable === null ? [] : [{ name: keyVariable, about: `Key of the upstream ${name}` }],
	);
	const distinct = keys.filter(({ name }, index) => keys.findIndex((key) => key.name === name) === index);
	return [
		...(store === null ? [] : [{ name: "PGPASSWORD", about: "Password of the PostgreSQL user; %-encode special characters" }]),
		...distinct,
		...(payTo === null
			? []
			: [
					{ name: "BASE_RPC", about: "JSON-RPC address of a Base node, like http://localhost:8545" },
					{ name: "FACILITATOR_KEY", about: "Private key (64 hex digits) of an address with some ETH on Base for gas" },
				]),
	];
}

/** Returns `.env.example`, which the operator copies to `.env`, fills in and loads into the environment. */
export function environmentText(answers: Answers): string {
	const lines = variablesOf(answers).flatMap(({ name, about }) => [`# ${about}`, `${name}=`, ""]);
	return [
		"# Copy this to .env, fill it in, keep it out of version control, and start with",
		"#   set -a; . ./.env; set +a; npm start",
		"",
		"# The first ADMIN key of an empty store (20 to 200 characters); if unset, one is generated and printed once",
		"# TURNPIKE_ADMIN_KEY=",
		"",
		...lines,
	].join("\n");
}

const quoted = (text: string) => JSON.stringify(text);
