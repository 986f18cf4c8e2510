/** What was typed is held against what a command takes: nothing that is misspelt is passed over. */
import type { ArgsDef, CommandDef } from "citty";
import { waitForStore } from "./settled.ts";

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
 * The first command that does not exist, option that a command does not know, option that lacks its value, argument too
 * many, or what is missing; null where there is none.
 */
export async function findMisuse(command: CommandDef, typed: readonly string[], parent?: CommandDef): Promise<Misuse | null> {
	const [first = ""] = typed;
	const asksForVersion = parent === undefined && typed.length === 1 && ASKS_FOR_VERSION.has(first);
	if (asksForVersion || typed.some((word) => ASKS_FOR_USAGE.has(word))) return null;
	const args = (await waitForStore(command.args)) ?? {};
	const subCommands = await waitForStore(command.subCommands);
	const words = new Words(typed);
	const positionals = Object.values(args).filter((arg) => arg.type === "positional").length;
	const given = new Set<string>();
	let seen = 0;
	const misuse = (message: string): Misuse => ({ command, parent, message });
	for (let word = words.next(); word !== undefined; word = words.next()) {
		if (isOption(word) && !words.plain) {
			const fault = optionFault(args, word, words);
			if (fault !== null) return misuse(fault);
			given.add(word.slice(2).split("=", 1)[0] ?? "");
		} else if (subCommands !== undefined) {
			const next = Object.hasOwn(subCommands, word) ? await waitForStore(subCommands[word]) : undefined;
			return next === undefined ? misuse(`Unknown command: ${word}`) : findMisuse(next as CommandDef, words.rest(), command);
		} else if (++seen > positionals) {
			return misuse(`Unexpected argument: ${word}`);
		}
	}
	if (subCommands !== undefined) return command.run === undefined ? misuse("No command was named") : null;
	const lacking = whatLacks(args, seen, given);
	return lacking === null ? null : misuse(`Missing: ${lacking}`);
}

/** The first required argument or option that was not typed. */
function whatLacks(args: ArgsDef, seen: number, given: ReadonlySet<string>): string | null {
	let place = 0;
	for (const [name, arg] of Object.entries(args)) {
		if (arg.type === "positional") {
			if (++place > seen && arg.required !== false && arg.default === undefined) return name.toUpperCase();
		} else if (arg.required === true && arg.default === undefined && !given.has(name)) return `--${name}`;
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
	if (arg?.type === "string" || arg?.type === "enum") {
		const given = value.length > 0 ? value.join("=") : words.next();
		return given === undefined || (given === "" && !mayBeEmpty(arg)) ? `Option ${name} needs a value` : null;
	}
	if (arg?.type === "boolean" || (name.startsWith("--no-") && known(name.slice(5))?.type === "boolean")) return null;
	return /^-[\d.]/.test(name) ? `A number below 0 means nothing here: ${name}` : `Unknown option: ${name}`;
}

/** Free text and lists may; of all else an empty value is a variable of the shell that was not set. */
function mayBeEmpty({ valueHint }: { readonly valueHint?: string }): boolean {
	return valueHint === undefined || valueHint === "LIST";
}
