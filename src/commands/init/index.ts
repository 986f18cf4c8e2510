import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { defineCommand } from "citty";
import { loadRpcCatalog } from "../../catalog/rpc/index.ts";
import { type ConfigError, loadConfig } from "../../config/index.ts";
import { readEvmAddress } from "../../schema/index.ts";
import { EXIT_USAGE } from "../exit-codes.ts";
import { CATALOG_DIR } from "../paths.ts";
import { print, printError } from "../print.ts";
import {
	type Answers,
	readChains,
	readHost,
	readPayTo,
	readPort,
	readPublicUrl,
	readStore,
	readUpstreams,
	WrongAnswer,
} from "./answers.ts";
import { NoInputError, Questions } from "./ask.ts";
import { configText, environmentText, variablesOf } from "./config-text.ts";

/** The exit code that shells give a command that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130;

export const init = defineCommand({
	meta: {
		name: "init",
		description: "Write a commented turnpike.yaml and .env.example; on a terminal, asks for values without an option",
	},
	args: {
		config: { type: "string", description: "The file to write", default: "turnpike.yaml", valueHint: "FILE" },
		host: { type: "string", description: "Address to listen on (127.0.0.1)", valueHint: "ADDRESS" },
		port: { type: "string", description: "Port (8787)", valueHint: "P" },
		"public-url": { type: "string", description: "The address that callers use", valueHint: "URL" },
		store: {
			type: "string",
			description: "sqlite, or a PostgreSQL address; its password goes into PGPASSWORD",
			valueHint: "STORE",
		},
		upstreams: {
			type: "string",
			description: "Model servers, separated by commas: NAME=ADDRESS, or a provider like openai; append :VARIABLE for its key",
			valueHint: "LIST",
		},
		chains: { type: "string", description: "Nodes of chains, separated by commas: NETWORK=ADDRESS", valueHint: "LIST" },
		"pay-to": { type: "string", description: "Address on Base that receives payments of wallets", valueHint: "0x..." },
		yes: { type: "boolean", description: "Ask nothing; values without an option get their defaults" },
		force: { type: "boolean", description: "Overwrite existing files" },
	},
	async run({ args }) {
		const file = resolve(args.config);
		const example = join(dirname(file), ".env.example");
		const existing = [file, example].filter((path) => existsSync(path));
		if (existing.length > 0 && !args.force) return fail(`${existing.join(" and ")} already exist: use --force to overwrite`);
		const rawAnswers = {
			host: args.host,
			port: args.port,
			publicUrl: args["public-url"],
			store: args.store,
			upstreams: args.upstreams,
			chains: args.chains,
			payTo: args["pay-to"],
		};
		let answers: Answers;
		try {
			answers = await collect(rawAnswers, process.stdin.isTTY === true && args.yes !== true);
		} catch (error) {
			if (error instanceof WrongAnswer) return fail(error.message, EXIT_USAGE);
			if (error instanceof NoInputError) return fail("\nNothing was written", EXIT_INTERRUPTED);
			throw error;
		}
		const text = configText(answers);
		const fault = unknownNetwork(answers) ?? (await wrongReceiver(answers)) ?? faultOf(text, answers);
		if (fault !== null) return fail(fault, EXIT_USAGE);
		mkdirSync(dirname(file), { recursive: true });
		write(file, text);
		write(example, environmentText(answers));
		print(`Wrote ${file} and ${example}`);
		const names = variablesOf(answers).map(({ name }) => name);
		if (names.length > 0) print(`Set ${names.join(", ")} in the environment: .env.example says how`);
		const configFlag = file === resolve("turnpike.yaml") ? "" : ` -- --config ${args.config}`;
		print(`Then: npm start${configFlag}`);
	},
});

type RawAnswers = Readonly<Record<keyof Answers, string | undefined>>;

interface Field<T> {
	readonly option: string;
	readonly question: string;
	readonly fallback: string;
	readonly read: (text: string) => T;
}

const FIELDS: { readonly [K in keyof Answers]: Field<Answers[K]> } = {
	host: { option: "--host", question: "Address to listen on", fallback: "127.0.0.1", read: readHost },
	port: { option: "--port", question: "Port", fallback: "8787", read: readPort },
	publicUrl: {
		option: "--public-url",
		question: "Address that callers use, if it differs",
		fallback: "",
		read: readPublicUrl,
	},
	store: { option: "--store", question: "Store: sqlite, or postgres://user@host/database", fallback: "sqlite", read: readStore },
	upstreams: {
		option: "--upstreams",
		question: "Model servers (gpu=http://10.0.0.5:8000/v1, openai), or none",
		fallback: "",
		read: readUpstreams,
	},
	chains: {
		option: "--chains",
		question: "Nodes of chains (base-mainnet=http://localhost:8545), or none",
		fallback: "",
		read: readChains,
	},
	payTo: {
		option: "--pay-to",
		question: "Address on Base that receives payments of wallets, or none",
		fallback: "",
		read: readPayTo,
	},
};

async function collect(rawAnswers: RawAnswers, interactive: boolean): Promise<Answers> {
	let questions: Questions | undefined;
	const answer = async <K extends keyof Answers>(name: K): Promise<Answers[K]> => {
		const { option, question, fallback, read } = FIELDS[name];
		const text = rawAnswers[name];
		if (text === undefined && interactive) {
			questions ??= new Questions();
			return questions.ask(question, fallback, read);
		}
		try {
			return read(text ?? fallback);
		} catch (error) {
			throw error instanceof WrongAnswer ? new WrongAnswer(`${option}: ${error.message}`) : error;
		}
	};
	try {
		return {
			host: await answer("host"),
			port: await answer("port"),
			publicUrl: await answer("publicUrl"),
			store: await answer("store"),
			upstreams: await answer("upstreams"),
			chains: await answer("chains"),
			payTo: await answer("payTo"),
		};
	} finally {
		questions?.close();
	}
}

/** Returns a network that the catalog does not know; null if it knows all. */
function unknownNetwork({ chains }: Answers): string | null {
	if (chains.length === 0) return null;
	const { networks, optionalNetworks } = loadRpcCatalog(join(CATALOG_DIR, "rpc"));
	const networkNames = [...networks.keys(), ...optionalNetworks.keys()];
	const strange = chains.find(({ network }) => !networkNames.includes(network));
	return strange === undefined ? null : `--chains: expected one of ${networkNames.join(", ")}, not ${strange.network}`;
}

