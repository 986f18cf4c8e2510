/** What was typed is held against what a command takes: nothing that is misspelt is passed over. */
import type { ArgsDef, CommandDef } from "citty";
import { settled } from "./settled.ts";

/** What stands on the command line and has no meaning there. */
export interface Misuse {
	/** The command that was meant, and the one above it: for the usage. */
	readonly command: CommandDef;
	readonly parent: CommandDef | undefined;
	readonly message: string;
}

const ASKS_FOR_USAGE = new Set(["--help", "-h"]);
const ASKS_FOR_VERSION = new Set(["--version", "-v"]);

/**
 * The first option that a command does not know, option that lacks its value, or argument too many; null where there is
 * none. What is missing, and a command that does not exist, is left to the parser.
 */
export async function findMisuse(command: CommandDef, typed: readonly string[], parent?: CommandDef): Promise<Misuse | null> {
	const [first = ""] = typed;
	const asksForVersion = parent === undefined && typed.length === 1 && ASKS_FOR_VERSION.has(first);
	if (asksForVersion || typed.some((word) => ASKS_FOR_USAGE.has(word))) return null;
	const args = (await settled(command.args)) ?? {};
	const subCommands = await settled(command.subCommands);
	const words = new Words(typed);
	const positionals = Object.values(args).filter((arg) => arg.type === "positional").length;
	let seen = 0;
	const misuse = (message: string): Misuse => ({ command, parent, message });
	for (let word = words.next(); word !== undefined; word = words.next()) {
		if (isOption(word) && !words.plain) {
			const fault = optionFault(args, word, words);
			if (fault !== null) return misuse(fault);
		} else if (subCommands !== undefined) {
			const next = Object.hasOwn(subCommands, word) ? await settled(subCommands[word]) : undefined;
			return next === undefined ? null : findMisuse(next as CommandDef, words.rest(), command);
		} else if (++seen > positionals) {
			return misuse(`Unexpected argument: ${word}`);
		}
	}
	return null;
}

/** The words of a command line, one after the other; behind `--` none is an option. */
class Words {
	readonly #words: readonly string[];
	#at = 0;
	plain = false;

	constructor(words: readonly string[]) {
		this.#words = words;
	}

	next(): string | undefined {
		const word = this.#words[this.#at++];
		if (word !== "--" || this.plain) return word;
		this.plain = true;
		return this.#words[this.#at++];
	}

	rest(): string[] {
		return this.#words.slice(this.#at);
	}
}

/** A lone `-` is an argument: standard input. */
function isOption(word: string): boolean {
	return word.startsWith("-") && word !== "-";
}

function optionFault(args: ArgsDef, word: string, words: Words): string | null {
	const [name = "", ...value] = word.split("=");
	const known = (option: string) => (Object.hasOwn(args, option) ? args[option] : undefined);
	const arg = name.startsWith("--") ? known(name.slice(2)) : undefined;
	if (arg?.type === "string" || arg?.type === "enum")
		return value.length > 0 || words.next() !== undefined ? null : `Option ${name} needs a value`;
	if (arg?.type === "boolean" || (name.startsWith("--no-") && known(name.slice(5))?.type === "boolean")) return null;
	return `Unknown option: ${name}`;
}
