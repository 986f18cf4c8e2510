import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

interface Item {
	readonly text: string;
	readonly link?: string;
	readonly items?: readonly Item[];
	readonly collapsed?: boolean;
}

/** Written beside the pages of the endpoints (scripts/docs/pages.ts). */
const made = fileURLToPath(new URL("./endpoints.json", import.meta.url));
const endpoints: Item[] = existsSync(made) ? JSON.parse(readFileSync(made, "utf8")) : [];

const page = (text: string, link: string): Item => ({ text, link });

export default defineConfig({
	title: "Turnpike",
	description: "One metered gate in front of models and chains",
	// Pages work from a folder of any server, and from a file of any name.
	base: process.env.DOCS_BASE ?? "/",
	lang: "en",
	cleanUrls: false,
	// Files of the repository that are no pages.
	ignoreDeadLinks: [/^(?:\.\/)?(?:\.\.\/)+(?:CHANGELOG|LICENSE|README|src|deploy|bench|scripts|test|catalog)/, /^https?:\/\/(localhost|127\.0\.0\.1)/],
	srcExclude: ["node_modules/**"],
	themeConfig: {
		search: { provider: "local" },
		outline: [2, 3],
		nav: [page("Start", "/quickstart/developer"), page("API", "/api"), page("Operating", "/operating"), page("Endpoints", "/endpoints/")],
		sidebar: [
			{
				text: "Start",
				items: [
					page("Developers", "/quickstart/developer"),
					page("Agents with a wallet", "/quickstart/wallet"),
					page("Operators", "/quickstart/operator"),
					page("Contributors", "/quickstart/contributor"),
				],
			},
			{
				text: "Guides",
				items: [
					page("OpenAI's packages", "/guides/openai-sdk"),
					page("Vercel AI SDK", "/guides/ai-sdk"),
					page("LangChain", "/guides/langchain"),
					page("ethers", "/guides/ethers"),
					page("viem", "/guides/viem"),
					page("Agents that pay (x402)", "/guides/x402"),
				],
			},
			{
				text: "What it does",
				items: [
					page("The API", "/api"),
					page("Chat", "/chat"),
					page("Sealed chat", "/sealed-chat"),
					page("Clients", "/clients"),
					page("Responses", "/responses"),
					page("Messages", "/messages"),
					page("Models", "/models"),
					page("Speech", "/speech"),
					page("Images", "/images"),
					page("Embeddings", "/embeddings"),
					page("Documents", "/documents"),
					page("The web", "/web"),
					page("Chains", "/rpc"),
					page("Wallets", "/wallets"),
				],
			},
			{
				text: "Running it",
				items: [
					page("Operating", "/operating"),
					page("Deploying", "/deploying"),
					page("The console", "/console"),
					page("Configuration", "/configuration"),
					page("Watching it", "/observing"),
					page("Security", "/security"),
					page("Money", "/money"),
					page("Scale", "/scale"),
					page("Benchmarks", "/benchmarks"),
					page("Beside other gateways", "/comparison"),
				],
			},
			{
				text: "Inside",
				items: [
					page("Design", "/design"),
					page("Glossary", "/glossary"),
					page("Testing", "/testing"),
					page("The console's API", "/console-api"),
				],
			},
			...(endpoints.length > 0 ? [{ text: "Endpoints", collapsed: true, items: endpoints }] : []),
		],
	},
});