async function wrongReceiver({ payTo }: Answers): Promise<string | null> {
	if (payTo === null || (await readEvmAddress(payTo)) !== null) return null;
	return `--pay-to: the checksum of ${payTo} is wrong (ERC-55): a letter is wrong, or has the wrong case`;
}

/** Returns the error that a server would report for this configuration; null if it would start. */
function faultOf(text: string, answers: Answers): string | null {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-init-"));
	try {
		const config = join(folder, "turnpike.yaml");
		writeFileSync(config, text);
		// This placeholder is valid everywhere: as a key, a password and an address.
		const filled = variablesOf(answers).map(
			({ name }) => [name, name === "BASE_RPC" ? "http://localhost:8545" : "1".repeat(64)] as const,
		);
		loadConfig({ config }, Object.fromEntries(filled), folder);
		return null;
	} catch (error) {
		if ((error as Error).name !== "ConfigError") throw error;
		// The user does not see the draft file, so its name and line numbers are removed.
		return (error as ConfigError).message.replaceAll(/^.*turnpike\.yaml(:\d+:\d+)?: /gm, "");
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Writes the whole file or none of it. */
function write(path: string, text: string): void {
	const draft = `${path}.${process.pid}.draft`;
	writeFileSync(draft, text);
	renameSync(draft, path);
}

function fail(text: string, code = 1): void {
	printError(text);
	process.exitCode = code;
}
